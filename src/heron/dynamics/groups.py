"""Groups of examples: easy, ambiguous, hard.

Ties are always broken by guid, so that a group does not depend on the order of a file.

Shape suffixes: N examples.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from heron.dynamics.cartography import Statistics
from heron.dynamics.config import GROUPS

EASY, AMBIGUOUS, HARD = GROUPS
THIRD = 0.3319  # a third, as the code of Dataset Cartography has it, and RoNLI

Groups = dict[str, np.ndarray]


def rank(score_N: np.ndarray, guids: Sequence[str]) -> np.ndarray:
    """Sort examples by a score, ascending, NaN last; equal ones by guid (by code points).

    Returns:
        int64 positions: the first one is that of the lowest score.
    """
    order_N = np.argsort(score_N, kind="stable")
    sorted_N = score_N[order_N]
    same = (sorted_N[1:] == sorted_N[:-1]) | (np.isnan(sorted_N[1:]) & np.isnan(sorted_N[:-1]))
    tied_N = np.append(same, False) | np.append(False, same) if len(order_N) else np.zeros(0, bool)
    if tied_N.any():
        import pyarrow as pa  # start-up time
        import pyarrow.compute as pc

        members = order_N[tied_N]
        names = pa.array(guids, pa.string()).take(pa.array(members))
        place = np.empty(len(members), np.int64)
        place[pc.array_sort_indices(names).to_numpy()] = np.arange(len(members))
        order_N[tied_N] = members[np.lexsort((place, score_N[members]))]
    return order_N


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
    graded = int(np.count_nonzero(statistics.visits_N))
    size = int(fraction * graded) + 1 if exact else round(fraction * graded)
    scores = {
        EASY: -statistics.confidence_N,
        AMBIGUOUS: -statistics.variability_N,
        HARD: statistics.confidence_N,
    }
    return {
        name: rank(score_N, statistics.guids)[: min(size, graded)]
        for name, score_N in scores.items()
    }


def tercile_partition(score_N: np.ndarray, guids: Sequence[str]) -> Groups:
    """Divide examples into disjoint thirds of a difficulty score, whose sizes differ by at most 1.

    Examples with NaN are in no group. Returns boolean masks of length N, by `GROUPS`.
    """
    graded = np.count_nonzero(~np.isnan(score_N))
    thirds = np.array_split(rank(score_N, guids)[:graded], 3)
    return {name: _mask(third, len(score_N)) for name, third in zip(GROUPS, thirds, strict=True)}


def class_counts(
    groups: Mapping[str, np.ndarray], gold_N: np.ndarray, labels: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Count the classes in each group (a boolean mask), as RoNLI's table 3."""
    counts = {
        name: np.bincount(gold_N[mask_N], minlength=len(labels)) for name, mask_N in groups.items()
    }
    return {name: dict(zip(labels, each.tolist(), strict=True)) for name, each in counts.items()}


def _mask(positions: np.ndarray, length: int) -> np.ndarray:
    mask_N = np.zeros(length, bool)
    mask_N[positions] = True
    return mask_N
