"""Bootstrap intervals: the distribution of naive resampling, and honest coverage."""

import tracemalloc

import numpy as np
import pytest

from heron.metrics.classification import (
    accuracy,
    bootstrap_intervals,
    confusion_matrix,
    macro_f1,
    score_task,
)
from heron.metrics.intervals import (
    percentile_intervals,
    resample_groups,
    score_intervals,
)

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]


def random_rows(rows, seed=0, right=0.5):
    random = np.random.default_rng(seed)
    gold = random.choice(4, rows, p=[0.45, 0.3, 0.07, 0.18])
    prediction = np.where(random.random(rows) < right, gold, random.integers(4, size=rows))
    return [LABELS[i] for i in gold], [LABELS[i] for i in prediction]


def test_cell_draws_have_the_distribution_of_resampling_rows():
    gold, prediction = map(np.array, random_rows(300))
    random = np.random.default_rng(1)
    draws = (random.integers(300, size=300) for _ in range(2000))
    naive = np.stack([confusion_matrix(gold[draw], prediction[draw], LABELS) for draw in draws])
    found = bootstrap_intervals("classification", gold, prediction, LABELS, resamples=2000, seed=2)
    for score in (accuracy, macro_f1):
        bounds = [found[f"{score.__name__}_{end}"] for end in ("low", "high")]
        np.testing.assert_allclose(bounds, np.quantile(score(naive), [0.025, 0.975]), atol=0.008)


@pytest.mark.parametrize("task", ["relation", "classification"])
@pytest.mark.parametrize("rows_in_group", [0, 4])
def test_intervals_of_a_thousand_labels_take_bounded_memory(task, rows_in_group):
    labels = [str(i) for i in range(1199)] + ["VAGUE"]
    random = np.random.default_rng(0)
    gold = random.choice(labels, 2000).tolist()
    prediction = [label if random.random() < 0.6 else random.choice(labels) for label in gold]
    groups = [str(i // rows_in_group) for i in range(2000)] if rows_in_group else None
    tracemalloc.start()
    bounds = bootstrap_intervals(task, gold, prediction, labels, groups=groups, resamples=30)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6, "30 matrices would take 350 MB"
    assert bounds["accuracy_low"] < np.mean(np.array(gold) == prediction) < bounds["accuracy_high"]


def test_groups_of_one_row_have_the_distribution_of_resampling_rows():
    gold, prediction = random_rows(300)
    rows = bootstrap_intervals("relation", gold, prediction, LABELS, resamples=2000)
    alone = bootstrap_intervals(
        "relation", gold, prediction, LABELS, resamples=2000, groups=[str(i) for i in range(300)]
    )
    assert alone == pytest.approx(rows, abs=0.012)


def test_groups_are_drawn_whole():
    matrix_GCC = np.array([[[7, 0], [0, 0]], [[0, 0], [0, 3]]])
    draws = resample_groups(matrix_GCC, 50, seed=0)
    assert {(int(draw[0, 0]), int(draw[1, 1])) for draw in draws} == {(14, 0), (7, 3), (0, 6)}


def test_one_group_tells_nothing_of_others_and_gives_no_interval():
    assert bootstrap_intervals("nli", ["a", "b"], ["a", "a"], ["a", "b"], groups=["d", "d"]) == {}
    assert score_intervals({"f1": np.array([0.0, 1.0])}, ["d", "d"]) == {}


def test_groups_named_by_whole_texts_need_no_more_memory_than_their_rows():
    groups = [f"d{row // 4}" for row in range(4_000)]
    texts = [f"{'x' * 20_000} {group}" if group == "d0" else group for group in groups]
    values = {"f1": np.linspace(0, 1, len(groups))}
    expected = score_intervals(values, groups, resamples=10)
    tracemalloc.start()
    found = score_intervals(values, texts, resamples=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.keys() == expected.keys()
    assert peak < 10e6, "an array of strings would take 320 MB"


def test_rows_that_repeat_each_other_widen_the_interval_of_the_cluster_bootstrap():
    gold, prediction = random_rows(400)
    copies = [f"window {i}" for i in range(400)] * 5
    options = ("relation", gold * 5, prediction * 5, LABELS)
    naive, honest = bootstrap_intervals(*options), bootstrap_intervals(*options, groups=copies)
    width = [i["accuracy_high"] - i["accuracy_low"] for i in (naive, honest)]
    assert width[1] / width[0] == pytest.approx(5**0.5, rel=0.15)


def test_the_interval_covers_the_true_accuracy_about_as_often_as_it_says():
    true, covered = 0.5 + 0.5 / 4, 0
    for seed in range(200):
        gold, prediction = random_rows(200, seed=seed)
        bounds = bootstrap_intervals("classification", gold, prediction, LABELS, resamples=300)
        covered += bounds["accuracy_low"] <= true <= bounds["accuracy_high"]
    assert 0.90 <= covered / 200 <= 0.98


def test_every_headline_score_lies_inside_its_interval():
    gold, prediction = random_rows(400)
    scores = score_task("relation", gold, prediction, LABELS)
    bounds = bootstrap_intervals("relation", gold, prediction, LABELS)
    names = [name for name in scores if "/" not in name]
    assert set(bounds) == {f"{name}_{end}" for name in names for end in ("low", "high")}
    assert all(bounds[f"{name}_low"] < scores[name] < bounds[f"{name}_high"] for name in names)


@pytest.mark.parametrize("groups", [None, [f"window {i // 4}" for i in range(200)]])
def test_same_seed_gives_same_intervals_whatever_the_order_of_rows(groups):
    gold, prediction = random_rows(200)
    one = bootstrap_intervals("relation", gold, prediction, LABELS, groups=groups, seed=3)
    backwards = groups[::-1] if groups else None
    two = bootstrap_intervals(
        "relation", gold[::-1], prediction[::-1], LABELS, groups=backwards, seed=3
    )
    assert one == two
    other = bootstrap_intervals("relation", gold, prediction, LABELS, groups=groups, seed=4)
    assert one != other


def test_19_of_20_resamples_are_inside():
    bounds = percentile_intervals({"x": np.arange(201) / 200})
    assert bounds == pytest.approx({"x_low": 0.025, "x_high": 0.975})


@pytest.mark.parametrize("groups", [None, []])
def test_an_empty_split_has_intervals_of_zero(groups):
    bounds = bootstrap_intervals("relation", [], [], LABELS, groups=groups, resamples=10)
    assert set(bounds.values()) == {0.0}
