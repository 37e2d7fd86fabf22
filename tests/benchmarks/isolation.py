"""`python -m tests.benchmarks.isolation`: what a process of its own costs a job of a sweep.

The same sweep of tiny jobs through the real command, in one process and with each job isolated, and
side by side. The cost of a job is the difference between a long and a short sweep, divided by the
jobs between them: start-up and report are the same in both. See README.md here.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from heron.base.files import write_json
from heron.config.options import parse_options

from .processes import ROOT, environment, wide_console

TARGET = 0.5  # seconds that isolation may add to a job
WAYS = {
    "one process": ("run.isolate=false",),
    "isolated": ("run.isolate=true",),
    "isolated, two side by side": ("run.isolate=true", "run.n_jobs=2"),
}
_TINY = (
    "data.generator.size=160", "encoder.scratch.vocabulary=400", "encoder.scratch.hidden=32",
    "encoder.scratch.layers=1", "encoder.scratch.heads=2", "encoder.scratch.intermediate=32",
    "task.bootstrap=20", "trainer.max_epochs=2", "trainer.threads=1", "run.export=false",
)  # fmt: skip


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        short: jobs of the short sweep.
        long: jobs of the long sweep.
        out: JSON file with every measurement.
    """

    short: int = 2
    long: int = 22
    out: Path = Path("runs/benchmark_isolation.json")


@dataclass(frozen=True, slots=True)
class Measurement:
    """Clock seconds of whole commands, report included.

    Args:
        way: one of `WAYS`.
        short: the short sweep.
        long: the long sweep.
        job: a job's share: (long - short) / jobs between.
    """

    way: str
    short: float
    long: float
    job: float


def run(arguments: Sequence[str], console: Console) -> int:
    """Measure, print the table, write the JSON file; returns the exit code."""
    options = parse_options(Options, arguments)
    with tempfile.TemporaryDirectory() as made:
        _seconds(Path(made), "warm", 1, ("run.isolate=false",))  # makes the cache
        measured = [_measure(way, options, Path(made), console) for way in WAYS]
    added = measured[1].job - measured[0].job
    console.print(table(measured, options))
    verdict = "met" if added <= TARGET else "missed"
    console.print(f"isolation adds {added:.2f} s to a job; target {TARGET} s: {verdict}")
    write_json(options.out, {"added": added, "ways": [asdict(each) for each in measured]})
    console.print(f"every measurement: {options.out}", markup=False)
    return 0


def table(measured: Sequence[Measurement], options: Options) -> Table:
    """Lay the measurements out."""
    shown = Table("", f"{options.short} jobs, s", f"{options.long} jobs, s", "a job, s")
    for each in measured:
        shown.add_row(each.way, f"{each.short:.1f}", f"{each.long:.1f}", f"{each.job:.2f}")
    return shown


def _measure(way: str, options: Options, made: Path, console: Console) -> Measurement:
    console.print(way, "...", markup=False)
    short = _seconds(made, f"{way} short", options.short, WAYS[way])
    long = _seconds(made, f"{way} long", options.long, WAYS[way])
    return Measurement(way, short, long, (long - short) / (options.long - options.short))


def _seconds(made: Path, name: str, jobs: int, words: Sequence[str]) -> float:
    seeds = "seed=" + ",".join(map(str, range(jobs)))
    places = (
        f"paths.runs={made}/runs",
        f"paths.cache={made}/cache",
        f"run.sweep={name}".replace(" ", "-"),
    )
    command = [sys.executable, "-m", "heron", "train", "-m", *_TINY, *places, seeds, *words]
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment(1), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], wide_console()))
