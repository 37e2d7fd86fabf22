"""Published numbers beside reproduced ones: difference, interval, test, and marked deviations.

Tests take the published number as a constant: the papers rarely print its spread.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scipy import stats

from heron.base.cells import Cell, Table
from heron.results.collect import RunRecord
from heron.results.systems import System, group_runs
from heron_tools.reproduction.deviations import DAGGER
from heron_tools.reproduction.paper_tables import ScoreTable
from heron_tools.reproduction.published import (
    Names,
    PublishedPart,
    own_digits,
    printed_digits,
    published_cells,
    published_value,
)
from heron_tools.reproduction.targets import Estimate

COLUMNS = ("published", "reproduced", "Δ", "95 % interval", "test")
# Keys by which a model, or the data set of a prompt's shots, may be replaced.
_REPLACEABLE = {"encoder.name", "prompting.model.name", "prompting.pool"}
_NOTE = (
    "reproduced: mean ± sample sd (number of seeds), or one value. Interval: for one run, its "
    "bootstrap interval over rows or documents; for several seeds, Student's t. test: whether the "
    "published number, taken as a constant, lies inside the interval, with its two-sided p; "
    "without an interval, whether the numbers agree to the printed digits."
)


class Compared(NamedTuple):
    """A published number and the reproduced one; either may be missing."""

    names: Names  # names of the row, then of the score
    published: float | None
    estimate: Estimate | None
    printed: str = ""  # if `published` is corrected or in doubt: the printed number, or why


def comparison_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Compared],
    decimals: int | Mapping[str, int] | None,
    note: str,
) -> Table:
    """Lay out comparisons.

    Args:
        title: of the table.
        columns: names of the columns before the numbers; the last is that of the score.
        rows: the comparisons.
        decimals: of the printed numbers, in all or by column; None: the most decimals in the same
            column.
        note: text below the table, before the legend of marks and corrections.
    """
    written = defaultdict[str, int](int)  # most decimals by column
    published: float = 0  # the sum of all counts
    reproduced: float = 0
    has_marked_counts = False
    marks: dict[str, None] = {}
    doubts = []
    for row in rows:
        column = row.names[-1]
        estimate = row.estimate
        written[column] = max(written[column], own_digits(row.published))
        if row.printed:
            doubts.append(f"{', '.join(row.names)}: {row.printed}")
        if estimate and estimate.mark:
            marks[f"{DAGGER} {estimate.mark}."] = None
        if estimate and row.published and _is_count(estimate):
            published += row.published
            reproduced += estimate.value
            has_marked_counts = has_marked_counts or bool(estimate.mark)

    same_size = published == reproduced or not has_marked_counts
    cells = []
    for row in rows:
        decimals_of_row = written if decimals is None else decimals
        digits = printed_digits(decimals_of_row, row.names[-1], row.published)
        cells.append(_cells(row, digits, same_size))

    notes = [note, _NOTE, *marks]
    if not same_size:
        notes.append(f"Counts {DAGGER} have no Δ: {reproduced:,} here, {published:,} in the paper.")
    if doubts:
        notes.append(f"Corrected or in doubt: {'; '.join(doubts)}.")
    return Table(title, (*columns, *COLUMNS), cells, " ".join(filter(None, notes)))


def _is_count(estimate: Estimate) -> bool:
    return isinstance(estimate.value, int) and estimate.low is None and estimate.sd is None


def _cells(row: Compared, digits: int, same_size: bool) -> tuple[Cell, ...]:
    """Show one comparison; every cell that rests on substitute data is marked.

    Counts of substitute data get no Δ or test unless totals equal the paper's.

    Args:
        row: the comparison.
        digits: decimals of the published number; heron's gets more.
        same_size: whether the sums of all counts equal the paper's.
    """
    published = row.published
    estimate = row.estimate
    shown_published = None if published is None else f"{published:,.{digits}f}"
    first_cells = (*row.names, shown_published)
    if estimate is None:
        return (*first_cells, None, None, None, None)
    value = estimate.value
    size = f" ({estimate.n:,} {estimate.of})" if estimate.n else ""
    if math.isnan(value):
        return (*first_cells, f"undefined{size}", None, None, None)

    is_whole = published is not None and not digits
    decimals = 1 if is_whole else max(3, digits + 1)
    spec = f",.{decimals}f"
    is_count = _is_count(estimate)
    reproduced = format(value, ",.0f" if is_count else spec)
    if estimate.sd is not None:
        reproduced += f" ± {estimate.sd:.{decimals}f}"
    reproduced += size

    interval = ""
    change = ""
    test = ""
    if estimate.low is not None and estimate.high is not None:
        low = format(estimate.low, spec)
        high = format(estimate.high, spec)
        interval = f"{low} to {high}"
    is_comparable = same_size or not (estimate.mark and is_count)
    if published is not None and is_comparable:
        change = format(value - published, f"+{spec}")
        test = against_published(published, estimate, digits)

    mark = f" {DAGGER}" if estimate.mark else ""
    cells: list[Cell] = []
    for text in (reproduced, change, interval, test):
        cells.append(f"{text}{mark}" if text else None)
    return (*first_cells, *cells)


def against_published(published: float, estimate: Estimate, digits: int) -> str:
    """Test a reproduced number against the published one.

    With several seeds, by a one-sample t-test; with another interval, by a normal approximation
    from its width; without an interval, by the printed digits.

    Args:
        published: taken as a constant.
        estimate: the reproduced number, in the same unit.
        digits: decimals of the published number.
    """
    distance = abs(estimate.value - published)
    low = estimate.low
    high = estimate.high
    if low is None or high is None:
        # Half a unit of the last digit, plus floating-point error.
        is_equal = distance <= 0.5 * 10**-digits * (1 + 1e-9)
        return "equal to the printed digits" if is_equal else "differs"

    distribution: Any
    if estimate.sd is not None and estimate.n:
        error = estimate.sd / math.sqrt(estimate.n)
        distribution = stats.t(estimate.n - 1)
    else:
        error = (high - low) / (2 * stats.norm.isf(0.025))
        distribution = stats.norm
    inside = "inside" if low <= published <= high else "outside"
    if not error:
        return inside
    p = 2 * distribution.sf(distance / error)
    if p < 0.001:
        return f"{inside}, p < .001"
    return f"{inside}, p = {p:.3f}".replace("0.", ".")


def note_of(table: PublishedPart) -> str:
    """Write a published table's note: its definition, the number of items, and remarks."""
    n = table.get("n")
    size = ""
    if isinstance(n, Mapping):
        counts = ", ".join(f"{name} {count:,}" for name, count in n.items())
        size = f"Published n: {counts}."
    elif n:
        size = f"Published n: {n:,}."
    parts = [table.get("definition", ""), size, table.get("note", "")]
    if "best_run" in table:
        parts.append("Reproduced: the mean of all runs; heron report adds the best on validation.")
    return " ".join(filter(None, parts))


