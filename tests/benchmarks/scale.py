"""`python -m tests.benchmarks.scale`: what a table of many rows and a sweep of many jobs cost.

Made-up pairs and an encoder of one layer; each work is a process of its own: processor seconds and
peak memory of the whole command, and with what power of the size the seconds grow. See README.md.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from heron.base.cells import Cell, Table
from heron.base.errors import HeronError
from heron.base.run_folder import RunFolder
from heron.config.constraints import Count, OneOf
from heron.training.run_names import config_key
from heron.training.stored import read_own

from .cartography import generate, write
from .frame import Found, call, main, measure_apart, number

LABELS = np.array(["contradiction", "entailment", "neutral"])
CACHE = "paths.cache={made}/cache"
FILES = f"data=own_nli data.language=ro {CACHE} data.files.train.path={{made}}/{{file}}"
FILES += " data.files.validation.path={made}/few.csv data.files.test.path={made}/few.csv"
TRAIN = f"train {FILES} paths.runs={{made}} encoder=scratch encoder.scratch.hidden=32 "
TRAIN += "encoder.scratch.layers=1 encoder.max_length=64 head=siamese_cls encoder.freeze=all "
TRAIN += "batching=shuffle trainer.max_epochs=1 trainer.precision=32-true run.sweep=jobs "
# The command of each work in a folder of its own for each size, which `prepare` fills.
ROWS = {
    "tokenize": "",
    "open": "",  # what `tokenize` has stored; memory beyond the mapped files
    "head": f"{TRAIN} task.bootstrap=0 run.job=job run.resume=false batching.size=1024",
    "predict": "predict run={made}/run input={made}/pairs.csv cache={made}/cache",
    "map": f"map run={{made}}/run {CACHE}",
    "noise": f"noise run={{made}}/run {CACHE}",
    "compare": "compare {made}/a.parquet {made}/b.parquet draws=1000",
    "audit": f"audit {FILES} out={{made}}/audit",
}
JOBS = {
    "again": f"{TRAIN} -m head.dropout=0.1,0.3 seed=range(0,{{half}})",
    "progress": "sweep {made}/jobs",
    "compare_sweep": "compare {made}/jobs draws=1000",
    "report": "report {made}/jobs",
}
WORKS = ROWS | JOBS
Measured = tuple[int, dict[str, float]]  # size, and `seconds` and `MB`


@dataclass
class Options:
    """Options of the benchmark."""

    rows: list[Count] = field(default_factory=lambda: [10_000, 100_000, 1_000_000])
    jobs: list[Count] = field(default_factory=lambda: [10, 100, 1000])
    only: list[Annotated[str, OneOf(*WORKS)]] = field(default_factory=list)  # default: all
    out: Path = Path("runs/benchmark_scale.json")
    work: str | None = None  # measure this one in this process, in `made`
    made: Path | None = None


def words(work: str, made: Path, file: str = "pairs.csv") -> list[str]:
    """Fill in a command."""
    return work.format(made=made, file=file, half=int(made.name) // 2).split()


def pairs(size: int) -> pa.Table:
    """Draw pairs of 8 to 24 made-up words; every hundredth nearly copies the one before."""
    draw = np.random.default_rng(0)
    known = draw.integers(10**4, 10**5, 20_000).astype(str)

    def texts(least: int, most: int) -> list[str]:
        found = [" ".join(draw.choice(known, n)) for n in draw.integers(least, most, size)]
        found[99::100] = [f"{text} {known[0]}" for text in found[98::100][: size // 100]]
        return found

    columns = {"premise": texts(16, 24), "hypothesis": texts(8, 16)}
    guids = [f"train-{row:07d}" for row in range(size)]
    return pa.table({"guid": guids, **columns, "label": LABELS[draw.integers(0, 3, size)]})


def prepare(work: str, made: Path, size: int) -> None:
    """Make what a work reads: pairs, a run with dynamics, two systems' predictions; or a sweep."""
    made.mkdir(parents=True)
    csv.write_csv(table := pairs(size if work in ROWS else 600), made / "pairs.csv")
    csv.write_csv(table.slice(0, 600), made / "few.csv")
    trained = "few.csv" if work in ROWS else "pairs.csv"
    call("heron", *words(f"{TRAIN} run.job=run seed=0 head.dropout=0.1", made, trained))
    run = (made / "jobs" / "run").rename(made / "run")
    text = (run / "config.yaml").read_text().replace(trained, "pairs.csv", 1)
    (run / "config.yaml").write_text(text)
    if work in JOBS:
        copy_jobs(run, made / "jobs", text, size)
        return
    write(generate(size, 5), run / "dynamics")
    draw, gold = np.random.default_rng(1), table["label"].to_numpy()
    for name in "ab":
        chosen = np.where(draw.random(size) < 0.8, gold, LABELS[draw.integers(0, 3, size)])
        columns = {"guid": table["guid"], "gold": gold, "prediction": chosen}
        pq.write_table(pa.table(columns), made / f"{name}.parquet")


