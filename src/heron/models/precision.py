"""`trainer.precision=auto`: the precision in which this machine multiplies fastest, measured."""

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
from heron.config.schema import Config

pretrained_widths = on_demand("heron.models.pretrained:pretrained_widths")  # start-up time

FULL, HALF = "32-true", "bf16-mixed"

_TOKENS = 256  # rows of the measured products
_SECONDS = 0.15  # time to measure in, after one pass of each precision
_GAIN = 1.05  # how much faster bf16 must be: what is not a product gains nothing


def precision(config: Config) -> str:
    """Resolve `trainer.precision`: where it is `auto`, on a CPU the faster of fp32 and bf16."""
    return config.trainer.precision if config.trainer.precision != "auto" else _choose(config)[0]


def with_precision(config: Config, folder: RunFolder) -> Config:
    """Replace `auto` by what the run in `folder` computes in; a resumed run keeps what it has.

    `status.json` names the choice and what decided it: `precision`, `accelerator` (`cpu` or
    `cuda`), and on a CPU `gflops` by precision, with the run's number of threads.
    """
    config = recorded_precision(config, folder)
    if config.trainer.precision != "auto":
        return config
    name = ""
    if ranks.is_first():
        name, gflops = _choose(config)
        # An earlier version has begun it, by the CPU's instructions.
        if folder.last.is_file() and "accelerator" not in folder.read_status():
            has_bf16 = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
            name, gflops = (HALF if has_bf16 else FULL), {}
        folder.update_status(precision=name, accelerator=_accelerator(config), gflops=gflops)
    return _replace(config, ranks.from_first(name))


def recorded_precision(config: Config, folder: RunFolder) -> Config:
    """Replace `auto` by what a run has computed in, if on the accelerator that is used now."""
    status = ranks.from_first(folder.read_status())
    if config.trainer.precision != "auto" or status.get("accelerator") != _accelerator(config):
        return config
    return _replace(config, status["precision"])


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


def _choose(config: Config) -> tuple[str, dict[str, float]]:
    """Choose a precision; also the rates that decided it, of a CPU."""
    if _accelerator(config) == "cuda":
        return (HALF if torch.cuda.is_bf16_supported() else "16-mixed"), {}
    gflops = rates(config)
    return (HALF if gflops[HALF] > _GAIN * gflops[FULL] else FULL), gflops


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
