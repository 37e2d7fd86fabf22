"""`python -m tests.benchmarks.scale`: what a table of many rows and a sweep of many jobs cost.

Made-up pairs and an encoder of one layer; each work is a process of its own: processor seconds and
peak memory of the whole command, and with what power of the size the seconds grow. See README.md.
"""

from __future__ import annotations

import json
import math
import resource
import shutil
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from heron.base.cells import Table
from heron.base.errors import HeronError
from heron.base.files import read_json, write_json
from heron.config.constraints import Count
from heron.training.run_names import config_key
from heron.training.stored import read_own

from .cartography import generate, write
from .frame import Found, call, main, measure_apart, number

LABELS = ("contradiction", "entailment", "neutral")
PATHS = "paths.runs={made} paths.cache={made}/cache paths.data={made}"
FILE = "data=own_nli data.language=ro " + " ".join(
    f"data.files.{split}.path={{made}}/{file}.csv"
    for split, file in {"train": "pairs", "validation": "few", "test": "few"}.items()
)
TINY = (
    f"{PATHS} {FILE} encoder=scratch encoder.scratch.hidden=32 encoder.scratch.layers=1 "
    "encoder.max_length=64 head=siamese_cls encoder.freeze=all batching=shuffle batching.size=1024 "
    "trainer.max_epochs=1 trainer.enable_progress_bar=false trainer.precision=32-true"
)
TRAIN = f"train {TINY} run.sweep="
# The command of each work in a folder for each size, which holds what `prepare_...` makes.
ROWS = {
    "tokenize": "",
    "head": f"{TRAIN}head task.bootstrap=0 run.job=job run.resume=false",
    "predict": "predict run={made}/run input={made}/pairs.csv cache={made}/cache",
    "map": "map run={made}/run paths.cache={made}/cache",
    "noise": "noise run={made}/run paths.cache={made}/cache",
    "compare": "compare {made}/a.parquet {made}/b.parquet draws=1000",
    "audit": f"audit {FILE} out={{made}}/audit paths.cache={{made}}/cache",
}
JOBS = {
    "again": f"{TRAIN}jobs -m head.dropout=0.1,0.3 seed=range(0,{{half}})",
    "progress": "sweep {made}/jobs",
    "compare_sweep": "compare {made}/jobs draws=1000",
    "report": "report {made}/jobs",
}


@dataclass
class Options:
    """Options of the benchmark."""

    rows: list[Count] = field(default_factory=lambda: [10_000, 100_000])
    jobs: list[Count] = field(default_factory=lambda: [10, 100, 1000])
    only: list[str] = field(default_factory=list)  # works; default: all
    out: Path = Path("runs/benchmark_scale.json")
    work: str | None = None  # measure this one in this process, in `made`
    made: Path | None = None


