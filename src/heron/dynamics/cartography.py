"""Cartography: statistics of each example's training dynamics, and groups by them.

Statistics are over the records that visited an example; one that no record visited has NaN
throughout. Groups are easy, ambiguous, hard; ties are broken by guid, or by its hash, so that a
group does not depend on the order of a file.

Source: Swayamdipta et al. (2020), Dataset Cartography (confidence, variability, correctness);
Toneva et al. (2019), Example Forgetting; Pleiss et al. (2020), Area Under the Margin; Chang et al.
(2017), Active Bias (threshold closeness, variability with its confidence interval).

Shape suffixes: E records ("epochs"), N examples.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.errors import raise_all
from heron.base.tables import read_table
from heron.dynamics.config import GROUPS
from heron.dynamics.files import Dynamics

NEVER_LEARNT = 1000  # the published tool's count for an example that was never right
_LEAST = float(np.finfo(np.float32).tiny)  # smallest p(gold) in a loss, so that the log is finite


@dataclass(frozen=True)
class Statistics:
    """Statistics of N examples; arrays are float64 but for `gold_N` and `visits_N`."""

    guids: list[str]  # N
    gold_N: np.ndarray  # int16 class ids; -1 where the task has no classes
    visits_N: np.ndarray  # int64 number of records that visited the example
    confidence_N: np.ndarray  # mean probability of the gold label, 0 to 1
    variability_N: np.ndarray  # its population standard deviation over records, 0 to 0.5
    correctness_N: np.ndarray  # fraction of the visits with a right prediction
    # The same as a number of records, which is the published tool's `correctness`; a record that
    # repeats the example counts as its share of right predictions.
    correctness_count_N: np.ndarray
    forgetting_N: np.ndarray  # times that the example was right and then wrong
    # Area under the margin, the mean margin in logits; NaN where the task has none.
    aum_N: np.ndarray
    loss_N: np.ndarray  # mean negative logarithm of the gold label's probability, in nats
    threshold_closeness_N: np.ndarray  # confidence x (1 - confidence)
    labels: tuple[str, ...] = ()  # class names in the order of the ids

    def __len__(self) -> int:
        return len(self.guids)

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a table's columns, named as here without suffixes after `guid`."""
        columns: dict[str, Sequence[Any]] = {"guid": self.guids}
        for name, values in vars(self).items():
            if name.endswith("_N"):
                columns[name.removesuffix("_N")] = values
        return columns


def statistics(
    dynamics: Dynamics,
    burn_out: int | None = None,
    include_ci: bool = False,
) -> Statistics:
    """Compute everything from a run's dynamics.

    Args:
        dynamics: of the run.
        burn_out: use only this many first records (all if there are fewer, as in the published
            tool).
        include_ci: see `variability`.
    """
    p_gold_EN = dynamics.p_gold_EN[:burn_out]
    correct_EN = dynamics.correct_EN[:burn_out]
    margin_EN = dynamics.margin_EN[:burn_out]
    confidence_N = mean(p_gold_EN)

    return Statistics(
        guids=dynamics.guids,
        gold_N=dynamics.gold_N,
        visits_N=visits(p_gold_EN),
        confidence_N=confidence_N,
        variability_N=variability(p_gold_EN, include_ci),
        correctness_N=mean(correct_EN),
        correctness_count_N=correctness(correct_EN),
        forgetting_N=forgetting(correct_EN),
        aum_N=mean(margin_EN),
        loss_N=loss(p_gold_EN),
        threshold_closeness_N=confidence_N * (1 - confidence_N),
        labels=dynamics.labels,
    )


