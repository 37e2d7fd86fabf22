"""`heron score task=qa`: any system's answers against gold ones, from two files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
_ANSWERS = ("prediction", "answer", "text")


@dataclass
class AnswerOptions:
    """Options of `heron score task=qa`.

    Args:
        task: `qa`.
        gold: SQuAD's JSON, or a table with context, question and answer.
        predictions: `{id: answer}` as SQuAD's evaluation takes it, or a table with `guid` and
            `prediction`; an empty answer is "no answer".
        data: the data set whose column names and Unicode options `gold` has; default `own_qa`.
        language: whose profile is scored beside SQuAD's; default the data set's.
        out: JSON file for the scores, `{"<name>": {"<score>": number}}`.
        name: the name in that file; default: the predictions file's, without its suffix.
        resamples: bootstrap resamples of whole articles; 0 computes no intervals.
        seed: of the resamples.
    """

    task: str
    gold: Path
    predictions: Path
    data: str = "own_qa"
    language: str | None = None
    out: Path | None = None
    name: str | None = None
    resamples: int = 1000
    seed: int = 0


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code.

    Raises:
        ConfigError: unknown options or data set.
        DataError: unreadable rows; questions without a prediction, predictions without a question.
    """
    options = parse_options(AnswerOptions, arguments)
    if options.resamples < 0:
        raise ConfigError(f"resamples={options.resamples}: expected 0 or more")
    config = _data_set(options)
    examples = _read_gold(options.gold, config)
    answers = read_answers(options.predictions)
    _check_same(examples, answers, options)
    scores = _score(examples, answers, config, options)
    drawn = f" ({options.resamples} bootstrap resamples of articles)" if options.resamples else ""
    print(f"qa, {len(examples)} questions{drawn}")
    for name, value in scores.items():
        if not name.endswith(("_low", "_high")):
            low, high = scores.get(f"{name}_low"), scores.get(f"{name}_high")
            interval = "" if low is None else f"   {low:.3f} to {high:.3f}"
            print(f"  {name:<28} {value:.3f}{interval}")
    if options.out:
        write_json(options.out, {options.name or options.predictions.stem: scores})
        print(f"scores written to {options.out}")
    return 0


def read_answers(path: Path) -> dict[str, str]:
    """Read `{guid: answer}` from a JSON object or from a table.

    Raises:
        DataError: every guid that is missing or repeated, every answer that is no text.
    """
    if path.suffix == ".json":
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(Problem(str(path), str(error))) from error
        if isinstance(found, dict):
            wrong = [guid for guid, text in found.items() if not isinstance(text, str)]
            if wrong:
                what = "its answer is no text; an empty one means no answer"
                raise DataError([Problem(f"{path}: {guid}", what) for guid in wrong])
            return found
    table = read_table(path)
    guid, answer = table.find(_GUIDS), table.find(_ANSWERS)
    if guid is None or answer is None:
        lacking = " or ".join(_GUIDS if guid is None else _ANSWERS)
        raise DataError(Problem(str(path), f"no column {lacking}"))
    if problems := [*table.missing_values(guid), *table.duplicates(guid)]:
        raise DataError(problems)
    return {
        cell_text(row[guid]): "" if is_missing(row[answer]) else cell_text(row[answer])
        for row in table.rows
    }


def _data_set(options: AnswerOptions) -> DataConfig:
    paths = data_sets()
    if options.data not in paths:
        raise ConfigError(f"data={options.data}: no such data set.{nearest(options.data, paths)}")
    config = read_config(paths[options.data])
    if config.task != "qa":
        raise ConfigError(f"data={options.data} is for task={config.task}, not qa")
    config.language = options.language or config.language
    config.label_order = ["answer", "no_answer"]
    return config


def _read_gold(path: Path, config: DataConfig) -> list[Example]:
    from heron.data.readers import read_rows

    return read_rows(path, config, "required", "raise").examples


def _check_same(
    examples: Sequence[Example], answers: Mapping[str, str], options: AnswerOptions
) -> None:
    asked = {example.guid for example in examples}
    lacking = [
        Problem(f"{options.gold}: {guid}", f"no answer to it in {options.predictions}")
        for guid in sorted(asked - set(answers))
    ]
    extra = [
        Problem(f"{options.predictions}: {guid}", f"no such question in {options.gold}")
        for guid in sorted(set(answers) - asked)
    ]
    if lacking or extra:
        raise DataError([*lacking, *extra])


def _score(
    examples: Sequence[Example],
    answers: Mapping[str, str],
    config: DataConfig,
    options: AnswerOptions,
) -> dict[str, float]:
    from heron.languages import get_language
    from heron.metrics.span import item_scores, mean_scores, score_intervals
    from heron.metrics.span_profiles import side_by_side

    items = item_scores(
        [answers[example.guid] for example in examples],
        [list(example.side["answers"]) for example in examples],
        side_by_side(get_language(config.language)),
    )
    scores = mean_scores(items)
    if options.resamples:
        groups = [example.group or example.text for example in examples]
        scores |= score_intervals(items, groups, resamples=options.resamples, seed=options.seed)
    return scores
