"""How fast this machine multiplies in fp32 and in bf16: for `trainer.precision=fastest`."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from heron.base.errors import ConfigError
from heron.base.files import read_json, write_json
from heron.base.libraries import processor
from heron.models.precision import FULL, HALF
from heron.models.pretrained import pretrained_widths

if TYPE_CHECKING:  # a higher layer's
    from heron.tasks.config import Config

_TOKENS = 256  # rows of the measured products
_SECONDS = 0.15  # time to measure in, after one pass of each precision


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
