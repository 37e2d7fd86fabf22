"""HeSum: the paper's statistics beside heron's, human evaluation, and the corpus builder."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.results import CLAIMS
from heron.tasks import FORK_ANALYSES
from heron.commands import COMMANDS, DATA, Command

_HERE = Path(__file__).parent

FORK_ANALYSES.register(
    "published_statistics",
    on_demand("heron_forks.hesum.published_statistics:published_statistics"),
)
COMMANDS.register(
    "judge", Command("heron_forks.hesum.judging.command", _HERE / "judging/judge.txt", group=DATA)
)
COMMANDS.register(
    "build hesum",
    Command("heron_forks.hesum.corpus.command", _HERE / "corpus/build.txt", True, DATA),
)

CLAIMS.register("hesum", on_demand("heron_forks.hesum.claims:claims"))
