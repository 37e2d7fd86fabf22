"""An epoch of training, measured by a few of its batches: which ones, and what they say of it.

A step with random batches of 32 takes seconds on a processor, an epoch many minutes. Sorting an
epoch's plan by length and timing the middle batch of each equal part estimates the epoch closely,
because a step's cost is nearly proportional to its padded tokens.

Shape suffixes: U units of a plan (sequences, or pairs with all their windows).
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from heron.base.run_folder import RunFolder
from heron.data.datamodule import DataModule
from heron.dynamics.recorder import Recorder
from heron.tasks.config import Config
from heron.training.checkpointing import History
from heron.training.trainer import build_module, build_trainer

Plan = Sequence[np.ndarray]
WARM, COUNTED = 8, 4  # steps before those that are timed, and steps whose waits are counted

# Nothing but training: the clock stands still at an epoch's end, but time is precious.
TRAINING = (
    "data.validation.fraction=0",
    "trainer.select=last",
    "trainer.max_epochs=1",
    "trainer.enable_progress_bar=false",
    "batching=bucket",
    "encoder=pretrained",
    "encoder.name=given below",
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


class DoneError(Exception):
    """Ends a training whose steps are measured."""


class Watch(pl.Callback):
    """Watches a training step by step.

    Args:
        chosen: batches, which are trained on again and again.
        gpu: whether one is waited for before the clock is read.
    """

    times = 3  # that the batches are needed

    def __init__(self, chosen: list[np.ndarray], gpu: bool):
        self.chosen, self.steps, self.gpu, self.done = chosen, len(chosen), gpu, -WARM

    def batches(self) -> list[np.ndarray]:
        """List what is trained on: some batches come first, and some last."""
        count = WARM + self.times * self.steps + COUNTED + 1
        return [self.chosen[(place - WARM) % self.steps] for place in range(count)]


class Meter(Watch):
    """Measures steps, then the kernels of the same steps, then where the host waits."""

    seconds = kernels = 0.0
    waits: Sequence[str] = ()

    def lap(self, *_: Any, **__: Any) -> None:
        """Note that a step has ended."""
        self.done += 1
        if self.done == 0:
            self.seconds = -now(self.gpu)
        elif self.done == 2 * self.steps:
            self.seconds = (self.seconds + now(self.gpu)) / 2
            if not self.gpu:
                raise DoneError
            self.profile = profile(activities=[ProfilerActivity.CUDA])
            self.profile.start()
        elif self.done == 3 * self.steps:
            now(self.gpu)
            self.profile.stop()
            found: Any = self.profile.profiler
            kernels = [
                e for e in found.kineto_results.events() if e.device_type() == DeviceType.CUDA
            ]
            self.kernels = sum(each.duration_ns() for each in kernels) / 1e9
            self.caught = warnings.catch_warnings(record=True)
            self.said: Any = self.caught.__enter__()
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
        elif self.done == 3 * self.steps + COUNTED:
            torch.cuda.set_sync_debug_mode("default")
            self.caught.__exit__(None, None, None)
            said = [each for each in self.said if "synchroniz" in str(each.message)]
            self.waits = [f"{Path(each.filename).name}:{each.lineno}" for each in said]
            raise DoneError

    on_train_batch_end = lap


class Blocks(Watch):
    """Trains blocks of steps with all callbacks, without the recorder, and with none, in turn."""

    def __init__(self, chosen: list[np.ndarray], gpu: bool, rounds: int):
        super().__init__(chosen, gpu)
        self.times = 3 * rounds
        self.spent: dict[str, list[float]] = {"all": [], "no recorder": [], "none": []}

    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        """Note that a step has ended; after a block, change the callbacks."""
        self.done += 1
        if self.done == 0:
            self.every, self.began = trainer.callbacks, now(self.gpu)
        elif self.done > 0 and self.done % self.steps == 0:
            block, spent = self.done // self.steps, now(self.gpu) - self.began
            list(self.spent.values())[(block - 1) % 3].append(spent)
            if block == self.times:
                raise DoneError
            but = [each for each in self.every if not isinstance(each, Recorder)]
            trainer.callbacks = [self.every, but, [self]][block % 3]
            self.began = now(self.gpu)


def now(gpu: bool) -> float:
    """Read the clock when all that was begun has ended."""
    if gpu:
        torch.cuda.synchronize()
    return time.perf_counter()


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


def padded_tokens(plan: Plan, lengths_U: np.ndarray, sizes_U: np.ndarray) -> list[int]:
    """Count the tokens of each batch, padding included; `sizes_U` are sequences of each index."""
    return [int(lengths_U[batch].max()) * int(sizes_U[batch].sum()) for batch in plan]


def scale(plan: Plan, chosen: Plan, lengths_U: np.ndarray, sizes_U: np.ndarray) -> float:
    """By how much the time of the chosen batches is multiplied to be an epoch's."""
    of_all, some = (sum(padded_tokens(each, lengths_U, sizes_U)) for each in (plan, chosen))
    return of_all / some


def warmed(chosen: list[np.ndarray]) -> list[np.ndarray]:
    """Let a batch of middle length come first: it is not timed."""
    return [chosen[len(chosen) // 2], *chosen]


def train_heron(
    config: Config, data: ChosenBatches, watch: pl.Callback, compiled: bool = False
) -> None:
    """Train as `heron train` does: its module, its Trainer, its callbacks, and the stopwatch.

    The encoder may be `compiled`.
    """
    with tempfile.TemporaryDirectory() as folder:
        run, module = RunFolder(Path(folder)), build_module(config, data)
        if compiled:
            module.encoder.model.compile(dynamic=True)
        trainer = build_trainer(config, run, data, History(run.metrics))
        trainer.callbacks.append(watch)  # type: ignore[attr-defined]
        trainer.fit(module, datamodule=data)
