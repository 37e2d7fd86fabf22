"""Score every row of the compared systems: classes by confusion matrices, texts one by one.

Legend: N rows, F files (runs of all systems), K and J runs of two systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.config.constraints import Seed
from heron.data import TASKS
from heron.languages import get_language
from heron.languages.spelling import Spell, speller
from heron.languages.unicode import UnicodeOptions
from heron.metrics import METRICS
from heron.metrics.classification import PLAIN_SCORES, Counts, Score, accuracy, headline
from heron.metrics.names import row_values
from heron.metrics.paired import PairedUnits, mean_value, paired_counts, paired_values
from heron.metrics.significance import Booleans
from heron.results.predictions import Predictions, read_predictions
from heron.tasks.task import CLASSES, ClassScores, TextScores, scores_of, text_scores

Golds = dict[str, tuple[str, ...]]  # all right texts, or the label, by guid


@dataclass(frozen=True, slots=True)
class Settings:
    """How to compare."""

    # The score: `macro_f1`, `micro_f1`, `weighted_f1`, or another of the task's.
    metric: str = ClassScores().metric
    task: str = CLASSES  # `classification`, or a task's name
    relaxed: str = "recode"  # what `relaxed_*` stands for: `recode`, `drop` or `matres_micro`
    draws: int = 10_000  # of the bootstrap and of the randomisation
    seed: Seed = 0  # of both
    alpha: float = 0.05  # how large a corrected p may be; the intervals hold 1 - alpha of the draws
    language: str | None = None  # ISO 639-1 code of the texts, for scores such as `he_f1`
    # Which Unicode variants count as one; see `heron.languages.spelling`.
    unicode: UnicodeOptions = field(default_factory=UnicodeOptions)

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ConfigError(f"alpha={self.alpha}: expected a number between 0 and 1")
        scores_of(self.task)

    @property
    def texts(self) -> TextScores | None:
        """How the task's texts are scored; None where its predictions are classes."""
        return text_scores(self.task)

    def spell(self) -> Spell:
        """Make the function that spells texts of all files alike."""
        return speller(self.language, self.unicode)


@dataclass(frozen=True, slots=True)
class Scoring:
    """How the outcomes of rows become a score."""

    score: Score  # computes the score from summed rows
    # The score that is 1 for a right row, such as `accuracy`; None if there is none.
    right: str | None
    # Class ids, where outcomes are predicted class ids; None where they are values.
    gold_N: Counts | None = None
    classes: int = 0  # number of classes

    def pair(
        self, first_KN: npt.NDArray, second_JN: npt.NDArray, group_N: Sequence[str] | None = None
    ) -> PairedUnits:
        """Pair two systems' outcomes, as the units that tests draw and swap."""
        if self.gold_N is None:
            return paired_values(first_KN, second_JN, group_N)
        return paired_counts(self.gold_N, first_KN, second_JN, self.classes, group_N)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcome of every row in every file."""

    guids: Sequence[str]  # of the rows that count, N
    scoring: Scoring  # how outcomes become a score
    outcome_FN: npt.NDArray  # predicted class ids, int64, or the rows' values, float64
    right_FN: Booleans | None  # whether the row is right; None where rows are not right or wrong
    notes: tuple[str, ...] = ()  # for readers of the comparison


def score_classes(
    files: Sequence[Predictions], guids: Sequence[str], settings: Settings, labels: Sequence[str]
) -> Outcomes:
    """Turn labels into class ids and find the score; a fork's metric of rows gives values instead.

    `labels` are all class names, in order; empty: the gold labels that occur.

    Raises:
        ConfigError: an unknown metric, task or mode.
        DataError: labels that are no classes.
    """
    classes = list(labels) or sorted({row.golds[0] for file in files for row in file.rows})
    numbers = {name: number for number, name in enumerate(classes)}
    _check_labels(files, guids, numbers)
    predicted = numbers | {"": len(classes)}  # no prediction
    gold_N = np.array([numbers[files[0].by_guid[guid].golds[0]] for guid in guids], np.int64)
    outcome_FN = np.array(
        [[predicted[file.by_guid[guid].prediction] for guid in guids] for file in files], np.int64
    )
    right, metric = ClassScores().right, settings.metric
    try:
        score = score_function(metric, classes, task=settings.task, relaxed=settings.relaxed)
    except ConfigError:
        if metric not in METRICS:
            raise
        value_FN = np.stack([_row_values(file, guids, metric) for file in files])
        return Outcomes(guids, Scoring(mean_value, right), value_FN, outcome_FN == gold_N)
    scoring = Scoring(score, right, gold_N, len(classes))
    return Outcomes(guids, scoring, outcome_FN, outcome_FN == gold_N)


def score_texts(
    files: Sequence[Predictions],
    guids: Sequence[str],
    settings: Settings,
    golds: Golds,
    no_answer: bool | None,
) -> Outcomes:
    """Score every text; rows that do not count in the metric are left out.

    Args:
        files: of all systems.
        guids: which all files have.
        settings: the task, the metric, the language.
        golds: in the spellings of all files.
        no_answer: whether "no answer" can be right; None: if any gold is empty.

    Raises:
        ConfigError: an unknown metric or language.
        DataError: no row counts.
    """
    task, metric = settings.texts, settings.metric
    assert task is not None
    language = get_language(settings.language) if settings.language else None
    predictions = [file.by_guid[guid].prediction for file in files for guid in guids]
    right = [golds[guid] for guid in guids]
    items = task.items(predictions, right * len(files), language, no_answer)
    if metric not in items and metric in METRICS:
        items[metric] = np.concatenate([_row_values(file, guids, metric) for file in files])
    if metric not in items:
        more = "" if language else " language=CODE adds those of a language."
        hint = nearest(metric, items, listed=True)
        raise ConfigError(f"metric={metric}: no such score.{hint}{more}")
    value_FN = items[metric].reshape(len(files), -1)
    right_FN = items[task.right].reshape(value_FN.shape) == 1 if task.right else None
    counts_N: Booleans = np.logical_and.reduce(np.isfinite(value_FN), axis=0)
    if not counts_N.any():
        raise DataError(Problem(metric, "no row counts in it", "compare by another metric"))
    notes = []
    if left := int((~counts_N).sum()):
        notes.append(f"{left} of {len(counts_N)} rows do not count in {metric}.")
    if no_answer is None and (empty := sum(not answers for answers in right)):
        notes.append(f"{empty} rows have an empty gold: taken for questions without an answer.")
    return Outcomes(
        [guid for guid, counts in zip(guids, counts_N, strict=True) if counts],
        Scoring(mean_value, task.right),
        value_FN[:, counts_N],
        None if right_FN is None else right_FN[:, counts_N],
        (*notes, *_spelling_notes(files, guids, golds)),
    )


def _row_values(file: Predictions, guids: Sequence[str], metric: str) -> npt.NDArray:
    """Compute a fork's metric of each row; it may read any column, so the files are read whole."""
    rows = [file.by_guid[guid] for guid in guids]
    whole = [row for path in file.paths or (file.path,) for row in read_predictions(path).rows]
    cells = {row.guid: row.cells for row in whole}
    common = set.intersection(*map(set, cells.values()))
    columns: dict[str, list[Any]] = {name: [cells[g][name] for g in guids] for name in common}
    columns |= {"guid": list(guids), "gold": [row.gold for row in rows]}
    return row_values(metric, columns | {"prediction": [row.prediction for row in rows]})


