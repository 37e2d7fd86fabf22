"""The frame of every benchmark: options, fresh processes, rounds, tables and the JSON file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from heron.base.cells import Cell, Formatted, Table, show
from heron.base.errors import HeronError, os_error_text
from heron.base.files import write_json
from heron.base.terminal import print_tables
from heron.config.options import parse_options

ROOT = Path(__file__).parents[2]
_PACKAGES = ("numpy", "torch", "transformers", "accelerate", "pytorch-lightning", "heron-nlu")

Times = dict[str, list[float]]  # way: its seconds, one number per round


@dataclass(frozen=True)
class Found:
    """What a benchmark has found.

    Args:
        record: what is written to `out=`, beside options, versions and processor; no file if empty.
        tables: printed first.
        lines: printed below them.
        code: the exit code.
    """

    record: dict[str, Any] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    lines: Sequence[object] = ()
    code: int = 0


class AbsentError(HeronError):
    """What a benchmark needs is not there: it is skipped, which is no failure."""


def main(
    schema: type, benchmark: Callable[[Any], Found], words: Sequence[str] | None = None
) -> int:
    """Read the options, measure, print what was found, write and name the JSON file.

    Args:
        schema: dataclass of the options; its constraints are checked.
        benchmark: measures.
        words: the command line's words, `key=value`; default: this process's.

    Returns:
        The exit code: the benchmark's, 2 after a user's mistake, 0 where it is skipped.
    """
    words = sys.argv[1:] if words is None else words
    try:
        options: Any = parse_options(schema, words)
        found = benchmark(options)
        print_tables(found.tables)
        for line in found.lines:
            print(line)
        if found.record:
            write_json(options.out, found.record | _circumstances(options))
            print(options.out)
        return found.code
    except AbsentError as error:
        print(f"benchmark skipped:\n  {error}")
        return 0
    except (HeronError, OSError) as error:
        said = os_error_text(error, words) if isinstance(error, OSError) else error
        print(f"benchmark: {said}", file=sys.stderr)
        return 2


def _circumstances(options: Any) -> dict[str, Any]:
    from heron.base.libraries import processor  # torch: no library is imported before a measurement

    given = {key: str(v) if isinstance(v, Path) else v for key, v in asdict(options).items()}
    versions = {"python": sys.version.split()[0], **{name: version(name) for name in _PACKAGES}}
    return {"options": given, "versions": versions, "processor": processor()}


def time_rounds(
    ways: Mapping[str, Callable[[], Any]],
    rounds: int,
    check: Callable[[dict[str, Any]], None] = lambda results: None,
) -> Times:
    """Run every way once a round; returns processor seconds, which others disturb least.

    Args:
        ways: what is timed, by name.
        rounds: how often each runs.
        check: compares what the ways of a round returned.
    """
    times: Times = {name: [] for name in ways}
    for _ in range(rounds):
        results = {}
        for name, way in ways.items():
            began = time.process_time()
            results[name] = way()
            times[name].append(time.process_time() - began)
        check(results)
    return times


def ratios(times: Times, rival: str, way: str) -> list[float]:
    """Divide a rival's seconds by a way's within each round: load changes between rounds."""
    return [theirs / ours for theirs, ours in zip(times[rival], times[way], strict=True)]


def ratio(times: Times, rival: str, way: str) -> float:
    """Take the median of the ratios within rounds."""
    return median(ratios(times, rival, way))


def compare(title: str, cases: Mapping[str, Times], *rivals: str) -> Table:
    """Set the ways of each case side by side: median seconds, and times as fast as the rivals."""
    rows: list[tuple[Cell, ...]] = [
        (case, way, number(median(times[way])), *(number(ratio(times, r, way)) for r in rivals))
        for case, times in cases.items()
        for way in times
    ]
    columns = ("", "way", "processor s", *(f"times {rival}" for rival in rivals))
    return Table(title, columns, tuple(rows))


def number(value: float) -> Formatted:
    """Show three digits, or all before the point."""
    return Formatted(value, ".0f" if value >= 100 else ".3g")


@dataclass(frozen=True)
class Headline:
    """How many times as fast heron is as a rival.

    Args:
        work: what heron does.
        rival: who or what does the same.
        ratios: the rival's time over heron's, one per round; rounds are measured side by side.
        bar: the ratio that heron has to reach; None where there is none.
        unit: `times` faster, or the unit of `ratios` where they are heron's own time and the bar is
            the longest that is good enough.
    """

    work: str
    rival: str
    ratios: Sequence[float]
    bar: float | None = None
    unit: str = "times"

    @property
    def ratio(self) -> float:
        """The median over the rounds."""
        return median(self.ratios)

    @property
    def spread(self) -> str:
        """Lowest and highest ratio."""
        return f"{show(number(min(self.ratios)))} to {show(number(max(self.ratios)))}"

    @property
    def result(self) -> str:
        """Whether the bar is reached; empty without one."""
        if self.bar is None:
            return ""
        enough = self.ratio >= self.bar if self.unit == "times" else self.ratio <= self.bar
        return "reached" if enough else "missed"

    def __str__(self) -> str:
        """Say it in one line."""
        bar = f"; {self.bar:g} {self.result}" if self.bar is not None else ""
        return f"{self.work} / {self.rival}: {show(number(self.ratio))} ({self.spread}){bar}"

    def cells(self) -> tuple[str, ...]:
        """Lay it out as a row of the table of all benchmarks."""
        sign = "≥" if self.unit == "times" else "≤"
        bar = "" if self.bar is None else f"{sign} {self.bar:g}: {self.result}"
        measured = f"{show(number(self.ratio))} {self.unit}"
        return self.work, self.rival, measured, self.spread, bar


def environment(threads: int, **changes: str | None) -> dict[str, str]:
    """Set up a measuring process: so many threads, no network, no fight over cores.

    `changes` are other variables; None removes one.
    """
    variables = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        # A thread that spins while another is preempted burns the time it is measured by.
        "GOMP_SPINCOUNT": "1000",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        **changes,
    }
    return {name: value for name, value in variables.items() if value is not None}


def call(
    module: str, *words: object, threads: int = 1, shown: bool = False, **changes: str | None
) -> str:
    """Run `python -m module` in a fresh process; returns what it printed, empty if it is `shown`.

    `changes` are variables of its environment, see `environment`.

    Raises:
        HeronError: it failed; with the end of what it said.
    """
    command = [sys.executable, "-m", module, *map(str, words)]
    options: Any = {
        "cwd": ROOT,
        "env": environment(threads, **changes),
        "capture_output": not shown,
    }
    done = subprocess.run(command, text=True, check=False, **options)
    if done.returncode:
        said = "see above" if shown else f"\n{done.stderr[-2000:]}"
        raise HeronError(f"{' '.join(command[2:])} failed: {said}")
    return done.stdout or ""


def folder(given: Path | None, variable: str) -> Path | None:
    """Take the folder that was given, or else the one that an environment variable names."""
    if given is None and os.environ.get(variable):
        given = Path(os.environ[variable])
    return given.resolve() if given else None


def find(options: Any, **files: str) -> list[Path]:
    """Find the folders that options name, by default `HERON_ENCODER` and `HERON_DATA`.

    Args:
        options: with `encoder` or `data`.
        files: what the folder of each has to hold.

    Raises:
        AbsentError: what is missing, and how to say where it is.
    """
    variables = {name: f"HERON_{name.upper()}" for name in files}
    found = {name: folder(getattr(options, name), variables[name]) for name in files}
    absent = [
        f"no {file or name} ({found[name]}): set {variables[name]} or {name}= to its folder"
        for name, file in files.items()
        if not (place := found[name]) or not (place / file).exists()
    ]
    if absent:
        raise AbsentError("\n  ".join(absent))
    return [place for place in found.values() if place]
