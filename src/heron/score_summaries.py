"""`heron score task=summarization`: any system's summaries against references, from two files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.config_dir import data_sets
from heron.data.config import DataConfig, read_config
from heron.data.examples import Example
from heron.data.tables import cell_text, is_missing, read_table
from heron.errors import ConfigError, DataError, Problem, nearest
from heron.files import write_json
from heron.options import parse_options

_GUIDS = ("guid", "id")
_SUMMARIES = ("prediction", "summary", "text")


@dataclass
class SummaryOptions:
    """Options of `heron score task=summarization`.

    Args:
        task: `summarization`.
        gold: table with article and summary.
        predictions: table with `prediction` (or `summary`), and `guid` where rows are not in the
            order of `gold`.
        data: the data set whose column names and Unicode options `gold` has; default
            `own_summaries`.
        language: default the data set's.
        out: JSON file for the scores, `{"<name>": {"<score>": number}}`.
        name: the name in that file; default: the predictions file's, without its suffix.
        resamples: bootstrap resamples of rows; 0 computes no intervals.
        seed: of the resamples.
    """

    task: str
    gold: Path
    predictions: Path
    data: str = "own_summaries"
    language: str | None = None
    out: Path | None = None
    name: str | None = None
    resamples: int = 1000
    seed: int = 0


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code.

    Raises:
        ConfigError: unknown options or data set.
        DataError: unreadable rows; articles without a prediction, predictions without an article.
    """
    options = parse_options(SummaryOptions, arguments)
    if options.resamples < 0:
        raise ConfigError(f"resamples={options.resamples}: expected 0 or more")
    config = _data_set(options)
    from heron.data.readers import read_rows

    examples = read_rows(options.gold, config, "required", "raise").examples
    texts = read_summaries(options.predictions, options.gold, [e.guid for e in examples])
    scores = _score(examples, texts, config, options)
    drawn = f" ({options.resamples} bootstrap resamples)" if options.resamples else ""
    print(f"summarization, {len(examples)} articles{drawn}")
    for name, value in scores.items():
        if not name.endswith(("_low", "_high")):
            low, high = scores.get(f"{name}_low"), scores.get(f"{name}_high")
            interval = "" if low is None else f"   {low:.3f} to {high:.3f}"
            print(f"  {name:<28} {value:.3f}{interval}")
    if options.out:
        write_json(options.out, {options.name or options.predictions.stem: scores})
        print(f"scores written to {options.out}")
    return 0


def read_summaries(path: Path, gold: Path, guids: Sequence[str]) -> list[str]:
    """Read a summary for each article, joined on the guid where the file has one.

    Args:
        path: table of predictions.
        gold: the file of articles, for messages.
        guids: of the articles.

    Raises:
        DataError: guids that are missing, extra or repeated; without a guid, another number of
            rows than there are articles.
    """
    table = read_table(path)
    guid, summary = table.find(_GUIDS), table.find(_SUMMARIES)
    if summary is None:
        raise DataError(Problem(str(path), f"no column {' or '.join(_SUMMARIES)}"))
    texts = ["" if is_missing(row[summary]) else cell_text(row[summary]) for row in table.rows]
    if guid is None:
        if len(texts) != len(guids):
            what = f"{len(texts)} rows for {len(guids)} articles in {gold}"
            raise DataError(Problem(str(path), what, "a column guid joins rows by name"))
        return texts
    if problems := [*table.missing_values(guid), *table.duplicates(guid)]:
        raise DataError(problems)
    found = {cell_text(row[guid]): text for row, text in zip(table.rows, texts, strict=True)}
    lacking = [
        Problem(f"{gold}: {name}", f"no summary of it in {path}")
        for name in guids
        if name not in found
    ]
    extra = [
        Problem(f"{path}: {name}", f"no such article in {gold}")
        for name in sorted(set(found) - set(guids))
    ]
    if lacking or extra:
        raise DataError([*lacking, *extra])
    return [found[name] for name in guids]


def _data_set(options: SummaryOptions) -> DataConfig:
    paths = data_sets()
    if options.data not in paths:
        raise ConfigError(f"data={options.data}: no such data set.{nearest(options.data, paths)}")
    config = read_config(paths[options.data])
    if config.task != "summarization":
        raise ConfigError(f"data={options.data} is for task={config.task}, not summarization")
    config.language = options.language or config.language
    return config


def _score(
    examples: Sequence[Example],
    texts: Sequence[str],
    config: DataConfig,
    options: SummaryOptions,
) -> dict[str, float]:
    from heron.languages import get_language
    from heron.metrics.span import mean_scores, score_intervals
    from heron.metrics.summary import describe_summaries, extractive_scores, item_rouge

    language = get_language(config.language)
    articles, golds = [e.text for e in examples], [str(e.target) for e in examples]
    items = item_rouge(texts, golds, language)
    scores = mean_scores(items) | describe_summaries(articles, texts, golds)
    scores |= extractive_scores(articles, golds, language)
    if options.resamples:
        groups = [example.group or example.guid for example in examples]
        scores |= score_intervals(items, groups, resamples=options.resamples, seed=options.seed)
    return scores
