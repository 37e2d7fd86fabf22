"""`trainer.precision`: `auto` by the processor, `fastest` by measuring both on a CPU."""

import dataclasses
import time
from contextlib import suppress
from pathlib import Path

import torch
from torch import nn

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import read_json, write_json
from heron.base.libraries import processor
from heron.base.registry import on_demand
from heron.base.run_folder import RunFolder
from heron.config.schema import OPEN, Config

pretrained_widths = on_demand("heron.models.pretrained:pretrained_widths")  # start-up time

FULL, HALF = "32-true", "bf16-mixed"

_TOKENS = 256  # rows of the measured products
_SECONDS = 0.15  # time to measure in, after one pass of each precision
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


def rates(config: Config) -> dict[str, float]:
    """Measure GFLOP/s by precision on a CPU, forward and backward, once per machine.

    The products are those of the run's encoder: `_TOKENS` rows through a linear layer D -> D and
    a feed-forward layer D -> F -> D, with the casts of autocast. Takes about .3 s; stored in
    `paths.cache` by processor, torch version, threads, D and F.
    """
    threads = config.trainer.threads or torch.get_num_threads()
    shape = config.encoder.scratch
    widths = shape.hidden, shape.intermediate
    if config.encoder.name != "scratch":
        widths = pretrained_widths(config.encoder)
    path, known = Path(config.paths.cache) / "precision.json", dict[str, dict[str, float]]()
    key = f"{processor()}, torch {torch.__version__}, threads {threads}, widths {widths}"
    with suppress(OSError, TypeError, ValueError, ConfigError):  # a damaged file is written again
        known = dict(read_json(path))
    if key not in known:
        known = {**known, key: _measure(*widths, threads)}
        with suppress(OSError):  # measured each time where the cache cannot be written
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, known)
    return known[key]


def _choose(config: Config) -> str:
    if _accelerator(config) == "cuda":
        return HALF if torch.cuda.is_bf16_supported() else "16-mixed"
    if config.trainer.precision == "fastest":
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


def _measure(width: int, inner: int, threads: int) -> dict[str, float]:
    """Time products in both precisions in turn; the fastest pass counts, others were disturbed."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    with torch.random.fork_rng(devices=[]):  # the run's random numbers stay as they are
        wide = [nn.Linear(width, width), nn.Linear(width, inner), nn.Linear(inner, width)]
        states_TD = torch.randn(_TOKENS, width)
    seconds = {FULL: float("inf"), HALF: float("inf")}
    layer, end = nn.Sequential(*wide), float("inf")
    while time.perf_counter() < end:
        for name in seconds:
            begin = time.perf_counter()
            with torch.autocast("cpu", torch.bfloat16, enabled=name == HALF):
                out_TD = layer(states_TD)
            out_TD.float().sum().backward()
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
        end = min(end, time.perf_counter() + _SECONDS)  # the first pass prepares the kernels
    torch.set_num_threads(before)
    flop = 6 * _TOKENS * width * (width + 2 * inner)
    return {name: float(f"{flop / spent / 1e9:.3g}") for name, spent in seconds.items()}
