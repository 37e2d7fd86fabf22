"""`heron judge`: human evaluation; `sample` writes blind forms, `collect` evaluates them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from heron.base.errors import DataError
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_options, run_step


def run(arguments: Sequence[str]) -> int:
    """Do one step; returns the exit code: 1 if a filled form has unusable cells.

    Raises:
        ConfigError: an unknown step or option.
        DataError: files that cannot be used.
    """
    return run_step(arguments, {"sample": _sample, "collect": _collect})


def _sample(arguments: Sequence[str]) -> int:
    from .sampling import SampleSummariesOptions, draw_study  # start-up time

    options = parse_options(SampleSummariesOptions, arguments)
    study, files = draw_study(options)

    counts = [len(items) for items in study.items.values()]
    fewest = min(counts)
    most = max(counts)
    size = str(most) if fewest == most else f"{fewest} to {most}"
    names = ", ".join(study.systems)
    print_lines(
        f"{len(study.guids)} articles, {len(study.systems)} systems ({names}), "
        f"{len(study.items)} raters with {size} summaries each: study {study.id}"
    )

    forms = files[0].parent
    key = options.out / "key.json"
    print_lines(
        f"for raters: {forms} (an .html or a .csv each, and instructions.txt)",
        f"not for raters: {key} names the system of each summary",
        files=[forms, key],
    )
    print(f"then: heron judge collect forms=FOLDER key={key}")
    return 0


def _collect(arguments: Sequence[str]) -> int:
    from .collecting import CollectRatingsOptions, collect_study  # start-up time

    options = parse_options(CollectRatingsOptions, arguments)
    report = collect_study(options)
    print_tables(report.tables)
    print_lines(*report.files)

    problems = report.problems
    if not problems:
        return 0
    print(f"{len(problems)} answers could not be used:", file=sys.stderr)
    print(DataError(problems, limit=50), file=sys.stderr)
    return 1
