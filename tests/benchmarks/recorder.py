"""`python -m tests.benchmarks.recorder`: what recording training dynamics adds to a step.

Steps of a 12-layer encoder and of a head on stored vectors, both on the built-in corpus; the
thread's clock is read around every step and around what the recorder adds. See README.md here.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from heron.base.errors import HeronError
from heron.base.files import write_json
from heron.base.run_folder import RunFolder
from heron.config.compose import compose
from heron.config.options import parse_options
from heron.data.datamodule import DataModule
from heron.models.optim import build_optimizer
from heron.models.precision import precision
from heron.training.build import build_module, with_stored_vectors
from heron.training.recorder import Recorder

from .processes import wide_console

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

    steps: int = 69
    threads: int = 1
    out: Path = Path("runs/benchmark_recorder.json")


def measure(words: Sequence[str], options: Options, made: Path) -> tuple[float, float]:
    """Train some steps; returns the median ms of a step, and the mean ms of the recorder."""
    overrides = [*COMMON, *words, f"paths.cache={made}", f"trainer.threads={options.threads}"]
    config = compose(overrides)
    steps, recorded = [], []
    torch.set_num_threads(options.threads)
    data = DataModule(config)
    data = with_stored_vectors(config, data)
    module = build_module(config, data)
    recorder = Recorder(RunFolder(made), data, config)
    optimizer = build_optimizer(module.encoder, module.head, config.optim)
    autocast = torch.autocast("cpu", torch.bfloat16, precision(config) != "32-true")
    batches = itertools.cycle(data.train_dataloader())
    for batch in itertools.islice(batches, options.steps):
        began = time.thread_time()
        with autocast:
            output = module.step(batch)
        assert output.loss is not None
        output.loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), config.optim.clip)
        optimizer.step()
        optimizer.zero_grad()
        ended = time.thread_time()
        recorder.add(module, output.to("cpu"))
        added = time.thread_time()
        steps.append(1000 * (ended - began))
        recorded.append(1000 * (added - ended))
    # Batches are observed some at a time, so that most steps cost less than the mean.
    return statistics.median(steps[5:]), statistics.mean(recorded[5:])


def run(arguments: Sequence[str], console: Console) -> int:
    """Measure, print the table, write the JSON file; returns the exit code."""
    options = parse_options(Options, arguments)
    if options.steps < 6:
        raise HeronError("the first five steps are left out: steps must be at least 6")
    measured = {}
    for name, words in SETTINGS.items():
        with tempfile.TemporaryDirectory() as made:
            measured[name] = measure(words, options, Path(made))
    table = Table(title=f"the recorder in a step of 32 pairs: ms of {options.threads} thread(s)")
    for column in ("", "step", "recorder", "share"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for name, (step, recorder) in measured.items():
        table.add_row(name, f"{step:.1f}", f"{recorder:.3f}", f"{recorder / step:.3%}")
    console.print(table)
    step, recorder = next(iter(measured.values()))
    reached = "reached" if recorder / step <= TARGET else "missed"
    console.print(f"target of {TARGET:.0%} of a 12-layer step {reached}")
    write_json(options.out, {"ms": measured, "steps": options.steps, "threads": options.threads})
    return 0


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1:], wide_console()))
    except HeronError as error:
        sys.exit(f"benchmark: {error}")
