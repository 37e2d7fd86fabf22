"""`trainer.precision`: `auto` by the processor, `fastest` by measuring both on a CPU."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import torch

from heron.base import ranks
from heron.base.libraries import processor
from heron.base.run_folder import RunFolder
from heron.models.config import OPEN

if TYPE_CHECKING:  # a higher layer's
    from heron.tasks.config import Config

FULL, HALF = "32-true", "bf16-mixed"

_GAIN = 1.05  # how much faster bf16 must be: what is not a product gains nothing


def precision(config: Config) -> str:
    """Resolve `trainer.precision`: `auto` by the processor, `fastest` by measuring."""
    return _choose(config) if _is_open(config) else config.trainer.precision


def with_precision(config: Config, folder: RunFolder) -> Config:
    """Replace `auto` and `fastest` by what the run in `folder` computes in.

    A resumed run keeps what it has. `config.yaml` names the choice; `status.json` too, with the
    `accelerator` (`cpu` or `cuda`) that it was made for.
    """
    name = ""
    if ranks.is_first():
        kept = recorded_precision(config, folder)
        name = precision(kept)
        if _is_open(config):
            why = f"trainer.precision={config.trainer.precision}"
            print(f"heron train: computes in {name} ({why})", flush=True)
            folder.write_config(_replace(config, name))
        if _is_open(kept):
            folder.update_status(precision=name, accelerator=_accelerator(config))
    return _replace(config, ranks.from_first(name))


def recorded_precision(config: Config, folder: RunFolder) -> Config:
    """Replace a choice by the run's own, or a choice for another kind of device by `auto`."""
    status = folder.read_status()
    if "accelerator" not in status:  # none was made
        return config
    if status["accelerator"] != _accelerator(config):
        return _replace(config, config.trainer.precision if _is_open(config) else "auto")
    return _replace(config, status["precision"]) if _is_open(config) else config


def _choose(config: Config) -> str:
    if _accelerator(config) == "cuda":
        return HALF if torch.cuda.is_bf16_supported() else "16-mixed"
    if config.trainer.precision == "fastest":
        from heron.models.rates import rates  # start-up time: few measure

        gflops = rates(config)
        return HALF if gflops[HALF] > _GAIN * gflops[FULL] else FULL
    # Of Intel's avx512_bf16 without AMX it is not known.
    is_amd = processor("vendor_id") == "AuthenticAMD" and torch.cpu._is_avx512_bf16_supported()
    return HALF if is_amd or torch.cpu._is_amx_tile_supported() else FULL


def _is_open(config: Config) -> bool:
    return config.trainer.precision in OPEN


def _accelerator(config: Config) -> str:
    return "cuda" if config.trainer.accelerator != "cpu" and torch.cuda.is_available() else "cpu"


def _replace(config: Config, name: str) -> Config:
    return dataclasses.replace(config, trainer=dataclasses.replace(config.trainer, precision=name))
