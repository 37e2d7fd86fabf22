"""`python -m tests.benchmarks.recorder`: what recording training dynamics adds to a step.

Steps of a 12-layer encoder and of a head on stored vectors, both on the built-in corpus; the
thread's clock is read around every step and around what the recorder adds. See README.md here.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytorch_lightning as pl
import torch
from annotated_types import Ge

from heron.base.run_folder import RunFolder
from heron.data.datamodule import DataModule
from heron.dynamics.recorder import Recorder
from heron.models.optim import build_optimizer
from heron.models.precision import precision
from heron.tasks.config import Config
from heron.training.compose import compose
from heron.training.trainer import build_module

from .frame import Found, Headline, main

COMMON = ("data=chronicle_nli", "task=nli", "data.generator.size=2000", "trainer.threads=1")
COMMON += ("batching=shuffle", "batching.size=32")
WIDE = {"layers": 12, "hidden": 384, "heads": 12, "intermediate": 1536}
SETTINGS = {
    "12 layers, 384 wide": (
        "head=cross",
        *(f"encoder.scratch.{key}={value}" for key, value in WIDE.items()),
    ),
    "a head on stored vectors": ("head=siamese_cls", "encoder.freeze=all"),
}


@dataclass
class Options:
    """Options of the benchmark."""

    steps: Annotated[int, Ge(6)] = 69  # of each training; the first five are left out
    out: Path = Path("runs/benchmark_recorder.json")


def take_steps(module: Any, data: DataModule, config: Config) -> Iterator[Any]:
    """Train on an epoch's batches again and again; yields the output of each step, taken."""
    optimizer = build_optimizer(module.encoder, module.head, config.optim)
    autocast = torch.autocast("cpu", torch.bfloat16, precision(config) == "bf16-mixed")
    for batch in itertools.cycle(list(data.train_dataloader())):
        with autocast:
            output = module.step(batch)
        output.loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), config.trainer.gradient_clip_val)
        optimizer.step()
        optimizer.zero_grad()
        yield output


def measure(words: Sequence[str], options: Options, made: Path) -> tuple[float, float]:
    """Train some steps; returns the median ms of a step, and the mean ms of the recorder."""
    config = compose([*COMMON, *words, f"paths.cache={made}"])
    torch.set_num_threads(1)
    data = DataModule(config)
    module = build_module(config, data)
    recorder = Recorder(RunFolder(made))
    module.trainer = pl.Trainer(logger=False, enable_checkpointing=False)
    module.trainer.datamodule = data
    recorder.setup(module.trainer, module, "fit")
    taken = take_steps(module, data, config)
    steps, recorded = [], []
    for _ in range(options.steps):
        began = time.thread_time()
        output = next(taken)
        ended = time.thread_time()
        recorder.add(module, output.to("cpu"))
        recorded.append(1000 * (time.thread_time() - ended))
        steps.append(1000 * (ended - began))
    # Batches are observed some at a time, so that most steps cost less than the mean.
    return statistics.median(steps[5:]), statistics.mean(recorded[5:])


def run(options: Options) -> Found:
    """Measure in both settings."""
    measured = {}
    for name, words in SETTINGS.items():
        with tempfile.TemporaryDirectory() as made:
            measured[name] = measure(words, options, Path(made))
    headlines = [
        Headline(f"recorder, {name}", f"a step of {step:.1f} ms", [spent], 0.05, "ms")
        for name, (step, spent) in measured.items()
    ]
    return Found({"ms": measured}, headlines=headlines)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