def words(work: str, made: Path) -> list[str]:
    """Fill in a work's command."""
    size = int(made.name)
    return (ROWS | JOBS)[work].format(made=made, half=size // 2).split()


def pairs(path: Path, size: int) -> pa.Table:
    """Write pairs of 8 to 24 made-up words; every hundredth nearly copies the one before."""
    draw = np.random.default_rng(0)
    known = np.array(["".join(draw.choice(list("abcdefghilmnoprstuz"), 5)) for _ in range(20_000)])

    def texts(least: int, most: int) -> list[str]:
        lengths, found = draw.integers(least, most, size), [""] * size
        for row, length in enumerate(lengths):
            found[row] = " ".join(known[draw.integers(0, len(known), length)])
            if row % 100 == 99:
                found[row] = f"{found[row - 1]} {known[row % 20_000]}"
        return found

    labels = [LABELS[each] for each in draw.integers(0, 3, size)]
    guids = [f"train-{row:07d}" for row in range(size)]
    columns = {"premise": texts(16, 24), "hypothesis": texts(8, 16), "label": labels}
    csv.write_csv(table := pa.table({"guid": guids, **columns}), path)
    return table


def prepare(made: Path, size: int, jobs: bool) -> None:
    """Make what the works read: pairs, a run with dynamics, two systems, or a sweep of copies."""
    made.mkdir(parents=True)
    table = pairs(made / "pairs.csv", 600 if jobs else size)
    csv.write_csv(table.slice(0, 600), made / "few.csv")
    first = f"{TRAIN}jobs run.job=run seed=0 head.dropout=0.1".format(made=made)
    call("heron", *first.replace("pairs.csv", "few.csv").split())
    run = made / "run"
    shutil.move(made / "jobs" / "run", run)
    text = (run / "config.yaml").read_text().replace("/few.csv", "/pairs.csv", 1)
    if jobs:
        return copy_jobs(run, made / "jobs", text, size)
    (run / "config.yaml").write_text(text)
    write(generate(size, 5), run / "dynamics")
    draw, gold = np.random.default_rng(1), table["label"].to_numpy(zero_copy_only=False)
    for name in "ab":
        other = np.array(LABELS)[draw.integers(0, 3, size)]
        right = np.where(draw.random(size) < 0.8, gold, other)
        columns = {"guid": table["guid"], "gold": gold, "prediction": right}
        pq.write_table(pa.table(columns), made / f"{name}.parquet")


def copy_jobs(run: Path, sweep: Path, text: str, size: int) -> None:
    """Copy a finished run as the jobs of a sweep over seeds and two probabilities of dropout."""
    for dropout, seed in product((0.1, 0.3), range(size // 2)):
        place = sweep / "new"
        shutil.copytree(run, place)
        own = text.replace("\nseed: 0\n", f"\nseed: {seed}\n")
        own = own.replace("\n  dropout: 0.1\n", f"\n  dropout: {dropout}\n").replace(
            "job: run", "job: null"
        )
        (place / "config.yaml").write_text(own)
        status = read_json(place / "status.json")
        overrides = [f"head.dropout={dropout}", f"seed={seed}"]
        write_json(place / "status.json", {**status, "seed": seed, "overrides": overrides})
        place.rename(sweep / f"{','.join(overrides)}-{config_key(read_own(place / 'config.yaml'))}")


def measure_here(work: str, made: Path) -> dict[str, float]:
    """Do a work in this process; returns its processor seconds and peak memory in MB."""
    command = words(work, made)
    with open(made / "log.txt", "a") as log, redirect_stdout(log), redirect_stderr(log):
        if command:
            from heron.cli import main as heron

            code = heron(command)
        else:
            from heron.data.datamodule import DataModule

            config = read_own(made / "run" / "config.yaml")
            config.paths.cache = str(made / "cache")
            DataModule(config).prepare_data()
            code = 0
    if code not in (0, 1):
        raise HeronError(f"{' '.join(command)} failed: {(made / 'log.txt').read_text()[-2000:]}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.process_time(), "MB": peak}


def run(options: Options) -> Found:
    """Measure every work at every size, or one of them in this process."""
    if options.work and options.made:
        return Found(lines=[json.dumps(measure_here(options.work, options.made))])
    rows, found = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for works, sizes in ((ROWS, options.rows), (JOBS, options.jobs)):
            chosen = [work for work in works if not options.only or work in options.only]
            for size in sizes if chosen else ():
                prepare(Path(folder) / f"{len(works)}" / f"{size}", size, works is JOBS)
            for work in chosen:
                measured = {}
                for size in sizes:
                    made = Path(folder) / f"{len(works)}" / f"{size}"
                    measured[size] = measure_apart(
                        "tests.benchmarks.scale", f"work={work}", f"made={made}"
                    )
                    print(work, size, measured[size], flush=True)
                found[work] = measured
                rows.append((work, *growth(measured)))
    columns = ("work", "size", "s", "µs each", "MB", "bytes each", "exponent")
    return Found({"measured": found}, [Table("Scale", columns, tuple(rows))])


def growth(measured: dict[int, dict[str, float]]) -> tuple:
    """Seconds and memory of the largest size, what each of the last ones adds, the exponent."""
    (low, few), (high, many) = sorted(measured.items())[-2:]
    more = {key: (many[key] - few[key]) / (high - low) for key in many}
    power = math.log(many["seconds"] / few["seconds"]) / math.log(high / low)
    cells = (many["seconds"], more["seconds"] * 1e6, many["MB"], more["MB"] * 2**20, power)
    return high, *map(number, cells)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
