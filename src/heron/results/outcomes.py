"""Score every row of the compared systems: classes by confusion matrices, texts one by one.

Legend: N rows, F files (runs of all systems), K and J runs of two systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem, nearest, raise_all
from heron.config.constraints import Seed
from heron.data import TASKS
from heron.languages import get_language
from heron.languages.unicode import (
    KEPT_APART,
    UNIFY_ALL,
    Spell,
    UnicodeOptions,
    around_difference,
    speller,
)
from heron.metrics import METRICS
from heron.metrics.arrays import Counts
from heron.metrics.classification import PLAIN_SCORES, Score, accuracy, headline
from heron.metrics.names import row_values
from heron.metrics.paired import PairedUnits, mean_value, paired_counts, paired_values
from heron.metrics.significance import Booleans
from heron.results.frame import GOLDS, Frame
from heron.tasks.scoring import ClassScores, TextScores
from heron.tasks.task import CLASSES, text_scores

_NONE_COUNTS = "no row counts in it", "compare by another metric"

Golds = list[tuple[str, ...]]  # all right texts of each row, or its label


@dataclass(frozen=True, slots=True)
class Settings:
    """How to compare."""

    # The score: `macro_f1`, `micro_f1`, `weighted_f1`, or another of the task's.
    metric: str = ClassScores().metric
    task: str = CLASSES  # `classification`, or a task's name
    relaxed: str = "recode"  # the mode of `relaxed_*`: `recode`, `drop` or `matres_micro`
    draws: int = 10_000  # resamples of the bootstrap, and of the randomisation test
    seed: Seed = 0  # of bootstrap and randomisation test
    alpha: float = 0.05  # significance level of a corrected p; intervals hold 1 - alpha of draws
    language: str | None = None  # ISO 639 code of the texts, for scores such as `he_f1`
    # Which Unicode variants count as one; see `heron.languages.unicode`.
    unicode: UnicodeOptions = field(default_factory=UnicodeOptions)

    @property
    def texts(self) -> TextScores | None:
        """How the task's texts are scored; None where its predictions are classes."""
        return text_scores(self.task)

    def spell(self) -> Spell:
        """Make the function that unifies Unicode variants in texts; labels stay as they are."""
        return speller(self.language, self.unicode) if self.texts else str


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcome of every row in every file, and how outcomes become a score."""

    guids: Sequence[str]  # of the rows that count, N
    score: Score  # computes the score from summed rows
    # The score that is 1 for a right row, such as `accuracy`; None if there is none.
    right: str | None
    outcome_FN: npt.NDArray  # predicted class ids, int64, or the rows' values, float64
    right_FN: Booleans | None  # whether the row is right; None where rows are not right or wrong
    # Class ids, where outcomes are predicted class ids; None where they are values.
    gold_N: Counts | None = None
    classes: int = 0  # number of classes
    # Names of the groups that stay whole in a draw, N; None draws rows.
    groups: Sequence[str] | None = None
    notes: tuple[str, ...] = ()  # for readers of the comparison

    def pair(self, first_KN: npt.NDArray, second_JN: npt.NDArray) -> PairedUnits:
        """Pair two systems' outcomes, as the units that tests draw and swap."""
        if self.gold_N is None:
            return paired_values(first_KN, second_JN, self.groups)
        return paired_counts(self.gold_N, first_KN, second_JN, self.classes, self.groups)


def score_rows(frames: Sequence[Frame], settings: Settings, labels: Sequence[str]) -> Outcomes:
    """Score the rows of all files, which have the same guids; refuse golds that differ.

    `labels` are all class names, in order; empty: the gold labels that occur.

    Raises:
        ConfigError: an unknown metric, task, mode or language.
        DataError: golds that differ between files, labels that are no classes, no row that counts.
    """
    golds = shared_golds(frames, settings)
    if settings.texts:
        return _score_texts(frames, settings, golds, settings.texts, labels)

    return _score_classes(frames, settings, [gold for (gold, *_) in golds], labels)


def shared_golds(frames: Sequence[Frame], settings: Settings) -> Golds:
    """Find each row's golds, in all spellings; refuse golds that differ between files.

    A file with one gold agrees with a file that lists all golds if the gold is among them. Texts
    that `data.unicode` unifies are the same. Exact match and F1 would tell their spellings apart,
    so all spellings count as right: the same answer has the same score in any file.

    Raises:
        DataError: names the rows whose golds differ, and both golds.
    """
    spell = settings.spell()
    first, *others = sorted(frames, key=lambda frame: GOLDS not in frame)
    spellings = [dict.fromkeys(golds) for golds in first.golds]

    problems: dict[str, Problem] = {}
    for frame in others:
        has_one_of = GOLDS in first and GOLDS not in frame
        pairs = zip(first.golds, frame.golds, strict=True)
        for row, (known, own) in enumerate(pairs):
            spellings[row] |= dict.fromkeys(own)
            if _agree(known, own, has_one_of, spell):
                continue

            fix = "score both on the same version of the data"
            if settings.texts:
                plain = speller(settings.language, UNIFY_ALL)
                if _agree(known, own, has_one_of, plain):
                    fix = KEPT_APART

            gold = " | ".join(map(spell, known))
            other = " | ".join(map(spell, own))
            gold, other = around_difference(gold, other)
            problem = f"gold is '{gold}' in {first.path}, '{other}' in {frame.path}"
            guid = first["guid"][row]
            problems.setdefault(guid, Problem(guid, problem, fix))

    raise_all(list(problems.values()))
    return [tuple(golds) for golds in spellings]


