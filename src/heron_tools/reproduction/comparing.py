"""Published numbers beside reproduced ones: difference, interval, test, and marked deviations.

Tests take the published number as a constant: the papers rarely print its spread.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scipy import stats

from heron.base.cells import Cell, Table
from heron.results.collect import RunRecord
from heron.results.systems import System, group_runs
from heron_tools.reproduction.deviations import DAGGER
from heron_tools.reproduction.paper_tables import ScoreTable
from heron_tools.reproduction.published import (
    flat_rows,
    own_digits,
    printed_digits,
    published_value,
)
from heron_tools.reproduction.targets import Estimate, Names

COLUMNS = ("published", "reproduced", "Δ", "95 % interval", "test")
# Keys by which a model, or the data set of a prompt's shots, may be replaced.
_REPLACEABLE = ("encoder.name", "prompting.model.name", "prompting.pool")
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
    written = defaultdict[str, int](int)
    for row in rows:
        written[row.names[-1]] = max(written[row.names[-1]], own_digits(row.published))
    given = written if decimals is None else decimals
    counts = [
        (row.published, row.estimate)
        for row in rows
        if row.published and row.estimate and _is_count(row.estimate)
    ]
    published, found = sum(n for n, _ in counts), sum(each.value for _, each in counts)
    same_size = published == found or not any(each.mark for _, each in counts)
    cells = [
        _cells(row, printed_digits(given, row.names[-1], row.published), same_size) for row in rows
    ]
    marks = dict.fromkeys(row.estimate.mark for row in rows if row.estimate and row.estimate.mark)
    doubts = [f"{', '.join(row.names)}: {row.printed}" for row in rows if row.printed]
    notes = [note, _NOTE, *(f"{DAGGER} {mark}." for mark in marks)]
    if not same_size:
        notes.append(f"Counts {DAGGER} have no Δ: {found:,} here, {published:,} in the paper.")
    notes += [f"Corrected or in doubt: {'; '.join(doubts)}."] if doubts else []
    return Table(title, (*columns, *COLUMNS), tuple(cells), " ".join(filter(None, notes)))


def _is_count(found: Estimate) -> bool:
    return isinstance(found.value, int) and found.low is found.sd is None


def _cells(row: Compared, digits: int, same_size: bool) -> tuple[Cell, ...]:
    """Show one comparison; every cell that rests on substitute data is marked.

    Counts of substitute data get no Δ or test unless totals equal the paper's.
    """
    published = None if row.published is None else f"{row.published:,.{digits}f}"
    if row.estimate is None:
        return (*row.names, published, None, None, None, None)
    found = row.estimate
    counted = f" ({found.n:,} {found.of})" if found.n else ""
    if math.isnan(found.value):
        return (*row.names, published, f"undefined{counted}", None, None, None)
    is_whole = row.published is not None and not digits
    more = 1 if is_whole else max(3, digits + 1)
    value = found.value
    shown = f"{value:,.0f}" if _is_count(found) else f"{value:,.{more}f}"
    shown += "" if found.sd is None else f" ± {found.sd:.{more}f}"
    shown += counted
    between = "" if found.low is None else f"{found.low:,.{more}f} to {found.high:,.{more}f}"
    change, said = "", ""
    if row.published is not None and (same_size or not (found.mark and _is_count(found))):
        change, said = (
            f"{value - row.published:+,.{more}f}",
            against_published(row.published, found, digits),
        )
    mark = f" {DAGGER}" if found.mark else ""
    others = (f"{text}{mark}" if text else None for text in (shown, change, between, said))
    return (*row.names, published, *others)


def against_published(published: float, found: Estimate, digits: int) -> str:
    """Test a reproduced number against the published one.

    With several seeds, by a one-sample t-test; with another interval, by a normal approximation
    from its width; without an interval, by the printed digits.
    """
    if found.low is None or found.high is None:
        # Half a unit of the last digit, plus floating-point error.
        equal = abs(found.value - published) <= 0.5 * 10**-digits * (1 + 1e-9)
        return "equal to the printed digits" if equal else "differs"
    inside = "inside" if found.low <= published <= found.high else "outside"
    if found.sd is not None and found.n:
        error = found.sd / math.sqrt(found.n)
        p = 2 * stats.t.sf(abs(found.value - published) / error, found.n - 1) if error else None
    else:
        error = (found.high - found.low) / (2 * stats.norm.isf(0.025))
        p = 2 * stats.norm.sf(abs(found.value - published) / error) if error else None
    if p is None:
        return inside
    return f"{inside}, p < .001" if p < 0.001 else f"{inside}, p = {p:.3f}".replace("0.", ".")


def note_of(table: Mapping[str, Any]) -> str:
    """Write a published table's note: its definition, the number of items, and remarks."""
    n, said = table.get("n"), [table.get("definition", ""), table.get("note", "")]
    if isinstance(n, Mapping):
        said.insert(1, f"Published n: {', '.join(f'{name} {n[name]:,}' for name in n)}.")
    elif n:
        said.insert(1, f"Published n: {n:,}.")
    if "best_run" in table:
        said.append("Reproduced: the mean of all runs; heron report adds the best on validation.")
    return " ".join(filter(None, said))


