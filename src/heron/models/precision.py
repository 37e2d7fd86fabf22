"""`trainer.precision=auto`: the precision of a run, by the processor."""

from __future__ import annotations

import dataclasses
from copy import copy

import torch

from heron.base import ranks
from heron.base.libraries import processor
from heron.base.run_folder import RunFolder
from heron.base.terminal import first_time
from heron.data.config import RunSettings
from heron.data.readers import Run

AUTO = "auto"
FULL = "32-true"
HALF = "bf16-mixed"


def precision(config: RunSettings) -> str:
    """Resolve `trainer.precision`: `auto` by the processor."""
    if config.trainer.precision != AUTO:
        return config.trainer.precision
    if _accelerator(config) == "cuda":
        return HALF if torch.cuda.is_bf16_supported() else "16-mixed"
    # Intel's avx512_bf16 without AMX has not been measured.
    is_amd = processor("vendor_id") == "AuthenticAMD" and torch.cpu._is_avx512_bf16_supported()
    return HALF if is_amd or torch.cpu._is_amx_tile_supported() else FULL


def with_precision(config: Run, folder: RunFolder) -> Run:
    """Replace `auto` by the precision of the run in `folder`.

    A resumed run keeps its own. `config.yaml` names the choice; `status.json` too, with the
    `accelerator` (`cpu` or `cuda`) that it was made for.
    """
    name = ""
    if ranks.is_first():
        recorded = recorded_precision(config, folder)
        name = precision(recorded)
        if config.trainer.precision == AUTO:
            text = f"heron train: computes in {name} (trainer.precision=auto)"
            if first_time(text):
                print(text, flush=True)
            folder.write_config(_replace(config, name))
        if recorded.trainer.precision == AUTO:
            folder.update_status(precision=name, accelerator=_accelerator(config))
    return _replace(config, ranks.from_first(name))


def recorded_precision(config: Run, folder: RunFolder) -> Run:
    """Replace `auto` by the precision that the run in `folder` has chosen.

    On another kind of device than the run's, `auto` chooses again.
    """
    status = folder.read_status()
    if "accelerator" not in status:  # the run has not chosen: its precision was configured
        return config
    if status["accelerator"] != _accelerator(config):
        return _replace(config, AUTO)
    if config.trainer.precision == AUTO:
        return _replace(config, status["precision"])
    return config


def _accelerator(config: RunSettings) -> str:
    return "cuda" if ranks.uses_gpu(config.trainer.accelerator) else "cpu"


def _replace(config: Run, name: str) -> Run:
    other = copy(config)
    other.trainer = dataclasses.replace(config.trainer, precision=name)
    return other
