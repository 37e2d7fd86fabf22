"""One run on one device and on two, by `heron train`.

The same training on the built-in corpus, without dropout and in full precision, in one process with
one thread and in two with one each. What differs is the order of additions.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.config.constraints import Count
from two_processes import furthest

from .apart import call
from .frame import Found, Out, Row

_NEAR = "≤ 1e-5"  # a weight's or a score's difference that the order of additions may make
_SETTINGS = (
    "encoder.scratch.hidden=256", "encoder.scratch.layers=4", "encoder.scratch.intermediate=1024",
    "encoder.dropout=0", "head.dropout=0", "trainer.precision=32-true", "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false", "trainer.select=last", "task.bootstrap=0",
    "run.sweep=devices", "run.keep_checkpoints=true",
)  # fmt: skip


@dataclass
class Options(Out):
    """Options of the benchmark."""

    rows: Count = 2000  # of the corpus
    epochs: Count = 2
    overrides: list[str] = field(default_factory=list)  # further settings, such as head=window


def run(options: Options) -> Found:
    """Train both ways: seconds of the job, and of the command, imports included.

    Raises:
        HeronError: the steps are not as many.
    """
    words = [*_SETTINGS, *options.overrides, f"data.generator.size={options.rows}"]
    words.append(f"trainer.max_epochs={options.epochs}")
    rows, weights, scores, steps = [], [], [], []
    with tempfile.TemporaryDirectory() as made:
        for devices in (1, 2):
            own = (f"trainer.devices={devices}", f"run.job={devices}", f"paths.runs={made}/runs")
            own += (f"paths.cache={made}/cache{devices}",)
            began = time.perf_counter()
            call("heron", "train", *words, *own, threads=devices)  # which divides them
            spent = time.perf_counter() - began
            run = RunFolder(Path(made, "runs", "devices", str(devices)))
            job = read_json(run.status)["seconds"]
            rows += [Row(f"job, {devices} devices", "", [job], "s")]
            rows += [Row(f"command, {devices} devices", "", [spent], "s")]
            weights.append(torch.load(run.last, weights_only=True)["state_dict"])
            scores.append(read_json(run.scores))
            steps.append(read_json(run.ledger)["total"]["steps"])
    if steps[0] != steps[1]:
        raise HeronError(f"not the same training: {steps} steps")
    one, two = scores
    apart = max(abs(one[split][name] - two[split][name]) for split in one for name in one[split])
    rows += [Row("weights of both apart", "", [furthest(*weights)], "", _NEAR)]
    return Found([*rows, Row("scores of both apart", "", [apart], "", _NEAR)])
