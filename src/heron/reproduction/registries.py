"""What papers and forks add to `heron reproduce` and `heron claims`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from heron.base.registry import Registry

if TYPE_CHECKING:  # these import this module
    from heron.reproduction.claims import Claim
    from heron.reproduction.targets import Filled, Request

# Tables and figures that `heron reproduce` computes without a sweep, by `<paper>:<key>` (`trc:T3`).
TARGETS: Registry[Callable[[Request], Filled]] = Registry("target")

# What `heron analyze data=NAME` shows beside its paper's numbers, by data set. HeSum's statistics
# have several definitions each; `published_statistics` above chooses among them.
STATISTICS: Registry[Callable[[Request], Filled]] = Registry("data set with published statistics")

# What `heron claims` recomputes, by paper: the claims and their calculations.
CLAIMS: Registry[Callable[[], Iterable[Claim]]] = Registry("paper with claims")
