"""LCHAIM: its claims, the tables and figures that no sweep fills, `heron build translate`."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.results import CLAIMS, STATISTICS, TARGETS
from heron.commands.listing import FORK_COMMANDS, Command

for _data in ("lchaim", "control_dev"):
    STATISTICS.register(_data, on_demand("heron_forks.lchaim.tables:statistics"))
CLAIMS.register("lchaim", on_demand("heron_forks.lchaim.claims:claims"))
for _key, _function in {
    "T1": "ratings",
    "F1": "pairs",
    "F2": "diversity",
    "F3": "reasoning",
    "F4": "prompts",
}.items():
    TARGETS.register(f"lchaim:{_key}", on_demand(f"heron_forks.lchaim.tables:{_function}"))

FORK_COMMANDS.register(
    "build translate",
    Command("heron_forks.lchaim.translation", Path(__file__).parent / "build.txt", True),
)
FORK_COMMANDS.register(
    "build lchaim",
    Command("heron_forks.lchaim.building", Path(__file__).parent / "build_lchaim.txt"),
)
FORK_COMMANDS.register(
    "prompt tune",
    Command("heron_forks.lchaim.tuning", Path(__file__).parent / "tune.txt", True),
)
