"""Plans: every sequence once, the same for the same seed, within the budget, hardly any padding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data.batching import fill_batches, padding_efficiency, plan_epoch, plan_evaluation
from heron.data.features import Units
from heron.schema import BatchingConfig

LENGTHS = st.lists(st.integers(1, 200), max_size=120).map(lambda lengths: np.array(lengths, int))
PLANS = st.builds(
    BatchingConfig,
    plan=st.sampled_from(["shuffle", "bucket"]),
    size=st.integers(1, 40),
    tokens=st.integers(8, 600),
)
SEEDS = st.integers(0, 2**32 - 1)


def realistic_lengths(sequences=2000):
    """Lengths of two-sentence windows in tokens: a long right tail, as in newspapers."""
    return np.random.default_rng(0).lognormal(4.1, 0.4, sequences).astype(int).clip(12, 256)


def as_lists(plan):
    return [batch.tolist() for batch in plan]


def in_order(plan):
    return [sequence for batch in as_lists(plan) for sequence in batch]


@given(LENGTHS, PLANS, SEEDS, st.integers(0, 5))
def test_every_sequence_is_in_exactly_one_batch_of_an_epoch(lengths, batching, seed, epoch):
    plan = plan_epoch(Units.single(lengths), batching, seed, epoch)
    assert sorted(in_order(plan)) == list(range(len(lengths)))
    assert all(len(batch) for batch in plan)


@given(LENGTHS, PLANS, SEEDS)
def test_same_seed_and_epoch_give_the_same_plan(lengths, batching, seed):
    one, two = (plan_epoch(Units.single(lengths), batching, seed, 3) for _ in range(2))
    assert as_lists(one) == as_lists(two)


@pytest.mark.parametrize("plan", ["shuffle", "bucket"])
@pytest.mark.parametrize(("seed", "epoch"), [(0, 1), (1, 0)])
def test_another_epoch_or_seed_has_another_plan(plan, seed, epoch):
    lengths, batching = realistic_lengths(200), BatchingConfig(plan=plan)
    first = {
        frozenset(batch) for batch in as_lists(plan_epoch(Units.single(lengths), batching, 0, 0))
    }
    other = {
        frozenset(batch)
        for batch in as_lists(plan_epoch(Units.single(lengths), batching, seed, epoch))
    }
    assert len(first & other) < len(first) / 2  # not the same batches in another order


@given(LENGTHS, st.integers(8, 600), SEEDS)
def test_padded_tokens_stay_within_the_budget_but_for_a_single_sequence(lengths, tokens, seed):
    bucket = BatchingConfig(plan="bucket", tokens=tokens)
    for plan in (
        plan_epoch(Units.single(lengths), bucket, seed, 0),
        plan_evaluation(Units.single(lengths), tokens),
    ):
        for batch in plan:
            assert len(batch) * lengths[batch].max() <= tokens or len(batch) == 1


@given(LENGTHS, st.integers(1, 40), SEEDS)
def test_shuffle_fills_batches_of_the_size_and_a_rest(lengths, size, seed):
    plan = plan_epoch(Units.single(lengths), BatchingConfig(plan="shuffle", size=size), seed, 0)
    assert [len(batch) for batch in plan[:-1]] == [size] * (len(plan) - 1)
    assert all(len(batch) <= size for batch in plan)


@given(LENGTHS, st.integers(8, 600))
def test_evaluation_goes_by_length(lengths, tokens):
    order = in_order(plan_evaluation(Units.single(lengths), tokens))
    assert lengths[order].tolist() == sorted(lengths.tolist())


def test_batches_are_as_full_as_the_budget_allows():
    lengths = np.array([2, 2, 3, 3, 9])
    assert as_lists(fill_batches(np.arange(5), Units.single(lengths), tokens=9)) == [
        [0, 1, 2],
        [3],
        [4],
    ]
    assert as_lists(fill_batches(np.arange(5), Units.single(lengths), 9, first=0.5)) == [
        [0, 1],
        [2, 3],
        [4],
    ]


def test_a_sequence_longer_than_the_budget_is_alone():
    lengths = np.array([50, 3, 3])
    assert as_lists(fill_batches(np.arange(3), Units.single(lengths), tokens=10)) == [[0], [1, 2]]


@pytest.mark.parametrize("tokens", [1200, 3072])
@pytest.mark.parametrize("seed", range(3))
def test_bucket_pads_little(tokens, seed):
    lengths = realistic_lengths()
    bucket = plan_epoch(
        Units.single(lengths), BatchingConfig(plan="bucket", tokens=tokens), seed, 0
    )
    shuffle = plan_epoch(Units.single(lengths), BatchingConfig(plan="shuffle"), seed, 0)
    assert padding_efficiency(bucket, Units.single(lengths), lengths) >= 0.97
    assert padding_efficiency(shuffle, Units.single(lengths), lengths) < 0.8


@given(LENGTHS, PLANS)
def test_padding_efficiency_is_real_tokens_over_padded_tokens(lengths, batching):
    plan = plan_epoch(Units.single(lengths), batching, 0, 0)
    padded = sum(max(lengths[i] for i in batch) * len(batch) for batch in plan)
    expected = sum(lengths) / padded if padded else 0.0
    assert padding_efficiency(plan, Units.single(lengths), lengths) == pytest.approx(expected)


def test_batches_are_in_random_order_not_by_length():
    lengths = realistic_lengths(500)
    plan = plan_epoch(Units.single(lengths), BatchingConfig(plan="bucket", tokens=1000), 0, 0)
    longest = [lengths[batch].max() for batch in plan]
    assert longest != sorted(longest)
    assert abs(np.corrcoef(longest, range(len(longest)))[0, 1]) < 0.5
