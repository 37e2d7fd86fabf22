"""`heron score task=qa|summarization`: any system's texts against gold ones, from two files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heron.bertscore_asked import compute_asked, require_asked, write_scores
from heron.bertscore_options import BertScoreOptions
from heron.config_dir import data_sets
from heron.data.config import Columns, DataConfig, read_config
from heron.data.examples import Example
from heron.data.qa_options import ANSWER, NO_ANSWER
from heron.data.tables import cell_text, is_missing, read_table
from heron.errors import ConfigError, DataError, Problem, nearest
from heron.options import parse_options
from heron.schema import BertScoreConfig
from heron.settings import TAKES, advising, override, sort_words

if TYPE_CHECKING:
    from heron.metrics.bertscore import BertScores

_GUIDS = ("guid", "id")
_TAKES = TAKES["score"]
_Items = dict[str, np.ndarray]


@dataclass
class TextOptions(BertScoreOptions):
    """Options of `heron score task=qa` and `task=summarization`; also keys of `heron.settings`.

    Args:
        task: `qa` or `summarization`.
        gold: SQuAD's JSON, or a table with context, question and answer; a table with article and
            summary, or a run's `predictions/<split>.parquet`, which has both beside its own texts.
        predictions: `{id: text}` as SQuAD's evaluation takes it, or a table with `prediction` (or
            `answer`, `summary`, `text`), and `guid` where rows are not in the order of `gold`. An
            empty answer is "no answer". Summaries are spelt as `gold` is read (`data.unicode`)
            before they are scored; answers are scored as they stand.
        data: the data set whose column names and Unicode options `gold` has; default `own_qa` or
            `own_summaries`.
        language: default the data set's.
        out: JSON file for the scores, `{"<name>": {"<score>": number}}`.
        name: the name in that file; default: the predictions file's, without its suffix.
        resamples: bootstrap resamples of whole articles; 0 computes no intervals.
        seed: of the resamples.

    Of summaries also `bertscore=` and what belongs to it: `heron.bertscore_options`.
    """

    task: str
    gold: Path
    predictions: Path
    data: str | None = None
    language: str | None = None
    out: Path | None = None
    name: str | None = None
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """What a task's texts are called and how they are scored.

    Args:
        data: the data set whose form files have by default.
        gives: what a system gives, `answer`.
        to: what it is given to, `question`.
        columns: names of the predictions' column.
        group: what stays whole in a draw where a row names no group: its `text`, or its `guid`.
        score: makes of examples, texts and data set the values of each item, and what else is
            scored of the whole.
        as_read: texts are spelt as `gold` is read before they are scored; see
            `heron.languages.spelling`.
    """

    data: str
    gives: str
    to: str
    columns: tuple[str, ...]
    group: str
    score: Callable[
        [Sequence[Example], Sequence[str], DataConfig], tuple[_Items, Mapping[str, float]]
    ]
    as_read: bool = False


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code.

    Raises:
        ConfigError: unknown options or data set.
        DataError: unreadable rows; gold rows without a prediction, predictions without a gold row.
    """
    words = sort_words(arguments, _TAKES)
    options = parse_options(TextOptions, words.options)
    if options.resamples < 0:
        raise ConfigError(f"resamples={options.resamples}: expected 0 or more")
    if (by_encoder := options.asked()) and options.task != "summarization":
        raise ConfigError(f"bertscore= scores summaries, not task={options.task}")
    require_asked(by_encoder)
    kind = KINDS[options.task]
    config = override(_data_set(options, kind), words.data)
    from heron.languages.spelling import speller
    from heron.metrics.span import mean_scores, score_intervals

    with advising(_TAKES):
        examples, texts = _read(options, config, kind)
    if kind.as_read:
        texts = list(map(speller(config.language, config.unicode), texts))
    items, rest = kind.score(examples, texts, config)
    scores, signature = mean_scores(items), None
    if by_encoder:
        found = _by_encoder(examples, texts, by_encoder)
        items, scores = items | found.known(), scores | found.means()
        signature = found.signature
    scores |= rest
    if options.resamples:
        groups = [example.group or getattr(example, kind.group) for example in examples]
        scores |= score_intervals(items, groups, resamples=options.resamples, seed=options.seed)
    _show(f"{options.task}, {len(examples)} {kind.to}s", scores, options.resamples)
    if signature:
        print(f"BERTScore: {signature}")
    if options.out:
        write_scores(options.out, options.name or options.predictions.stem, scores, signature)
        print(f"scores written to {options.out}")
    return 0


def _read(options: TextOptions, config: DataConfig, kind: Kind) -> tuple[list[Example], list[str]]:
    """Read the gold rows that count and the text for each; says how many are left out."""
    from heron.data.guids import read_guids
    from heron.data.readers import read_rows

    rows = read_rows(options.gold, config, "required", "raise")
    everything = read_guids(options.gold, config)
    if left_out := len(everything) - len(rows.examples):
        print(f"{options.gold}: rows left out: {left_out}")
    if not rows.examples:
        raise DataError(Problem(str(options.gold), "no row can be scored: all are left out"))
    counted = [example.guid for example in rows.examples]
    return rows.examples, read_texts(options.predictions, options.gold, everything, counted, kind)


