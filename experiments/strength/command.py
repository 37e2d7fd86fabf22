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
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.registry import load
from heron.base.run_folder import RunFolder
from heron.base.tables import as_columns, read_table, write_table
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import Count, field_types
from heron.config.parsing import DataFolders, parse_options
from heron.results.best import best_of, complexity, tie_note

from .cells import Cell, StrengthPlan, read_plan
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
    names = {*field_types(StrengthOptions), "paths.data", "paths.cache"}
    words = [word for word in arguments if word.partition("=")[0] in names]
    overrides = [word for word in arguments if word not in words]

    options = parse_options(StrengthOptions, words)
    out = options.out
    data, cache = options.folders
    overrides += [f"paths.data={data}", f"paths.cache={cache}"]

    encoder = options.encoder or os.environ.get("HERON_ENCODER", "")
    if not encoder:
        raise ConfigError("name the encoder: encoder=DIR, or HERON_ENCODER")

    plan = read_plan(options.cells)
    cells = plan.cells
    if options.only:
        cells = [cell for cell in cells if cell.set in options.only]

    all_finished = True
    if not options.dry_run:
        begin()
        matres = _matres(data, out)
        variants = _variants(matres, data / "trc/training-data", out)
        paths = {"runs": out, "encoder": encoder, "matres": matres, "variants": variants}
        all_finished = Runs(plan, paths, overrides).run(cells, options.jobs)
        print_lines(*write_tables(plan, out))

    print_tables([overview(cells, out)])
    return 0 if all_finished else 2


def _matres(data: Path, out: Path) -> Path:
    """Find the tables of MATRES, or build them from its relations and TempEval-3's texts.

    Returns:
        The folder of `train.csv` and `test.csv`, which may be missing if their sources are.
    """
    shipped = data / "matres"
    if (shipped / "train.csv").is_file():
        return shipped

    built = (out / "matres").absolute()
    texts = [data / "tempeval3/TBAQ-cleaned", data / "tempeval3/te3-platinum"]
    has_texts = all(path.is_dir() for path in texts)
    if has_texts and not (built / "test.csv").is_file():
        folders = ",".join(map(str, texts))
        build = load("heron_forks.trc.matres:run")
        build([f"relations={shipped}", f"texts={folders}", f"out={built}"])
    return built


def _variants(matres: Path, trc: Path, out: Path) -> Path:
    """Write MATRES with VAGUE's share of TRC's train rows, and MATRES together with these rows.

    Args:
        matres: the folder of MATRES's tables.
        trc: the folder of TRC's training data.
        out: the folder of `heron strength`.

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
        source = by_text[row["text"]]
        hebrew.append(
            {
                "guid": source["id"],
                "document": source["document_number"],
                "text": row["text"],
                "label": row["named_label"],
            }
        )

    labels = [row["label"] for row in hebrew]
    share = labels.count("VAGUE") / len(labels)
    clear = [row for row in english if row["label"] != "VAGUE"]
    vague_count = len(english) - len(clear)
    clear_count = round(vague_count * (1 - share) / share)
    left_out = random.Random(0).sample(clear, len(clear) - clear_count)
    left_out_guids = {row["guid"] for row in left_out}
    vague = [row for row in english if row["guid"] not in left_out_guids]

    # TRC's markers of events have an alef: [E1] is [א1].
    mixed = []
    for row in english:
        text = re.sub(r"\[(/?)E([12])\]", r"[\1א\2]", row["text"])
        mixed.append({**row, "text": text})
    mixed += hebrew

    _write_rows(folder / "vague.csv", vague)
    _write_rows(folder / "mixed.csv", mixed)
    return folder


def _write_rows(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    names = ("guid", "document", "text", "label")
    write_table(path, as_columns(names, map(itemgetter(*names), rows)))


class Runs:
    """Runs several of a plan's runs side by side, each after the runs that it reads.

    Args:
        plan: all cells.
        paths: values for `Plan.words`; the runs are written to `runs`.
        overrides: added to every run.
    """

    def __init__(
        self, plan: StrengthPlan, paths: Mapping[str, Any], overrides: Sequence[str]
    ) -> None:
        self.plan = plan
        self.paths = paths
        self.overrides = overrides
        self.out: Path = paths["runs"]
        self.lock = Lock()  # of `minutes.json` and the tables
        self.started: dict[str, Future[bool]] = {}

    def run(self, cells: Sequence[Cell], jobs: int) -> bool:
        """Run what is not finished.

        Args:
            cells: in the order in which their runs start.
            jobs: number of runs side by side.

        Returns:
            Whether all runs are finished in the end.
        """
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for cell in cells:
                    for job in cell.jobs():
                        name = f"{cell.key}/{job}"
                        self.started[name] = pool.submit(self._run, cell, job, name)
                are_finished = [future.result() for future in self.started.values()]
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return all(are_finished)

    def _run(self, cell: Cell, job: str, name: str) -> bool:
        """Run one job in a process of its own; returns whether it is finished.

        Args:
            cell: of the plan, perhaps with `among` in place of a recipe.
            job: one of the cell's runs.
            name: the run's folder in `out`.
        """
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
    """Run a command in a process of its own.

    Returns:
        Its exit code, and the seconds of processor time that it took.
    """
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # or Popen would wait for it, too
    return process.returncode, usage.ru_utime + usage.ru_stime


def _with_best_recipe(plan: StrengthPlan, cell: Cell, out: Path) -> Cell:
    """Give a cell with `among` the recipe of the best of these cells; others are unchanged.

    Of cells with equal scores, the one with the fewest words is the best.

    Raises:
        ConfigError: one of these cells is not finished.
    """
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
