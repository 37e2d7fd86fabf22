"""A curriculum's plan: the run's own number of steps, drawn from nothing but what is unlocked."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.data import PLANS, BatchPlan
from heron.data.batching import copies, plan_epoch
from heron.data.config import BatchingConfig
from heron.data.features import Units
from heron.dynamics.curriculum import Curriculum, Pool, Ranking, Stage, mean_of_units, unlock
from made_up_dynamics import SHIPPED, shipped

LABELS = ["contrastive", "entailment", "reasoning", "neutral"]
STAGED = [name for name in SHIPPED if name != "self_paced"]
OVERSAMPLINGS = [
    BatchingConfig(),
    BatchingConfig(oversample="balanced"),
    BatchingConfig(oversample="multipliers", multipliers={"contrastive": 3, "reasoning": 2}),
]


@dataclasses.dataclass
class Run:
    """A curriculum, what it was made of, and the run without it."""

    pool: Pool
    ranking: Ranking
    baseline: list[int]
    accumulate: int
    epochs: int
    seed: int
    name: str

    def curriculum(self, seed=None, **changes):
        config = dataclasses.replace(shipped(self.name), **changes)
        pool = dataclasses.replace(self.pool, stratified=config.sampling == "stratified")
        seed = self.seed if seed is None else seed
        return Curriculum(config, pool, self.ranking, self.baseline, self.accumulate, seed)


def make(name, lengths, classes, batching, *, accumulate=1, epochs=2, seed=0):
    """Make the curriculum of a run over units of these lengths and classes, in random order."""
    random = np.random.default_rng([seed, len(lengths)])
    units, classes_U = Units.single(np.asarray(lengths)), np.asarray(classes)
    order_U = random.permutation(len(units))
    thirds = np.array_split(order_U, 3)
    groups = {
        group: np.isin(np.arange(len(units)), third)
        for group, third in zip(("easy", "ambiguous", "hard"), thirds, strict=True)
    }
    copies_U = copies(classes_U, LABELS, batching)
    baseline = [len(plan_epoch(units, batching, seed, e, copies_U)) for e in range(epochs)]
    pool = Pool(units, classes_U, LABELS, batching)
    return Run(pool, Ranking(order_U, groups), baseline, accumulate, epochs, seed, name)


@st.composite
def runs(draw, names=tuple(SHIPPED)):
    size = draw(st.integers(3, 90))
    lengths = draw(st.lists(st.integers(1, 60), min_size=size, max_size=size))
    classes = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    batching = dataclasses.replace(
        draw(st.sampled_from(OVERSAMPLINGS)),
        plan=draw(st.sampled_from(["shuffle", "bucket"])),
        size=draw(st.integers(1, 20)),
        tokens=draw(st.integers(30, 400)),
    )
    return make(
        draw(st.sampled_from(names)),
        lengths,
        classes,
        batching,
        accumulate=draw(st.sampled_from([1, 3])),
        epochs=draw(st.integers(1, 3)),
        seed=draw(st.integers(0, 9)),
    )


def whole(curriculum, epochs, losses=None):
    """Plan every epoch; under self-pacing, all of them from the same losses."""
    if losses is not None:
        curriculum.observe(losses)
    return [curriculum.plan(epoch) for epoch in range(epochs)]


def as_lists(plans):
    return [[batch.tolist() for batch in plan] for plan in plans]


@given(runs())
def test_a_run_has_the_batches_and_the_steps_of_the_run_without_curriculum(run):
    curriculum = run.curriculum()
    assert [len(plan) for plan in whole(curriculum, run.epochs)] == run.baseline
    assert curriculum.batches == run.baseline
    expected = sum(-(-count // run.accumulate) for count in run.baseline)
    assert sum(stage.steps for stage in curriculum.stages) == expected


@given(runs())
def test_a_stage_begins_with_an_optimizer_step_and_takes_as_many_as_it_should(run):
    curriculum = run.curriculum()
    stage_of_step = []
    for epoch in range(run.epochs):
        stages_B = curriculum.stages_of(epoch)
        for begin in range(0, len(stages_B), run.accumulate):
            (stage,) = set(stages_B[begin : begin + run.accumulate].tolist())
            stage_of_step.append(stage)
    assert stage_of_step == sorted(stage_of_step)
    assert np.bincount(stage_of_step, minlength=len(curriculum.stages)).tolist() == [
        stage.steps for stage in curriculum.stages
    ]


@given(runs(names=tuple(STAGED)))
def test_every_unit_drawn_is_unlocked_in_its_stage(run):
    curriculum = run.curriculum()
    for epoch, plan in enumerate(whole(curriculum, run.epochs)):
        for stage, batch in zip(curriculum.stages_of(epoch), plan, strict=True):
            unlocked_U = curriculum.unlocked(curriculum.stages[stage])
            assert np.isin(batch, unlocked_U).all()


@given(runs(names=tuple(STAGED)))
def test_within_a_pass_no_unit_comes_more_often_than_its_copies(run):
    """After k whole passes every unlocked unit has come k times its copies, and in the pass that
    is under way up to once more: so after any batch their passes differ by one at most.
    """
    curriculum = run.curriculum()
    plans = whole(curriculum, run.epochs)
    batches = [batch for plan in plans for batch in plan]
    stages = np.concatenate([curriculum.stages_of(epoch) for epoch in range(run.epochs)])
    for number, stage in enumerate(curriculum.stages):
        unlocked_U = curriculum.unlocked(stage)
        copies_U = copies(run.pool.classes_U[unlocked_U], LABELS, run.pool.batching)
        seen_U = np.zeros(len(run.pool.units), int)
        for place in np.flatnonzero(stages == number):
            np.add.at(seen_U, batches[place], 1)
            passes_U = seen_U[unlocked_U] / copies_U
            assert np.ceil(passes_U).max() <= np.floor(passes_U).min() + 1


def test_oversampling_is_counted_within_what_is_unlocked():
    # Of the easier half 3 are contrastive and 12 neutral: 4 copies; of all, 5 and 25: 5 copies.
    classes = [0] * 3 + [3] * 12 + [0] * 2 + [3] * 13
    batching = BatchingConfig(plan="shuffle", size=5, oversample="balanced")
    pool = Pool(Units.single(np.full(30, 7)), np.array(classes), LABELS, batching)
    for share, times in ((0.5, 4), (1.0, 5)):
        unlocked_U = unlock(share, np.arange(30))
        one_pass = -(-int(np.where(np.array(classes)[unlocked_U] == 0, times, 1).sum()) // 5)
        seen_U = np.bincount(np.concatenate(pool.draw(unlocked_U, one_pass, [0])), minlength=30)
        assert set(seen_U[unlocked_U[pool.classes_U[unlocked_U] == 0]]) == {times}
        assert set(seen_U[unlocked_U[pool.classes_U[unlocked_U] == 3]]) == {1}
        assert seen_U.sum() == seen_U[unlocked_U].sum()


@given(runs(), st.integers(0, 99))
def test_the_same_run_makes_the_same_plan_whichever_epoch_is_asked_first(run, losses_seed):
    losses = np.random.default_rng(losses_seed).random(len(run.pool.units))
    in_order = whole(run.curriculum(), run.epochs, losses)
    assert as_lists(whole(run.curriculum(), run.epochs, losses)) == as_lists(in_order)
    resumed = run.curriculum()
    resumed.observe(losses)
    for epoch in reversed(range(run.epochs)):
        assert as_lists([resumed.plan(epoch)]) == as_lists([in_order[epoch]])
        assert as_lists([resumed.plan(epoch)]) == as_lists([in_order[epoch]])


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("plan", ["shuffle", "bucket"])
def test_another_seed_makes_another_plan(name, plan):
    random = np.random.default_rng(1)
    batching = BatchingConfig(plan=plan, size=8, tokens=200)
    run = make(name, random.integers(5, 60, 120), random.integers(0, 4, 120), batching)
    one, other = whole(run.curriculum(seed=1), 2), whole(run.curriculum(seed=2), 2)
    assert as_lists(one) != as_lists(other)


def test_two_stages_that_unlock_the_same_do_not_repeat_each_other():
    entries = [{"share": 0.5}, {"share": 0.5}]
    batching = BatchingConfig(plan="shuffle", size=8)
    run = make("cart_clpp", np.full(64, 9), np.zeros(64, int), batching)
    first, second = whole(run.curriculum(stages=entries), 2)
    assert as_lists([first]) != as_lists([second])


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.sampled_from([1, 3]))
def test_an_own_budget_is_cut_into_epochs_of_the_run_s_length(own, accumulate):
    stages = [{"steps": count} for count in own]
    batching = BatchingConfig(plan="shuffle", size=10)
    run = make("cart_clpp", np.full(95, 9), np.zeros(95, int), batching, accumulate=accumulate)
    curriculum = run.curriculum(budget="own", stages=stages)
    per_epoch = -(-run.baseline[0] // accumulate)
    steps = [-(-count // accumulate) for count in curriculum.batches]
    assert sum(steps) == sum(own)
    assert set(steps[:-1]) <= {per_epoch}
    assert 1 <= steps[-1] <= per_epoch
    plans = whole(curriculum, len(curriculum.batches))
    assert [len(plan) for plan in plans] == curriculum.batches


def test_only_a_stage_s_groups_are_drawn_each_unit_once():
    order_U, batching = np.arange(30), BatchingConfig(plan="shuffle", size=5)
    easy_U, ambiguous_U = order_U < 12, (order_U >= 8) & (order_U < 20)
    groups = {"easy": easy_U, "ambiguous": ambiguous_U, "hard": order_U >= 20}
    pool = Pool(Units.single(np.full(30, 4)), np.zeros(30, int), LABELS, batching)
    ranking = Ranking(order_U, groups)
    curriculum = Curriculum(shipped("e2l_a"), pool, ranking, [4], 1, 0)
    assert sorted(np.concatenate(curriculum.plan(0)).tolist()) == list(range(20))


def test_a_trainer_with_more_epochs_than_the_curriculum_is_refused():
    curriculum = make("linear", [4] * 9, [0] * 9, BatchingConfig(size=3), epochs=2).curriculum()
    with pytest.raises(ConfigError, match="max_epochs"):
        curriculum.plan(2)


def test_a_group_without_examples_is_refused():
    """There is nothing to draw a batch from, and no end to trying."""
    pool = Pool(Units.single(np.full(9, 4)), np.zeros(9, int), LABELS, BatchingConfig())
    nobody = {group: np.zeros(9, bool) for group in ("easy", "ambiguous", "hard")}
    with pytest.raises(ConfigError, match=r"ambiguous.*curriculum\.fraction"):
        Curriculum(shipped("a"), pool, Ranking(np.arange(9), nobody), [3], 1, 0).plan(0)
    in_order = dataclasses.replace(shipped("self_paced"), order="groups")
    with pytest.raises(ConfigError, match=r"order=groups.* of 9 .*curriculum\.fraction"):
        Curriculum(in_order, pool, Ranking(np.empty(0, int), nobody), [3], 1, 0)


class TestSelfPaced:
    """Epoch by epoch, the examples with the lowest losses so far."""

    def make(self, epochs=4, **changes):
        batching = BatchingConfig(plan="shuffle", size=10)
        run = make("self_paced", np.full(100, 9), np.zeros(100, int), batching, epochs=epochs)
        return run, run.curriculum(**changes)

    def test_the_first_epoch_goes_by_difficulty(self):
        run, curriculum = self.make(start=0.3)
        drawn = set(np.concatenate(curriculum.plan(0)).tolist())
        assert drawn == set(run.ranking.order_U[:30].tolist())

    @pytest.mark.parametrize(("epoch", "share"), [(1, 0.55), (2, 0.8), (3, 1.0)])
    def test_the_next_ones_unlock_exactly_the_lowest_losses(self, epoch, share):
        _, curriculum = self.make(start=0.3, until=0.7)
        losses = np.random.default_rng(epoch).permutation(100).astype(float)
        curriculum.observe(losses)
        drawn = set(np.concatenate(curriculum.plan(epoch)).tolist())
        assert drawn == set(np.argsort(losses)[: round(100 * share)].tolist())

    def test_equal_losses_go_by_difficulty(self):
        run, curriculum = self.make(start=0.3)
        curriculum.observe(np.ones(100))
        drawn = set(np.concatenate(curriculum.plan(0)).tolist())
        assert drawn == set(run.ranking.order_U[:30].tolist())

    def test_every_epoch_is_a_stage(self):
        _, curriculum = self.make(epochs=3)
        assert curriculum.stages == [Stage(f"epoch {n}", 10) for n in (1, 2, 3)]
        for epoch in range(3):
            assert set(curriculum.stages_of(epoch)) == {epoch}

    def test_an_example_whose_loss_is_unknown_comes_last(self):
        _, curriculum = self.make(start=0.5)
        losses = np.arange(100.0)
        losses[:20] = np.nan
        curriculum.observe(losses)
        drawn = set(np.concatenate(curriculum.plan(0)).tolist())
        assert drawn == set(range(20, 70))


def test_a_plan_of_batches_that_returns_none_is_named(monkeypatch):
    monkeypatch.setattr(PLANS, "_entries", dict(PLANS._entries))
    PLANS.register("nothing", BatchPlan(lambda *arguments: [], limit="size"))
    batching = BatchingConfig(plan="nothing")
    pool = Pool(Units.single(np.full(9, 4)), np.zeros(9, int), LABELS, batching)
    with pytest.raises(ConfigError, match=r"batching\.plan=nothing: .* no batch of 9 examples"):
        pool.draw(np.arange(9), 2, [0])


def test_a_unit_s_value_is_the_mean_of_its_rows_that_have_one():
    units = Units(np.arange(5), np.array([0, 2, 3, 6, 7]), np.array([5, 5, 5, 5]))
    values_R = np.array([1.0, 3.0, 7.0, np.nan, 2.0, 4.0, np.nan])
    expected = [2.0, 7.0, 3.0, np.nan]
    assert mean_of_units(values_R, units).tolist() == pytest.approx(expected, nan_ok=True)
