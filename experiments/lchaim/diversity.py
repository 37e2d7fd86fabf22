"""Accuracy by lexical diversity (`heron analyze by=ttr`), with correlations controlled for length.

Legend: N rows, G groups, R resamples, K columns, X any axes.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from heron.base.cells import Interval, Row, Table
from heron.metrics.intervals import resample_groups
from heron_tools.analysis.slicing import SliceColumn, Slicer
from heron_tools.morphology.backends import load_morphology
from heron_tools.morphology.diversity import WINDOW, Diversity, ratio_name
from heron_tools.statistics.labels import measure_diversity
from heron_tools.statistics.outcome import AnalysisResult

_RANK_RESAMPLES = 500

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def by_diversity(slicer: Slicer) -> AnalysisResult:
    """Slice by type-token ratio, and control for length.

    Source: LCHAIM, section 5.1 and Figure 2.
    Deviates: the paper does not control for length, with which the ratio falls.
    """
    split = slicer.split
    backend = load_morphology(split.options.morphology, split.language)
    measured = measure_diversity(split.examples, backend)
    ttr_N = np.array([diversity.ttr for diversity in measured])
    tokens_N = np.array([diversity.tokens for diversity in measured])
    note = f"Lemmas by {backend.name}."
    ratio = ratio_name(measured)

    column = SliceColumn(ratio, ttr_N, note=note)
    sliced = slicer.slice(column)
    correlations = _correlations(slicer, measured, tokens_N, f"{note} {slicer.note}")
    facts = {
        **sliced.facts,
        "morphology": backend.name,
        "ttr": ratio,
        "mattr_window": WINDOW,
        "shorter_than_window": int((tokens_N < WINDOW).sum()),
    }
    return replace(sliced, tables=(*sliced.tables, correlations), facts=facts)


def _correlations(
    slicer: Slicer, measured: Sequence[Diversity], tokens_N: Ints, note: str
) -> Table:
    """Correlate each measure of diversity with length and with correctness."""
    ratio = ratio_name(measured)
    moving_average = f"moving average, {WINDOW} tokens"
    measures = {
        ratio: [diversity.ttr for diversity in measured],
        moving_average: [diversity.mattr for diversity in measured],
    }
    if measured and measured[0].pos is not None:
        measures["its lemma term"] = [diversity.lemma for diversity in measured]
        measures["its part-of-speech term"] = [diversity.pos or 0.0 for diversity in measured]

    right_N = slicer.scores["accuracy"]
    group_N = slicer.groups
    rows: list[Row] = []
    for name, values in measures.items():
        with_length = rank_correlation(values, tokens_N, group_N)
        with_right = rank_correlation(values, right_N, group_N)
        with_right_given_length = rank_correlation(values, right_N, group_N, control_N=tokens_N)
        rows.append((name, with_length, with_right, with_right_given_length))

    length_with_right = rank_correlation(tokens_N, right_N, group_N)
    rows.append(("length (tokens)", None, length_with_right, None))

    title = "Diversity and correctness: Spearman's rank correlation"
    columns = ("measure", "with length", "with correctness", "with correctness, given length")
    return Table(title, columns, rows, note)


def rank_correlation(
    x_N: npt.ArrayLike,
    y_N: npt.ArrayLike,
    group_N: npt.ArrayLike,
    control_N: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Interval | float | None:
    """Compute Spearman's correlation of x and y; with `control_N`, the partial one.

    The interval resamples whole groups; ranks are those of all rows.

    Args:
        x_N: numbers.
        y_N: numbers.
        group_N: the number of each row's group.
        control_N: numbers to control for.
        seed: of the resamples.

    Returns:
        The correlation with its 95 % interval; without an interval for a single group; None if a
        column is constant, as it has no correlation.
    """
    from scipy.stats import rankdata  # start-up time

    columns = [x_N, y_N]
    if control_N is not None:
        columns.append(control_N)
    ranks = [rankdata(np.asarray(column_N)) for column_N in columns]
    ranks_NK = np.stack(ranks, axis=1)
    centred_NK = ranks_NK - ranks_NK.mean(axis=0)
    centred_NK = np.column_stack([np.ones(len(ranks_NK)), centred_NK])

    products_NKK = centred_NK[:, :, None] * centred_NK[:, None]
    groups, group_N = np.unique(np.asarray(group_N), return_inverse=True)
    sums_GKK = np.zeros((len(groups), *products_NKK.shape[1:]))
    np.add.at(sums_GKK, group_N, products_NKK)

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
    """Correlate two columns, x and y; the partial correlation if there is a third, z.

    Args:
        sums_XKK: sums of products of the columns 1, x, y and, if given, z.

    Returns:
        `[X]`; NaN where the correlation is undefined.
    """
    n_X11 = sums_XKK[..., :1, :1]
    sums_XK = sums_XKK[..., 0, 1:]
    means_XK = sums_XK / sums_XKK[..., 0, :1]

    # Covariances times n, and standard deviations times its root.
    expected_XKK = n_X11 * means_XK[..., None] * means_XK[..., None, :]
    covariance_XKK = sums_XKK[..., 1:, 1:] - expected_XKK
    deviation_XK = np.sqrt(np.diagonal(covariance_XKK, axis1=-2, axis2=-1))

    with np.errstate(divide="ignore", invalid="ignore"):
        deviations_XKK = deviation_XK[..., None] * deviation_XK[..., None, :]
        r_XKK = covariance_XKK / deviations_XKK
        xy_X = r_XKK[..., 0, 1]
        if r_XKK.shape[-1] == 2:
            return np.asarray(xy_X)

        xz_X = r_XKK[..., 0, 2]
        yz_X = r_XKK[..., 1, 2]
        rest_X = (1 - xz_X**2) * (1 - yz_X**2)
        partial_X = (xy_X - xz_X * yz_X) / np.sqrt(rest_X)

    # If x or y has the ranks of z, the partial correlation is undefined.
    partial_X = np.where(rest_X > 1e-12, partial_X, np.nan)
    z_varies_X = deviation_XK[..., 2] > 0
    return np.where(z_varies_X, partial_X, xy_X)
