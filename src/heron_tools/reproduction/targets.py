"""The tables and figures of the papers: `experiments/<paper>/targets.yaml`.

A target is reproduced by a sweep (`experiment`), whose scores are compared by a view in
`published.yaml`, or by a function of the paper's folder; with both, the function fills the cells
that are computed from files (`from=`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heron.base.cells import Table
from heron.base.errors import ConfigError, DataError, nearest
from heron.base.files import read_yaml
from heron.base.folders import PACKAGE, experiment_roots, load_forks
from heron.base.registry import load
from heron.config.parsing import parse
from heron.data.config import DataConfig
from heron.data.overrides import configure
from heron.data.sources import State, inspect
from heron_tools.reproduction.published import Names

if TYPE_CHECKING:  # start-up time
    from heron.results.shipped import Shipped


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One table or figure of a paper."""

    paper: str  # its folder, such as `trc`
    key: str  # `T4`, `F1`, `A.1`
    title: str
    # What reproduces it: an experiment, such as `trc/table4`, or a function in the paper's folder,
    # `tables:agreement`, from `TargetRequest` to `Filled`.
    experiment: str | None = None
    function: str | None = None
    prompted: bool = False  # whether `heron prompt` runs the experiment, and not `heron train`
    # Splits needed, by data set (`{trc: [train, test]}`).
    data: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Sequence[str] = ()  # other files needed, below `paths.data`
    instead: str = ""  # substitute data that are read if all these files are missing
    models: Sequence[str] = ()  # ids of the models needed
    hardware: str = ""  # if more than two cores and 24 GiB are needed: a description
    people: str = ""  # a description of what people must do first
    note: str = ""  # what heron shows if the paper's version is lost or not comparable

    @property
    def name(self) -> str:
        """Its name on the command line, `trc:T4`."""
        return f"{self.paper}:{self.key}"

    @property
    def table(self) -> str:
        """Its name in `published.yaml`, also the prefix of its parts' names: `table4`."""
        kind = {"T": "table", "F": "figure"}.get(self.key[0])
        return f"{kind}{self.key[1:]}" if kind else self.key

    def compute(self, request: TargetRequest) -> Filled:
        """Call its function."""
        load_forks(experiment_roots())
        function = load(f"{PACKAGE}.{self.paper}.{self.function}")
        filled: Filled = function(request)
        return filled


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """The arguments of a target's function."""

    data_dir: Path
    cache_dir: Path
    seed: int = 0
    files: Sequence[Path] = ()  # filled sheets or runs to evaluate (`from=`)
    encoder: str | None = None  # in place of the paper's
    data: str = ""  # the data set that `heron analyze` describes, the paper's or a substitute

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folder of data, and that of caches."""
        return self.data_dir, self.cache_dir

    def read(self, data: str | DataConfig) -> Shipped:
        """Read the files of a data set that are there."""
        from heron.results.shipped import read_shipped  # start-up time

        config = configure(data, []) if isinstance(data, str) else data
        return read_shipped(config, *self.folders)

    def choose_present(self, name: str, substitute: str) -> DataConfig:
        """Configure a data set, or its substitute if only the substitute's files exist."""
        papers_own = configure(name, [])
        for config in (papers_own, configure(substitute, [])):
            for source in inspect(config, *self.folders).values():
                if source.state is not State.MISSING:
                    return config
        return papers_own

    def read_present(self, name: str, substitute: str) -> tuple[Shipped, tuple[str, ...]]:
        """Read a data set or its substitute, see `choose_present`; a note names a substitute."""
        config = self.choose_present(name, substitute)
        notes = () if config.name == name else (f"{substitute} in place of {name}.",)
        return self.read(config), notes

    def one_file(self, expected: str, form: str = "FILE") -> Path:
        """Return the single file of the request; a ConfigError says what is expected."""
        if len(self.files) != 1:
            raise ConfigError(f"from={form}: {len(self.files)} given, expected {expected}")
        return self.files[0]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A reproduced number."""

    # In the unit of `published.yaml`, fractions from 0 to 1; NaN: undefined for these items.
    value: float
    low: float | None = None  # 95 % interval
    high: float | None = None
    n: int | None = None  # number of rows, items or seeds
    of: str = "rows"  # what `n` counts
    sd: float | None = None  # sample standard deviation over seeds
    mark: str = ""  # the data set, split or encoder that replaces the paper's

    @classmethod
    def with_bounds(
        cls, value: float, bounds: Mapping[str, float], name: str, n: int, of: str, mark: str
    ) -> Self:
        """Make a number with its interval, `<name>_low` and `<name>_high` of `bounds`, if any."""
        return cls(value, bounds.get(f"{name}_low"), bounds.get(f"{name}_high"), n, of, mark=mark)


@dataclass(frozen=True, slots=True)
class Filled:
    """The result of a target's function."""

    # By table of `published.yaml`: values to compare with its numbers; other rows are added.
    values: Mapping[str, Mapping[Names, Estimate]] = field(default_factory=dict)
    tables: Sequence[Table] = ()  # shown without comparison
    figures: Mapping[str, bytes] = field(default_factory=dict)  # PNG by file name
    files: Mapping[str, str | bytes | Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    notes: Sequence[str] = ()  # definitions, counts left out, substitutions


NOTHING = Filled()


def run_mark(folder: Path, data: str, encoder: str) -> str:
    """Describe how a run deviates from the paper: data set, encoder (ids without owners)."""
    from heron.results.collect import collect  # start-up time

    (run,) = collect(folder)
    marks = []
    own_data = run.setting("data.name")
    if own_data != data:
        marks.append(f"data set {own_data}")
    model = run.setting("prompting.model.name")
    name = Path(str(model or run.setting("encoder.name"))).name
    if name != encoder:
        kind = "model" if model else "encoder"
        marks.append(f"{kind} {name}")
    return ", ".join(marks)


FILE = "targets.yaml"


def read_targets() -> dict[str, Target]:
    """Read the targets of all papers by name, those of `HERON_FORKS` included.

    Raises:
        DataError: a file has entries that are not targets.
    """
    targets: dict[str, Target] = {}
    for root in experiment_roots():
        for path in sorted(root.glob(f"experiments/*/{FILE}")):
            entries = read_yaml(path) or {}
            for key, entry in entries.items():
                values = {"paper": path.parent.name, "key": str(key), **(entry or {})}
                try:
                    target = parse(Target, values)
                except ConfigError as error:
                    raise DataError(f"{path}: {key}", str(error)) from error
                targets.setdefault(target.name, target)
    return targets


def choose_targets(word: str, targets: Mapping[str, Target]) -> list[Target]:
    """Choose one target (`trc:T4`), all of a paper (`trc`), or all (empty).

    Raises:
        ConfigError: there is no such target or paper; names the nearest.
    """
    chosen = []
    for target in targets.values():
        if word in ("", target.paper, target.name):
            chosen.append(target)
    if not chosen:
        papers = dict.fromkeys(target.paper for target in targets.values())
        near = nearest(word, [*targets, *papers]) or f" Papers: {', '.join(papers)}."
        raise ConfigError(f"no target '{word}'.{near}")
    return chosen