def read_statistics(path: Path) -> Statistics:
    """Read statistics that another tool has stored, such as RoNLI's released `td_metrics.jsonl`.

    A table with guid, confidence, variability and `correctness_count`, as in `map.csv`; in the
    published tool's layout, `correctness` is the count. Others are NaN, gold labels unknown.

    Raises:
        DataError: no such file or column, or a guid twice.
    """
    table = read_table(path, own=True)
    count = "correctness_count" if "correctness_count" in table.columns else "correctness"
    table.require("guid", "confidence", "variability", count)
    raise_all(table.duplicates("guid"))

    confidence_N = np.asarray(table.values("confidence"), np.float64)
    unknown_N = np.full(len(table), np.nan)

    return Statistics(
        guids=table.texts("guid"),
        gold_N=np.full(len(table), -1, np.int16),
        visits_N=np.ones(len(table), np.int64),
        confidence_N=confidence_N,
        variability_N=np.asarray(table.values("variability"), np.float64),
        correctness_N=unknown_N,
        correctness_count_N=np.asarray(table.values(count), np.float64),
        forgetting_N=unknown_N,
        aum_N=unknown_N,
        loss_N=unknown_N,
        threshold_closeness_N=confidence_N * (1 - confidence_N),
    )


def visits(values_EN: np.ndarray) -> np.ndarray:
    """Count the records that visited each example; int64."""
    return np.count_nonzero(~np.isnan(values_EN), axis=0)


def mean(values_EN: np.ndarray) -> np.ndarray:
    """Average over the records that visited each example, in float64; NaN where none did."""
    return _divide(_total(values_EN), visits(values_EN))


def correctness(correct_EN: np.ndarray) -> np.ndarray:
    """Count the records in which each example was right, in float64; NaN where not visited."""
    return np.where(visits(correct_EN) > 0, _total(correct_EN), np.nan)


def variability(p_gold_EN: np.ndarray, include_ci: bool = False) -> np.ndarray:
    """Return the population standard deviation of the gold label's probability over records.

    `include_ci` gives sqrt(var + var^2 / (n - 1)) over an example's n visits; NaN where n is 1.
    """
    visits_N = visits(p_gold_EN)
    mean_N = mean(p_gold_EN)
    squares_EN = ((p_gold_N - mean_N) ** 2 for p_gold_N in p_gold_EN)
    variance_N = _divide(_total(squares_EN), visits_N)
    if include_ci:
        variance_N = variance_N + _divide(variance_N**2, visits_N - 1)
    return np.sqrt(variance_N)


def forgetting(correct_EN: np.ndarray, never: float | None = None) -> np.ndarray:
    """Count forgetting events: an example was right when last visited and is wrong now.

    A record is right if half or more of its visits are. `never` is the count for an example
    that was never right: None takes E, the number of records, which is more than any number of
    events (at most E / 2) and on their scale; the published tool has `NEVER_LEARNT`.
    """
    examples = correct_EN.shape[1]
    learnt_N = np.zeros(examples, bool)
    events_N = np.zeros(examples)
    for correct_N in correct_EN:
        right_N = correct_N >= 0.5  # false for NaN, as is the opposite
        wrong_N = correct_N < 0.5
        events_N += learnt_N & wrong_N
        learnt_N = (learnt_N | right_N) & ~wrong_N

    ever_N = (correct_EN >= 0.5).any(axis=0)
    events_N[~ever_N] = len(correct_EN) if never is None else never
    events_N[visits(correct_EN) == 0] = np.nan
    return events_N


def loss(p_gold_EN: np.ndarray) -> np.ndarray:
    """Average -log p_gold over visits, in nats.

    A probability of 0 counts as the least normal float32 (87.3 nats), so that no loss is infinite.
    """
    return mean(-np.log(np.maximum(p_gold_EN, _LEAST)))


def _total(values_EN: Iterable[np.ndarray]) -> np.ndarray:
    """Add up the visited records, in float64."""
    # Record by record: float64 copies and masks of the whole E x N would not fit the cache.
    rows = (np.where(np.isnan(values_N), 0.0, values_N) for values_N in values_EN)
    total_N = next(rows).astype(np.float64)
    for values_N in rows:
        total_N += values_N
    return total_N


def _divide(total_N: np.ndarray, by_N: np.ndarray) -> np.ndarray:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(total_N, by_N, out=np.full(len(total_N), np.nan), where=by_N > 0)


EASY, AMBIGUOUS, HARD = GROUPS
THIRD = 0.3319  # a third, as in the code of Dataset Cartography and RoNLI

