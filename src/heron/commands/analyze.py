"""`heron analyze`: a run's scores slice by slice, or a data set's statistics."""

from collections.abc import Sequence

from heron.config.analyze_options import parse


def run(arguments: Sequence[str]) -> int:
    """Analyse a run, a data set or a sheet; prints tables, writes files; returns the exit code."""
    options, overrides = parse(arguments)
    # start-up time: a wrong option does not wait for the libraries behind these
    from heron.analysis.data import describe_data
    from heron.analysis.run import analyze_run
    from heron.config.extensions import FORK_ANALYSES

    if options.run is not None:
        files = analyze_run(options, overrides)
    elif options.data is not None:
        files = describe_data(options, overrides)
    else:
        files = FORK_ANALYSES["score_sheet"](options)
    print(*files, sep="\n")
    return 0
