"""Run folders and prediction files read, paired by guid and compared."""

from collections.abc import Callable, Iterable
from typing import Any

from heron.base.registry import Registry

# What papers and forks add to `heron reproduce` and `heron claims`, see `heron_tools.reproduction`.
# Statistics of data sets beside their paper's numbers, by data set.
STATISTICS: Registry[Callable[[Any], Any]] = Registry("data set with published statistics")
# The claims of a paper and their calculations, by paper.
CLAIMS: Registry[Callable[[], Iterable[Any]]] = Registry("paper with claims")
