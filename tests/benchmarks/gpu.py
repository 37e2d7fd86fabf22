"""Training on a GPU beside the Hugging Face Trainer.

Encoders with random weights, on the built-in corpus: nothing is fetched. Every row is written to
`out=` as soon as it is measured; once `seconds=` are over, no other begins. On a CPU
(`device=cpu size=narrow`), the operations of a step are counted that would start a kernel.
"""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch

from heron.base.files import write_json
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, OneOf

from .frame import Found, Out
from .gpu_data import CASES
from .gpu_rows import Rows
from .rivals import BATCH, Rival

HERON, TRAINER = (Rival(name, name.lower(), "bf16-mixed") for name in ("heron", "Trainer"))
RIVALS = [HERON, TRAINER._replace(title="Trainer, group_by_length", grouped=True), TRAINER]
COMPILED = [each._replace(title=f"{each.title}, compiled", compiled=True) for each in RIVALS[:2]]


@dataclass
class Options(Out):
    """Options of the benchmark."""

    device: Annotated[str, OneOf("cuda", "cpu")] = "cuda"
    size: Annotated[str, OneOf("full", "narrow", "tiny")] = "full"
    seconds: Count = 400  # after which no row begins
    steps: Count = 16  # batches that stand for an epoch
    only: list[str] = field(default_factory=list)  # how names of rows begin; default: all


def plan(rows: Rows, size: str) -> dict[str, Callable[[], Any]]:
    """List what is measured, the most important first."""
    base, large = ("base", "large") if size == "full" else (size, "")
    found: dict[str, Callable[[], Any]] = {"peak": rows.peak}

    def add(case: str, size: str, rivals: Sequence[Rival], batch: int = BATCH) -> None:
        rivals = rivals[:1] if case == "window" else rivals
        name = f"{'compiled ' * rivals[0].compiled}{case}, {size}, {batch} a batch"
        found[name] = partial(rows.training, case, size, rivals, batch)

    for case in CASES:
        add(case, base, RIVALS)
    found[f"overhead, {base}"] = partial(rows.overhead, base, HERON)
    add("pairs", base, RIVALS, 8 * BATCH)
    found["summaries written"] = partial(rows.writing, size != "full")
    add("pairs", base, COMPILED)
    for case in CASES if large else ():
        add(case, large, RIVALS[:2])
    return found


def run(options: Options) -> Found:
    """Measure as many rows as there is time for."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read at the first product
    silence_libraries()
    began, measured = time.monotonic(), dict[str, Any]()
    with tempfile.TemporaryDirectory() as made:
        rows = Rows(options.device, options.steps, Path(made))
        for name, measure in plan(rows, options.size).items():
            if options.only and not name.startswith(("peak", *options.only)):
                continue
            why = "no GPU" if rows.gpu and not torch.cuda.is_available() else ""
            if (since := time.monotonic() - began) > options.seconds:
                why = f"{options.seconds} s are over"
            if why:
                print(f"{name}: not measured: {why}")
                continue
            try:
                measured[name] = measure()
            except Exception:  # the other rows count, too
                measured[name] = traceback.format_exc()
            spent = time.monotonic() - began - since
            print(f"{name} ({spent:.0f} s): {measured[name]}", flush=True)
            write_json(options.out / "gpu.json", {"measured": measured})
    return Found(rows.found, record={"measured": measured})
