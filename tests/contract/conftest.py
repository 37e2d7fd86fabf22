"""Fixtures of the tests of `conf/`: a composition takes a fifth of a second, each is made once."""

from functools import cache

import pytest

from compositions import raw, unchecked
from heron.base.errors import ConfigError
from heron.config.hydra_door import open_hydra
from heron.tasks.config import resolve


@pytest.fixture(scope="session")
def hydra():
    """One Hydra for all tests: half of what a composition costs."""
    with open_hydra("train") as instance:
        yield instance


@pytest.fixture(scope="session")
def run_as_published(hydra):
    """Return a function that composes an experiment under a protocol, once: as `raw`, resolved."""

    @cache
    def compose_one(experiment, protocol):
        config, choices = raw(hydra, f"experiment={experiment}", f"protocol={protocol}")
        try:
            return resolve(config), choices
        except ConfigError:
            return unchecked(config), choices

    return compose_one
