"""HeSum: the paper's statistics beside heron's, human evaluation, new articles."""

from pathlib import Path

from heron.base.registry import on_demand
from heron.config.extensions import FORK_ANALYSES, FORK_COMMANDS, Command

FORK_ANALYSES.register(
    "published_statistics",
    on_demand("heron_forks.hesum.published_statistics:published_statistics"),
)
FORK_COMMANDS.register(
    "judge",
    Command(
        on_demand("heron_forks.hesum.judging.command:run"),
        Path(__file__).parent / "judging" / "judge.txt",
    ),
)
FORK_COMMANDS.register(
    "build hesum",
    Command(
        on_demand("heron_forks.hesum.corpus.command:run"),
        Path(__file__).parent / "corpus" / "build.txt",
    ),
)
