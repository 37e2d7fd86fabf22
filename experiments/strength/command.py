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

    encoder: str = ""  # name or folder; default: $HERON_ENCODER
    only: list[str] = field(default_factory=list)  # sets; default: all
    jobs: Count = 2  # runs side by side, of one thread each
    dry_run: bool = False  # list the cells, start none
    out: Path = Path("runs/strength")
    cells: Path | None = None  # another file in place of `cells.yaml`


def run(arguments: Sequence[str]) -> int:
    """Run the cells that are not finished, and write the table; returns the exit code."""
    option_names = {*field_types(StrengthOptions), "paths.data", "paths.cache"}
    words, overrides = [], []
    for word in arguments:
        key = word.partition("=")[0]
        if key in option_names:
            words.append(word)
        else:
            overrides.append(word)
    options = parse_options(StrengthOptions, words)
    data, cache = options.folders
    overrides += [f"paths.data={data}", f"paths.cache={cache}"]

    encoder = options.encoder or os.environ.get("HERON_ENCODER", "")
    if not encoder:
        raise ConfigError("name the encoder: encoder=DIR, or HERON_ENCODER")

    plan = read_plan(options.cells)
    cells = plan.cells
    if options.only:
        cells = [cell for cell in cells if cell.set in options.only]

    finished_all = True
    if not options.dry_run:
        begin()
        matres = _matres(data, options.out)
        variants = _variants(matres, data / "trc/training-data", options.out)
        paths = {"runs": options.out, "encoder": encoder, "matres": matres, "variants": variants}
        finished_all = Runs(plan, paths, overrides).run(cells, options.jobs)
        print_lines(*write_tables(plan, options.out))

    print_tables([overview(cells, options.out)])
    return 0 if finished_all else 2


def _matres(data: Path, out: Path) -> Path:
    """Find the tables of MATRES, or build them from its relations and TempEval-3's texts."""
    if (data / "matres/train.csv").is_file():
        return data / "matres"

    built = (out / "matres").absolute()
    texts = [data / "tempeval3/TBAQ-cleaned", data / "tempeval3/te3-platinum"]
    has_texts = all(path.is_dir() for path in texts)
    if has_texts and not (built / "test.csv").is_file():
        build = load("heron_forks.trc.matres:run")
        folders = ",".join(map(str, texts))
        build([f"relations={data / 'matres'}", f"texts={folders}", f"out={built}"])
    return built


def _variants(matres: Path, trc: Path, out: Path) -> Path:
    """Write MATRES with VAGUE's share of TRC's train rows, and MATRES together with these rows.

    Returns:
        The folder of `vague.csv` and `mixed.csv`, which are written if both data sets are there.
    """
    folder = (out / "matres").absolute()
    sources = (matres / "train.csv", trc / "TRC_dataset.csv", trc / "split/train.csv")
    if (folder / "mixed.csv").is_file() or not all(path.is_file() for path in sources):
        return folder
    english, trc_all, trc_train = (read_table(path).rows for path in sources)

    # The split of TRC has the labels; only the whole data set has ids and documents.
    by_text = {row["text"]: row for row in trc_all}
    hebrew = []
    for row in trc_train:
        text = row["text"]
        source = by_text[text]
        document = source["document_number"]
        label = row["named_label"]
        hebrew.append({"guid": source["id"], "document": document, "text": text, "label": label})

    vague_count = sum(row["label"] == "VAGUE" for row in hebrew)
    share = vague_count / len(hebrew)
    clear = [row for row in english if row["label"] != "VAGUE"]
    kept_count = round((len(english) - len(clear)) * (1 - share) / share)
    left_out = random.Random(0).sample(clear, len(clear) - kept_count)
    left_out_guids = {row["guid"] for row in left_out}
    vague = [row for row in english if row["guid"] not in left_out_guids]

    # TRC's markers of events have an alef: [E1] is [א1].
    mixed = []
    for row in english:
        text = re.sub(r"\[(/?)E([12])\]", r"[\1א\2]", row["text"])
        mixed.append({**row, "text": text})
    mixed += hebrew

    for name, rows in (("vague", vague), ("mixed", mixed)):
        columns = {}
        for column in ("guid", "document", "text", "label"):
            columns[column] = [row[column] for row in rows]
        write_table(folder / f"{name}.csv", columns)
    return folder


class Runs:
    """Runs several of a plan's runs side by side, each after the runs that it reads.

    Args:
        plan: all cells.
        paths: values for `Plan.words`; the runs are written to `runs`.
        overrides: added to every run.
    """

    def __init__(self, plan: Plan, paths: Mapping[str, Any], overrides: Sequence[str]) -> None:
        self.plan = plan
        self.paths = paths
        self.overrides = overrides
        self.out: Path = paths["runs"]
        self.lock = Lock()  # of `minutes.json` and the tables
        self.started: dict[str, Future[bool]] = {}

    def run(self, cells: Sequence[Cell], jobs: int) -> bool:
        """Run what is not finished, `jobs` runs at a time; returns whether all are finished."""
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for cell in cells:
                    for job in cell.jobs():
                        name = f"{cell.key}/{job}"
                        self.started[name] = pool.submit(self._run, cell, job, name)
                finished_runs = [future.result() for future in self.started.values()]
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return all(finished_runs)

    def _run(self, cell: Cell, job: str, name: str) -> bool:
        """Run one job in a process of its own; returns whether it is finished."""
        if RunFolder(self.out / name).state() == "done":
            return True

        # All of them were submitted before, so that waiting for them ends.
        for needed in self.plan.reads(cell, job):
            if needed in self.started and not self.started[needed].result():
                return False

        try:
            cell_with_recipe = _with_best_recipe(self.plan, cell, self.out)
            words = self.plan.words(cell_with_recipe, job, self.paths)
        except ConfigError as error:
            print(f"heron strength: {name}: {error}", file=sys.stderr, flush=True)
            return False

        print(f"heron strength: {name}", flush=True)
        command = [sys.executable, "-m", "heron", "train", *words, *self.overrides]
        code, seconds = _run_apart(command)

        with self.lock:
            minutes = read_minutes(self.out)
            before = minutes.get(name, 0.0)  # of a run that was interrupted
            minutes[name] = before + seconds / 60
            write_json(self.out / MINUTES, minutes)
            if len(finished(cell, self.out)) == len(cell.jobs()):
                write_tables(self.plan, self.out)
        return code == 0


def _run_apart(command: Sequence[str]) -> tuple[int, float]:
    """Run a command; return its exit code and its seconds of processor time."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # or Popen would wait for it, too
    return process.returncode, usage.ru_utime + usage.ru_stime


def _with_best_recipe(plan: Plan, cell: Cell, out: Path) -> Cell:
    """Give a cell with `among` the recipe of the best of these cells; others are unchanged."""
    candidates = plan.candidates(cell)
    if not candidates:
        return cell

    scores: list[float | None] = []
    missing: list[str] = []
    for candidate in candidates:
        score = mean_score(plan, candidate, out)
        scores.append(score)
        if score is None:
            missing.append(candidate.name)
    if missing:
        raise ConfigError(f"it takes the best of cells that are not finished: {', '.join(missing)}")

    lengths = [complexity("none", "none", len(candidate.words)) for candidate in candidates]
    first, *others = best_of(scores, lengths)
    best = candidates[first]
    print(f"heron strength: {cell.key} takes the recipe '{best.name}'", flush=True)
    if others:
        tied = [candidates[index].name for index in others]
        print(f"heron strength: {tie_note(best.name, tied)}", flush=True)
    return dataclasses.replace(cell, words=best.words, first=best.first)
