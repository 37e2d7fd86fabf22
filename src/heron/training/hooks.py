"""What higher layers do inside a run, by name; each is imported when a run needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as pl

from heron.base.registry import Registry
from heron.base.run_folder import RunFolder
from heron.config.data import DataConfig
from heron.config.schema import Config
from heron.data.datamodule import DataModule

MakeCallbacks = Callable[[Config, RunFolder, DataModule], list[pl.Callback]]
ListFindings = Callable[[DataConfig, Mapping[str, str], Path], Iterable[str]]
DrawFigure = Callable[[RunFolder], Path]

CALLBACKS: Registry[MakeCallbacks] = Registry(
    "callback", {"pruning": "heron.sweeps.pruning:pruning"}
)
FINDINGS: Registry[ListFindings] = Registry(
    "list of findings", {"audit": "heron.audit.findings:warnings"}
)
FIGURES: Registry[DrawFigure] = Registry("figure", {"map": "heron.reports.map:draw_map"})


def ended_early(trainer: pl.Trainer) -> dict[str, Any] | None:
    """Say after how many epochs and at which score a callback ended the training; None if not."""
    callbacks: list[Any] = trainer.callbacks  # type: ignore[attr-defined]
    return next((found for each in callbacks if (found := getattr(each, "pruned", None))), None)
