"""The cells of `cells.yaml`: recipes, the runs of each, and what each is compared with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.config.parsing import parse


@dataclass(frozen=True, slots=True)
class Set:
    """A data set and what is compared on it."""

    split: str
    metric: str
    words: str  # of all of its runs


@dataclass(frozen=True, slots=True)
class Runs:
    """How often a cell is run: by seed, and for each seed by fold; 0 folds: no cross-validation."""

    seeds: int
    folds: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """Cells of a set, of which the one with the best mean score is meant."""

    set: str
    among: Sequence[str]


@dataclass(frozen=True, slots=True)
class Cell:
    """A recipe on a set."""

    set: str
    runs: Runs
    name: str = ""
    words: str = ""
    against: str = ""  # the cell of its set that it is compared with
    first: str = ""  # a cell of the set `first` that it starts from
    choose: Choice | None = None  # in place of `words`
    dynamics: str = ""  # in place of a name: the plain cell that curricula are compared with
    of_dynamics: bool = False  # made from `dynamics`

    @property
    def key(self) -> str:
        """Its sweep's name: `trc-window-after-matres`."""
        return re.sub(r"[^a-z0-9_]+", "-", f"{self.set}-{self.name}".lower()).strip("-")

    def jobs(self) -> list[dict[str, int]]:
        """List its runs' seeds and folds."""
        folds: list[dict[str, int]] = [{"fold": n} for n in range(self.runs.folds)] or [{}]
        return [{"seed": seed, **fold} for seed in range(self.runs.seeds) for fold in folds]


def job_name(job: Mapping[str, int]) -> str:
    """Name a run by its seed and fold: `seed-0-fold-3`."""
    return "-".join(f"{key}-{value}" for key, value in job.items())


@dataclass(frozen=True, slots=True)
class Plan:
    """What `cells.yaml` says."""

    trainer: str
    sets: dict[str, Set]
    cells: list[Cell]
    dynamics: dict[str, str] = field(default_factory=dict)

    def every(self) -> Iterator[Cell]:
        """List the cells, with those that `dynamics` stands for, in the order in which they run."""
        for cell in self.cells:
            if not cell.dynamics:
                yield cell
                continue
            plain = self.find(cell.set, cell.dynamics)
            for name, words in self.dynamics.items():
                yield Cell(
                    **{"set": cell.set, "runs": cell.runs, "name": name, "against": plain.name},
                    words=f"{plain.words} {words.replace('{plain}', '{runs}/' + plain.key + '/{job}')}",
                    first=plain.first,
                    of_dynamics=True,
                )

    def find(self, name_of_set: str, name: str) -> Cell:
        """Find a cell of a set by its name."""
        found = [each for each in self.cells if (each.set, each.name) == (name_of_set, name)]
        if len(found) != 1:
            raise ConfigError(f"cells.yaml: {len(found)} cells of {name_of_set} are '{name}'")
        return found[0]

    def words(self, cell: Cell, job: Mapping[str, int], places: Mapping[str, Any]) -> list[str]:
        """Spell out a run as `heron train` reads it; `places` are `runs`, `encoder` and `matres`."""
        whole = f"{cell.words} {self.sets[cell.set].words}"
        known = {**places, **job, "job": job_name(job), "trainer": self.trainer}
        fold = [f"data.folds.fold={job['fold']}"] if "fold" in job else []
        first = f"{places['runs']}/{self.find('first', cell.first).key}" if cell.first else ""
        model = f"{first}/seed-{job['seed']}/model"
        start = [f"encoder.name={model}", "encoder.num_layers=null", f"head.start={model}"]
        return [
            *(f"encoder={places['encoder']}", "trainer.threads=1"),
            *(f"seed={job['seed']}", *fold, f"paths.runs={places['runs']}"),
            *(f"run.sweep={cell.key}", f"run.job={job_name(job)}"),
            *shlex.split(whole.format(**known)),
            *(start if first else []),
        ]


def read_plan(path: Path | None = None) -> Plan:
    """Read `cells.yaml`, or another file like it; a ConfigError names what is wrong with a key."""
    return parse(Plan, read_yaml(path or Path(__file__).with_name("cells.yaml")))
