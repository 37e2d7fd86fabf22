"""`heron analyze`: a run's scores slice by slice, or a data set's statistics."""

from collections.abc import Sequence
from pathlib import Path

from heron.base.files import write_file
from heron.base.table_files import to_markdown
from heron.base.terminal import print_lines, print_tables
from heron.tasks.analyze_options import AnalyzeOptions, parse


def run(arguments: Sequence[str]) -> int:
    """Analyse a run, a data set or a sheet; prints tables, writes files; returns the exit code."""
    options, overrides = parse(arguments)
    # start-up time: a wrong option does not wait for the libraries behind these
    from heron.analysis.data import describe_data
    from heron.analysis.run import analyze_run
    from heron.reproduction.registries import STATISTICS
    from heron.tasks import FORK_ANALYSES

    if options.run is not None:
        files = analyze_run(options, overrides)
    elif options.data is not None:
        files = describe_data(options, overrides)
        if options.data in STATISTICS and options.sheet is None and not overrides:
            files.append(_beside_published(options, files[0].parent))
    else:
        files = FORK_ANALYSES["score_sheet"](options)
    print_lines(*files)
    return 0


def _beside_published(options: AnalyzeOptions, folder: Path) -> Path:
    """Show a data set's statistics beside those that its paper printed."""
    from heron.base.folders import default_cache_dir, default_data_dir
    from heron.reproduction.results import published_statistics
    from heron.reproduction.targets import Request

    assert options.data is not None
    cache = options.paths_cache or default_cache_dir()
    request = Request(options.paths_data or default_data_dir(), cache, options.seed)
    tables = published_statistics(options.data, request)
    print_tables(tables)
    return write_file(folder / "published.md", "\n\n".join(map(to_markdown, tables)))