def compare_values(
    table: Mapping[str, Any], values: Mapping[Names, Estimate]
) -> tuple[list[Compared], int]:
    """Compare a function's values with a table's numbers, by the names of row and column.

    Returns:
        The comparisons, and the number of names of a row.
    """
    left = dict(values)
    rows = [
        Compared(names, published_value(cell), left.pop(names, None), _doubt(cell))
        for names, cell in published_cells(table)
    ]
    rows += [Compared(names, None, estimate) for names, estimate in left.items()]
    return rows, max((len(row.names) for row in rows), default=2) - 1


def published_cells(table: Mapping[str, Any]) -> Iterator[tuple[Names, Any]]:
    """Yield the cells of a published table with the names of row and column."""
    columns = table.get("scores") or table.get("columns") or table.get("classes") or ()
    for names, cells in flat_rows(table.get("rows") or table.get("groups") or {}):
        for column, cell in zip(
            columns, cells if isinstance(cells, list) else [cells], strict=True
        ):
            if cell is not None:
                yield (*names, str(column)), cell


def _doubt(cell: Any) -> str:
    """Describe the correction of a paper's number, or that it conflicts with others."""
    if not isinstance(cell, Mapping):
        return ""
    if "corrected" in cell:
        return f"printed {cell['printed']}"
    return "in conflict with the paper's other numbers"


def compare_runs(
    published: Mapping[str, Any],
    table: Mapping[str, Any],
    runs: Sequence[RunRecord],
) -> tuple[list[Compared], list[str]]:
    """Compare the scores of finished runs with a table's, matched as in `heron report`.

    A run with an encoder, model or data set that the paper does not have is shown beside all rows
    that agree in the other names, and marked; so are other deviations.

    Returns:
        The comparisons, and the names of their columns.
    """
    paper = ScoreTable(published, table)
    keys = dict.fromkeys(paper.printed)
    found: dict[Names, list[tuple[System, str]]] = {}
    for group in paper.chosen(group_runs([run for run in runs if run.done])):
        deviations = paper.deviations(group)
        for key in paper.keys_of(group):
            matches = [
                (other, mark)
                for other in paper.printed
                if (mark := _substitutes(key, other, paper)) is not None
            ]
            for other, mark in matches or [(key, "")]:
                keys.setdefault(other)
                marks = "; ".join(filter(None, (mark, deviations)))
                found.setdefault(other, []).append((group, marks))
    rows = []
    for key in keys:
        for column, metric, cell in paper.cells(key):
            value = published_value(cell)
            estimates = [_estimate(g, paper, metric, mark) for g, mark in found.get(key, [])]
            for estimate in estimates or [None]:
                if value is not None or estimate is not None:
                    rows.append(Compared((*key, column), value, estimate, _doubt(cell)))
    return rows, [*paper.headings, "score"]


def _substitutes(key: Names, other: Names, paper: ScoreTable) -> str | None:
    """Describe a run's other encoder, model or data set than a row's; None: not comparable.

    `key` and `other` are the names of the run and of the row; equal names give an empty text.
    """
    marks = []
    for position, (mine, theirs) in enumerate(zip(key, other, strict=True)):
        if mine == theirs:
            continue
        known = {names[position] for names in paper.printed}
        place = paper.row_names[position] if position < len(paper.row_names) else None
        replaced = place and any(part in _REPLACEABLE for part in place.setting.split(","))
        if place and theirs not in place.names.values():
            return None  # a row of human scores or references
        if mine in known or not replaced:
            return None
        marks.append(f"{mine} in place of the paper's {place.column}" if place else "")
    return "; ".join(marks)


def _estimate(group: System, paper: ScoreTable, metric: str, mark: str) -> Estimate | None:
    """Summarize the seeds of a group; a single seed has its run's stored interval."""
    split = paper.split_of(group)
    if str(group.runs[0].setting("data.name")) not in paper.data:
        split = split.rpartition(".")[2]  # the run's own test split
    values = group.values(split, metric)
    if not values:
        return None
    run = next(run for run in group.runs if run.done and metric in run.scores.get(split, {}))
    summary = group.summary(split, metric)
    assert summary is not None
    if summary.sd is None:
        low, high = (run.scores[split].get(f"{metric}_{end}") for end in ("low", "high"))
        low, high = (low, high) if high is not None else (None, None)
        return Estimate(summary.mean, low, high, 1, "seed", mark=mark)
    half = stats.t.ppf(0.975, summary.n - 1) * summary.sd / math.sqrt(summary.n)
    low, high = summary.mean - half, summary.mean + half
    return Estimate(summary.mean, low, high, summary.n, "seeds", summary.sd, mark)
