"""HeSum: the paper's statistics, which stand beside those that heron finds."""

from heron.base.registry import on_demand
from heron.config.registries import FORK_ANALYSES

FORK_ANALYSES.register(
    "published_statistics",
    on_demand("heron_forks.hesum.published_statistics:published_statistics"),
)
