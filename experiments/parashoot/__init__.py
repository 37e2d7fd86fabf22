"""ParaShoot: sheets on which people judge gold answers, the annotation ceiling, new questions."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.config.extensions import FORK_ANALYSES, FORK_COMMANDS, Command

FORK_ANALYSES.register("draw_sheet", on_demand("heron_forks.parashoot.sheets:draw_sheet"))
FORK_ANALYSES.register("score_sheet", on_demand("heron_forks.parashoot.sheets:score_sheet"))
FORK_COMMANDS.register(
    "build parashoot",
    Command(
        on_demand("heron_forks.parashoot.corpus.command:run"),
        Path(__file__).parent / "corpus" / "build.txt",
    ),
)
