"""Krippendorff's alpha beside hand-worked values, a sum over all pairs, and known raters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heron_tools.annotation.measures import krippendorff_alpha

NO = math.nan
# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", example C: four observers,
# twelve units, some values missing; the article works out .743 (nominal) and .849 (interval).
EXAMPLE_C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
    [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
]
ratings = arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(1, 8)),
    elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, NO]),
)


def over_all_pairs(values_RU, level):
    """Alpha by its definition: every pair within a unit, every pair of all pairable values."""

    def distance(a, b):
        return float(a != b) if level == "nominal" else (a - b) ** 2

    units = [[v for v in unit if not math.isnan(v)] for unit in np.asarray(values_RU, float).T]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]
    n = len(pooled)
    observed = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    expected = sum(
        distance(a, b) for i, a in enumerate(pooled) for j, b in enumerate(pooled) if i != j
    )
    return None if not expected else 1 - (n - 1) * observed / expected


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("interval", 0.849)])
def test_alpha_is_what_the_article_works_out_by_hand(level, expected):
    found = krippendorff_alpha(EXAMPLE_C, level)
    assert found.value == pytest.approx(expected, abs=0.0005)
    assert (found.n, found.labels) == (11, 40)


@given(ratings, st.sampled_from(["interval", "nominal"]))
def test_alpha_equals_the_sum_over_all_pairs(values_RU, level):
    expected = over_all_pairs(values_RU, level)
    found = krippendorff_alpha(values_RU, level).value
    assert (found is None) == (expected is None)
    if expected is not None:
        assert found == pytest.approx(expected, abs=1e-9)


@given(ratings, st.floats(0.1, 50), st.floats(-1000, 1000), st.randoms())
def test_alpha_knows_no_unit_of_measurement_and_no_order(values_RU, scale, shift, random):
    first = krippendorff_alpha(values_RU).value
    raters, units = (random.sample(range(n), n) for n in values_RU.shape)
    changed = krippendorff_alpha(values_RU[raters][:, units] * scale + shift).value
    assert (first is None) == (changed is None)
    if first is not None:
        assert changed == pytest.approx(first, abs=1e-6)


@pytest.mark.parametrize("sure", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("level", ["interval", "nominal"])
def test_raters_who_know_with_a_known_probability_have_its_square(sure, level):
    """With probability q a rater gives the truth, else a value drawn as truths are: two of them
    both know with q squared, and agree by chance else, whatever the distance."""
    random = np.random.default_rng(1)
    truth = random.integers(1, 6, 4000)
    noise = random.integers(1, 6, (5, 4000))
    values = np.where(random.random((5, 4000)) < sure, truth, noise).astype(float)
    found = krippendorff_alpha(values, level, [str(u) for u in range(4000)], resamples=200)
    assert found.value == pytest.approx(sure**2, abs=0.02)
    assert found.low < sure**2 < found.high


@pytest.mark.parametrize(
    "values", [[[1, 2, 3]], [[1, NO], [NO, 2]], [[4, 4], [4, 4]], [[NO, NO], [NO, NO]], [[], []]]
)
@pytest.mark.parametrize("level", ["interval", "nominal"])
def test_alpha_is_undefined_without_pairs_or_without_different_values(values, level):
    found = krippendorff_alpha(values, level, ["a", "b", "c"][: len(values[0])])
    assert (found.value, found.low, found.high) == (None, None, None)


def test_units_of_one_group_are_drawn_together():
    random = np.random.default_rng(3)
    article = np.repeat(random.normal(0, 2, 30), 6)
    values = article + random.normal(0, 1, (3, 180))
    together = krippendorff_alpha(values, groups=[str(u // 6) for u in range(180)])
    apart = krippendorff_alpha(values, groups=[str(u) for u in range(180)])
    assert together.value == apart.value
    assert together.high - together.low > 1.3 * (apart.high - apart.low)
    assert krippendorff_alpha(values, groups=["one"] * 180).low is None
