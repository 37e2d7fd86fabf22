"""What a training on a GPU is watched for: seconds, kernels, waits, the cost of callbacks."""

from __future__ import annotations

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

from heron.dynamics.recorder import Recorder
from operations import Operations

WARM, COUNTED = 8, 4  # steps before those that are timed, and steps whose waits are counted


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
    """Measures steps, then the kernels of the same steps, then where the host waits.

    On a CPU, it counts the operations of the same steps instead.
    """

    seconds = kernels = 0.0
    counted: Operations | None = None
    waits: Sequence[str] = ()

    def lap(self, *_: Any, **__: Any) -> None:
        """Note that a step has ended."""
        self.done += 1
        if self.done == 0:
            self.seconds = -now(self.gpu)
        elif self.done == 2 * self.steps:
            self.seconds = (self.seconds + now(self.gpu)) / 2
            if not self.gpu:
                self.counted = Operations()
                self.counted.__enter__()
                return
            self.profile = profile(activities=[ProfilerActivity.CUDA])
            self.profile.start()
        elif self.done == 3 * self.steps and self.counted is not None:
            self.counted.__exit__(None, None, None)
            raise DoneError
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
