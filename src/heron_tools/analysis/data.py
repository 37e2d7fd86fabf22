"""Statistics of a data set's files, and sheets on which people judge its answers."""

from collections.abc import Sequence
from pathlib import Path

from heron.base.folders import default_cache_dir, default_data_dir
from heron.base.terminal import print_lines
from heron.results.shipped import read_shipped
from heron.tasks import FORK_ANALYSES
from heron.training.overrides import configure
from heron_tools.analysis import data_statistics
from heron_tools.analysis.files import write_outcome
from heron_tools.analysis.options import AnalyzeOptions


def describe_data(options: AnalyzeOptions, overrides: Sequence[str]) -> list[Path]:
    """Describe the split files that are there, or draw a sheet of their answers (`sheet=`).

    Args:
        options: of the command; checked before any data is read.
        overrides: `data.<key>=` words.

    Returns:
        The files written: `statistics.md`, `statistics.json` and those of the task.
    """
    assert options.data is not None
    config = configure(options.data, overrides)
    statistics = data_statistics(config, options)
    cache = options.paths_cache or default_cache_dir()
    shipped = read_shipped(config, options.paths_data or default_data_dir(), cache)
    if options.sheet is not None:
        return list(FORK_ANALYSES["draw_sheet"](options, shipped))
    found = statistics.describe(shipped)
    print_lines(*(f"missing: {name} ({path})" for name, path in shipped.missing.items()))
    origin = {"sha256": shipped.sha256, "missing": sorted(shipped.missing)}
    facts = {"data": config.name, "overrides": list(overrides), **origin, **found.facts}
    target = options.out or Path("runs") / "analysis" / config.name
    return write_outcome(found, target, "statistics", facts)
