"""`python -m tests.benchmarks.devices`: one run on one device and on two, by `heron train`.

The same training on the built-in corpus, without dropout and in full precision, in one process with
one thread and in two with one each. What differs is the order of additions. See README.md here.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

from heron.base.cells import Formatted, Table
from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.config.constraints import Count
from two_processes import furthest

from .frame import Found, call, main

NEAR = 1e-5  # a weight's or a score's difference that the order of additions may make
_SETTINGS = (
    "encoder.scratch.hidden=256", "encoder.scratch.layers=4", "encoder.scratch.intermediate=1024",
    "encoder.dropout=0", "head.dropout=0", "trainer.precision=32-true", "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false", "trainer.select=last", "task.bootstrap=0",
    "run.sweep=devices",
)  # fmt: skip


@dataclass
class Options:
    """Options of the benchmark."""

    rows: Count = 2000  # of the corpus
    epochs: Count = 2
    overrides: list[str] = field(default_factory=list)  # further settings, such as head=window
    out: Path = Path("runs/benchmark_devices.json")


def run(options: Options) -> Found:
    """Train both ways.

    Raises:
        HeronError: steps differ, or weights or scores by more than rounding.
    """
    with tempfile.TemporaryDirectory() as made:
        folders = {n: RunFolder(Path(made) / "runs" / "devices" / f"{n}") for n in (1, 2)}
        seconds = {n: _train(options, n, folder) for n, folder in folders.items()}
        weights = [torch.load(f.last, weights_only=True)["state_dict"] for f in folders.values()]
        scores = [read_json(folder.scores) for folder in folders.values()]
        steps = [read_json(folder.ledger)["total"]["steps"] for folder in folders.values()]
    apart = {"weights": furthest(*weights)}
    pairs = ((scores[0][s][name], scores[1][s][name]) for s in scores[0] for name in scores[0][s])
    apart["scores"] = max(abs(one - two) for one, two in pairs)
    if steps[0] != steps[1] or max(apart.values()) > NEAR:
        raise HeronError(f"not the same training: {steps} steps, {apart} apart")
    rows = [(n, *(Formatted(value, ".1f") for value in spent)) for n, spent in seconds.items()]
    columns = ("devices", "job, s", "command, s")
    table = Table(f"{steps[0]} steps", columns, tuple(rows))
    lines = [f"largest difference of {what}: {distance:.1e}" for what, distance in apart.items()]
    return Found({"apart": apart, "seconds": seconds}, [table], lines=lines)


def _train(options: Options, devices: int, folder: RunFolder) -> tuple[float, float]:
    """Train; returns the seconds of the job, and of the command, imports included."""
    made = folder.path.parents[2]
    words = [
        *_SETTINGS, *options.overrides, f"data.generator.size={options.rows}",
        f"trainer.max_epochs={options.epochs}", f"trainer.devices={devices}",
        f"paths.runs={made}/runs", f"paths.cache={made}/cache{devices}",
        f"run.job={folder.path.name}",
    ]  # fmt: skip
    started = time.perf_counter()
    call("heron", "train", *words, threads=devices)  # which divides them between the processes
    return read_json(folder.status)["seconds"], time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
