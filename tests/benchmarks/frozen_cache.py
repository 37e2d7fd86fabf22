"""`python -m tests.benchmarks.frozen_cache`: what it saves to compute a frozen encoder once.

RoNLI's siamese head on a frozen encoder, through the real command, whole processes on the clock:
one run that encodes every epoch anew, one that stores the vectors, one that finds them stored, and
the grid of appendix B over them. See README.md here.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from heron.base.cells import Formatted, Table
from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.config.constraints import Count

from .frame import Found, Headline, call, find, folder, main

JOBS_PER_SEED = 36  # 4 widths x 3 dropouts x 3 rates
_NEEDED = "ronli/validation.json"
_SUBSTITUTE = ("data=chronicle_ronli", "data.generator.size=3000")
# One job of the grid: one of its larger heads.
_ONE = ("head.hidden=[512,512]", "head.dropout=0.1", "optim.lr=1e-3", "seed=0")


@dataclass
class Options:
    """Options of the benchmark."""

    encoder: Path | None = None  # folder of a BERT-like encoder; default `HERON_ENCODER`
    # The folder of `ronli/`; default `HERON_DATA`, the built-in corpus without it.
    data: Path | None = None
    epochs: Count = 10  # of a whole run
    timed: Count = 1  # of the run that encodes anew; its seconds are scaled to `epochs`
    seeds: Count = 5  # of the grid; 5 make 180 jobs
    jobs: Count = 1  # of the grid side by side
    out: Path = Path("runs/benchmark_cache.json")


def run(options: Options) -> Found:
    """Measure on RoNLI, or on the built-in corpus where it is absent."""
    (encoder,) = find(options, encoder="config.json")
    data = folder(options.data, "HERON_DATA")
    found = data is not None and (data / _NEEDED).is_file()
    corpus = ("data=ronli_dev", f"paths.data={data}") if found else _SUBSTITUTE
    print(*corpus, flush=True)
    with tempfile.TemporaryDirectory() as made:
        seconds = measure(options, [*corpus, f"encoder={encoder}"], Path(made))
    rows = [(way, Formatted(spent, ",.1f")) for way, spent in seconds.items()]
    table = Table(f"RoNLI, frozen encoder, {options.epochs} epochs", ("", "seconds"), tuple(rows))
    job = seconds["the grid"] / (JOBS_PER_SEED * options.seeds)
    narrow, anew = seconds["a job with 128 units"], seconds["a job that encodes every epoch"]
    headlines = [
        Headline("a head-only job, 2 x 128 units", "", [narrow], 0.7, "s"),
        Headline("a job of the grid", "encoding every epoch", [anew / job]),
    ]
    return Found({"encoder": encoder.name, "seconds": seconds}, [table], headlines)


def measure(options: Options, common: list[str], made: Path) -> dict[str, float]:
    """Run the four in turn, with a cache of their own in `made`; returns clock seconds.

    Raises:
        HeronError: not all jobs of the grid are done.
    """
    runs = made / "runs"

    def timed(sweep: str, *words: str, epochs: int = options.epochs) -> float:
        print(sweep, "...", flush=True)
        places = (f"paths.runs={runs}", f"paths.cache={made}", f"run.sweep={sweep}")
        started = time.perf_counter()
        length = f"trainer.max_epochs={epochs}"
        call("heron", "train", "experiment=ronli/grid", *common, *places, length, *words)
        return time.perf_counter() - started

    for epochs in (1, 1 + options.timed):
        timed(f"anew-{epochs}", *_ONE, "encoder.cache=false", epochs=epochs)
    first, last = (statuses(runs / f"anew-{n}")[0]["seconds"] for n in (1, 1 + options.timed))
    seconds = {
        # All but the first epoch take as long as those that were timed.
        "a job that encodes every epoch": first
        + (options.epochs - 1) * (last - first) / options.timed,
        "a run that encodes once": timed("first", *_ONE),
        "a run that finds the vectors stored": timed("again", *_ONE),
    }
    seeds = "seed=" + ",".join(map(str, range(options.seeds)))
    seconds["the grid"] = timed("grid", seeds, "-m", f"hydra.launcher.n_jobs={options.jobs}")
    jobs = statuses(runs / "grid")
    if sum(job["state"] == "done" for job in jobs) != JOBS_PER_SEED * options.seeds:
        raise HeronError(f"not all {JOBS_PER_SEED * options.seeds} jobs are done")
    narrow = [job["seconds"] for job in jobs if "head.hidden=[128,128]" in job["overrides"]]
    return seconds | {"a job with 128 units": median(narrow)}


def statuses(sweep: Path) -> list[dict[str, Any]]:
    """Read what the jobs of a sweep say of themselves."""
    return [read_json(path) for path in sweep.glob("*/status.json")]


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
