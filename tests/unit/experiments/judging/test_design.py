"""In which order systems are judged: balanced for every size."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heron_forks.hesum.judging.sampling import system_orders

seeds = st.integers(0, 2**32 - 1)


@given(st.integers(0, 40), st.integers(1, 7), seeds)
def test_every_system_is_equally_often_at_every_place(articles, systems, seed):
    orders = system_orders(articles, systems, np.random.default_rng(seed))
    assert orders.shape == (articles, systems)
    assert all(sorted(order) == list(range(systems)) for order in orders.tolist())
    for place in range(systems):
        counts = np.bincount(orders[:, place], minlength=systems)
        assert np.ptp(counts) <= 1


def test_orders_differ_by_seed_and_use_more_than_one_square():
    first, again, other = (system_orders(60, 3, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()
    assert len({tuple(order) for order in first.tolist()}) == 6
