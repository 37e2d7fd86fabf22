"""`heron analyze`: a run's scores slice by slice, or a data set's statistics."""

from collections.abc import Sequence

from heron.base.files import write_file
from heron.base.table_files import to_markdown
from heron.base.terminal import print_lines, print_tables
from heron_tools.analysis.options import parse


def run(arguments: Sequence[str]) -> int:
    """Analyse a run, a data set or a sheet; prints tables, writes files; returns the exit code."""
    options, overrides = parse(arguments)
    # start-up time: a wrong option does not wait for the libraries behind these
    from heron.results.published import STATISTICS
    from heron.tasks import FORK_ANALYSES
    from heron_tools.analysis.data import describe_data
    from heron_tools.analysis.run import analyze_run

    if options.run is not None:
        files = analyze_run(options, overrides)
    elif options.data is not None:
        files = describe_data(options, overrides)
        beside = FORK_ANALYSES.find("beside_published")
        if beside and options.data in STATISTICS and options.sheet is None and not overrides:
            print_tables(tables := beside(options))
            text = "\n\n".join(map(to_markdown, tables))
            files.append(write_file(files[0].parent / "published.md", text))
    else:
        files = FORK_ANALYSES["score_sheet"](options)
    print_lines(*files)
    return 0
