"""Statistics are those of a plain loop over examples; scores are those that RoNLI describes."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heron.dynamics.cartography import (
    GROUPS,
    NEVER_LEARNT,
    Statistics,
    allenai,
    class_counts,
    forgetting,
    mean,
    rank,
    statistics,
    tercile_partition,
    variability,
)
from heron.dynamics.difficulty import SCORES, difficulty, eq1
from made_up_dynamics import make_dynamics

SHAPE = st.tuples(st.integers(1, 7), st.integers(1, 5))


@st.composite
def dynamics(draw):
    """Draw records some of which did not visit some examples."""
    shape = draw(SHAPE)

    def values(low, high):
        elements = st.floats(low, high, width=32, allow_subnormal=False)
        return draw(arrays.arrays(np.float32, shape, elements=elements))

    seen_EN = draw(arrays.arrays(bool, shape))
    return make_dynamics(
        *(np.where(seen_EN, values(*ends), np.nan) for ends in ((0, 1), (0, 1), (-9, 9)))
    )


def of_one_example(p_gold, correct, margin, records):
    """Restate the formulas for one example's visited records."""
    n = len(p_gold)
    if n == 0:
        return [0, *[math.nan] * 8]
    confidence = sum(p_gold) / n
    variance = sum((p - confidence) ** 2 for p in p_gold) / n
    learnt, events = False, 0
    for share in correct:
        if share >= 0.5:
            learnt = True
        elif learnt:
            learnt, events = False, events + 1
    if all(share < 0.5 for share in correct):
        events = records
    losses = [-math.log(max(p, 2**-126)) for p in p_gold]
    return [
        n,
        confidence,
        math.sqrt(variance),
        sum(correct) / n,
        sum(correct),
        events,
        sum(margin) / n,
        sum(losses) / n,
        confidence * (1 - confidence),
    ]


@given(dynamics(), st.none() | st.integers(1, 9))
def test_statistics_are_those_of_a_loop_over_examples_and_their_visits(given_dynamics, burn_out):
    found = statistics(given_dynamics, burn_out).as_columns()
    assert list(found) == [
        *("guid", "gold", "visits", "confidence", "variability", "correctness"),
        *("correctness_count", "forgetting", "aum", "loss", "threshold_closeness"),
    ]
    kept = min(burn_out or 99, len(given_dynamics.epochs_E))
    for place in range(len(given_dynamics.guids)):
        trends = []
        for name in ("p_gold", "correct", "margin"):
            trend = getattr(given_dynamics, f"{name}_EN")[:kept, place].tolist()
            trends.append([value for value in trend if not math.isnan(value)])
        expected = of_one_example(*trends, kept)
        values = [column[place] for column in list(found.values())[2:]]
        # float32 logarithms: seven digits
        assert values == pytest.approx(expected, rel=1e-6, abs=1e-6, nan_ok=True)


def test_variability_is_the_population_deviation_and_with_ci_the_published_tools():
    p_gold_EN = np.array([[0.1], [0.5], [0.9], [0.3]])
    assert mean(p_gold_EN)[0] == pytest.approx(0.45)
    assert variability(p_gold_EN)[0] == pytest.approx(0.2958, abs=5e-5)
    assert variability(p_gold_EN)[0] != pytest.approx(np.std(p_gold_EN, ddof=1), abs=0.04)
    assert variability(p_gold_EN, include_ci=True)[0] == pytest.approx(0.3001, abs=5e-5)
    assert statistics(make_dynamics(p_gold_EN), include_ci=True).variability_N[0] == pytest.approx(
        0.3001, abs=5e-5
    )


def test_one_visit_has_no_confidence_interval_and_none_has_nothing():
    p_gold_EN = np.array([[0.4, np.nan], [np.nan, np.nan]])
    assert variability(p_gold_EN).tolist() == pytest.approx([0, np.nan], nan_ok=True)
    assert np.isnan(variability(p_gold_EN, include_ci=True)).all()


@pytest.mark.parametrize(
    ("trend", "events"),
    [
        ([1, 0, 1, 0], 2),
        ([0, 0, 1, 1], 0),
        ([0, 1, 0, 0], 1),
        ([1, np.nan, 0, 1], 1),  # compared with the record before the gap
        ([0.5, 0.4, 1, 0.6], 1),  # half of the repeats right is right
        ([0, 0, 0, 0], 4),
        ([np.nan] * 4, np.nan),
    ],
)
def test_forgetting_is_right_and_then_wrong(trend, events):
    found = forgetting(np.array(trend, np.float32)[:, None])
    assert found.tolist() == pytest.approx([events], nan_ok=True)


