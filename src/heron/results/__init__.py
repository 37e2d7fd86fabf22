"""Run folders and prediction files read, paired by guid and compared."""

from collections.abc import Callable, Iterable
from typing import Any

from heron.base.registry import Registry

# What papers and forks add to `heron reproduce` and `heron claims`, see `heron_tools.reproduction`.
# Tables and figures that are computed without a sweep, by `<paper>:<key>` (`trc:T3`).
TARGETS: Registry[Callable[[Any], Any]] = Registry("target")
# Statistics of data sets beside their paper's numbers, by data set.
STATISTICS: Registry[Callable[[Any], Any]] = Registry("data set with published statistics")
# The claims of a paper and their calculations, by paper.
CLAIMS: Registry[Callable[[], Iterable[Any]]] = Registry("paper with claims")
