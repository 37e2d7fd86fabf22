"""Answers of a question answering run beside their questions, scored one by one.

Legend: N questions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.cells import Interval
from heron.base.errors import DataError, Problem
from heron.base.tables import read_table
from heron.config.data import DataConfig
from heron.data.examples import Example, Span
from heron.languages import get_language
from heron.metrics.span import item_scores, score_intervals
from heron.metrics.span_profiles import language_profile
from heron.results.reading import find_examples, missing_predictions

Floats = npt.NDArray[np.float64]

_COLUMNS = ("guid", "gold", "prediction", "golds", "start", "end", "probability", "n_best")
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with its gold answers and the one given.

    Args:
        example: the question; its spans are the gold answers' places.
        golds: gold answers as the data set spells them; none where there is no answer.
        text: the answer given; empty for "no answer".
        place: where it stands in the context; None for "no answer".
        probability: of the answer, among all spans; None for "no answer".
        n_best: the best candidates: `text`, `start`, `end`, `probability`.
    """

    example: Example
    golds: tuple[str, ...]
    text: str
    place: Span | None
    probability: float | None
    n_best: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class AnsweredSplit:
    """The labelled questions of one split that were answered.

    Args:
        rows: N, in the order of the predictions.
        scores: float64 `[N]` each, fractions; see `heron.metrics.span.item_scores`.
        groups: N names of articles (contexts, where the data set names none): what intervals draw.
        language: ISO 639-1 code.
        unlabelled: answered questions without gold answers, which are left out.
    """

    rows: list[Answered]
    scores: dict[str, Floats]
    groups: list[str]
    language: str
    unlabelled: int


def interval_of(values_N: Floats, groups: Sequence[str], seed: int = 0) -> Interval | float | None:
    """Compute one score's mean and interval; see `intervals_of`."""
    return intervals_of({"": values_N}, groups, seed)[""]


def intervals_of(
    scores: Mapping[str, Floats], groups: Sequence[str], seed: int = 0
) -> dict[str, Interval | float | None]:
    """Compute means and their 95 % bootstrap intervals, which draw whole groups.

    Args:
        scores: float64 `[N]` each; values that are NaN do not count.
        groups: N names.
        seed: of the resamples.

    Returns:
        Of each score the mean alone where all its values are of one group: nothing shows then how
        groups differ. None without values.
    """
    bounds = score_intervals(scores, groups, resamples=RESAMPLES, seed=seed) if len(groups) else {}
    found: dict[str, Interval | float | None] = {}
    for name, values_N in scores.items():
        counted_N = ~np.isnan(values_N)
        mean = float(values_N[counted_N].mean()) if counted_N.any() else None
        found[name] = mean
        drawn = {group for group, counts in zip(groups, counted_N, strict=True) if counts}
        if mean is not None and len(drawn) > 1:
            low, high = bounds[f"{name}_low"], bounds[f"{name}_high"]
            found[name] = Interval(mean, min(low, mean), max(high, mean))
    return found


def read_answered(
    path: Path, split: str, data: DataConfig, data_dir: Path, cache_dir: Path
) -> AnsweredSplit:
    """Join one split's answers with its questions, on guid, and score them.

    Args:
        path: the predictions, Parquet.
        split: the split of `data` that they are of.
        data: the data set.
        data_dir: where data sets lie.
        cache_dir: where downloads and generated corpora lie.

    Raises:
        ConfigError: there are no such predictions.
        DataError: the data cannot be read, or the predictions are of other data; names the guids.
    """
    if not path.is_file():
        raise missing_predictions(path)
    table = read_table(path)
    table.require(*_COLUMNS)
    labelled = [row for row in table.rows if row["gold"] is not None]
    guids = [row["guid"] for row in labelled]
    examples = find_examples(guids, split, data, data_dir, cache_dir)
    rows = [_answered(*pair) for pair in zip(examples, labelled, strict=True)]
    _check(rows, data)
    return score(rows, data, unlabelled=len(table) - len(rows))


def score(rows: list[Answered], data: DataConfig, unlabelled: int = 0) -> AnsweredSplit:
    """Score each answer by the standard rules and by those of the data set's language."""
    scores = item_scores(
        [row.text for row in rows],
        [row.golds for row in rows],
        [language_profile(get_language(data.language))],
        no_answer=len(data.label_order) > 1,
    )
    groups = [row.example.group or row.example.text for row in rows]
    return AnsweredSplit(rows, scores, groups, data.language, unlabelled)


def _answered(example: Example, row: Mapping[str, Any]) -> Answered:
    given = row["start"] is not None
    return Answered(
        example,
        tuple(json.loads(row["golds"])),
        row["prediction"],
        Span(int(row["start"]), int(row["end"])) if given else None,
        row["probability"] if given else None,
        tuple(json.loads(row["n_best"])),
    )


def _check(rows: Iterable[Answered], data: DataConfig) -> None:
    """Refuse answers that do not stand in the context where they say that they do."""
    fix = f"are these the texts of {data.name} that the run was scored on?"
    problems = []
    for row in rows:
        here = "" if row.place is None else row.example.text[slice(*row.place)]
        if here != row.text:
            what = f"answered '{row.text:.40}', but its context reads '{here:.40}' there"
            problems.append(Problem(row.example.guid, what, fix))
    if problems:
        raise DataError(problems)
