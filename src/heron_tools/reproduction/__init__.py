"""Reproduces the papers' tables, figures and claims: heron's numbers beside the published."""

from pathlib import Path
from typing import Any

from heron.commands import COMMANDS, PAPERS, Command
from heron.tasks import FORK_ANALYSES


def beside_published(options: Any) -> list[Any]:
    """Show a data set's statistics beside its paper's (`heron analyze data=`)."""
    from heron_tools.reproduction.results import published_statistics
    from heron_tools.reproduction.targets import TargetRequest

    data_dir, cache_dir = options.folders
    return published_statistics(options.data, TargetRequest(data_dir, cache_dir, options.seed))


@FORK_ANALYSES.late("report_view")
def _report_view() -> Any:
    from heron_tools.reproduction.paper_tables import report_view

    return report_view


FORK_ANALYSES.register("beside_published", beside_published)
for _name in ("reproduce", "claims"):
    _help = Path(__file__).with_name(f"{_name}.txt")
    _command = Command(f"{__name__}.{_name}", _help, _name == "reproduce", PAPERS)
    COMMANDS.register(_name, _command)
