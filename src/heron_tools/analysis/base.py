"""What `heron analyze` asks of a task: a run's scores by slice, and a data set's statistics."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from heron.base.cells import SYNTHETIC, Cell, Interval, Table
from heron.base.errors import ConfigError
from heron.base.pages import escape_json, render
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.languages import get_language
from heron.languages.language import Language
from heron.results.frame import Frame
from heron_tools.analysis.options import AnalyzeOptions, say_unused
from heron_tools.analysis.rates import RESAMPLES, group_means
from heron_tools.analysis.slices import Parts, Rows, Slice, Slicing, category_slices, require_column

Floats = npt.NDArray[np.float64]
Content = str | bytes | Mapping[str, Sequence[Any]]  # text, picture, columns of a table


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an analysis."""

    tables: tuple[Table, ...] = ()  # to print and store
    facts: Mapping[str, Any] = field(default_factory=dict)  # definitions that the numbers depend on
    slicings: tuple[Slicing, ...] = ()  # to draw
    # Further files, by name or path.
    files: Mapping[str | Path, Content] = field(default_factory=dict)
    title: str = ""  # heading of the tables in a Markdown file; empty: no such file


@dataclass(frozen=True, slots=True)
class Drawn:
    """How a figure shows a score: its column, its name in the legend, and the look of its points.

    `shift` is the vertical distance from the middle of a slice's line.
    """

    score: str
    label: str
    marker: str
    colour: str
    shift: float = 0.0


@dataclass(frozen=True)
class Split:
    """A run's predictions of one split, read on first use."""

    # run, name: of the run and of the split.
    run: str
    name: str
    data: DataConfig  # the data set
    path: Path  # the file of predictions
    # Reads the labelled rows and counts the others. Takes the columns that the file must have, and
    # whether golds are texts (`texts`) and may be empty (`empty`).
    read: Callable[..., tuple[Frame, int]]
    join: Callable[[Sequence[str]], list[Example]]  # finds examples by guid
    read_systems: Callable[[], list[Any]]  # reads the predictions of other systems


class RunAnalysis(ABC):
    """The analyses of one split of a run; options are checked before predictions are read.

    Attributes:
        unused: options that have no meaning for the task.
        golds: arguments of `Split.read`.
        columns: columns that the file of predictions must have.
        nothing: why a split without labelled rows cannot be analysed; empty: it can.
        counted: the word for rows.
        heading: first word of table titles, before `by length`.
        headline: name of the first score in figures.
        whole: whether tables end with a row for the whole split.
        drawn: the scores in figures.
        zoomed: whether the axis of figures ends at the largest score instead of 1.
        has_systems: whether the page can show other systems.
        advice: further advice in the message about a missing column.
    """

    unused: ClassVar[tuple[str, ...]] = ()
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
        say_unused(options, self.unused)

    @cached_property
    def _read(self) -> tuple[Frame, int]:
        rows, unlabelled = self.split.read(self.columns, **self.golds)
        if self.nothing and not rows:
            raise ConfigError(f"split={self.split.name}: {self.nothing}")
        return rows, unlabelled

    @property
    def frame(self) -> Frame:
        """N labelled predictions."""
        return self._read[0]

    @property
    def unlabelled(self) -> int:
        """Number of predictions without a gold label or text."""
        return self._read[1]

    @cached_property
    def examples(self) -> list[Example]:
        """N examples."""
        return self.split.join(self.frame["guid"])

    @abstractmethod
    def analyses(self) -> dict[str, Callable[[], Outcome]]:
        """List the values of `by=`, beside side columns."""

    @abstractmethod
    def measure(self, rows_M: Rows) -> dict[str, Cell]:
        """Count some rows and compute their scores, by column."""

    @property
    @abstractmethod
    def note(self) -> str:
        """The note below tables of scores."""

    @property
    def title(self) -> str:
        """The title of figures and pages."""
        return f"{self.split.run}: {self.split.name}, {len(self.frame):,} {self.counted}"

    @property
    def groups_name(self) -> str:
        """The unit that intervals resample."""
        return "article"

    def defaults(self) -> list[str]:
        """List the analyses that run without `by=`."""
        return list(self.analyses())

    def run(self, by: str) -> Outcome:
        """Run one analysis; `by` is one of `analyses`, or a side column."""
        known = self.analyses()
        return known[by]() if by in known else self.by_column(by)

    def check_column(self, by: str) -> None:
        """Refuse what is neither an analysis nor a side column."""
        if by not in (known := self.analyses()):
            columns = [column for example in self.examples for column in example.side]
            require_column(by, known, columns, self.advice)

    def by_column(self, by: str) -> Outcome:
        """Slice by a side column."""
        cells = [example.side.get(by) for example in self.examples]
        found = [[] if cell in (None, "") else [str(cell)] for cell in cells]
        return self.sliced(by, category_slices(found))

    def sliced(
        self, title: str, parts: Parts, note: str = "", means: Mapping[str, Floats] | None = None
    ) -> Outcome:
        """Compute the scores of slices: one table, and one panel of the figure.

        Each slice also shows the mean of each of `means`, values of N rows by name.
        """
        slices = []
        for name, rows_M in parts:
            shown = {each: float(value_N[rows_M].mean()) for each, value_N in (means or {}).items()}
            slices.append(Slice(name, rows_M, self.measure(rows_M) | shown))
        lines = [*slices, self.everything] if self.whole else slices
        columns = ("slice", *(lines[0].cells if lines else ()))
        rows = tuple((one.name, *one.cells.values()) for one in lines)
        table = Table(f"{self.heading} by {title}", columns, rows, note or self.note)
        return Outcome((table,), slicings=(Slicing(f"By {title}", tuple(slices)),))

    @cached_property
    def everything(self) -> Slice:
        """The whole split as a slice."""
        rows_N = np.arange(len(self.frame))
        return Slice("(all)", rows_N, self.measure(rows_N))

    @property
    def overall(self) -> float:
        """The first score of the whole split."""
        cell = self.everything.cells[self.drawn[0].score]
        return cell.value if isinstance(cell, Interval) else float(str(cell or 0.0))