Groups = dict[str, np.ndarray]


def rank(score_N: np.ndarray, guids: Sequence[str]) -> np.ndarray:
    """Sort examples by a score, ascending, NaN last; equal ones by guid (by code points).

    Returns:
        int64 positions: the first one is that of the lowest score.
    """
    order_N = np.argsort(score_N, kind="stable")
    sorted_N = score_N[order_N]
    equals_next = np.isclose(sorted_N[:-1], sorted_N[1:], rtol=0, atol=0, equal_nan=True)
    tied_N = np.zeros(len(sorted_N), bool)
    tied_N[:-1] |= equals_next
    tied_N[1:] |= equals_next
    if not tied_N.any():
        return order_N

    import pyarrow as pa  # start-up time
    import pyarrow.compute as pc

    members = order_N[tied_N]
    names = pa.array(guids, pa.string()).take(pa.array(members))
    by_name = pc.array_sort_indices(names).to_numpy()
    place = np.argsort(by_name)  # each one's among the guids

    by_score = np.lexsort((place, score_N[members]))
    order_N[tied_N] = members[by_score]
    return order_N


def scatter(guids: Sequence[str]) -> list[str]:
    """Rename examples in no order: by guid, equal ones of a file sorted by class would be sorted.

    Most examples are equal by a count, such as that of forgetting events.
    """
    return [hashlib.sha256(guid.encode()).hexdigest() for guid in guids]


def allenai(statistics: Statistics, fraction: float = THIRD, exact: bool = True) -> Groups:
    """Group the most extreme examples of each kind, as the published tool does. Groups overlap.

    Easy are the examples of highest confidence, hard those of lowest, ambiguous those of highest
    variability. Examples that no record visited are in no group and do not count.

    Of n visited examples, a group has int(fraction x n) + 1 as the tool's (19,289 of RoNLI's
    58,114), or, if not `exact`, fraction x n rounded; at most n. Returns boolean masks of length
    N, by `GROUPS`.

    Source: Swayamdipta et al. (2020), section 3 and the code released with it.
    """
    selected = select(statistics, fraction, exact)
    return {name: _mask(positions, len(statistics)) for name, positions in selected.items()}


def select(statistics: Statistics, fraction: float = THIRD, exact: bool = True) -> Groups:
    """List the members of each of `allenai`'s groups as int64 positions, the most extreme first.

    Args, Source: see `allenai`.
    """
    visited = int(np.count_nonzero(statistics.visits_N))
    size = int(fraction * visited) + 1 if exact else round(fraction * visited)
    size = min(size, visited)

    guids = statistics.guids
    return {
        EASY: rank(-statistics.confidence_N, guids)[:size],
        AMBIGUOUS: rank(-statistics.variability_N, guids)[:size],
        HARD: rank(statistics.confidence_N, guids)[:size],
    }


def tercile_partition(score_N: np.ndarray, guids: Sequence[str]) -> Groups:
    """Divide examples into disjoint thirds of a difficulty score, whose sizes differ by at most 1.

    Ties go by `scatter`. Examples with NaN are in no group. Returns boolean masks of length N, by
    `GROUPS`.
    """
    graded = np.count_nonzero(~np.isnan(score_N))
    order = rank(score_N, scatter(guids))[:graded]
    groups = {}
    for name, third in zip(GROUPS, np.array_split(order, 3), strict=True):
        groups[name] = _mask(third, len(score_N))
    return groups


def class_counts(
    groups: Mapping[str, np.ndarray], gold_N: np.ndarray, labels: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Count the classes in each group (a boolean mask), as RoNLI's table 3."""
    counts_of = {}
    for name, mask_N in groups.items():
        counts = np.bincount(gold_N[mask_N], minlength=len(labels)).tolist()
        counts_of[name] = dict(zip(labels, counts, strict=True))
    return counts_of


def _mask(positions: np.ndarray, length: int) -> np.ndarray:
    mask_N = np.zeros(length, bool)
    mask_N[positions] = True
    return mask_N
