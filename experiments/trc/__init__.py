"""TRC: the classifiers of its repository, for `protocol=repo`."""

from heron.base.registry import on_demand
from heron.config.registries import CLASSIFIERS

CLASSIFIERS.register("per_event", on_demand("heron_forks.trc.repository_heads:per_event"))
