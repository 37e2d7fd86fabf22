"""What `heron analyze` asks of a task: a run's scores by slice, and a data set's statistics.

A task names its own in `heron.tasks.task.Task`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from heron.base.cells import Cell, Interval, Table
from heron.base.errors import ConfigError
from heron.base.registry import Registry
from heron.config.analyze_options import AnalyzeOptions, refuse
from heron.config.data import DataConfig
from heron.data.examples import Example, Prediction
from heron.tasks.slices import (
    Parts,
    Rows,
    Slice,
    Slicing,
    category_slices,
    require_column,
    slice_table,
)

Content = str | bytes | Mapping[str, Sequence[Any]]  # text, picture, columns of a table


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an analysis has found.

    Args:
        tables: what to print and store.
        facts: definitions that the numbers depend on.
        slicings: what to draw.
        files: further files, by name or path.
        title: heads the tables in a Markdown file; empty: there is none.
    """

    tables: tuple[Table, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    slicings: tuple[Slicing, ...] = ()
    files: Mapping[str | Path, Content] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """How figures show a score.

    Args:
        score: its column.
        label: what the legend calls it.
        marker, colour: of its points.
        shift: from the middle of a slice's line.
    """

    score: str
    label: str
    marker: str
    colour: str
    shift: float = 0.0


@dataclass(frozen=True)
class Split:
    """One split's predictions by a run, read when they are first asked for.

    Args:
        run: name of the run.
        name: of the split.
        data: the data set.
        path: the file of predictions.
        read: reads the labelled rows and counts the others, of a file with some columns; golds may
            be texts (`texts`), and empty ones (`empty`).
        join: adds the examples to rows.
        read_systems: reads what other systems have written.
    """

    run: str
    name: str
    data: DataConfig
    path: Path
    read: Callable[..., tuple[Sequence[Prediction], int]]
    join: Callable[[Sequence[Prediction]], list[Example]]
    read_systems: Callable[[], list[Any]]


class RunAnalysis(ABC):
    """The analyses of one split of a run; a task says what they are.

    Args:
        split: the predictions.
        options: of the command; wrong ones are refused before the predictions are read.

    Attributes:
        unused: options that the task has no use for, by the reason.
        golds: which gold labels or texts count, for `Split.read`.
        columns: that the file of predictions must have.
        nothing: why a split without a labelled row cannot be analysed; empty: it can.
        counted: what the rows are called.
        heading: how titles of tables begin, before `by length`.
        headline: what figures call the score of the whole split.
        whole: whether tables end with a row for the whole split.
        drawn: what figures show.
        zoomed: whether figures end at the largest score instead of 1.
        has_systems: whether other systems may stand beside the run.
        advice: what a message about a missing column adds.
    """

    unused: ClassVar[Mapping[str, Sequence[str]]] = {}
    golds: ClassVar[Mapping[str, bool]] = {}
    columns: ClassVar[tuple[str, ...]] = ()
    nothing: ClassVar[str] = ""
    counted: ClassVar[str] = "rows"
    heading: ClassVar[str]
    headline: ClassVar[str]
    drawn: ClassVar[tuple[Drawn, ...]]
    whole: ClassVar[bool] = True
    zoomed: ClassVar[bool] = False
    has_systems: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    def __init__(self, split: Split, options: AnalyzeOptions):
        self.split, self.options = split, options
        if options.beside and not self.has_systems:
            raise ConfigError(
                "beside=: only runs of summaries have a page that shows several systems"
            )
        for why, names in self.unused.items():
            refuse(options, names, why.format(task=split.data.task))

    @cached_property
    def _read(self) -> tuple[Sequence[Prediction], int]:
        rows, unlabelled = self.split.read(self.columns, **self.golds)
        if self.nothing and not rows:
            raise ConfigError(f"split={self.split.name}: {self.nothing}")
        return rows, unlabelled

    @property
    def rows(self) -> Sequence[Prediction]:
        """N labelled predictions."""
        return self._read[0]

    @property
    def unlabelled(self) -> int:
        """How many predictions have no gold label or text."""
        return self._read[1]

    @cached_property
    def examples(self) -> list[Example]:
        """N examples."""
        return self.split.join(self.rows)

    @abstractmethod
    def analyses(self) -> dict[str, Callable[[], Outcome]]:
        """Name what a split can be sliced by, beside side columns, and further analyses."""

    @abstractmethod
    def measure(self, rows_M: Rows) -> dict[str, Cell]:
        """Count some rows and compute their scores, by column."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What tables of scores say below."""

    @property
    def title(self) -> str:
        """What figures and pages are called."""
        return f"{self.split.run}: {self.split.name}, {len(self.rows):,} {self.counted}"

    @property
    def groups_name(self) -> str:
        """What intervals draw."""
        return "article"

    def defaults(self) -> list[str]:
        """List the analyses to do where none is named."""
        return list(self.analyses())

    def categories(self, value: Any) -> Iterable[str]:
        """Read a cell of a side column as categories."""
        return [] if value in (None, "") else [str(value)]

    def run(self, by: str) -> Outcome:
        """Do one analysis; `by` is one of `analyses`, or a side column."""
        known = self.analyses()
        return known[by]() if by in known else self.by_column(by)

    def check_column(self, by: str) -> None:
        """Refuse what is neither an analysis nor a side column."""
        if by not in (known := self.analyses()):
            columns = [column for example in self.examples for column in example.side]
            require_column(by, known, columns, self.advice)

    def by_column(self, by: str) -> Outcome:
        """Slice by a side column."""
        found = [list(self.categories(example.side.get(by))) for example in self.examples]
        return self.sliced(by, category_slices(found))

    def sliced(self, title: str, parts: Parts, note: str = "") -> Outcome:
        """Compute the scores of slices: one table, one panel of the figure."""
        slices = tuple(Slice(name, rows_M, self.measure(rows_M)) for name, rows_M in parts)
        shown = [*slices, self.everything] if self.whole else slices
        table = slice_table(f"{self.heading} by {title}", shown, note or self.note)
        return Outcome((table,), slicings=(Slicing(f"By {title}", slices),))

    @cached_property
    def everything(self) -> Slice:
        """The whole split as a slice."""
        rows_N = np.arange(len(self.rows))
        return Slice("(all)", rows_N, self.measure(rows_N))

    @property
    def overall(self) -> float:
        """The score of the whole split."""
        cell = self.everything.cells[self.drawn[0].score]
        return cell.value if isinstance(cell, Interval) else float(str(cell or 0.0))


class Shipped(Protocol):
    """A data set to be described; see `heron.results.shipped.Shipped`."""

    @property
    def splits(self) -> Mapping[str, Sequence[Example]]:
        """Examples by split, in file order."""

    @property
    def missing(self) -> Mapping[str, Path]:
        """Files that are not there, by split."""


class DataStatistics(ABC):
    """A task's statistics of a data set.

    Args:
        config: the data set.
        options: of the command; wrong ones are refused before the data is read.

    Attributes:
        unused: options that the task has no use for, by the reason.
        compares_texts: whether BERTScore compares two texts of an example.
        has_answers: whether people can judge its gold answers on a sheet.
    """

    unused: ClassVar[Mapping[str, Sequence[str]]] = {}
    compares_texts: ClassVar[bool] = False
    has_answers: ClassVar[bool] = False

    def __init__(self, config: DataConfig, options: AnalyzeOptions):
        self.config, self.options = config, options
        if options.asked() and not self.compares_texts:
            raise ConfigError(f"bertscore= compares articles and summaries, not task={config.task}")
        if options.sheet is not None and not self.has_answers:
            raise ConfigError(f"sheet={options.sheet}: {config.name} has no answers to judge")
        for why, names in self.unused.items():
            # A sheet is drawn from one split.
            used = [name for name in names if options.sheet is None or name != "split"]
            refuse(options, used, why.format(task=config.task, data=config.name))

    @abstractmethod
    def describe(self, shipped: Shipped) -> Outcome:
        """Describe the splits that are there."""


SLICES_A_RUN = "slices a run (run=DIR); statistics of data={data} are of all its rows"

# What a fork adds: `draw_sheet` and `score_sheet`, `published_statistics`.
ADDED: Registry[Callable[..., Any]] = Registry("analysis of a fork", {})
