"""What training has spent: equal budgets are the first thing to look at beside two scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heron.base.cells import Cell, Formatted, Table
from heron.results.collect import RunRecord, without_first_runs
from heron.results.groups import Group, group_runs

_COUNTS = ("steps", "batches", "samples", "tokens", "padded", "unique")
_SPENT = ("steps", "planned", "batches", "samples", "tokens (M)", "padding", "different examples")
_FIRST = "learnt from"
_MOST_NAMES = 3  # of groups with one budget; more are counted


def spent_table(runs: Sequence[RunRecord]) -> Table | None:
    """Set the budgets of a sweep's groups side by side: means over their finished runs.

    Returns:
        None where no run has a curriculum and all groups took the same steps: nothing to see.
    """
    chosen = without_first_runs(runs)
    asked_for = {run.path for run in chosen}
    first = [run for run in runs if run.path not in asked_for]
    groups = _spent(chosen)
    budgets = _by_steps(groups)
    if not groups or (len(budgets) < 2 and all(run.curriculum == "none" for run in runs)):
        return None
    keys = tuple(groups[0][0].settings)
    rows: list[tuple[Cell, ...]] = [
        (*group.settings.values(), len(totals), *_cells(totals)) for group, totals in groups
    ]
    for group, totals in _spent(first):
        others = (group.settings.get(key, "–") for key in keys[1:])
        rows.append((*([_FIRST, *others] if keys else []), len(totals), *_cells(totals)))
    notes = [
        "Means over finished runs. steps: of the optimizer; planned: before any early stop; "
        "samples: rows, repeated ones as often as seen; tokens: without padding; padding: share of "
        "all places in the batches."
    ]
    if len(budgets) > 1:
        notes.append(f"Not equal budgets: {'; '.join(map(_say, budgets.items()))}.")
    if first:
        notes.append(f"{_FIRST}: the runs that curricula learnt from, once per seed, come on top.")
    return Table("Spent", (*keys, "runs", *_SPENT), tuple(rows), " ".join(notes))


def stage_table(run: RunRecord) -> Table:
    """Show one run's ledger, stage by stage; without rows where there is none."""
    columns = ("stage", *(name for name in _SPENT if name != "planned"))
    stages = [stage for stage in run.ledger.get("stages", ()) if _is_complete(stage)]
    rows: list[tuple[Cell, ...]] = [
        (str(stage.get("stage", number)), *_cells([stage])) for number, stage in enumerate(stages)
    ]
    total = run.ledger.get("total", {})
    if len(rows) > 1 and _is_complete(total):
        rows.append(("all", *_cells([total])))
    note = f"{run.ledger.get('planned_steps', '–')} optimizer steps were planned." if rows else ""
    return Table("Spent", columns, tuple(rows), note)


def _is_complete(counts: Any) -> bool:
    return isinstance(counts, Mapping) and all(isinstance(counts.get(n), int) for n in _COUNTS)


def _spent(runs: Sequence[RunRecord]) -> list[tuple[Group, list[Mapping[str, Any]]]]:
    """Group the runs; baselines and older runs left no ledger and are not listed."""
    groups = [(group, _totals(group)) for group in group_runs(runs)]
    return [(group, totals) for group, totals in groups if totals]


def _totals(group: Group) -> list[Mapping[str, Any]]:
    """Collect what each finished run has spent, its planned steps beside."""
    ledgers = (run.ledger for run in group.runs if run.done)
    return [
        {"planned": ledger.get("planned_steps"), **ledger["total"]}
        for ledger in ledgers
        if _is_complete(ledger.get("total"))
    ]


def _cells(totals: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Lay out the columns of `_SPENT`, without planned steps where the ledgers name none."""
    planned = [_mean(t["planned"] for t in totals)] if "planned" in totals[0] else []
    return [
        _mean(t["steps"] for t in totals),
        *planned,
        _mean(t["batches"] for t in totals),
        _mean(t["samples"] for t in totals),
        Formatted(_average([t["tokens"] / 1e6 for t in totals]), ",.3f"),
        Formatted(_average([1 - t["tokens"] / max(t["padded"], 1) for t in totals]), ".1%"),
        _mean(t["unique"] for t in totals),
    ]


def _mean(counts: Iterable[int | None]) -> Cell:
    """Show a count as it is where all runs have the same, else their mean."""
    known = [count for count in counts if count is not None]
    if len(set(known)) < 2:
        return known[0] if known else None
    return Formatted(_average(known), ",.1f")


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _by_steps(groups: Sequence[tuple[Group, list[Mapping[str, Any]]]]) -> dict[float, list[str]]:
    """Name the groups by the steps that their runs took on average."""
    budgets: dict[float, list[str]] = {}
    for group, totals in groups:
        budgets.setdefault(_average([t["steps"] for t in totals]), []).append(group.label)
    return dict(sorted(budgets.items()))


def _say(budget: tuple[float, list[str]]) -> str:
    steps, labels = budget
    names = ", ".join(labels) if len(labels) <= _MOST_NAMES else f"{len(labels)} groups"
    return f"{steps:,.6g} steps ({names})"
