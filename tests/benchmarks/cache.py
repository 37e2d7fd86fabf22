"""What it saves to compute a frozen encoder once: RoNLI's siamese head, whole commands.

One run that encodes every epoch anew, one that stores the vectors, one that finds them stored, and
a part of appendix B's grid over them.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.config.constraints import Count, Share

from .apart import adopt_orphans, call, needed, processor_seconds
from .frame import Found, Out, Row

JOBS_PER_SEED = 36  # 4 widths x 3 dropouts x 3 rates
# The heads of earlier measurements; two layers, one more than the paper has.
_GRID = ("head.hidden=[128,128],[256,256],[512,512],[768,768]", "optim.lr=1e-2,1e-3,1e-4")
# One job of the grid: one of its larger heads.
_ONE = ("head.hidden=[512,512]", "head.dropout=0.1", "optim.lr=1e-3", "seed=0")


@dataclass
class Options(Out):
    """Options of the benchmark."""

    epochs: Count = 10  # of a whole run; the one that encodes anew has two, scaled
    share: Share = 1.0  # of the train rows
    seeds: Count = 5  # of the grid; 5 make 180 jobs
    jobs: Count = 1  # of the grid side by side


def run(options: Options) -> Found:
    """Run all in turn, with a cache of their own: clock seconds; of the grid, processor's, too.

    Raises:
        HeronError: not all jobs of the grid are done.
    """
    encoder, data = needed(HERON_ENCODER="config.json", HERON_DATA="ronli/validation.json")
    corpus = ("data=ronli_dev", f"paths.data={data}", f"encoder={encoder}")
    corpus += (f"data.sample.fraction={options.share}",)
    with tempfile.TemporaryDirectory() as made:

        def timed(sweep: str, *words: str, epochs: int = options.epochs) -> float:
            own = (f"paths.runs={made}/runs", f"paths.cache={made}", f"run.sweep={sweep}")
            own += (f"trainer.max_epochs={epochs}", *words)
            began = time.perf_counter()
            call("heron", "train", "experiment=ronli/grid", "batching.size=128", *corpus, *own)
            return time.perf_counter() - began

        def statuses(sweep: str) -> list[dict[str, Any]]:
            return [read_json(path) for path in Path(made, "runs", sweep).glob("*/status.json")]

        for epochs in (1, 2):
            timed(f"anew-{epochs}", *_ONE, "encoder.cache=false", epochs=epochs)
        one, two = (statuses(f"anew-{epochs}")[0]["seconds"] for epochs in (1, 2))
        anew = one + (options.epochs - 1) * (two - one)
        seconds = {"a run that encodes every epoch": anew}
        seconds["a run that encodes once"] = timed("first", *_ONE)
        seconds["a run that finds the vectors stored"] = timed("again", *_ONE)
        seeds, many = ",".join(map(str, range(options.seeds))), JOBS_PER_SEED * options.seeds
        launched = ("-m", f"hydra.launcher.n_jobs={options.jobs}")
        adopt_orphans()
        before = processor_seconds()
        seconds[f"{many} jobs"] = timed("grid", f"seed={seeds}", *_GRID, *launched)
        of_grid = processor_seconds() - before
        jobs = statuses("grid")
    if sum(job["state"] == "done" for job in jobs) != many:
        raise HeronError(f"not all {many} jobs are done")
    narrow = [job["seconds"] for job in jobs if "head.hidden=[128,128]" in job["overrides"]]
    ratio = anew / (seconds[f"{many} jobs"] / many)
    return Found(
        [
            *(Row(f"{work}, {options.epochs} epochs", "", [s], "s") for work, s in seconds.items()),
            Row(f"{many} jobs, processor time", "", [of_grid], "s", "≤ 120"),
            Row("a head-only job, 2 x 128 units", "", [median(narrow)], "s", "≤ 0.5"),
            Row("a job of the grid", "encoding every epoch", [ratio]),
        ]
    )
