"""The slicer of `heron analyze`: it groups a split's scores by any column.

A task adds columns to a split's frame, scores its rows, and lists the columns to slice by.
A row may be in several slices, or in none. Legend: N rows, M rows of a slice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from heron.base.cells import SYNTHETIC, Cell, Interval, Table
from heron.base.errors import ConfigError, nearest
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.languages import get_language
from heron.languages.language import Language
from heron.reports.pages import escape_json, render
from heron.results.frame import Frame
from heron_tools.statistics.options import ALWAYS, AnalyzeOptions
from heron_tools.statistics.outcome import AnalysisResult, Drawn, Rows, Slice, Slicing
from heron_tools.statistics.rates import RESAMPLES, group_means

Floats = npt.NDArray[np.float64]
Parts = Sequence[tuple[str, Rows]]

TEMPLATES = Path(__file__).parent / "templates"
TEXTS_NOTE = f"[low, high]: 95 %, bootstrap of whole articles ({RESAMPLES:,} draws), if several."


@dataclass(frozen=True)
class Split:
    """A run's labelled predictions of one split, and its data set."""

    run: str  # the run's name
    name: str  # the split's
    data: DataConfig  # the data set
    options: AnalyzeOptions
    frame: Frame
    find: Callable[[Sequence[str]], list[Example]]  # finds examples by guid
    unlabelled: int = 0  # number of predictions without a gold label or text

    @cached_property
    def examples(self) -> list[Example]:
        """The examples of the predictions, N."""
        return self.find(self.frame["guid"])

    @property
    def language(self) -> Language:
        """The data set's language."""
        return get_language(self.data.language)


@dataclass(frozen=True, slots=True)
class SliceColumn:
    """A property of N rows to slice by."""

    title: str
    # Numbers (an array), which are put into bins of about equal size; or one category per row; or
    # a list of categories per row.
    values: npt.NDArray[Any] | Sequence[str] | Sequence[Sequence[str]]
    order: Sequence[str] = ()  # of categories; empty: the most frequent first
    unknown: str = ""  # the name of the slice of rows without a number (NaN)
    note: str = ""  # put before the note below the table

    def parts(self, bins: int) -> Parts:
        """Collect the rows of each slice.

        Args:
            bins: number of bins of numbers; see `quantile_bins`.

        Returns:
            Name and rows of each slice.
        """
        if isinstance(self.values, np.ndarray):
            return quantile_bins(self.values, bins, self.unknown)

        names = [[value] if isinstance(value, str) else value for value in self.values]
        slices = category_slices(names)
        if not self.order:
            return slices

        rows_of = dict(slices)
        return [(name, rows_of[name]) for name in self.order if name in rows_of]


