"""`heron strength`: runs the cells of `cells.yaml` one by one, and writes their table."""

from __future__ import annotations

import dataclasses
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.registry import load
from heron.base.run_folder import RunFolder, read_record
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import field_types
from heron.config.parsing import DataFolders, parse_options

from .cells import Cell, Plan, read_plan
from .table import mean_score, overview, write_tables

MINUTES = "minutes.json"  # processor minutes by run


@dataclass
class StrengthOptions(DataFolders):
    """Options of `heron strength`; all other arguments are overrides of every run."""

    encoder: str = ""
    only: list[str] = field(default_factory=list)  # sets; default: all
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
    failed = []
    if not options.dry_run:
        begin()
        places = {"runs": options.out, "encoder": encoder, "matres": _matres(data, options.out)}
        failed = [each for each in cells if not _run_cell(plan, each, places, overrides)]
        print_lines(*write_tables(plan, options.out))
    print_tables([overview(cells, options.out)])
    return 2 if failed else 0


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


def _run_cell(plan: Plan, cell: Cell, places: dict[str, Any], overrides: Sequence[str]) -> bool:
    """Run what is left of a cell; false if any of its runs could not be finished."""
    out: Path = places["runs"]
    file, ended = out / MINUTES, True
    for job in cell.jobs():
        name = f"{cell.key}/{job}"
        if RunFolder(out / name).state() == "done":
            continue
        print(f"heron strength: {name}", flush=True)
        try:
            words = plan.words(_chosen(plan, cell, out), job, places)
        except ConfigError as error:
            print(f"heron strength: {name}: {error}", file=sys.stderr, flush=True)
            return False
        before = _processor_seconds()
        # In a subprocess, because the system counts the processor time of subprocesses.
        command = [sys.executable, "-m", "heron", "train", *words, *overrides]
        code = subprocess.run(command, check=False).returncode
        spent = (_processor_seconds() - before) / 60
        minutes = read_record(file) if file.is_file() else {}
        write_json(file, {**minutes, name: minutes.get(name, 0.0) + spent})
        ended = ended and not code
    write_tables(plan, out)
    return ended


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _chosen(plan: Plan, cell: Cell, out: Path) -> Cell:
    """Give a cell with `among` the recipe of the best of the cells that it names."""
    among = [plan.find(kind, name) for kind, own in (cell.among or {}).items() for name in own]
    if not among:
        return cell
    scores = {each.name: mean_score(plan, each, out) for each in among}
    if missing := [name for name, score in scores.items() if score is None]:
        raise ConfigError(f"it takes the best of cells that are not finished: {', '.join(missing)}")
    best = max(among, key=lambda each: scores[each.name] or 0.0)
    print(f"heron strength: {cell.key} takes the recipe '{best.name}'", flush=True)
    return dataclasses.replace(cell, words=best.words, first=best.first)
