"""`python -m tests.benchmarks.threads`: one thread and two, on a free machine and on a busy one.

Training steps of encoders from tiny to 12 layers, with libgomp's ways of waiting at a barrier. The
machine is made busy by one endless loop for each core, which the benchmark starts and ends. See
README.md here.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from heron.base.cells import Formatted, Table
from heron.base.ranks import count_cores
from heron.cli import SPINS
from heron.config.constraints import Count, Positive

from .frame import Found, call, main, number

FREE, BUSY = 1.05, 1.3  # how many times the best setting's time heron's default may take
SHAPES = ((1, 32), (2, 64), (2, 128), (4, 192), (6, 256), (12, 384))  # layers, width
ONE, OURS = "1 thread", "bounded"
# The variables of libgomp.
WAYS: dict[str, dict[str, str | None]] = {
    ONE: {},
    "default": {"GOMP_SPINCOUNT": None},
    OURS: dict([SPINS]),
    "passive": {"GOMP_SPINCOUNT": None, "OMP_WAIT_POLICY": "PASSIVE"},
}

Times = dict[str, list[list[float]]]  # way: for each shape ms a step, one number per round


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        threads: of all ways but the first.
        seconds: that each shape is trained in each way, at least; and three steps.
        rounds: each measures every way on the free machine and on the busy one.
        shapes: how many of the shapes, the smallest first.
        precision: `trainer.precision`.
        inside: set in the benchmark's own processes, which print their measurements.
        out: JSON file with every measurement.
    """

    threads: Count = 2
    seconds: Positive = 4.0
    rounds: Count = 3
    shapes: Count = 6
    precision: str = "auto"
    inside: bool = False
    out: Path = Path("runs/benchmark_threads.json")


def run(options: Options) -> Found:
    """Measure every shape in every way, free and busy, in interleaved rounds."""
    if options.inside:
        with tempfile.TemporaryDirectory() as made:
            found = [measure(*shape, options, Path(made)) for shape in SHAPES[: options.shapes]]
        return Found(lines=[json.dumps(found)])
    shared = {name: getattr(options, name) for name in ("seconds", "shapes", "precision")}
    words = [f"{name}={value}" for name, value in shared.items()]
    times: dict[str, Times] = {"free": {}, "busy": {}}
    weights: list[int] = []
    for _, load, way in itertools.product(range(options.rounds), times, WAYS):
        print(load, way, "...", flush=True)
        threads = 1 if way == ONE else options.threads
        with busy(count_cores() if load == "busy" else 0):
            said = call(
                "tests.benchmarks.threads", *words, "inside=true", threads=threads, **WAYS[way]
            )
        measured = json.loads(said.splitlines()[-1])
        weights = [count for count, _ in measured]
        rounds = times[load].setdefault(way, [[] for _ in measured])
        for place, (_, ms) in enumerate(measured):
            rounds[place].append(ms)
    tables = [table(load, weights, of, options) for load, of in times.items()]
    return Found({"weights": weights, "ms": times}, tables, judge(weights, times))


def measure(layers: int, hidden: int, options: Options, made: Path) -> tuple[int, float]:
    """Train some steps as `heron train` does; returns the model's weights, and ms a step."""
    from heron.data.datamodule import DataModule
    from heron.training.build import build_module
    from heron.training.compose import compose
    from heron.training.trainer import count_weights

    from .steps import take_steps

    shape = {"layers": layers, "hidden": hidden, "heads": hidden // 32, "intermediate": 4 * hidden}
    words = [f"encoder.scratch.{key}={value}" for key, value in shape.items()]
    words += [f"paths.cache={made}", f"trainer.precision={options.precision}"]
    config = compose(["data.generator.size=400", *words])
    data = DataModule(config)
    module = build_module(config, data)
    steps = take_steps(module, data, config)
    spent: list[float] = []
    while True:
        began = time.perf_counter()
        next(steps)
        spent.append(time.perf_counter() - began)
        if len(spent) > 4 and sum(spent[2:]) > options.seconds:  # the first two prepare kernels
            break
    return count_weights(module), 1000 * sum(spent[2:]) / len(spent[2:])


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many cores busy."""
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def table(load: str, weights: Sequence[int], times: Times, options: Options) -> Table:
    """Set the ways of each shape side by side: ms a step, medians of the rounds."""
    rows = []
    for place, (count, (layers, hidden)) in enumerate(zip(weights, SHAPES, strict=False)):
        found = (number(median(of[place])) for of in times.values())
        rows.append((f"{layers} x {hidden}", Formatted(count, ","), *found))
    title = f"{load} machine: ms a step; {options.threads} threads but for the first"
    return Table(title, ("layers x width", "weights", *times), tuple(rows))


def judge(weights: Sequence[int], times: dict[str, Times]) -> list[str]:
    """Divide the time of what heron chooses by that of the best way, and compare with the bars."""
    from heron.training.trainer import SECOND_THREAD

    said = []
    for (load, of), bar in zip(times.items(), (FREE, BUSY), strict=True):
        for place, count in enumerate(weights):
            chosen = ONE if count < SECOND_THREAD else OURS
            best = min(median(found[place]) for found in of.values())
            ratio = median(of[chosen][place]) / best
            verdict = "reached" if ratio <= bar else "missed"
            shape = " x ".join(map(str, SHAPES[place]))
            said.append(f"{load}, {shape}: {chosen}, {ratio:.2f} of the best; {bar} {verdict}")
    return said


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
