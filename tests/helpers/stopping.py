"""Trainings that stop in their middle as a kill would stop them, and what they are compared by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import pytorch_lightning as pl

from heron.base.run_folder import RunFolder


class Stopped(BaseException):
    """Stands for a kill: no `except Exception` on the way may hold it."""


class StopAt(pl.Callback):
    """Stops the run when `hook` is called for the `count`-th time, counted from 1."""

    def __init__(self, hook: str, count: int):
        self.left = count
        setattr(self, hook, self._called)

    def _called(self, *_: Any) -> None:
        self.left -= 1
        if self.left == 0:
            raise Stopped


@contextmanager
def stopping(hook: str, count: int) -> Iterator[None]:
    """Stop the training in the block at the `count`-th call of one of Lightning's hooks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heron.training.trainer.Progress", lambda *_: StopAt(hook, count))
        with pytest.raises(Stopped):
            yield


def assert_same_run(folder: RunFolder, expected: RunFolder) -> None:
    """Compare everything that a result is read from, byte by byte; the model, where it is kept."""
    names = ["scores.json", "metrics.csv", "ledger.json"]
    found = [*expected.path.glob("*/*.parquet"), *expected.path.glob("model/*.safetensors")]
    names += [str(path.relative_to(expected.path)) for path in found]
    differing = [
        name
        for name in names
        if (folder.path / name).read_bytes() != (expected.path / name).read_bytes()
    ]
    assert differing == []
    assert folder.state() == "done"
    assert folder.read_status().get("warnings") == expected.read_status().get("warnings")
