"""The best cell of a paper's grid, chosen on validation, never on test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heron.base.cells import Cell, Summary, Table
from heron.metrics.names import is_minimised, signed
from heron.results.collect import RunRecord, headline_metrics
from heron.results.groups import Group, group_runs


@dataclass(frozen=True, slots=True)
class Rule:
    """How a paper chose among the cells of its grid.

    Args:
        metric: the score on validation whose mean over seeds decides.
        among: the keys of the grid; runs that differ in other keys are never weighed up.
    """

    metric: str
    among: tuple[str, ...]

    @classmethod
    def read(cls, published: Mapping[str, Any]) -> Rule | None:
        """Read `choose: {by: f1, among: [optim.lr]}` of a paper's table; None where it has none."""
        found = published.get("choose")
        return cls(str(found["by"]), tuple(found["among"])) if found else None


@dataclass(frozen=True, slots=True)
class Choice:
    """A cell that was chosen, or the lack of one.

    Args:
        group: its runs; None where there is a choice and no cell has a score to choose by.
        rest: the settings outside the grid, which all cells of the choice share.
        cells: number of cells to choose from, finished or not.
        scored: number of them with a score on validation.
    """

    group: Group | None
    rest: Mapping[str, str]
    cells: int
    scored: int


def choose(groups: Sequence[Group], rule: Rule) -> list[Choice]:
    """Choose one cell for each combination of settings outside the grid; of equals the first.

    Cells without a score on validation are never chosen, unless there is only one cell.
    """
    together: dict[tuple[tuple[str, str], ...], list[Group]] = {}
    for group in groups:
        rest = tuple(pair for pair in group.settings.items() if pair[0] not in rule.among)
        together.setdefault(rest, []).append(group)
    choices = []
    for rest, cells in together.items():
        scored = [(summary.mean, cell) for cell in cells if (summary := _score(cell, rule))]
        chosen = max(scored, key=lambda each: signed(rule.metric, each[0]))[1] if scored else None
        chosen = cells[0] if len(cells) == 1 else chosen
        choices.append(Choice(chosen, dict(rest), len(cells), len(scored)))
    return choices


def _score(group: Group, rule: Rule) -> Summary | None:
    return group.summary("validation", rule.metric)


def chosen_table(runs: Sequence[RunRecord], rule: Rule) -> Table | None:
    """Show the chosen cells: settings, score on validation, scores on test.

    A choice without any score yet has a row too. None where there is nothing to choose from.
    """
    groups = group_runs(runs)
    choices = choose(groups, rule)
    if not any(choice.cells > 1 for choice in choices):
        return None
    keys = tuple(groups[0].settings)
    metrics = headline_metrics(runs)
    rows: list[tuple[Cell, ...]] = []
    for choice in choices:
        group = choice.group or Group(choice.rest, ())
        settings = (group.settings.get(key) for key in keys)
        cells = f"{choice.scored} of {choice.cells} finished"
        tested = (group.summary("test", metric) for metric in metrics)
        rows.append((*settings, cells, _score(group, rule), *tested))
    columns = (*keys, "cells", f"validation {rule.metric}", *(f"test {m}" for m in metrics))
    end = "lowest" if is_minimised(rule.metric) else "highest"
    grid = ", ".join(key for key in rule.among if key in keys)
    note = (
        f"Of the cells over {grid} the one with the {end} "
        f"{rule.metric} on validation (mean over the seeds that a cell has); test scores were not "
        "looked at."
    )
    return Table("Chosen on validation", columns, tuple(rows), note)
