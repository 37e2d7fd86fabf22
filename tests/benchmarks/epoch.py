"""Which batches of an epoch are timed to estimate it, and a training on them alone.

A step with batches of 32 sequences takes seconds on a CPU, an epoch many minutes. Sorting an
epoch's plan by length and timing the middle batch of each equal part estimates the epoch closely,
because a step's cost is nearly proportional to its padded tokens.

Shape suffixes: U entries that a plan indexes: heron's units, or the rows of Hugging Face's
Trainer (of questions: windows).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl

from heron.base.run_folder import RunFolder
from heron.data.datamodule import DataModule
from heron.tasks.config import Config
from heron.training.checkpointing import History
from heron.training.trainer import build_module, build_trainer

Plan = Sequence[np.ndarray]
# Training alone: validation and an epoch's end are not timed, but would take longer.
TRAINING = (
    "data.validation.fraction=0",
    "trainer.select=last",
    "trainer.max_epochs=1",
    "trainer.enable_progress_bar=false",
    "batching=bucket",
)


class Stopwatch(pl.Callback):
    """Notes processor and clock time at the end of every step."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, float]] = []

    def lap(self, *_: Any, **__: Any) -> None:
        """Note that a step has ended."""
        self._marks.append((time.process_time(), time.perf_counter()))

    on_train_batch_end = lap

    def laps(self) -> np.ndarray:
        """Seconds between two ends: [steps - 1, 2]; the first step is the warm-up."""
        return np.diff(np.asarray(self._marks), axis=0)


class ChosenBatches(DataModule):
    """heron's DataModule, made to train on given batches alone; its own while none are chosen."""

    chosen: list[np.ndarray] | None = None

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Return the chosen batches, or the epoch's own plan."""
        return super().plan(epoch) if self.chosen is None else self.chosen


def choose_batches(plan: Plan, lengths_U: np.ndarray, count: int) -> list[np.ndarray]:
    """Choose batches that stand for an epoch: the middle one of each of `count` equal parts.

    Args:
        plan: the epoch's batches, as indices.
        lengths_U: tokens of the longest sequence of each index.
        count: how many to choose, at most as many as the plan has.

    Returns:
        The chosen batches, those with the shortest sequences first.
    """
    longest = [int(lengths_U[batch].max()) for batch in plan]
    parts = np.array_split(np.argsort(longest, kind="stable"), min(count, len(plan)))
    return [plan[part[len(part) // 2]] for part in parts]


def padded_tokens(plan: Plan, lengths_U: np.ndarray) -> int:
    """Count the tokens of all batches, padding included."""
    return sum(int(lengths_U[batch].max()) * len(batch) for batch in plan)


def train_heron(
    config: Config, data: ChosenBatches, watch: pl.Callback, compiled: bool = False
) -> None:
    """Train as `heron train` does: its module, its Trainer, its callbacks, and a watch."""
    if compiled:
        config.encoder.kernels = "compiled"
    with tempfile.TemporaryDirectory() as folder:
        run, module = RunFolder(Path(folder)), build_module(config, data)
        trainer = build_trainer(config, run, data, History(run.metrics))
        trainer.callbacks.append(watch)  # type: ignore[attr-defined]
        trainer.fit(module, datamodule=data)
