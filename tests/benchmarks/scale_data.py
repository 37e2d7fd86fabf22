"""What is measured at scale: pairs, a run with dynamics, two systems' predictions; or a sweep."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from heron.base.run_folder import RunFolder
from heron.training.run_names import config_key
from heron.training.stored import read_own

from .apart import call
from .dynamics import generate, write

LABELS = np.array(["contradiction", "entailment", "neutral"])
CACHE = "paths.cache={made}/cache"
FILES = f"data=own_nli data.language=ro {CACHE} data.files.train.path={{made}}/{{file}}"
FILES += " data.files.validation.path={made}/few.csv data.files.test.path={made}/few.csv"
TRAIN = f"train {FILES} paths.runs={{made}} encoder=scratch encoder.scratch.hidden=32 "
TRAIN += "encoder.scratch.layers=1 encoder.max_length=64 head=siamese_cls encoder.freeze=all "
TRAIN += "batching=shuffle trainer.max_epochs=1 trainer.precision=32-true run.sweep=jobs "


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


def prepare(made: Path, size: int, kind: str) -> None:
    """Make what the works on so many `rows` or `jobs` read."""
    made.mkdir(parents=True)
    csv.write_csv(table := pairs(size if kind == "rows" else 600), made / "pairs.csv")
    csv.write_csv(table.slice(0, 600), made / "few.csv")
    trained = "few.csv" if kind == "rows" else "pairs.csv"
    call("heron", *words(f"{TRAIN} run.job=run seed=0 head.dropout=0.1", made, trained))
    run = (made / "jobs" / "run").rename(made / "run")
    text = (run / "config.yaml").read_text().replace(trained, "pairs.csv", 1)
    (run / "config.yaml").write_text(text)
    if kind == "jobs":
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
