"""Predictions over a whole split, whatever the task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl

from heron.base import ranks
from heron.data.datamodule import DataModule
from heron.tasks.base import KeptParts, Predictions, TaskModule


def predict_split(
    trainer: pl.Trainer,
    module: TaskModule,
    data: DataModule,
    split: str,
    keep: Path | None = None,
    finished: list[Callable[[], None]] | None = None,
) -> Predictions:
    """Run a split through the model, in order of length, and put the rows back in order.

    Of several processes each predicts its share of every batch; all get the whole.

    Args:
        trainer: predicts.
        module: as trained.
        data: the run's.
        split: which one.
        keep: where a module that writes keeps what it has written until the split is done, so that
            a cut run need not write it again; None keeps nothing.
        finished: where to put what removes the kept parts, for a caller that has more to do before
            they may go; without it they go here.
    """
    kept = None if keep is None else module.kept_parts(keep, data, split)
    if kept is not None:
        return _write_split(trainer, module, data, split, kept, finished)
    loader = data.evaluation_loader(split)
    outputs: Any = trainer.predict(module, loader) if len(data.features[split]) else []
    return _join(outputs, module, data, split)


def _join(outputs: Any, module: TaskModule, data: DataModule, split: str) -> Predictions:
    everywhere = ranks.gather(list(outputs or []))
    return module.collect([each for part in everywhere for each in part], data, split)


def _write_split(
    trainer: pl.Trainer,
    module: TaskModule,
    data: DataModule,
    split: str,
    kept: KeptParts,
    finished: list[Callable[[], None]] | None,
) -> Predictions:
    before = ranks.from_first(kept.read() if ranks.is_first() else [])
    loader = data.evaluation_loader(split, kept.rows(before))
    callbacks: list[pl.Callback] = trainer.callbacks  # type: ignore[attr-defined]
    callbacks.append(kept.callback)
    try:
        outputs: Any = trainer.predict(module, loader) if len(loader) else []
    finally:
        callbacks.remove(kept.callback)
    # Every process has read what was there; one of them need give it.
    predictions = _join(
        [*(before if ranks.is_first() else []), *(outputs or [])], module, data, split
    )
    if ranks.is_first() and finished is None:
        kept.remove()
    elif finished is not None:
        finished.append(kept.remove)
    return predictions
