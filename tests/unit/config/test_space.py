"""Hydra's grammar becomes dimensions; draws from them stay inside, differ, and repeat by seed."""

from __future__ import annotations

import math

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.config.space import Dimension, dimension, draws, grid, size
from heron.sweeps.study import distributions, parameters, point


def read(*overrides: str) -> list[Dimension]:
    """Read overrides as a sweep does."""
    return [dimension(each) for each in OverridesParser.create().parse_overrides(list(overrides))]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("head=ess,emp", Dimension("head", ("ess", "emp"))),
        ("head=choice(ess,emp)", Dimension("head", ("ess", "emp"))),
        ("+seed=range(1,4)", Dimension("+seed", ("1", "2", "3"), ordered=True)),
        ("a=range(0,0.5,0.2)", Dimension("a", ("0.0", "0.2", "0.4"), ordered=True)),
        ("a=[1,2],[3]", Dimension("a", ("[1,2]", "[3]"))),
        ("a=null,1", Dimension("a", ("null", "1"))),
        ("a=interval(0,1)", Dimension("a", low=0.0, high=1.0)),
        ("a=int(interval(2,9))", Dimension("a", low=2, high=9, integer=True)),
        (
            "a=tag(log,interval(1e-5,1e-2))",
            Dimension("a", low=1e-5, high=1e-2, log=True),
        ),
        (
            "a=int(tag(log,interval(1,64)))",
            Dimension("a", low=1, high=64, log=True, integer=True),
        ),
    ],
)
def test_a_swept_word_is_read_as_hydra_means_it(typed: str, expected: Dimension) -> None:
    assert read(typed) == [expected]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("a=interval(2,1)", "the first number must not be above the second"),
        ("a=tag(log,interval(0,1))", "begins above 0"),
    ],
)
def test_an_interval_that_cannot_be_is_refused(typed: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(typed)


def test_a_grid_refuses_an_interval_and_says_what_to_write() -> None:
    with pytest.raises(ConfigError, match=r"optim\.lr: a grid needs .* sweeper=random"):
        grid(read("head=ess,emp", "optim.lr=interval(0,1)"))


def test_a_grid_has_every_combination_in_order() -> None:
    assert list(grid(read("a=x,y", "b=range(1,3)"))) == [
        ("x", "1"), ("x", "2"), ("y", "1"), ("y", "2"),
    ]  # fmt: skip


SPACES = (
    read("a=x,y,z", "b=range(0,4)"),
    read("a=interval(-1,1)", "b=x,y"),
    read("a=tag(log,interval(1e-6,1e-1))", "b=int(interval(1,3))"),
    read("a=int(tag(log,interval(1,64)))"),
    read("a=interval(0.1234567,0.1234568)"),
)


@given(st.sampled_from(SPACES), st.integers(0, 1000), st.integers(1, 15), st.integers(0, 15))
def test_draws_repeat_by_seed_differ_and_stay_when_there_are_more(
    space: list[Dimension], seed: int, trials: int, more: int
) -> None:
    found = list(draws(space, trials, seed))
    assert found == list(draws(space, trials + more, seed))[: len(found)]
    assert len(set(found)) == len(found) == min(trials, size(space), len(found))
    for values in found:
        for each, word in zip(space, values, strict=True):
            assert word in each.values if each.values else each.low <= float(word) <= each.high
            assert not each.integer or word.lstrip("-").isdigit()
        # What Optuna is told and what is trained are the same point.
        assert point(space, parameters(space, values)) == values
        for key, value in parameters(space, values).items():
            assert distributions(space)[key]._contains(
                distributions(space)[key].to_internal_repr(value)
            )


def test_a_small_space_is_drawn_whole_and_no_further() -> None:
    space = read("a=x,y,z", "b=1,2,3,4", "c=range(0,5)")
    assert set(draws(space, 1000, seed=3)) == set(grid(space))
    tried = list(grid(space))[:-2]
    assert set(draws(space, 60, 0, tried)) == set(grid(space)) - set(tried)


def test_logarithmic_draws_are_even_in_every_decade() -> None:
    (space,) = read("a=tag(log,interval(1e-6,1e-2))")
    decades = [math.floor(math.log10(float(word))) for (word,) in draws([space], 4000, seed=0)]
    assert all(800 < decades.count(decade) < 1200 for decade in (-6, -5, -4, -3))
