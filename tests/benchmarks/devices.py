"""`python -m tests.benchmarks.devices`: one run on one device and on two, by `heron train`.

The same training on the built-in corpus, without dropout and in full precision, in one process with
one thread and in two with one each. What differs is the order of additions. See README.md here.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from heron.base.cells import Formatted, Table
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.config.constraints import Count

from .frame import Found, call, main

NEAR = 1e-5  # a weight's or a score's difference that the order of additions may make
_SETTINGS = (
    "encoder.scratch.hidden=256", "encoder.scratch.layers=4", "encoder.scratch.intermediate=1024",
    "encoder.dropout=0", "head.dropout=0", "trainer.precision=32-true", "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false", "trainer.select=last", "task.bootstrap=0",
    "run.sweep=devices",
)  # fmt: skip


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        rows: of the corpus.
        epochs: passes over it.
        overrides: further settings, such as `head=window`.
        out: JSON file with what was measured.
    """

    rows: Count = 2000
    epochs: Count = 2
    overrides: list[str] = field(default_factory=list)
    out: Path = Path("runs/benchmark_devices.json")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One way to train.

    Args:
        devices: processes.
        steps: optimizer steps.
        job: seconds from the job's start to its end, without imports.
        command: seconds of the whole command, report included.
        processor: processor seconds of all its processes.
    """

    devices: int
    steps: int
    job: float
    command: float
    processor: float


def run(options: Options) -> Found:
    """Train both ways; the exit code is 1 where they differ by more than rounding."""
    with tempfile.TemporaryDirectory() as made:
        measured, folders = [], []
        for devices in (1, 2):
            print(f"{devices} device{'s' if devices > 1 else ''} ...", flush=True)
            folders.append(RunFolder(Path(made) / "runs" / "devices" / f"{devices}"))
            measured.append(_train(options, devices, folders[-1]))
        weights = [torch.load(each.last, weights_only=True)["state_dict"] for each in folders]
        apart = {
            "weights": furthest(*weights),
            "scores": furthest(*(read_json(each.scores) for each in folders)),
        }
    same = max(apart.values()) < NEAR and measured[0].steps == measured[1].steps
    lines = [f"largest difference of {what}: {distance:.1e}" for what, distance in apart.items()]
    lines.append("the same training" if same else f"NOT the same training (limit {NEAR})")
    record = {"apart": apart, "measured": [asdict(each) for each in measured]}
    return Found(record, [table(measured)], lines, code=0 if same else 1)


def furthest(one: Any, two: Any) -> float:
    """Compute the largest difference between numbers or tensors, in mappings of one form.

    Raises:
        ValueError: their keys differ.
    """
    if not isinstance(one, Mapping):
        return float(abs(one - two).max()) if torch.is_tensor(one) else abs(one - two)
    if one.keys() != two.keys():
        raise ValueError(f"different keys: {sorted(one.keys() ^ two.keys())}")
    return max(furthest(one[key], two[key]) for key in one)


def table(measured: Sequence[Measurement]) -> Table:
    """Lay the measurements out."""
    rows = []
    for each in measured:
        seconds = (Formatted(value, ".1f") for value in (each.job, each.command, each.processor))
        rows.append((each.devices, each.steps, *seconds))
    columns = ("devices", "steps", "job, s", "command, s", "command, processor s")
    return Table("one run", columns, tuple(rows))


def _train(options: Options, devices: int, folder: RunFolder) -> Measurement:
    made = folder.path.parents[2]
    words = [
        *_SETTINGS, *options.overrides, f"data.generator.size={options.rows}",
        f"trainer.max_epochs={options.epochs}", f"trainer.devices={devices}",
        f"paths.runs={made}/runs", f"paths.cache={made}/cache{devices}",
        f"run.job={folder.path.name}",
    ]  # fmt: skip
    started, spent_before = time.perf_counter(), _processor_seconds()
    call("heron", "train", *words, threads=devices)  # which divides them between the processes
    seconds = time.perf_counter() - started
    steps = read_json(folder.ledger)["total"]["steps"]
    job, processor = read_json(folder.status)["seconds"], _processor_seconds() - spent_before
    return Measurement(devices, steps, job, seconds, processor)


def _processor_seconds() -> float:
    """Read what all ended descendants of this process have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
