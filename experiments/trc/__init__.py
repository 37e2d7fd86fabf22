"""TRC: its repository's classifier, transitive decoding, claims, tables and corpus builders."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.results import CLAIMS, STATISTICS
from heron.commands import COMMANDS, DATA, Command
from heron.metrics import METRICS, Metric
from heron.models import CLASSIFIERS

CLASSIFIERS.register("per_event", on_demand("heron_forks.trc.repository_heads:per_event"))

METRICS.register(
    "transitive",
    Metric(of_split=on_demand("heron_forks.trc.decoding:transitive"), tasks=("relation",)),
)
STATISTICS.register("trc", on_demand("heron_forks.trc.tables:labels"))
CLAIMS.register("trc", on_demand("heron_forks.trc.claims:claims"))
for _name, _module, _help in (
    ("build trc", "corpus", "build.txt"),
    ("build matres", "matres", "matres.txt"),
):
    _command = Command(f"heron_forks.trc.{_module}", Path(__file__).parent / _help, True, DATA)
    COMMANDS.register(_name, _command)
