"""LCHAIM: claims, tables and figures without a sweep, `heron analyze by=ttr`, `build translate`."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.results import CLAIMS, STATISTICS
from heron.commands import COMMANDS, DATA, TRAIN, Command
from heron.tasks import FORK_ANALYSES

_HERE = Path(__file__).parent

for _data in ("lchaim", "control_dev"):
    STATISTICS.register(_data, on_demand("heron_forks.lchaim.tables:statistics"))
FORK_ANALYSES.register("by ttr", on_demand("heron_forks.lchaim.diversity:by_diversity"))
CLAIMS.register("lchaim", on_demand("heron_forks.lchaim.claims:claims"))

COMMANDS.register(
    "build translate", Command("heron_forks.lchaim.translation", _HERE / "build.txt", True, DATA)
)
COMMANDS.register(
    "build lchaim", Command("heron_forks.lchaim.building", _HERE / "build_lchaim.txt", group=DATA)
)
COMMANDS.register(
    "build lchaim_shots", Command("heron_forks.lchaim.shots", _HERE / "build_shots.txt", group=DATA)
)
COMMANDS.register(
    "prompt tune", Command("heron_forks.lchaim.tuning", _HERE / "tune.txt", True, TRAIN)
)
