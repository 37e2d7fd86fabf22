"""Stages divide a run's steps without losing one; the unlocked share follows its curve."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.dynamics import PACINGS
from heron.dynamics.config import CurriculumConfig
from heron.dynamics.curriculum import Stage, plan_stages, unlock, unlocked_share
from made_up_dynamics import shipped

SHARES = st.floats(0.01, 1)
TOTALS = st.integers(1, 5000)
FREE = st.builds(
    CurriculumConfig,
    pacing=st.sampled_from(list(PACINGS)),
    start=SHARES,
    until=SHARES,
    power=st.floats(1, 6),
)


def steps(stages):
    return [stage.steps for stage in stages]


# Counted by hand from RoNLI's section 5 for N = 1,000 optimizer steps: N/4, N/4, N/2; Cart-Stra
# has four stages of N/8 each before the last half.
BY_HAND = {
    "cart_cl": [250, 250, 500],
    "cart_clpp": [250, 250, 500],
    "cart_stra_clpp": [125, 125, 125, 125, 500],
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_paper_s_curricula_take_the_paper_s_steps(name):
    assert steps(plan_stages(shipped(name), 1000)) == BY_HAND[name]


def test_the_paper_s_curricula_unlock_the_paper_s_shares_and_groups():
    assert [stage.unlock for stage in plan_stages(shipped("cart_clpp"), 1000)] == [0.6, 0.8, 1.0]
    stratified = plan_stages(shipped("cart_stra_clpp"), 1000)
    assert [stage.unlock for stage in stratified] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert [stage.groups for stage in plan_stages(shipped("cart_cl"), 1000)] == [
        ("easy",),
        ("easy", "ambiguous"),
        ("easy", "ambiguous", "hard"),
    ]


@pytest.mark.parametrize(
    ("name", "group"), [("e2l", "easy"), ("a", "ambiguous"), ("h2l", "hard"), ("e2l_a", None)]
)
def test_a_subset_is_one_stage_over_all_steps(name, group):
    (stage,) = plan_stages(shipped(name), 777)
    assert (stage.steps, stage.unlock) == (777, None)
    assert stage.groups == ((group,) if group else ("easy", "ambiguous"))


def test_a_stage_is_named_for_what_it_unlocks_unless_it_has_a_name():
    entries = [
        {"share": 0.2, "unlock": 0.5},
        {"share": 0.3, "groups": ["easy", "hard"]},
        {"share": 0.5, "name": "the rest"},
    ]
    stages = plan_stages(CurriculumConfig(stages=entries), 10)
    assert stages == [
        Stage("50%", 2, 0.5),
        Stage("easy + hard", 3, None, ("easy", "hard")),
        Stage("the rest", 5, 1.0),
    ]


@pytest.mark.parametrize("name", ["length_cl", "linear", "root", "competence", "anti", "sts_cl"])
@pytest.mark.parametrize("total", [10, 1000, 4999])
def test_shipped_pacings_grow_from_their_start_to_everything(name, total):
    config = shipped(name)
    stages = plan_stages(config, total)
    unlocked = [stage.unlock for stage in stages]
    assert sum(steps(stages)) == total
    assert unlocked == sorted(unlocked)
    assert unlocked[0] == pytest.approx(config.start)
    assert unlocked[-1] == 1
    assert stages[-1].steps == pytest.approx(total * (1 - config.until), abs=1)


@given(FREE, TOTALS)
def test_growing_pacings_lose_no_step_and_never_take_back(config, total):
    stages = plan_stages(config, total)
    unlocked = [stage.unlock for stage in stages]
    assert sum(steps(stages)) == total
    assert min(steps(stages)) >= 1
    assert unlocked == sorted(unlocked)
    assert all(config.start - 1e-9 <= share <= 1 for share in unlocked)
    if config.until * total >= 0.5 + 1e-6:
        assert unlocked[0] == pytest.approx(config.start)
    if (1 - config.until) * total >= 0.5 + 1e-6:
        assert unlocked[-1] == 1


@given(FREE, TOTALS)
def test_a_staircase_stays_under_its_curve(config, total):
    """A step may draw from no more than the pacing allows at that step, but for rounding."""
    done = 0
    for stage in plan_stages(config, total)[:-1]:
        # A border is rounded to a whole step: half a step early at most.
        time = (done + 0.5) / (config.until * total)
        assert stage.unlock <= unlocked_share(config, time) + 1e-9
        done += stage.steps


@given(st.lists(SHARES, min_size=1, max_size=12), TOTALS)
def test_shares_of_any_size_lose_no_step(weights, total):
    shares = [weight / sum(weights) for weight in weights]
    entries = [{"share": share, "name": str(place)} for place, share in enumerate(shares)]
    stages = plan_stages(CurriculumConfig(stages=entries), total)
    assert sum(steps(stages)) == total
    for stage in stages:
        assert stage.steps == pytest.approx(shares[int(stage.name)] * total, abs=1 + 1e-6)


def test_a_stage_too_short_for_a_step_is_left_out():
    entries = [{"share": 0.01, "unlock": 0.1}, {"share": 0.99}]
    assert plan_stages(CurriculumConfig(stages=entries), 10) == [Stage("100%", 10, 1.0)]
    one_step = plan_stages(shipped("cart_clpp"), 1)
    assert steps(one_step) == [1]


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=6), TOTALS)
def test_an_own_budget_is_the_sum_of_its_steps_whatever_the_run_has(own, total):
    config = CurriculumConfig(budget="own", stages=[{"steps": count} for count in own])
    assert steps(plan_stages(config, total)) == own


# By hand, from Platanios et al. 2019: linear t (1 - c0) + c0, root (t (1 - c0^p) + c0^p)^(1/p).
GOLDEN = [
    ("linear", 2, 0.2, 0.5, 0.6),
    ("linear", 2, 0.01, 0.25, 0.2575),
    ("self_paced", 2, 0.3, 0.5, 0.65),
    ("competence", 5, 0.01, 0.5, math.sqrt(0.50005)),
    ("competence", 5, 0.6, 0.25, math.sqrt(0.52)),
    ("root", 2, 0.01, 0.5, math.sqrt(0.50005)),
    ("root", 3, 0.5, 0.2, 0.3 ** (1 / 3)),
    ("root", 1, 0.2, 0.5, 0.6),
]


@pytest.mark.parametrize(("pacing", "power", "start", "time", "expected"), GOLDEN)
def test_the_unlocked_share_is_the_published_formula_s(pacing, power, start, time, expected):
    config = CurriculumConfig(pacing=pacing, power=power, start=start)
    assert unlocked_share(config, time) == pytest.approx(expected, abs=1e-12)


@given(FREE, st.floats(-2, 3))
def test_time_before_the_start_and_after_the_end_changes_nothing(config, time):
    inside = min(max(time, 0), 1)
    assert unlocked_share(config, time) == unlocked_share(config, inside)
    assert unlocked_share(config, 0) == pytest.approx(config.start)
    assert unlocked_share(config, 1) == pytest.approx(1)


ORDERS = st.integers(1, 80).flatmap(lambda size: st.permutations(range(size))).map(np.array)


@given(ORDERS, SHARES)
def test_unlocked_are_the_easiest_rounded_up(order_U, share):
    unlocked_U = unlock(share, order_U)
    size = max(1, math.ceil(round(share * len(order_U), 6)))
    assert unlocked_U.tolist() == order_U[:size].tolist()


def test_a_share_that_floats_cannot_hold_is_not_rounded_up():
    assert len(unlock(0.2 + 0.1, np.arange(10))) == 3
    assert len(unlock(1e-9, np.arange(10))) == 1
    assert len(unlock(1.0, np.arange(10))) == 10


@given(ORDERS, SHARES, st.data())
def test_by_class_the_share_holds_within_every_class(order_U, share, data):
    labels = st.lists(st.integers(0, 3), min_size=len(order_U), max_size=len(order_U))
    classes_U = np.array(data.draw(labels))
    unlocked_U = unlock(share, order_U, classes_U)
    for each in np.unique(classes_U):
        own_U = order_U[classes_U[order_U] == each]
        found_U = unlocked_U[classes_U[unlocked_U] == each]
        assert found_U.tolist() == unlock(share, own_U).tolist()
    place_U = np.argsort(order_U)[unlocked_U]
    assert (np.diff(place_U) > 0).all(), "easy ones come first"
