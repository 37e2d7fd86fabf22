"""Pin heron's behaviour: record what its command line does, and compare two recordings.

Before a redesign, record the commit to start from, in a checkout of its own; after it, record the
new state, and compare. Nothing may differ that CHANGELOG.md does not name:

    git worktree add --detach ../before COMMIT
    python -m tests.behaviour record /tmp/before --source ../before
    python -m tests.behaviour record /tmp/after
    python -m tests.behaviour compare /tmp/before /tmp/after

`make pin PINS=/tmp/after` is the second record. `record OUT --runs BEFORE` trains nothing: it reads
the run folders of another recording, so that comparing the two shows whether run folders of before
can still be read. `--only NAME` records some cases and those that they need. `compare --allow GLOB`
leaves out files that are meant to differ, `--without REGEX` lines, such as keys that are new.
Record twice to see what a machine does not repeat.

The cases (`cases.toml`) use `python -m heron` only, on generated data, so that they do not depend
on how heron is built. A recording is bit-exact on one machine with one set of libraries: keep it
out of the repository. What is not compared, and why, is listed at the top of `comparing.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .comparing import compare
from .recording import record


def main(arguments: list[str] | None = None) -> int:
    """Record or compare; returns 1 where two recordings differ or a command failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.behaviour")
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="run all cases, keep what they leave")
    recorder.add_argument("out", type=Path, help="a new folder")
    recorder.add_argument("--source", type=Path, default=Path(__file__).parents[2])
    recorder.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="these cases and their needs"
    )
    recorder.add_argument("--runs", type=Path, metavar="BEFORE", help="read runs, train none")
    comparer = commands.add_parser("compare", help="list what differs")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    comparer.add_argument("--allow", nargs="+", default=[], metavar="GLOB")
    comparer.add_argument("--without", nargs="+", default=[], metavar="REGEX")
    given = parser.parse_args(arguments)
    if given.command == "record":
        return record(given.out.resolve(), given.source.resolve(), given.only, given.runs)
    return compare(given.before, given.after, given.allow, given.without)


if __name__ == "__main__":
    sys.exit(main())
