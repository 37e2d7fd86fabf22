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
    from .sampling import SampleOptions, draw_study  # start-up time

    options = parse_options(SampleOptions, arguments)
    study, files = draw_study(options)
    each = sorted({len(items) for items in study.items.values()})
    sizes = " to ".join(map(str, dict.fromkeys((each[0], each[-1]))))
    print_lines(
        f"{len(study.guids)} articles, {len(study.systems)} systems ({', '.join(study.systems)}), "
        f"{len(study.items)} raters with {sizes} summaries each: study {study.id}"
    )
    forms, key = files[0].parent, options.out / "key.json"
    said = f"for raters: {forms} (an .html or a .csv each, and instructions.txt)"
    print_lines(said, f"not for raters: {key} names the system of each summary", files=[forms, key])
    print(f"then: heron judge collect forms=FOLDER key={key}")
    return 0


def _collect(arguments: Sequence[str]) -> int:
    from .collecting import CollectOptions, collect_study  # start-up time

    options = parse_options(CollectOptions, arguments)
    report = collect_study(options)
    print_tables(report.tables)
    print_lines(*report.files)
    if report.problems:
        print(f"{len(report.problems)} answers could not be used:", file=sys.stderr)
        print(DataError(report.problems, limit=50), file=sys.stderr)
    return 1 if report.problems else 0