def copy_jobs(run: Path, sweep: Path, text: str, size: int) -> None:
    """Copy a finished run as the jobs of a sweep over seeds and two probabilities of dropout."""
    for dropout, seed in product((0.1, 0.3), range(size // 2)):
        place = Path(shutil.copytree(run, sweep / "new"))
        own = text.replace("\nseed: 0\n", f"\nseed: {seed}\n").replace("job: run", "job: null")
        (place / "config.yaml").write_text(own.replace("dropout: 0.1\n", f"dropout: {dropout}\n"))
        overrides = [f"head.dropout={dropout}", f"seed={seed}"]
        RunFolder(place).update_status(seed=seed, overrides=overrides)
        name = f"seed={seed},head.dropout={dropout},batching=shuffle"
        place.rename(sweep / f"{name}-{config_key(read_own(place / 'config.yaml'))}")


def measure_here(work: str, made: Path) -> dict[str, float]:
    """Do a work in this process; returns its processor seconds and peak memory in MB."""
    from heron.cli import main as heron

    with open(made / "log.txt", "a") as log, redirect_stdout(log), redirect_stderr(log):
        if work == "tokenize":
            from heron.data.datamodule import DataModule  # torch, which most works do without

            config = read_own(made / "run" / "config.yaml")
            config.paths.cache = str(made / "cache")
            DataModule(config).prepare_data()
        elif work == "open":
            from heron.data.features import load_features

            stored = (made / "cache" / "features").glob("*/tokens_T.npy")
            folder = max(stored, key=lambda path: path.stat().st_size).parent
            features = load_features(folder.parents[1], folder.name, dict)  # type: ignore[arg-type]
            units = features.units()
            print(f"{len(features):,} rows, {len(units):,} units")
        elif heron(words(WORKS[work], made)) > 1:
            raise HeronError(f"{work} failed: {(made / 'log.txt').read_text()[-2000:]}")
    # Of this program: `ru_maxrss` begins with the peak of the process that has started it.
    memory = "RssAnon" if work == "open" else "VmHWM"
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {"seconds": time.process_time(), "MB": int(status[memory].split()[0]) / 1024}


def run(options: Options) -> Found:
    """Measure every work at every size, or one of them in this process."""
    if options.work and options.made:
        return Found(lines=[json.dumps(measure_here(options.work, options.made))])
    found: dict[str, list[Measured]] = {work: [] for work in options.only or WORKS}
    with tempfile.TemporaryDirectory() as folder:
        for work, measured in found.items():
            kind, sizes = ("jobs", options.jobs) if work in JOBS else ("rows", options.rows)
            for size in sizes:
                made = Path(folder, kind, str(size))
                if not made.exists():
                    prepare(work, made, size)
                words = f"work={work}", f"made={made}"
                measured.append((size, measure_apart("tests.benchmarks.scale", *words)))
                print(work, *measured[-1], flush=True)
    rows = tuple((work, *growth(*measured[-2:])) for work, measured in found.items())
    columns = ("work", "size", "s", "ms each", "MB", "bytes each", "exponent")
    return Found({"measured": found}, [Table("Scale", columns, rows)])


def growth(*last: Measured) -> tuple[Cell, ...]:
    """Set out the larger of two sizes: what it takes, what each row of it adds, the exponent."""
    (low, few), (high, many) = last
    seconds, size = ((many[key] - few[key]) / (high - low) for key in ("seconds", "MB"))
    power = math.log(many["seconds"] / few["seconds"]) / math.log(high / low)
    shown = many["seconds"], seconds * 1e3, many["MB"], size * 2**20, power
    return f"{high:,}", *map(number, shown)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