def test_never_learnt_is_more_than_any_forgetting_or_the_published_number():
    correct_EN = np.array([[0, 1], [0, 0], [0, 1], [0, 0]])
    assert forgetting(correct_EN).tolist() == [4, 2]
    assert forgetting(correct_EN, never=NEVER_LEARNT).tolist() == [1000, 2]


EASY_AMBIGUOUS_HARD = ([0.97, 0.5, 0.03], [0.03, 0.45, 0.03])


def test_equation_1_ranks_as_the_text_says_only_with_its_branches_swapped():
    at = coordinates(*EASY_AMBIGUOUS_HARD)
    assert difficulty("eq1_printed", at) == pytest.approx([1.00, 1.05, 1.00])
    assert difficulty("eq1_swapped", at) == pytest.approx([0.06, 0.95, 1.94])


def test_the_released_codes_score_counts_correct_epochs():
    at = coordinates([0.9, 0.1, 0.5], [0.1, 0.5, 0.6], correctness=4)
    assert difficulty("repo", at) == pytest.approx([-3 + 0.9, -3 + 0.5, -3 + 0.6])


@given(st.floats(0, 1), st.floats(0, 0.5))
def test_swapped_and_printed_equations_exchange_their_branches(confidence, spread):
    low, high = 1 - confidence + spread, 2 - confidence - spread
    c_N, v_N = np.array([confidence]), np.array([spread])
    assert eq1(c_N, v_N, swapped=False)[0] == (low if confidence < 0.5 else high)
    assert eq1(c_N, v_N, swapped=True)[0] == (high if confidence < 0.5 else low)


@pytest.mark.parametrize("name", sorted(set(SCORES) - {"eq1_printed", "variability"}))
def test_what_is_never_learnt_is_harder_than_what_is_always_right(name):
    found = statistics(make_dynamics([[0.99, 0.02], [0.98, 0.01], [0.99, 0.03]]))
    score_N = difficulty(name, found)
    assert score_N.dtype == np.float64
    assert score_N[0] < score_N[1]


@pytest.mark.parametrize("name", SCORES)
def test_unvisited_examples_have_no_difficulty(name):
    found = statistics(make_dynamics([[0.9, np.nan], [0.2, np.nan]]))
    assert np.isnan(difficulty(name, found)).tolist() == [False, True]


def coordinates(confidence, variability, guids=None, correctness=np.nan):
    c_N, v_N = np.asarray(confidence, float), np.asarray(variability, float)
    n, none_N = len(c_N), np.full(len(c_N), np.nan)
    return Statistics(
        guids=guids or [f"g{place:06d}" for place in range(n)],
        gold_N=np.zeros(n, np.int16),
        visits_N=np.where(np.isnan(c_N), 0, 6),
        confidence_N=c_N,
        variability_N=v_N,
        correctness_N=none_N,
        correctness_count_N=np.full(n, correctness),
        forgetting_N=none_N,
        aum_N=none_N,
        loss_N=none_N,
        threshold_closeness_N=none_N,
    )


SCORES_AND_GUIDS = st.lists(
    st.tuples(
        st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0, float("inf"), float("nan")]) | st.floats(),
        st.text("abאבș\U0001f600", max_size=3),
    ),
    unique_by=lambda pair: pair[1],
    max_size=12,
)


@given(SCORES_AND_GUIDS)
def test_ranking_is_by_score_then_guid_and_unknown_last(pairs):
    guids = [guid for _, guid in pairs]
    order_N = rank(np.array([score for score, _ in pairs], float), guids)
    expected = sorted(pairs, key=lambda pair: (np.isnan(pair[0]), np.nan_to_num(pair[0]), pair[1]))
    finite = [pair for pair in expected if not np.isinf(pair[0])]
    assert [guids[place] for place in order_N if not np.isinf(pairs[place][0])] == [
        guid for _, guid in finite
    ]
    ranked = [pairs[place][0] for place in order_N if not np.isnan(pairs[place][0])]
    assert ranked == sorted(ranked)
    assert sorted(order_N) == list(range(len(pairs)))