def compare_values(
    table: PublishedPart, values: Mapping[Names, Estimate]
) -> tuple[list[Compared], int]:
    """Compare a function's values with a table's numbers, by the names of row and column.

    Returns:
        The comparisons, and the number of names of a row.
    """
    unpublished = dict(values)
    rows = []
    for names, cell in published_cells(table):
        estimate = unpublished.pop(names, None)
        rows.append(Compared(names, published_value(cell), estimate, _doubt(cell)))
    rows += [Compared(names, None, estimate) for names, estimate in unpublished.items()]
    longest = max((len(row.names) for row in rows), default=2)
    return rows, longest - 1


def _doubt(cell: Any) -> str:
    """Describe the correction of a paper's number, or that it conflicts with others."""
    if not isinstance(cell, Mapping):
        return ""
    if "corrected" in cell:
        return f"printed {cell['printed']}"
    return "in conflict with the paper's other numbers"


def compare_runs(
    published: PublishedPart,
    table: PublishedPart,
    runs: Sequence[RunRecord],
) -> tuple[list[Compared], list[str]]:
    """Compare the scores of finished runs with a table's, matched as in `heron report`.

    A run with an encoder, model or data set that the paper does not have is shown beside all rows
    that agree in the other names, and marked; so are other deviations.

    Args:
        published: the paper's `published.yaml`.
        table: one of its tables.
        runs: those to compare; unfinished ones are left out.

    Returns:
        The comparisons, and the names of their columns.
    """
    paper = ScoreTable(published, table)
    # By row: the groups that are shown beside it, each with its mark.
    marked_groups: dict[Names, list[tuple[System, str]]] = {key: [] for key in paper.printed}
    finished = [run for run in runs if run.done]
    for group in paper.chosen(group_runs(finished)):
        deviations = paper.deviations(group)
        for own_key in paper.keys_of(group):
            matches = {}
            for key in paper.printed:
                substitute = _substitutes(own_key, key, paper)
                if substitute is not None:
                    matches[key] = substitute
            if not matches:
                matches[own_key] = ""
            for key, substitute in matches.items():
                mark = "; ".join(filter(None, (substitute, deviations)))
                marked_groups.setdefault(key, []).append((group, mark))

    rows = []
    for key, groups in marked_groups.items():
        for column, metric, cell in paper.cells(key):
            value = published_value(cell)
            estimates = [_estimate(group, paper, metric, mark) for group, mark in groups]
            for estimate in estimates or [None]:
                if value is not None or estimate is not None:
                    names = (*key, column)
                    rows.append(Compared(names, value, estimate, _doubt(cell)))
    return rows, [*paper.headings, "score"]


def _substitutes(own_key: Names, key: Names, paper: ScoreTable) -> str | None:
    """Describe a run's other encoder, model or data set than a row's.

    Args:
        own_key: names of the run's row.
        key: names of a row of the paper.
        paper: its table.

    Returns:
        The substitutes, empty for equal names; None if the run is not comparable with the row.
    """
    marks = []
    for position, (own_name, name) in enumerate(zip(own_key, key, strict=True)):
        if own_name == name:
            continue
        if position >= len(paper.row_names):
            return None  # another class
        row_name = paper.row_names[position]
        if name not in row_name.names.values():
            return None  # a row of human scores or references
        printed_names = {names[position] for names in paper.printed}
        is_replaceable = not _REPLACEABLE.isdisjoint(row_name.setting.split(","))
        if own_name in printed_names or not is_replaceable:
            return None
        marks.append(f"{own_name} in place of the paper's {row_name.column}")
    return "; ".join(marks)


def _estimate(group: System, paper: ScoreTable, metric: str, mark: str) -> Estimate | None:
    """Summarize the seeds of a group; a single seed has its run's stored interval.

    Returns None if no finished run has the score.
    """
    split = paper.split_of(group)
    data = str(group.runs[0].setting("data.name"))
    if data not in paper.data:
        split = split.rpartition(".")[2]  # the run's own test split
    summary = group.summary(split, metric)
    if summary is None:
        return None

    mean, sd, n = summary
    if sd is not None:
        # Student's t interval of the mean.
        half = stats.t.ppf(0.975, n - 1) * sd / math.sqrt(n)
        return Estimate(mean, mean - half, mean + half, n, "seeds", sd, mark)

    run = next(run for run in group.done if run.score(split, metric) is not None)
    low = run.score(split, f"{metric}_low")
    high = run.score(split, f"{metric}_high")
    if low is None or high is None:
        low = high = None
    return Estimate(mean, low, high, n, "seed", mark=mark)