@dataclass(frozen=True)
class Slicer:
    """A split, with its task's scores and the columns to slice by."""

    split: Split  # its frame has the task's further columns
    groups: Any  # N group names (or an array of numbers); intervals resample groups
    score: Callable[[Split], Mapping[str, Floats]]  # scores of N rows by name; NaN: not scored
    # Cells of a slice by column: its size and scores.
    measure: Callable[[Slicer, Rows], dict[str, Cell]]
    # Values of `by=` besides side columns: columns to slice by, or further analyses.
    by: Mapping[str, Analysis]
    heading: str  # first word of table titles, before `by length`
    headline: str  # what figures call the first of `figure_scores`
    figure_scores: tuple[Drawn, ...]  # the scores that figures show
    usual: Sequence[str] = ()  # analyses that run without `by=`; empty: all
    row_word: str = "rows"  # the word for rows
    unit: str = "article"  # the unit that intervals resample
    note: str = TEXTS_NOTE  # text below tables of scores
    facts: Mapping[str, Any] = field(default_factory=dict)  # settings behind the numbers
    whole: bool = True  # whether tables end with a row for the whole split
    splits: bool = False  # whether a cell of a side column may list several categories
    shows_means: bool = False  # whether slices of numbers show their mean

    @cached_property
    def scores(self) -> Mapping[str, Floats]:
        """Scores of N rows by name."""
        return self.score(self.split)

    @property
    def title(self) -> str:
        """The title of figures and pages."""
        return f"{self.split.run}: {self.split.name}, {len(self.split.frame):,} {self.row_word}"

    def check(self, by: str) -> None:
        """Check that `by` names an analysis or a side column.

        Raises:
            ConfigError: it names neither.
        """
        known = [*self.by, *self.split.data.columns.side, *ALWAYS]
        if by in known:
            return

        # Sources may add side columns of their own.
        columns = dict.fromkeys(name for example in self.split.examples for name in example.side)
        if by not in columns:
            near = nearest(by, [*known, *columns])
            raise ConfigError(
                f"by={by}: neither an analysis nor a side column of the data."
                f"{near} data.columns.side=[{by}] reads the column"
            )

    def run(self, by: str) -> AnalysisResult:
        """Run one analysis; `by` is one of `Slicer.by`, or a side column."""
        if by not in self.by:
            return self.slice(self._side_column(by))

        analyze = self.by[by]
        result = analyze(self)
        if isinstance(result, AnalysisResult):
            return result
        if isinstance(result, SliceColumn):
            return self.slice(result)
        return self.slice(*result)

    def _side_column(self, name: str) -> SliceColumn:
        """Read a side column of the data as categories."""
        names = []
        for example in self.split.examples:
            cell = example.side.get(name)
            if self.splits:
                names.append(split_categories(cell))
            elif cell in (None, ""):
                names.append([])
            else:
                names.append([str(cell)])

        return categories(name, names)

    def slice(self, *columns: SliceColumn) -> AnalysisResult:
        """Compute the scores of slices: one table and one panel of the figure per column."""
        tables = []
        slicings = []
        for column in columns:
            slices = []
            for name, rows_M in column.parts(self.split.options.bins):
                cells = self.measure(self, rows_M)
                if self.shows_means and isinstance(column.values, np.ndarray):
                    cells[f"mean {column.title}"] = float(column.values[rows_M].mean())

                slices.append(Slice(name, rows_M, cells))

            # The figure shows the whole split as a line, the table as a row.
            slicings.append(Slicing(f"By {column.title}", tuple(slices)))
            if self.whole:
                slices.append(self.everything)

            headings = ["slice"]
            if slices:
                headings += slices[0].cells

            rows = [(part.name, *part.cells.values()) for part in slices]
            table = Table(
                title=f"{self.heading} by {column.title}",
                columns=headings,
                rows=rows,
                note=f"{column.note} {self.note}".strip(),
            )
            tables.append(table)

        return AnalysisResult(tuple(tables), self.facts, tuple(slicings))

    @cached_property
    def everything(self) -> Slice:
        """The whole split as a slice."""
        rows_N = np.arange(len(self.split.frame))
        return Slice("(all)", rows_N, self.measure(self, rows_N))

    @property
    def overall(self) -> float:
        """The first of the `drawn` scores, over the whole split."""
        score = self.figure_scores[0].score
        cell = self.everything.cells[score]
        if isinstance(cell, Interval):
            return cell.value
        return float(str(cell or 0.0))


# Gives columns to slice by, or a complete outcome.
Analysis = Callable[[Slicer], SliceColumn | Sequence[SliceColumn] | AnalysisResult]


def with_columns(split: Split, **columns: Any) -> Split:
    """Add columns to a split's frame."""
    frame = split.frame
    frame = replace(frame, columns={**frame.columns, **columns})
    return replace(split, frame=frame)


def mean_scores(slicer: Slicer, rows_M: Rows) -> dict[str, Cell]:
    """Count the rows of a slice and average their scores; see `Slicer.measure`.

    Args:
        slicer: of the run.
        rows_M: the rows of the slice.

    Returns:
        `n`, `share` (a fraction of the split), and each score with its interval.
    """
    split = slicer.split
    scores = {name: score_N[rows_M] for name, score_N in slicer.scores.items()}
    groups = [slicer.groups[row] for row in rows_M]

    cells: dict[str, Cell] = {"n": len(rows_M), "share": len(rows_M) / len(split.frame)}
    cells |= group_means(scores, groups, split.options.seed)
    return cells