def read_texts(
    path: Path, gold: Path, everything: Sequence[str], counted: Sequence[str], kind: Kind
) -> list[str]:
    """Read a text for each gold row that counts, joined on the guid where the file has one.

    A system may have written a text for the other gold rows as well; it is left out with them.

    Args:
        path: a JSON object, or a table.
        gold: the gold file, for messages.
        everything: guids of all gold rows, in the file's order.
        counted: guids of those that are scored, in the same order.
        kind: what the texts are called.

    Raises:
        DataError: guids that are missing, extra or repeated; texts that are none; without a guid,
            another number of rows than `gold` has, in all or of those that count.
    """
    found = _read_object(path, kind) if path.suffix == ".json" else None
    if found is None:
        table = read_table(path)
        guid, column = table.find(_GUIDS), table.find(kind.columns)
        if column is None:
            raise DataError(Problem(str(path), f"no column {' or '.join(kind.columns)}"))
        texts = ["" if is_missing(row[column]) else cell_text(row[column]) for row in table.rows]
        if guid is None:
            by_place = _by_place(texts, everything, counted)
            if by_place is None:
                raise DataError(_other_number(path, len(texts), gold, everything, counted, kind))
            return by_place
        if problems := [*table.missing_values(guid), *table.duplicates(guid)]:
            raise DataError(problems)
        found = {cell_text(row[guid]): text for row, text in zip(table.rows, texts, strict=True)}
    lacking = [
        Problem(f"{gold}: {name}", f"no {kind.gives} to it in {path}")
        for name in counted
        if name not in found
    ]
    extra = [
        Problem(f"{path}: {name}", f"no such {kind.to} in {gold}")
        for name in sorted(set(found) - set(everything))
    ]
    if lacking or extra:
        raise DataError([*lacking, *extra])
    return [found[name] for name in counted]


def _by_place(
    texts: Sequence[str], everything: Sequence[str], counted: Sequence[str]
) -> list[str] | None:
    """Give each row that counts the text in its place; None where the numbers do not tell it."""
    for guids in (everything, counted):
        if len(texts) == len(guids):
            by_guid = dict(zip(guids, texts, strict=True))
            return [by_guid[name] for name in counted]
    return None


def _other_number(
    path: Path,
    rows: int,
    gold: Path,
    everything: Sequence[str],
    counted: Sequence[str],
    kind: Kind,
) -> Problem:
    what = f"{rows} rows for {len(everything)} {kind.to}s in {gold}"
    if len(counted) < len(everything):
        what += f", or the {len(counted)} of them that are scored"
    return Problem(str(path), what, "a column guid joins rows by name")


def _read_object(path: Path, kind: Kind) -> dict[str, str] | None:
    """Read `{guid: text}`; None where the file holds a list of rows."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(Problem(str(path), str(error))) from error
    if not isinstance(found, dict):
        return None
    wrong = [guid for guid, text in found.items() if not isinstance(text, str)]
    if wrong:
        what = f"its {kind.gives} is no text; an empty one means none"
        raise DataError([Problem(f"{path}: {guid}", what) for guid in wrong])
    return found


def _data_set(options: TextOptions, kind: Kind) -> DataConfig:
    paths, name = data_sets(), options.data or kind.data
    if name not in paths:
        raise ConfigError(f"data={name}: no such data set.{nearest(name, paths)}")
    config = read_config(paths[name])
    if config.task != options.task:
        raise ConfigError(f"data={name} is for task={config.task}, not {options.task}")
    config.language = options.language or config.language
    if options.task == "qa":
        config.label_order = [ANSWER, NO_ANSWER]
    else:
        config.columns = _columns(options.gold, config.columns)
    return config


def _columns(gold: Path, usual: Columns) -> Columns:
    """Read a run's own `predictions/<split>.parquet` by the names it has, without a new column."""
    found = set(read_table(gold).columns) if gold.suffix.lower() == ".parquet" else set()
    if usual.text in found or not {"text", "gold", "prediction"} <= found:
        return usual
    return replace(usual, text="text", target="gold", group="group" if "group" in found else None)


def _show(title: str, scores: Mapping[str, float], resamples: int) -> None:
    print(title + (f" ({resamples} bootstrap resamples of articles)" if resamples else ""))
    for name, value in scores.items():
        if not name.endswith(("_low", "_high")):
            low, high = scores.get(f"{name}_low"), scores.get(f"{name}_high")
            interval = "" if low is None else f"   {low:.3f} to {high:.3f}"
            shown = value if isinstance(value, int) else f"{value:.3f}"
            print(f"  {name:<28} {shown}{interval}")


def _answers(
    examples: Sequence[Example], texts: Sequence[str], config: DataConfig
) -> tuple[_Items, Mapping[str, float]]:
    from heron.languages import get_language
    from heron.metrics.span import item_scores
    from heron.metrics.span_profiles import side_by_side

    golds = [list(example.side["answers"]) for example in examples]
    return item_scores(texts, golds, side_by_side(get_language(config.language))), {}


def _summaries(
    examples: Sequence[Example], texts: Sequence[str], config: DataConfig
) -> tuple[_Items, Mapping[str, float]]:
    from heron.languages import get_language
    from heron.metrics.summary import (
        describe_summaries,
        exchanged_scores,
        extractive_scores,
        item_rouge,
    )

    language = get_language(config.language)
    articles, golds = [e.text for e in examples], [str(e.target) for e in examples]
    rest = describe_summaries(articles, texts, golds) | exchanged_scores(texts, golds, language)
    return item_rouge(texts, golds, language), rest | extractive_scores(articles, golds, language)


def _by_encoder(
    examples: Sequence[Example], texts: Sequence[str], config: BertScoreConfig
) -> BertScores:
    return compute_asked(texts, [str(e.target) for e in examples], config)


KINDS = {
    "qa": Kind("own_qa", "answer", "question", ("prediction", "answer", "text"), "text", _answers),
    "summarization": Kind(
        "own_summaries",
        "summary",
        "article",
        ("prediction", "summary", "text"),
        "guid",
        _summaries,
        as_read=True,
    ),
}