def test_published_group_size_is_one_more_than_a_third_of_ronli():
    random = np.random.default_rng(0)
    found = coordinates(random.random(58_114), random.random(58_114) / 2)
    for name, mask_N in allenai(found).items():
        assert mask_N.sum() == 19_289, name
    assert {mask_N.sum() for mask_N in allenai(found, exact=False).values()} == {19_288}


def test_groups_are_the_most_confident_the_most_variable_and_the_least_confident():
    found = coordinates([0.9, 0.5, 0.1, 0.8, 0.45, 0.2], [0.1, 0.5, 0.1, 0.4, 0.3, 0.2])
    groups = allenai(found, fraction=1 / 3, exact=False)
    assert tuple(groups) == GROUPS
    assert {name: mask_N.nonzero()[0].tolist() for name, mask_N in groups.items()} == {
        "easy": [0, 3],
        "ambiguous": [1, 3],  # 3 is easy as well: groups overlap
        "hard": [2, 5],
    }
    assert allenai(found, fraction=0.45, exact=False)["hard"].sum() == 3  # of 2.7


@given(st.permutations(range(12)))
def test_groups_do_not_depend_on_the_order_of_tied_examples(places):
    levels = np.array([0.1, 0.5, 0.9])[np.arange(12) % 3]
    guids = [f"g{place}" for place in range(12)]

    def members(order):
        named = [guids[place] for place in order]
        found = coordinates(levels[order], levels[order] / 2, named)
        thirds = tercile_partition(np.round(levels[order] - 0.2), named)
        return [
            {named[place] for place in mask_N.nonzero()[0]}
            for groups in (allenai(found), thirds)
            for mask_N in groups.values()
        ]

    assert members(list(places)) == members(list(range(12)))


def test_unvisited_examples_are_in_no_group_and_do_not_count():
    gap = np.nan
    found = coordinates([0.9, gap, 0.5, 0.1, gap], [0.1, gap, 0.4, 0.2, gap])
    for exact in (True, False):
        groups = allenai(found, fraction=1.0, exact=exact)
        for mask_N in (
            *groups.values(),
            sum(tercile_partition(found.confidence_N, "abcde").values()),
        ):
            assert mask_N.tolist() == [True, False, True, True, False]
    assert allenai(found, 1 / 3, exact=False)["easy"].tolist() == [True, *[False] * 4]


@given(arrays.arrays(np.float64, st.integers(0, 20), elements=st.floats(-2, 2)))
def test_terciles_are_disjoint_thirds_from_easy_to_hard(score_N):
    guids = [str(place) for place in range(len(score_N))]
    groups = tercile_partition(score_N, guids)
    sizes = [mask_N.sum() for mask_N in groups.values()]
    assert max(sizes) - min(sizes) <= 1
    assert (sum(mask_N.astype(int) for mask_N in groups.values()) == 1).all()
    for lower, upper in (("easy", "ambiguous"), ("ambiguous", "hard")):
        if groups[upper].any():
            assert score_N[groups[lower]].max() <= score_N[groups[upper]].min()


def test_classes_are_counted_per_group():
    masks = {"easy": np.array([1, 1, 0, 0], bool), "hard": np.array([0, 0, 1, 1], bool)}
    assert class_counts(masks, np.array([0, 2, 2, 2], np.int16), ("c", "e", "n")) == {
        "easy": {"c": 1, "e": 0, "n": 1},
        "hard": {"c": 0, "e": 0, "n": 2},
    }


@pytest.mark.real
def test_published_winogrande_coordinates_group_as_the_tool_sorts_them():
    data = os.environ.get("HERON_DATA")
    folder = Path(data or "") / "cartography_sample" / "data_map_coordinates"
    if not data or not folder.is_dir():
        pytest.skip("the coordinates are not here: HERON_DATA")
    (path,) = folder.glob("winogrande*.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == 40_398
    guids = [str(row["guid"]) for row in rows]
    found = coordinates(
        [row["confidence"] for row in rows], [row["variability"] for row in rows], guids
    )
    size = int(0.3319 * 40_398) + 1
    for name, key, sign in (
        ("easy", "confidence", -1),
        ("hard", "confidence", 1),
        ("ambiguous", "variability", -1),
    ):
        ordered = sorted(rows, key=lambda row: (sign * row[key], str(row["guid"])))
        expected = {str(row["guid"]) for row in ordered[:size]}
        mask_N = allenai(found)[name]
        assert {guids[place] for place in mask_N.nonzero()[0]} == expected
