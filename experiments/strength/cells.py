"""The cells of `cells.yaml`: recipes, their runs, and what each is compared with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.config.parsing import parse


@dataclass(frozen=True, slots=True)
class Set:
    """A data set, and what is compared on it."""

    split: str
    metric: str
    words: str  # of all of its runs


@dataclass(frozen=True, slots=True)
class Cell:
    """A recipe on a set; see the head of `cells.yaml`."""

    set: str
    seeds: int
    folds: int = 0  # 0: no cross-validation
    name: str = ""
    words: str = ""
    against: str = ""
    first: str = ""
    among: Mapping[str, Sequence[str]] | None = None  # cells by set
    dynamics: str = ""  # the plain cell that the plan's `dynamics` are added to

    @property
    def key(self) -> str:
        """Its sweep's name: `trc-window-after-matres`."""
        return re.sub(r"[^a-z0-9_]+", "-", f"{self.set}-{self.name}".lower()).strip("-")

    def jobs(self) -> dict[str, dict[str, int]]:
        """List its runs' seeds and folds by their names: `seed-0-fold-3`."""
        folds: list[dict[str, int]] = [{"fold": n} for n in range(self.folds)] or [{}]
        jobs = [{"seed": seed, **fold} for seed in range(self.seeds) for fold in folds]
        return {"-".join(f"{key}-{value}" for key, value in job.items()): job for job in jobs}


@dataclass(frozen=True, slots=True)
class Plan:
    """The content of `cells.yaml`; after `unfolded`, with a cell for each of `dynamics`."""

    recipes: dict[str, str]  # what `{name}` stands for in the words of cells
    sets: dict[str, Set]
    cells: list[Cell]
    dynamics: dict[str, str]

    def find(self, name_of_set: str, name: str) -> Cell:
        """Find a cell of a set by its name."""
        for cell in self.cells:
            if (cell.set, cell.name) == (name_of_set, name):
                return cell
        raise ConfigError(f"cells.yaml: {name_of_set} has no cell '{name}'")

    def unfolded(self) -> Plan:
        """Replace each cell with `dynamics` by one cell for each of the plan's `dynamics`."""
        found: list[Cell] = []
        for cell in self.cells:
            if not cell.dynamics:
                found.append(cell)
                continue
            plain = self.find(cell.set, cell.dynamics)
            for name, words in self.dynamics.items():
                own = words.replace("{plain}", f"{{runs}}/{plain.key}/{{job}}")
                also = replace(cell, name=name, against=plain.name, first=plain.first)
                found.append(replace(also, words=f"{plain.words} {own}"))
        return replace(self, cells=found)

    def reads(self, cell: Cell, job: str) -> list[str]:
        """List the runs that a run reads or that choose its recipe: `trc-window/seed-0-fold-3`."""
        found = [self.find(kind, n) for kind, own in (cell.among or {}).items() for n in own]
        runs = [f"{each.key}/{job}" for each in found for job in each.jobs()]
        if cell.first:
            runs.append(f"{self.find('first', cell.first).key}/seed-{cell.jobs()[job]['seed']}")
        if cell.dynamics:
            runs.append(f"{self.find(cell.set, cell.dynamics).key}/{job}")
        return runs

    def words(self, cell: Cell, job: str, places: Mapping[str, Any]) -> list[str]:
        """Spell out a run for `heron train`; `places` are `runs`, `encoder` and `matres`."""
        runs, numbers = places["runs"], cell.jobs()[job]
        known = {**places, "job": job, **self.recipes}
        found = [f"encoder={places['encoder']}", "trainer.threads=1", f"seed={numbers['seed']}"]
        found += [f"data.folds.fold={numbers['fold']}"] if "fold" in numbers else []
        found += [f"paths.runs={runs}", f"run.sweep={cell.key}", f"run.job={job}"]
        found += shlex.split(f"{cell.words} {self.sets[cell.set].words}".format(**known))
        if cell.first:
            model = f"{runs}/{self.find('first', cell.first).key}/seed-{numbers['seed']}/model"
            found += [f"encoder.name={model}", "encoder.num_layers=null", f"head.start={model}"]
        return found


def read_plan(path: Path | None = None) -> Plan:
    """Read `cells.yaml`, or another file like it; a ConfigError names what is wrong with a key."""
    plan: Plan = parse(Plan, read_yaml(path or Path(__file__).with_name("cells.yaml")))
    return plan.unfolded()
