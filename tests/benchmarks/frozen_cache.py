"""`python -m tests.benchmarks.frozen_cache`: what it saves to compute a frozen encoder once.

RoNLI's siamese head on a frozen encoder, through the real command, whole processes on the clock:
one run that encodes every epoch anew, one that stores the vectors, one that finds them stored, and
the grid of appendix B over them. See README.md here.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from heron.base.cells import Formatted, Table
from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.config.constraints import Count

from .frame import ROOT, Found, environment, find, folder, main

TARGET = 300.0  # seconds for the grid over stored vectors
JOBS_PER_SEED = 36  # 4 widths x 3 dropouts x 3 rates
JOBS = 5 * JOBS_PER_SEED
_NEEDED = "ronli/validation.json"
_STAND_IN = ("data=chronicle_ronli", "data.generator.size=3000")


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        encoder: folder of a BERT-like encoder; `HERON_ENCODER` where absent.
        data: folder that holds `ronli/`; `HERON_DATA` where absent. Without the file, the built-in
            corpus of about that size stands in.
        epochs: of a whole run.
        timed: epochs of the run that encodes anew; the second and later ones are scaled to
            `epochs`.
        seeds: of the grid; 5 make 180 jobs.
        processes: the grid's seeds are divided between so many commands at once.
        threads: CPU threads of each process.
        out: JSON file with every measurement.
    """

    encoder: Path | None = None
    data: Path | None = None
    epochs: Count = 10
    timed: Count = 2
    seeds: Count = 5
    processes: Count = 1
    threads: Count = 1
    out: Path = Path("runs/benchmark_cache.json")


@dataclass(frozen=True, slots=True)
class Measurement:
    """Clock seconds of whole processes.

    Args:
        anew: a run of `epochs` that encodes every epoch, scaled from `timed` of them.
        anew_job: the same without start-up and report, as one job of a sweep.
        first: a run that encodes once and stores the vectors.
        again: a run that finds them stored.
        grid: all jobs over stored vectors, report included.
        jobs: how many there were.
        narrow_job: median over those with the narrowest head.
    """

    anew: float
    anew_job: float
    first: float
    again: float
    grid: float
    jobs: int
    narrow_job: float

    @property
    def encoding(self) -> float:
        """What the one encoding pass takes."""
        return max(0.0, self.first - self.again)


def run(options: Options) -> Found:
    """Measure on RoNLI, or on the built-in corpus where it is absent."""
    (encoder,) = find(options, encoder="config.json")
    data = folder(options.data, "HERON_DATA")
    found = data is not None and (data / _NEEDED).is_file()
    corpus = ("data=ronli_dev", f"paths.data={data}") if found else _STAND_IN
    print(*corpus, flush=True)
    with tempfile.TemporaryDirectory() as made:
        measured = measure(options, encoder, corpus, Path(made))
    record = {
        "encoder": encoder.name,
        "data": corpus[0].partition("=")[2],
        "seconds": {**asdict(measured), "encoding": measured.encoding},
    }
    return Found(record, [table(measured, options)], [verdict(measured)])


def measure(options: Options, encoder: Path, corpus: Sequence[str], made: Path) -> Measurement:
    """Run the four in turn, with a cache of their own in `made`."""
    common = [*corpus, f"encoder={encoder}", f"paths.runs={made / 'runs'}", f"paths.cache={made}"]
    one = ["experiment=ronli/grid", *common, *first_job(), f"trainer.max_epochs={options.epochs}"]

    def timed(title: str, words: Sequence[str]) -> Timed:
        print(title, "...", flush=True)
        return time_command(words, options.threads)

    short = [*one[:-1], f"trainer.max_epochs={options.timed}", "encoder.cache=false"]
    anew = timed("encoding anew", [*short, "run.sweep=anew"])
    first = timed("encoding once", [*one, "run.sweep=first"])
    again = timed("vectors stored before", [*one, "run.sweep=again"])
    grid = ["experiment=ronli/grid", *common, f"trainer.max_epochs={options.epochs}"]
    print("grid ...", flush=True)
    seconds = time_grid([*grid, "run.sweep=grid"], options)
    jobs = count_done(made / "runs" / "grid")
    if jobs != JOBS_PER_SEED * options.seeds:
        raise HeronError(f"{jobs} of {JOBS_PER_SEED * options.seeds} jobs are done")
    (status,) = (made / "runs" / "anew").glob("*/status.json")
    return Measurement(
        anew=scale(anew, options.epochs),
        anew_job=scale(replace(anew, seconds=read_json(status)["seconds"]), options.epochs),
        first=first.seconds,
        again=again.seconds,
        grid=seconds,
        jobs=jobs,
        narrow_job=median(seconds_of(made / "runs" / "grid", "head.hidden=[128,128]")),
    )


