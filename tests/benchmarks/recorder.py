"""`python -m tests.benchmarks.recorder`: what recording training dynamics adds to a step.

Steps of a 12-layer encoder and of a head on stored vectors, both on the built-in corpus; the
thread's clock is read around every step and around what the recorder adds. See README.md here.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytorch_lightning as pl
import torch
from annotated_types import Ge

from heron.base.cells import Formatted, Table
from heron.base.run_folder import RunFolder
from heron.config.constraints import Count
from heron.data.datamodule import DataModule
from heron.training.build import build_module
from heron.training.compose import compose
from heron.training.recorder import Recorder

from .frame import Found, main
from .steps import take_steps

TARGET = 0.01  # of a 12-layer step
COMMON = (
    "data=chronicle_nli",
    "task=nli",
    "data.generator.size=2000",
    "batching=shuffle",
    "batching.size=32",
)
SETTINGS = {
    "12 layers, 384 wide": (
        "head=cross",
        "encoder.scratch.layers=12",
        "encoder.scratch.hidden=384",
        "encoder.scratch.heads=12",
        "encoder.scratch.intermediate=1536",
    ),
    "a head on stored vectors": ("head=siamese_cls", "encoder.freeze=all"),
}


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        steps: of each training; the first five are left out.
        threads: CPU threads.
        out: JSON file with every measurement.
    """

    steps: Annotated[int, Ge(6)] = 69
    threads: Count = 1
    out: Path = Path("runs/benchmark_recorder.json")


def measure(words: Sequence[str], options: Options, made: Path) -> tuple[float, float]:
    """Train some steps; returns the median ms of a step, and the mean ms of the recorder."""
    overrides = [*COMMON, *words, f"paths.cache={made}", f"trainer.threads={options.threads}"]
    config = compose(overrides)
    steps, recorded = [], []
    torch.set_num_threads(options.threads)
    data = DataModule(config)
    module = build_module(config, data)
    recorder = Recorder(RunFolder(made))
    module.trainer = pl.Trainer(logger=False, enable_checkpointing=False)
    module.trainer.datamodule = data
    recorder.setup(module.trainer, module, "fit")
    taken = take_steps(module, data, config)
    for _ in range(options.steps):
        began = time.thread_time()
        output = next(taken)
        ended = time.thread_time()
        recorder.add(module, output.to("cpu"))
        added = time.thread_time()
        steps.append(1000 * (ended - began))
        recorded.append(1000 * (added - ended))
    # Batches are observed some at a time, so that most steps cost less than the mean.
    return statistics.median(steps[5:]), statistics.mean(recorded[5:])


def run(options: Options) -> Found:
    """Measure in both settings."""
    measured = {}
    for name, words in SETTINGS.items():
        with tempfile.TemporaryDirectory() as made:
            measured[name] = measure(words, options, Path(made))
    rows = [
        (name, Formatted(step, ".1f"), Formatted(added, ".3f"), Formatted(added / step, ".3%"))
        for name, (step, added) in measured.items()
    ]
    title = f"the recorder in a step of 32 pairs: ms of {options.threads} thread(s)"
    table = Table(title, ("", "step", "recorder", "share"), tuple(rows))
    step, recorder = next(iter(measured.values()))
    reached = "reached" if recorder / step <= TARGET else "missed"
    return Found(
        {"ms": measured}, [table], [f"target of {TARGET:.0%} of a 12-layer step {reached}"]
    )


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
