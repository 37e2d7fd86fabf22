"""What a table of many rows and a sweep of many jobs cost.

Made-up pairs and an encoder of one layer; each work is a process of its own: processor seconds and
peak memory of the whole command, and with what power of the size the seconds grow.
"""

from __future__ import annotations

import math
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from heron.base.cells import Cell, Table
from heron.base.errors import HeronError
from heron.config.constraints import Count, OneOf

from .apart import apart
from .frame import Found, Out, Row, number
from .scale_data import CACHE, FILES, TRAIN, prepare, words

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
class Options(Out):
    """Options of the benchmark."""

    rows: list[Count] = field(default_factory=lambda: [10_000, 100_000, 1_000_000])
    jobs: list[Count] = field(default_factory=lambda: [10, 100, 1000])
    only: list[Annotated[str, OneOf(*WORKS)]] = field(default_factory=list)  # default: all


def measure(work: str, folder: str) -> dict[str, float]:
    """Do a work in this process; returns its processor seconds and peak memory in MB."""
    from heron.cli import main as heron
    from heron.training.stored import read_own

    made = Path(folder)
    with open(made / "log.txt", "a") as log, redirect_stdout(log), redirect_stderr(log):
        if work == "tokenize":
            from heron.data.datamodule import DataModule  # torch, which most works do without

            config = read_own(made / "run" / "config.yaml")
            config.paths.cache = str(made / "cache")
            DataModule(config).prepare_data()
        elif work == "open":
            from heron.data.features import load_features

            stored = (made / "cache" / "features").glob("*/tokens_T.npy")
            place = max(stored, key=lambda path: path.stat().st_size).parent
            features = load_features(place.parents[1], place.name, dict)  # type: ignore[arg-type]
            units = features.units()
            print(f"{len(features):,} rows, {len(units):,} units")
        elif heron(words(WORKS[work], made)) > 1:
            raise HeronError(f"{work} failed: {(made / 'log.txt').read_text()[-2000:]}")
    # Of this program: `ru_maxrss` begins with the peak of the process that has started it.
    memory = "RssAnon" if work == "open" else "VmHWM"
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {"seconds": time.process_time(), "MB": int(status[memory].split()[0]) / 1024}


def run(options: Options) -> Found:
    """Measure every work at every size."""
    found: dict[str, list[Measured]] = {work: [] for work in options.only or WORKS}
    with tempfile.TemporaryDirectory() as folder:
        for work, measured in found.items():
            kind, sizes = ("jobs", options.jobs) if work in JOBS else ("rows", options.rows)
            for size in sizes:
                made = Path(folder, kind, str(size))
                if not made.exists():
                    prepare(made, size, kind)
                measured.append((size, apart(measure, work, made)))
                print(work, *measured[-1], flush=True)
    cells = {work: growth(*measured[-2:]) for work, measured in found.items()}
    columns = ("work", "size", "s", "ms each", "MB", "bytes each", "exponent")
    table = Table("Scale", columns, tuple((work, *each) for work, each in cells.items()))
    rows = [
        Row(f"exponent of {work}, {found[work][-1][0]:,}", "", [each[-1][0]], "", "≤ 1.05")
        for work, each in cells.items()
    ]
    return Found(rows, [table], {"measured": found})


def growth(*last: Measured) -> tuple[Cell, ...]:
    """Set out the larger of two sizes: what it takes, what each row of it adds, the exponent."""
    (low, few), (high, many) = last
    seconds, size = ((many[key] - few[key]) / (high - low) for key in ("seconds", "MB"))
    power = math.log(many["seconds"] / few["seconds"]) / math.log(high / low)
    shown = many["seconds"], seconds * 1e3, many["MB"], size * 2**20, power
    return f"{high:,}", *map(number, shown)