def seconds_of(sweep: Path, override: str) -> list[float]:
    """List the clock seconds of the jobs with an override."""
    found = [read_json(path) for path in sweep.glob("*/status.json")]
    return [status["seconds"] for status in found if override in status["overrides"]]


def first_job() -> list[str]:
    """Name one job of the grid: one of its larger heads."""
    return ["head.hidden=[512,512]", "head.dropout=0.1", "optim.lr=1e-3", "seed=0"]


@dataclass(frozen=True, slots=True)
class Timed:
    """A command's clock seconds, and when each of its epochs ended, from the command's start."""

    seconds: float
    epochs: tuple[float, ...]


def time_command(words: Sequence[str], threads: int) -> Timed:
    """Run `heron train`, noting when it says that an epoch is done."""
    with tempfile.TemporaryFile("w+") as errors:
        started, ends = time.perf_counter(), []
        process = _start(words, threads, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("epoch "):
                ends.append(time.perf_counter() - started)
        _require(process, errors)
        return Timed(time.perf_counter() - started, tuple(ends))


def time_grid(words: Sequence[str], options: Options) -> float:
    """Run the grid, its seeds divided between processes; returns clock seconds of all."""
    with tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        running = [
            _start([*words, f"seed={share}", "-m"], options.threads, subprocess.DEVNULL, errors)
            for share in shares(options.seeds, options.processes)
        ]
        for process in running:
            process.wait()
        for process in running:
            _require(process, errors)
        return time.perf_counter() - started


def shares(seeds: int, processes: int) -> list[str]:
    """Divide seeds between processes, as values of `seed=`."""
    parts = [range(first, seeds, processes) for first in range(min(seeds, processes))]
    return [",".join(map(str, part)) for part in parts]


def scale(timed: Timed, epochs: int) -> float:
    """Scale a run to more epochs: all but its first one take as long as those that were seen."""
    pairs = list(itertools.pairwise(timed.epochs))
    if not pairs:
        raise HeronError("at least two epochs must be timed: timed=2")
    each = sum(end - start for start, end in pairs) / len(pairs)
    return timed.seconds + (epochs - len(timed.epochs)) * each


def count_done(sweep: Path) -> int:
    """Count the finished runs of a sweep."""
    return sum(read_json(path)["state"] == "done" for path in sweep.glob("*/status.json"))


def _start(words: Sequence[str], threads: int, stdout: Any, stderr: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "heron", "train", *words]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(threads), stdout=stdout, stderr=stderr, text=True
    )


def _require(process: subprocess.Popen[str], errors: Any) -> None:
    if process.wait():
        errors.seek(0)
        raise HeronError(f"{' '.join(map(str, process.args))} failed:\n{errors.read()[-2000:]}")


def table(measured: Measurement, options: Options) -> Table:
    """Set clock seconds side by side."""
    jobs, anew, job = measured.jobs, measured.anew, measured.anew_job
    rows = (
        (f"a run that encodes every epoch (scaled from {options.timed})", anew, anew),
        ("a run that encodes once", measured.first, anew),
        ("a run that finds the vectors stored", measured.again, anew),
        ("the encoding pass alone (difference of the two)", measured.encoding, None),
        (f"a sweep of {jobs} that encodes every epoch (scaled)", jobs * job, jobs * job),
        (f"the grid of {jobs} over stored vectors", measured.grid, jobs * job),
        ("a job of it", measured.grid / jobs, job),
        ("a job with two layers of 128 units", measured.narrow_job, None),
    )
    shown = [
        (way, Formatted(seconds, ",.1f"), Formatted(of / seconds, ",.1f") if of else None)
        for way, seconds, of in rows
    ]
    title = f"RoNLI, frozen encoder, {options.epochs} epochs: seconds, whole process"
    return Table(title, ("", "seconds", "times faster"), tuple(shown))


def verdict(measured: Measurement) -> str:
    """Say whether the grid reaches its target, which is for all of its jobs."""
    both = measured.encoding + measured.grid
    said = f"grid of {measured.jobs}: {measured.grid:.0f} s, {both:.0f} s with the encoding pass; "
    if measured.jobs != JOBS:
        return f"{said}no verdict, the target is for {JOBS} jobs"
    return (
        f"{said}target {TARGET:.0f} s after it {'reached' if measured.grid < TARGET else 'missed'}"
    )


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