class TextAnalysis(RunAnalysis):
    """The analyses of a run whose predictions are texts: means of a score for each text.

    Attributes:
        page_name: stem of the page's file.
    """

    page_name: ClassVar[str]
    note = f"[low, high]: 95 %, bootstrap of whole articles ({RESAMPLES:,} resamples)."

    @cached_property
    def language(self) -> Language:
        """The data set's language."""
        return get_language(self.split.data.language)

    @property
    @abstractmethod
    def scores(self) -> Mapping[str, Floats]:
        """Scores of N texts by name; NaN where a text does not count."""

    @property
    @abstractmethod
    def groups(self) -> Sequence[str]:
        """N names of the groups that intervals resample."""

    @abstractmethod
    def build_page(self) -> str:
        """Build the HTML page that shows every text."""

    @property
    def facts(self) -> dict[str, Any]:
        """How intervals are computed."""
        return {"resamples": RESAMPLES, "seed": self.options.seed, "intervals": "articles"}

    def measure(self, rows_M: Rows) -> dict[str, Cell]:
        """Count some texts and average their scores."""
        values = {name: score_N[rows_M] for name, score_N in self.scores.items()}
        drawn = [self.groups[row] for row in rows_M]
        size: dict[str, Cell] = {"n": len(rows_M), "share": len(rows_M) / len(self.frame)}
        return size | group_means(values, drawn, self.options.seed)

    def sliced(
        self, title: str, parts: Parts, note: str = "", means: Mapping[str, Floats] | None = None
    ) -> Outcome:
        """Compute the scores of slices, and add `facts`; see `RunAnalysis`."""
        return replace(super().sliced(title, parts, note, means), facts=self.facts)

    def page(self) -> Outcome:
        """Write the page of all texts."""
        name = self.split.name
        file = f"{self.page_name}.html" if name == "test" else f"{name}-{self.page_name}.html"
        return Outcome(files={file: self.build_page()})


class Shipped(Protocol):
    """A data set to be described; see `heron.results.shipped.Shipped`."""

    @property
    def splits(self) -> Mapping[str, Sequence[Example]]:
        """Examples by split, in file order."""

    @property
    def missing(self) -> Mapping[str, Path]:
        """Missing files, by split."""


class DataStatistics(ABC):
    """A task's statistics of a data set; options are checked before the data is read.

    Attributes:
        unused: options that have no meaning for the task.
        compares_texts: whether BERTScore compares two texts of an example.
        has_answers: whether people can judge its gold answers on a sheet.
    """

    unused: ClassVar[tuple[str, ...]] = ()
    compares_texts: ClassVar[bool] = False
    has_answers: ClassVar[bool] = False

    def __init__(self, config: DataConfig, options: AnalyzeOptions):
        self.config, self.options = config, options
        if options.bertscore_config() and not self.compares_texts:
            raise ConfigError(f"bertscore= compares articles and summaries, not task={config.task}")
        if options.sheet is not None and not self.has_answers:
            raise ConfigError(f"sheet={options.sheet}: {config.name} has no answers to judge")
        # A sheet is drawn from one split.
        say_unused(options, [name for name in self.unused if not options.sheet or name != "split"])

    @abstractmethod
    def describe(self, shipped: Shipped) -> Outcome:
        """Describe the splits that are there."""


def cards_page(
    template: str, title: str, synthetic: bool, content: Mapping[str, Any], **values: Any
) -> str:
    """Build a page that shows each row of a split as a card, and says if texts are synthetic.

    The template extends `cards.html.j2`; its script shows `content`, in JSON's types.
    """
    banner, data = SYNTHETIC if synthetic else "", Markup(escape_json(content))
    return render(
        template,
        Path(__file__).parent / "templates",
        title=title,
        synthetic=banner,
        data=data,
        **values,
    )
