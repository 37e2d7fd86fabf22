"""`heron strength`: runs the cells of `cells.yaml`, and writes their table."""

from __future__ import annotations

import dataclasses
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.registry import load
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, write_table
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import Count, field_types
from heron.config.parsing import DataFolders, parse_options
from heron.results.best import best_of, complexity, tie_note

from .cells import Cell, Plan, read_plan
from .table import MINUTES, finished, mean_score, overview, read_minutes, write_tables


@dataclass
class StrengthOptions(DataFolders):
    """Options of `heron strength`; all other arguments are overrides of every run."""

    encoder: str = ""
    only: list[str] = field(default_factory=list)  # sets; default: all
    jobs: Count = 2  # runs side by side, of one thread each
    dry_run: bool = False  # list the cells, start none
    out: Path = Path("runs/strength")
    cells: Path | None = None  # another file in place of `cells.yaml`


def run(arguments: Sequence[str]) -> int:
    """Run the cells that are not finished, and write the table; returns the exit code."""
    own = {*field_types(StrengthOptions), "paths.data", "paths.cache"}
    options = parse_options(
        StrengthOptions, [word for word in arguments if word.partition("=")[0] in own]
    )
    overrides = [word for word in arguments if word.partition("=")[0] not in own]
    encoder = options.encoder or os.environ.get("HERON_ENCODER", "")
    if not encoder:
        raise ConfigError("name the encoder: encoder=DIR, or HERON_ENCODER")
    plan = read_plan(options.cells)
    data, cache = options.folders
    overrides += [f"paths.data={data}", f"paths.cache={cache}"]
    cells = [each for each in plan.cells if each.set in options.only or not options.only]
    ended = [True]
    if not options.dry_run:
        begin()
        matres = _matres(data, options.out)
        places = {"runs": options.out, "encoder": encoder, "matres": matres}
        places["variants"] = _variants(matres, data / "trc/training-data", options.out)
        ended = Runs(plan, places, overrides).run(cells, options.jobs)
        print_lines(*write_tables(plan, options.out))
    print_tables([overview(cells, options.out)])
    return 0 if all(ended) else 2


def _matres(data: Path, out: Path) -> Path:
    """Find the tables of MATRES, or build them from its relations and TempEval-3's texts."""
    if (data / "matres/train.csv").is_file():
        return data / "matres"
    built = (out / "matres").absolute()
    texts = [data / "tempeval3" / name for name in ("TBAQ-cleaned", "te3-platinum")]
    if not (built / "test.csv").is_file() and all(path.is_dir() for path in texts):
        words = [f"relations={data / 'matres'}", f"texts={','.join(map(str, texts))}"]
        load("heron_forks.trc.matres:run")([*words, f"out={built}"])
    return built


def _variants(matres: Path, trc: Path, out: Path) -> Path:
    """Write MATRES with VAGUE's share of TRC's train rows, and MATRES with these rows.

    Returns:
        the folder of `vague.csv` and `mixed.csv`, if both data sets are there.
    """
    folder = (out / "matres").absolute()
    files = (matres / "train.csv", trc / "TRC_dataset.csv", trc / "split/train.csv")
    if (folder / "mixed.csv").is_file() or not all(path.is_file() for path in files):
        return folder
    rows, whole, train = (read_table(path).rows for path in files)
    by_text = {row["text"]: row for row in whole}
    own = [{**by_text[row["text"]], "label": row["named_label"]} for row in train]
    others = [row for row in rows if row["label"] != "VAGUE"]
    share = sum(row["label"] == "VAGUE" for row in own) / len(own)
    kept = round((len(rows) - len(others)) * (1 - share) / share)
    left_out = {row["guid"] for row in random.Random(0).sample(others, len(others) - kept)}
    vague = [row for row in rows if row["guid"] not in left_out]
    hebrew = [{**r, "text": re.sub(r"\[(/?)E([12])\]", r"[\1א\2]", r["text"])} for r in rows]
    renamed = [{**r, "guid": r["id"], "document": r["document_number"]} for r in own]
    for name, table in (("vague", vague), ("mixed", hebrew + renamed)):
        columns = ("guid", "document", "text", "label")
        write_table(folder / f"{name}.csv", {n: [row[n] for row in table] for n in columns})
    return folder


class Runs:
    """Runs several of a plan's runs side by side, each after those that it reads."""

    def __init__(self, plan: Plan, places: Mapping[str, Any], overrides: Sequence[str]) -> None:
        self.plan, self.places, self.overrides = plan, places, overrides
        self.out: Path = places["runs"]
        self.lock = Lock()  # of the files of all runs
        self.started: dict[str, Future[bool]] = {}

    def run(self, cells: Sequence[Cell], jobs: int) -> list[bool]:
        """Run what is not finished, `jobs` at a time; tell which could be finished."""
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for cell in cells:
                    for job in cell.jobs():
                        name = f"{cell.key}/{job}"
                        self.started[name] = pool.submit(self._run, cell, job, name)
                return [each.result() for each in self.started.values()]
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _run(self, cell: Cell, job: str, name: str) -> bool:
        if RunFolder(self.out / name).state() == "done":
            return True
        for needed in self.plan.reads(cell, job):  # all of them were submitted before
            if needed in self.started and not self.started[needed].result():
                return False
        try:
            words = self.plan.words(_chosen(self.plan, cell, self.out), job, self.places)
        except ConfigError as error:
            print(f"heron strength: {name}: {error}", file=sys.stderr, flush=True)
            return False
        print(f"heron strength: {name}", flush=True)
        command = [sys.executable, "-m", "heron", "train", *words, *self.overrides]
        code, spent = _run_apart(command)
        with self.lock:
            minutes = read_minutes(self.out)
            minutes[name] = minutes.get(name, 0.0) + spent / 60
            write_json(self.out / MINUTES, minutes)
            if len(finished(cell, self.out)) == len(cell.jobs()):
                write_tables(self.plan, self.out)
        return code == 0


def _run_apart(command: Sequence[str]) -> tuple[int, float]:
    """Run a command; return its exit code and its seconds of processor time."""
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # lest Popen wait for it, too
    return process.returncode, used.ru_utime + used.ru_stime


def _chosen(plan: Plan, cell: Cell, out: Path) -> Cell:
    """Give a cell with `among` the recipe of the best of the cells that it names."""
    among = [plan.find(kind, name) for kind, own in (cell.among or {}).items() for name in own]
    if not among:
        return cell
    scores = {each.name: mean_score(plan, each, out) for each in among}
    if missing := [name for name, score in scores.items() if score is None]:
        raise ConfigError(f"it takes the best of cells that are not finished: {', '.join(missing)}")
    means, overrides = [scores[each.name] for each in among], [len(each.words) for each in among]
    first, *tied = best_of(means, [complexity("none", "none", count) for count in overrides])
    best, others = among[first], [among[place].name for place in tied]
    print(f"heron strength: {cell.key} takes the recipe '{best.name}'", flush=True)
    if others:
        print(f"heron strength: {tie_note(best.name, others)}", flush=True)
    return dataclasses.replace(cell, words=best.words, first=best.first)