def _spelling_notes(files: Sequence[Predictions], guids: Sequence[str], golds: Golds) -> list[str]:
    """Count rows whose golds files spell differently."""
    # A file with one gold for each row lacks the others anyway.
    whole = [file for file in files if file.has_all_golds] or files
    apart = sum(
        any(set(golds[guid]) - {*file.by_guid[guid].golds} for file in whole) for guid in guids
    )
    if not apart:
        return []
    return [
        f"{apart} of {len(guids)} rows have golds that the files spell otherwise (data.unicode "
        "takes them for one): every system is scored by all spellings, so a score can "
        "be higher than by a system's own golds alone."
    ]


_NAMED = 20  # labels in a message


def _check_labels(
    files: Sequence[Predictions], guids: Sequence[str], numbers: dict[str, int]
) -> None:
    """Refuse labels that are no classes."""
    known = [label if len(label) <= 40 else f"{label[:40]}..." for label in [*numbers][:_NAMED]]
    known += ["..."] if len(numbers) > _NAMED else []
    of_texts = " and ".join(f"task={name}" for name in TASKS if text_scores(name))
    fix = f"allowed: {', '.join(known)}; labels=A,B,... sets them, {of_texts} compare texts"
    problems = [
        Problem(f"{file.path}, {guid}", f"unknown {kind} '{label}'", fix)
        for file in files
        for guid in guids
        for row in [file.by_guid[guid]]
        for kind, label in (("gold", row.golds[0]), ("prediction", row.prediction))
        if label not in numbers and (kind, label) != ("prediction", "")
    ]
    if problems:
        raise DataError(problems)


def score_function(
    metric: str, classes: Sequence[str], *, task: str = "classification", relaxed: str = "recode"
) -> Score:
    """Find a headline score, or `micro_f1` (equal to `accuracy`), as a function of matrices.

    Raises:
        ConfigError: an unknown metric, task or mode.
    """
    plain = {**PLAIN_SCORES, "micro_f1": accuracy}
    scores = headline(task, classes, relaxed)
    if metric in plain:
        return plain[metric]
    names = scores(np.zeros((len(classes), len(classes)), dtype=np.int64))
    if metric not in names:
        hint = nearest(metric, [*plain, *names], listed=True)
        raise ConfigError(f"metric={metric}: no such score.{hint}")
    return lambda matrix: scores(matrix)[metric]
