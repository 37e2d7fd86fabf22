"""ParaShoot: answers by slice, statistics of questions, sheets to judge gold answers, a corpus."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.results import CLAIMS, STATISTICS
from heron.tasks import FORK_ANALYSES
from heron.commands import COMMANDS, DATA, Command

_HERE = Path(__file__).parent

FORK_ANALYSES.register("slices of qa", on_demand("heron_forks.parashoot.answers:slice_answers"))
FORK_ANALYSES.register(
    "statistics of qa", on_demand("heron_forks.parashoot.questions:describe_questions")
)
FORK_ANALYSES.register("draw_sheet", on_demand("heron_forks.parashoot.sheets:draw_sheet"))
FORK_ANALYSES.register("score_sheet", on_demand("heron_forks.parashoot.sheets:score_sheet"))
COMMANDS.register(
    "build parashoot",
    Command("heron_forks.parashoot.corpus.command", _HERE / "corpus/build.txt", True, DATA),
)

STATISTICS.register("parashoot", on_demand("heron_forks.parashoot.targets:statistics"))
CLAIMS.register("parashoot", on_demand("heron_forks.parashoot.claims:claims"))