def texts_facts(options: AnalyzeOptions) -> dict[str, Any]:
    """Describe how the intervals of `mean_scores` are computed."""
    return {"resamples": RESAMPLES, "seed": options.seed, "intervals": "articles"}


def page_name(split: Split, stem: str) -> str:
    """Name the page of all texts of a split."""
    return f"{stem}.html" if split.name == "test" else f"{split.name}-{stem}.html"


def cards_page(
    template: Path, title: str, synthetic: bool, content: Mapping[str, Any], **values: Any
) -> str:
    """Build a page that shows each row of a split as a card, and says if texts are synthetic.

    The template extends `cards.html.j2`; its script shows `content`, in JSON's types.
    """
    return render(
        template.name,
        (template.parent, TEMPLATES),
        title=title,
        synthetic=SYNTHETIC if synthetic else "",
        data=Markup(escape_json(content)),
        **values,
    )


def quantile_bins(values_N: npt.ArrayLike, bins: int, unknown: str = "") -> list[tuple[str, Rows]]:
    """Put rows into quantile bins of a number; equal values are in one bin.

    Args:
        values_N: the numbers; NaN: unknown.
        bins: number of bins; fewer if many values are equal.
        unknown: the name of the bin of unknown values.

    Returns:
        Name and rows of each bin, in order of value. A name has the bin's least and greatest
        value, `0.52 to 0.61`; rows with NaN are in a last bin named `unknown`.
    """
    values_N = np.asarray(values_N, dtype=np.float64)
    is_known_N = np.isfinite(values_N)
    known = np.flatnonzero(is_known_N)

    named = []
    if known.size:
        quantiles = np.quantile(values_N[known], np.arange(1, bins) / bins)
        edges = np.unique(quantiles)
        bin_of = np.searchsorted(edges, values_N[known], side="right")
        for number in range(len(edges) + 1):
            rows = known[bin_of == number]
            if rows.size:
                named.append((_range_name(values_N[rows]), rows))

    if not is_known_N.all():
        named.append((unknown, np.flatnonzero(~is_known_N)))

    return named


def _range_name(values: Floats) -> str:
    """Name a bin by its least and greatest value, `3 to 5` or `0.520 to 0.610`."""
    low = float(values.min())
    high = float(values.max())
    digits = 0 if low.is_integer() and high.is_integer() else 3
    if low == high:
        return f"{low:.{digits}f}"
    return f"{low:.{digits}f} to {high:.{digits}f}"


def category_slices(categories: Sequence[Iterable[str]]) -> list[tuple[str, Rows]]:
    """Collect the rows of each category, the largest first; rows without any come last (`(none)`).

    A row may have several categories.
    """
    rows_of: dict[str, list[int]] = {}
    uncategorised = []
    for row, names in enumerate(categories):
        distinct = dict.fromkeys(names)
        for name in distinct:
            rows_of.setdefault(str(name), []).append(row)

        if not distinct:
            uncategorised.append(row)

    slices = []
    largest_first = sorted(rows_of, key=lambda name: (-len(rows_of[name]), name))
    for name in largest_first:
        slices.append((name, np.asarray(rows_of[name], dtype=np.int64)))

    if uncategorised:
        slices.append(("(none)", np.asarray(uncategorised, dtype=np.int64)))

    return slices


def categories(title: str, names: Sequence[Sequence[str]]) -> SliceColumn:
    """Make a column of categories, of which a row may have several.

    Args:
        title: of the column.
        names: the categories of each row.

    Source: LCHAIM, section 5.2 (reasoning types).
    """
    has_several = any(len(set(row_names)) > 1 for row_names in names)
    note = "A row of several categories counts in each." if has_several else ""
    return SliceColumn(title, names, note=note)


def split_categories(value: Any) -> list[str]:
    """Read a cell of categories: a list, or text with `,`, `;` or `|` between them."""
    if value is None:
        return []
    if isinstance(value, str):
        parts: Iterable[Any] = re.split("[,;|]", value)
    elif isinstance(value, Iterable):
        parts = value
    else:
        parts = [value]

    names = [str(part).strip() for part in parts]
    return [name for name in names if name]
