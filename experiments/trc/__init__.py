"""TRC: the classifiers of its repository, for `protocol=repo`; its tables."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.config.extensions import CLAIMS, FORK_COMMANDS, TARGETS, Command
from heron.config.registries import CLASSIFIERS

CLASSIFIERS.register("per_event", on_demand("heron_forks.trc.repository_heads:per_event"))
for _key, _function in {
    "T1": "label_map",
    "T2": "labels",
    "T3": "agreement",
    "T6": "examples",
}.items():
    TARGETS.register(f"trc:{_key}", on_demand(f"heron_forks.trc.tables:{_function}"))

CLAIMS.register("trc", on_demand("heron_forks.trc.claims:claims"))
FORK_COMMANDS.register(
    "build trc",
    Command(on_demand("heron_forks.trc.corpus:run"), Path(__file__).parent / "build.txt"),
)
