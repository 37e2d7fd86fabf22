"""Groups have the published sizes, depend on no file's order."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heron.dynamics.cartography import (
    GROUPS,
    Statistics,
    allenai,
    class_counts,
    rank,
    tercile_partition,
)


def coordinates(confidence, variability, guids=None, gold=None):
    c_N, v_N = np.asarray(confidence, float), np.asarray(variability, float)
    n, none_N = len(c_N), np.full(len(c_N), np.nan)
    return Statistics(
        guids=guids or [f"g{place:06d}" for place in range(n)],
        gold_N=np.zeros(n, np.int16) if gold is None else np.asarray(gold),
        visits_N=np.where(np.isnan(c_N), 0, 6),
        confidence_N=c_N,
        variability_N=v_N,
        correctness_N=none_N,
        correctness_share_N=none_N,
        forgetting_N=none_N,
        aum_N=none_N,
        loss_N=none_N,
        closeness_N=none_N,
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
