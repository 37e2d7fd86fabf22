"""HeSum: the paper's statistics beside heron's, human evaluation, new articles."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.results import CLAIMS, TARGETS
from heron.tasks import FORK_ANALYSES
from heron.commands.listing import FORK_COMMANDS, Command

FORK_ANALYSES.register(
    "published_statistics",
    on_demand("heron_forks.hesum.published_statistics:published_statistics"),
)
FORK_COMMANDS.register(
    "judge",
    Command(
        "heron_forks.hesum.judging.command",
        Path(__file__).parent / "judging" / "judge.txt",
    ),
)
FORK_COMMANDS.register(
    "build hesum",
    Command(
        "heron_forks.hesum.corpus.command",
        Path(__file__).parent / "corpus" / "build.txt",
        resumes=True,
    ),
)
for key, name in {
    "T1": "texts",
    "T2": "summaries_by_word",
    "T4": "errors",
    "T5": "summaries_by_morpheme",
    "F1": "scales",
    "F2": "prompts",
}.items():
    TARGETS.register(f"hesum:{key}", on_demand(f"heron_forks.hesum.targets:{name}"))

CLAIMS.register("hesum", on_demand("heron_forks.hesum.claims:claims"))