def _agree(known: Sequence[str], own: Sequence[str], has_one_of: bool, spell: Spell) -> bool:
    """Tell whether two files have the same golds of a row.

    With `has_one_of`, the second file has only one of the first file's golds.
    """
    if known == own:
        return True

    known_texts = set(map(spell, known))
    own_texts = set(map(spell, own))
    if has_one_of and own:
        return own_texts <= known_texts

    return own_texts == known_texts


def _score_classes(
    frames: Sequence[Frame], settings: Settings, golds: Sequence[str], labels: Sequence[str]
) -> Outcomes:
    """Turn labels into class ids and find the score; a fork's metric of rows gives values.

    Raises:
        ConfigError: the task has no such score, nor has a fork.
        DataError: labels that are no classes, or no row counts in the score.
    """
    classes = list(labels) or sorted(set(golds))
    ids = {name: number for number, name in enumerate(classes)}
    predicted_ids = {**ids, "": len(classes)}  # no prediction
    _check_labels(frames[0], "gold", golds, ids)
    gold_N = np.array([ids[gold] for gold in golds], np.int64)

    rows = []
    for frame in frames:
        _check_labels(frame, "prediction", frame["prediction"], predicted_ids)
        rows.append([predicted_ids[name] for name in frame["prediction"]])

    outcome_FN = np.array(rows)
    right_FN = outcome_FN == gold_N
    guids = frames[0]["guid"]
    metric = settings.metric
    right = ClassScores().right

    try:
        score = score_function(metric, classes, task=settings.task, relaxed=settings.relaxed)
    except ConfigError:
        if metric not in METRICS:
            raise
        value_FN = np.stack([row_values(metric, frame.columns) for frame in frames])
        return Outcomes(guids, mean_value, right, value_FN, right_FN)

    counts_C = np.bincount(gold_N, minlength=len(classes))
    if np.isnan(score(np.diag(counts_C))):
        raise DataError(metric, *_NONE_COUNTS)

    return Outcomes(guids, score, right, outcome_FN, right_FN, gold_N, len(classes))


def _score_texts(
    frames: Sequence[Frame],
    settings: Settings,
    golds: Golds,
    task: TextScores,
    labels: Sequence[str],
) -> Outcomes:
    """Score every text; rows that do not count in the metric are left out.

    Raises:
        ConfigError: the task has no such score.
        DataError: no row counts in it.
    """
    metric = settings.metric
    no_answer = task.can_be_empty(labels)
    language = get_language(settings.language) if settings.language else None
    predictions = [text for frame in frames for text in frame["prediction"]]
    items = task.items(predictions, golds * len(frames), language, no_answer)
    if metric not in items and metric in METRICS:
        items[metric] = np.concatenate([row_values(metric, frame.columns) for frame in frames])

    if metric not in items:
        more = "" if language else " language=CODE adds those of a language."
        hint = nearest(metric, items, listed=True)
        raise ConfigError(f"metric={metric}: no such score.{hint}{more}")

    value_FN = items[metric].reshape(len(frames), -1)
    counts_N: Booleans = np.logical_and.reduce(np.isfinite(value_FN), axis=0)
    if not counts_N.any():
        raise DataError(metric, *_NONE_COUNTS)

    right_FN = None
    if task.right:
        right_FN = items[task.right].reshape(value_FN.shape)[:, counts_N] == 1

    notes = []
    left_out = int((~counts_N).sum())
    if left_out:
        notes.append(f"{left_out} of {len(counts_N)} rows do not count in {metric}.")

    empty = golds.count(())
    if no_answer is None and empty:
        notes.append(f"{empty} rows have an empty gold: taken for questions without an answer.")

    respelt = _count_respelt(frames, golds)
    if respelt:
        notes.append(
            f"{respelt} of {len(golds)} rows have golds that the files spell differently (equal "
            "under data.unicode): every system is scored by all spellings, so a score can "
            "be higher than by a system's own golds alone."
        )

    counted = frames[0].take(np.flatnonzero(counts_N).tolist())
    return Outcomes(
        counted["guid"],
        mean_value,
        task.right,
        value_FN[:, counts_N],
        right_FN,
        notes=tuple(notes),
    )


def _count_respelt(frames: Sequence[Frame], golds: Golds) -> int:
    """Count the rows of which some file lacks a spelling of a gold."""
    # Files that list all golds are compared; one with a single gold lacks the others anyway.
    complete = [frame for frame in frames if GOLDS in frame] or frames
    columns = [frame.golds for frame in complete]
    count = 0
    for spellings, *own in zip(golds, *columns, strict=True):
        count += any(set(spellings).difference(texts) for texts in own)
    return count


def _check_labels(frame: Frame, kind: str, labels: Sequence[str], ids: dict[str, int]) -> None:
    """Refuse labels that are no classes."""
    problems = []
    for guid, name in zip(frame["guid"], labels, strict=True):
        if name not in ids:
            of_texts = " and ".join(f"task={task}" for task in TASKS if text_scores(task))
            fix = f"labels=A,B,... sets the classes, {of_texts} compare texts"
            problem = f"unknown {kind} '{name}'.{nearest(name, ids)}"
            problems.append(Problem(f"{frame.path}, {guid}", problem, fix))

    raise_all(problems)


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

    count = len(classes)
    names = scores(np.zeros((count, count), dtype=np.int64))
    if metric not in names:
        hint = nearest(metric, [*plain, *names], listed=True)
        raise ConfigError(f"metric={metric}: no such score.{hint}")

    return lambda matrix: scores(matrix)[metric]
