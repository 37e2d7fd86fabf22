"""`python -m tests.benchmarks.isolation`: what a process of its own costs a job of a sweep.

The same sweep of tiny jobs through the real command, in one process and with each job isolated, and
side by side. The cost of a job is the difference between a long and a short sweep, divided by the
jobs between them: start-up and report are the same in both. See README.md here.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Formatted, Table
from heron.config.constraints import Count
from small_runs import TINY

from .frame import Found, Headline, call, main

WAYS = {
    "one process": ("run.isolate=false",),
    "isolated": ("run.isolate=true",),
    "isolated, two side by side": ("run.isolate=true", "hydra.launcher.n_jobs=2"),
}


@dataclass
class Options:
    """Options of the benchmark."""

    short: Count = 2  # jobs of the short sweep
    more: Count = 20  # that the long one has
    out: Path = Path("runs/benchmark_isolation.json")


def run(options: Options) -> Found:
    """Run both sweeps in every way: clock seconds of whole commands."""
    sizes, measured = (options.short, options.short + options.more), {}
    with tempfile.TemporaryDirectory() as made:
        _seconds(Path(made), "warm", 1)  # makes the cache
        for way in WAYS:
            print(way, "...", flush=True)
            short, long = (_seconds(Path(made), way, jobs) for jobs in sizes)
            measured[way] = (short, long, (long - short) / options.more)
    rows = [(way, *(Formatted(each, ".2f") for each in of)) for way, of in measured.items()]
    columns = ("", *(f"{jobs} jobs, s" for jobs in sizes), "a job, s")
    added = measured["isolated"][2] - measured["one process"][2]
    table = Table("clock seconds of whole commands", columns, tuple(rows))
    return Found(measured, [table], [Headline("isolation", "a job", [added], 0.5, "s")])


def _seconds(made: Path, way: str, jobs: int) -> float:
    places = (f"paths.runs={made}/runs", f"paths.cache={made}/cache")
    places += (f"run.sweep={way.replace(', ', '-').replace(' ', '-')}-{jobs}", "run.export=false")
    seeds, started = "seed=" + ",".join(map(str, range(jobs))), time.perf_counter()
    call("heron", "train", "-m", *TINY[:-1], *places, seeds, *WAYS.get(way, WAYS["one process"]))
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
