"""ParaShoot: sheets on which people judge gold answers, the annotation ceiling, new questions."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.results import CLAIMS, STATISTICS, TARGETS
from heron.tasks import FORK_ANALYSES
from heron.commands.listing import FORK_COMMANDS, Command

FORK_ANALYSES.register("draw_sheet", on_demand("heron_forks.parashoot.sheets:draw_sheet"))
FORK_ANALYSES.register("score_sheet", on_demand("heron_forks.parashoot.sheets:score_sheet"))
FORK_COMMANDS.register(
    "build parashoot",
    Command(
        "heron_forks.parashoot.corpus.command",
        Path(__file__).parent / "corpus" / "build.txt",
        resumes=True,
    ),
)

for key, name in {
    "T1": "sizes",
    "T2": "span_quality",
    "T3": "question_words",
    "T5": "overlaps",
    "F1": "interface",
    "F2": "lengths",
    "F3": "annotated_examples",
    "A.1": "answered_examples",
}.items():
    TARGETS.register(f"parashoot:{key}", on_demand(f"heron_forks.parashoot.targets:{name}"))

STATISTICS.register("parashoot", on_demand("heron_forks.parashoot.targets:statistics"))
CLAIMS.register("parashoot", on_demand("heron_forks.parashoot.claims:claims"))
