"""`python -m tests.benchmarks.isolation`: what a process of its own costs a job of a sweep.

The same sweep of tiny jobs through the real command, in one process and with each job isolated, and
side by side. The cost of a job is the difference between a long and a short sweep, divided by the
jobs between them: start-up and report are the same in both. See README.md here.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from heron.base.cells import Formatted, Table
from heron.config.constraints import Checked, Count

from .frame import Found, call, main

TARGET = 0.5  # seconds that isolation may add to a job
WAYS = {
    "one process": ("run.isolate=false",),
    "isolated": ("run.isolate=true",),
    "isolated, two side by side": ("run.isolate=true", "hydra.launcher.n_jobs=2"),
}
_TINY = (
    "data.generator.size=160", "encoder.scratch.vocabulary=400", "encoder.scratch.hidden=32",
    "encoder.scratch.layers=1", "encoder.scratch.heads=2", "encoder.scratch.intermediate=32",
    "task.bootstrap=20", "trainer.max_epochs=2", "trainer.threads=1", "run.export=false",
)  # fmt: skip


@dataclass
class Options(Checked):
    """Options of the benchmark.

    Args:
        short: jobs of the short sweep.
        long: jobs of the long sweep.
        out: JSON file with every measurement.
    """

    short: Count = 2
    long: Count = 22
    out: Path = Path("runs/benchmark_isolation.json")

    def problems(self) -> Iterator[str]:
        """Check that there are jobs between both sweeps."""
        if self.long <= self.short:
            yield f"long={self.long}: must be above short={self.short}"


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


def run(options: Options) -> Found:
    """Run both sweeps in every way."""
    with tempfile.TemporaryDirectory() as made:
        _seconds(Path(made), "warm", 1, ("run.isolate=false",))  # makes the cache
        measured = [_measure(way, options, Path(made)) for way in WAYS]
    added = measured[1].job - measured[0].job
    verdict = "met" if added <= TARGET else "missed"
    said = f"isolation adds {added:.2f} s to a job; target {TARGET} s: {verdict}"
    record = {"added": added, "ways": [asdict(each) for each in measured]}
    return Found(record, [table(measured, options)], [said])


def table(measured: Sequence[Measurement], options: Options) -> Table:
    """Lay the measurements out."""
    rows = []
    for each in measured:
        seconds = (Formatted(each.short, ".1f"), Formatted(each.long, ".1f"))
        rows.append((each.way, *seconds, Formatted(each.job, ".2f")))
    columns = ("", f"{options.short} jobs, s", f"{options.long} jobs, s", "a job, s")
    return Table("clock seconds of whole commands", columns, tuple(rows))


def _measure(way: str, options: Options, made: Path) -> Measurement:
    print(way, "...", flush=True)
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
    started = time.perf_counter()
    call("heron", "train", "-m", *_TINY, *places, seeds, *words)
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
