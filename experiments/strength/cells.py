"""The plan of `cells.yaml`: recipes, their runs, and the cell that each is compared with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.config.parsing import parse


@dataclass(frozen=True, slots=True)
class Set:
    """A data set, and the score that its cells are compared by."""

    split: str
    metric: str
    words: str  # overrides of `heron train` for all cells of the set


@dataclass(frozen=True, slots=True)
class Cell:
    """A recipe on a set; the head of `cells.yaml` explains the keys."""

    set: str
    seeds: int
    folds: int = 0  # 0: no cross-validation
    name: str = ""
    words: str = ""
    against: str = ""
    first: str = ""
    among: Mapping[str, Sequence[str]] = field(default_factory=dict)  # names of cells by set
    dynamics: str = ""  # the plain cell that the plan's `dynamics` are added to

    @property
    def key(self) -> str:
        """Name of the cell's sweep, such as `trc-window-after-matres`."""
        name = f"{self.set}-{self.name}".lower()
        return re.sub(r"[^a-z0-9_]+", "-", name).strip("-")

    def jobs(self) -> dict[str, dict[str, int]]:
        """List the cell's runs: one for each seed, or for each seed and fold.

        Returns:
            `seed` and, with cross-validation, `fold` of each run, by its name (`seed-0-fold-3`).
        """
        jobs = {}
        for seed in range(self.seeds):
            if not self.folds:
                jobs[f"seed-{seed}"] = {"seed": seed}
            for fold in range(self.folds):
                jobs[f"seed-{seed}-fold-{fold}"] = {"seed": seed, "fold": fold}
        return jobs


@dataclass(frozen=True, slots=True)
class StrengthPlan:
    """The content of `cells.yaml`; after `unfolded`, with a cell for each of `dynamics`."""

    recipes: dict[str, str]  # overrides that `{name}` stands for in the words of cells
    sets: dict[str, Set]
    cells: list[Cell]
    dynamics: dict[str, str]  # overrides by the name of a curriculum

    def find(self, name_of_set: str, name: str) -> Cell:
        """Find a cell of a set by its name."""
        for cell in self.cells:
            if cell.set == name_of_set and cell.name == name:
                return cell
        raise ConfigError(f"cells.yaml: {name_of_set} has no cell '{name}'")

    def candidates(self, cell: Cell) -> list[Cell]:
        """List the cells of `among`, the best of which gives the recipe of `cell`."""
        cells = []
        for name_of_set, names in cell.among.items():
            cells += [self.find(name_of_set, name) for name in names]
        return cells

    def unfolded(self) -> StrengthPlan:
        """Replace each cell with `dynamics` by one cell for each of the plan's `dynamics`."""
        cells: list[Cell] = []
        for cell in self.cells:
            if not cell.dynamics:
                cells.append(cell)
                continue

            plain = self.find(cell.set, cell.dynamics)
            plain_run = f"{{runs}}/{plain.key}/{{job}}"
            shared = replace(cell, against=plain.name, first=plain.first)
            for name, curriculum in self.dynamics.items():
                overrides = curriculum.replace("{plain}", plain_run)
                cells.append(replace(shared, name=name, words=f"{plain.words} {overrides}"))

        return replace(self, cells=cells)

    def reads(self, cell: Cell, job: str) -> list[str]:
        """List the runs that must be finished before a run starts.

        These are all runs of the cells that it is chosen among, the run whose model it starts
        from, and the run whose dynamics it reads.

        Args:
            cell: of the plan.
            job: the name of one of the cell's runs.

        Returns:
            Cells and runs, such as `trc-window/seed-0-fold-3`.
        """
        runs = []
        for candidate in self.candidates(cell):
            runs += [f"{candidate.key}/{name}" for name in candidate.jobs()]

        if cell.first:
            first = self.find("first", cell.first)
            seed = cell.jobs()[job]["seed"]
            runs.append(f"{first.key}/seed-{seed}")

        if cell.dynamics:
            plain = self.find(cell.set, cell.dynamics)
            runs.append(f"{plain.key}/{job}")

        return runs

    def words(self, cell: Cell, job: str, paths: Mapping[str, Any]) -> list[str]:
        """Write a run as overrides of `heron train`.

        Args:
            cell: a recipe.
            job: the name of one of the cell's runs.
            paths: `runs`, `encoder`, `matres` and `variants`, which cells name in braces.
        """
        runs = paths["runs"]
        numbers = cell.jobs()[job]
        seed = numbers["seed"]
        overrides = [f"encoder={paths['encoder']}", "trainer.threads=1", f"seed={seed}"]
        if "fold" in numbers:
            overrides.append(f"data.folds.fold={numbers['fold']}")
        overrides += [f"paths.runs={runs}", f"run.sweep={cell.key}", f"run.job={job}"]

        recipe = f"{cell.words} {self.sets[cell.set].words}"
        overrides += shlex.split(recipe.format(**paths, job=job, **self.recipes))

        if cell.first:
            first = self.find("first", cell.first)
            model = f"{runs}/{first.key}/seed-{seed}/model"
            overrides.append(f"encoder.name={model}")
            overrides.append("encoder.num_layers=null")
            overrides.append(f"head.start={model}")

        return overrides


def read_plan(path: Path | None = None) -> StrengthPlan:
    """Read a plan of cells.

    Args:
        path: a file like `cells.yaml`, which is the default.

    Raises:
        ConfigError: a key or a value that is not allowed.
    """
    path = path or Path(__file__).with_name("cells.yaml")
    plan: StrengthPlan = parse(StrengthPlan, read_yaml(path))
    return plan.unfolded()
