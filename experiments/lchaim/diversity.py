"""Accuracy by lexical diversity (`heron analyze by=ttr`), with correlations controlled for length.

Legend: N rows, G groups, R resamples, K columns, X any axes.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Interval, Table
from heron.metrics.intervals import resample_groups
from heron_tools.analysis.slicing import Column, Slicer
from heron_tools.morphology.backends import load_morphology
from heron_tools.morphology.diversity import WINDOW, Diversity, ratio_name
from heron_tools.statistics.labels import measure_diversity
from heron_tools.statistics.outcome import Outcome

_RANK_RESAMPLES = 500

Floats = npt.NDArray[np.float64]


def by_diversity(slicer: Slicer) -> Outcome:
    """Slice by type-token ratio, and control for length.

    Source: LCHAIM, section 5.1 and Figure 2.
    Deviates: the paper does not control for length, with which the ratio falls.
    """
    split = slicer.split
    backend = load_morphology(split.options.morphology, split.language)
    measured = measure_diversity(split.examples, backend)
    ttr_N = np.asarray([one.ttr for one in measured])
    tokens_N = np.asarray([one.tokens for one in measured])
    lemmas = f"Lemmas by {backend.name}."
    name = ratio_name(measured)
    sliced = slicer.slice(Column(name, ttr_N, note=lemmas))
    facts = {
        "morphology": backend.name,
        "ttr": name,
        "mattr_window": WINDOW,
        "shorter_than_window": int((tokens_N < WINDOW).sum()),
    }
    more = _correlations(slicer, measured, f"{lemmas} {slicer.note}")
    return replace(sliced, tables=(*sliced.tables, more), facts={**sliced.facts, **facts})


def _correlations(slicer: Slicer, measured: Sequence[Diversity], note: str) -> Table:
    tokens = [one.tokens for one in measured]
    values: dict[str, list[float]] = {
        ratio_name(measured): [one.ttr for one in measured],
        f"moving average, {WINDOW} tokens": [one.mattr for one in measured],
    }
    if measured and measured[0].pos is not None:
        values["its lemma term"] = [one.lemma for one in measured]
        values["its part-of-speech term"] = [one.pos or 0.0 for one in measured]
    right_N, group_N = slicer.scores["accuracy"], slicer.groups
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            rank_correlation(numbers, tokens, group_N),
            rank_correlation(numbers, right_N, group_N),
            rank_correlation(numbers, right_N, group_N, given_N=tokens),
        )
        for name, numbers in values.items()
    ]
    rows.append(("length (tokens)", None, rank_correlation(tokens, right_N, group_N), None))
    columns = ("measure", "with length", "with correctness", "with correctness, given length")
    title = "Diversity and correctness: Spearman's rank correlation"
    return Table(title, columns, tuple(rows), note)


def rank_correlation(
    x_N: npt.ArrayLike,
    y_N: npt.ArrayLike,
    group_N: npt.ArrayLike,
    given_N: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Interval | float | None:
    """Compute Spearman's correlation of x and y; with `given_N`, the partial one.

    The interval resamples whole groups, which `group_N` numbers; ranks are those of all rows. A
    single group gives no interval; a constant column gives None, as it has no correlation.
    """
    from scipy.stats import rankdata  # start-up time

    columns = [x_N, y_N, *([] if given_N is None else [given_N])]
    ranks_NK = np.stack([rankdata(np.asarray(each)) for each in columns], axis=1)
    ranks_NK = np.column_stack([np.ones(len(ranks_NK)), ranks_NK - ranks_NK.mean(axis=0)])
    groups, of_N = np.unique(np.asarray(group_N), return_inverse=True)
    sums_GKK = np.zeros((len(groups), *ranks_NK.shape[1:] * 2))
    np.add.at(sums_GKK, of_N, ranks_NK[:, :, None] * ranks_NK[:, None])
    value = float(_correlation(sums_GKK.sum(axis=0)))
    if not math.isfinite(value):
        return None
    drawn_R = _correlation(resample_groups(sums_GKK, _RANK_RESAMPLES, seed))
    finite_R = drawn_R[np.isfinite(drawn_R)]
    if len(groups) == 1 or not len(finite_R):
        return value
    low, high = np.quantile(finite_R, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def _correlation(sums_XKK: Floats) -> Floats:
    """Correlate two columns, controlled for a third if given, `[X]`; NaN where undefined.

    `sums_XKK` are sums of products of the columns 1, x, y and, if given, the third.
    """
    means_XK = sums_XKK[..., 0, 1:] / sums_XKK[..., 0, :1]
    rows_X11 = sums_XKK[..., :1, :1]
    covered = sums_XKK[..., 1:, 1:] - rows_X11 * means_XK[..., None] * means_XK[..., None, :]
    spread_XK = np.sqrt(np.diagonal(covered, axis1=-2, axis2=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = covered / (spread_XK[..., None] * spread_XK[..., None, :])
        if found.shape[-1] == 2:
            return np.asarray(found[..., 0, 1])
        xy, xz, yz = found[..., 0, 1], found[..., 0, 2], found[..., 1, 2]
        rest = (1 - xz**2) * (1 - yz**2)
        given = (xy - xz * yz) / np.sqrt(rest)
    # If x or y has the ranks of the third, the partial correlation is undefined.
    given = np.where(rest > 1e-12, given, np.nan)
    return np.where(spread_XK[..., 2] > 0, given, xy)
