"""The best cell of a grid: chosen on validation, never on test."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heron.base.cells import Cell, Table
from heron.metrics.names import is_minimised, signed
from heron.results.collect import RunRecord
from heron.results.groups import Group, group_runs, headline_metrics


@dataclass(frozen=True, slots=True)
class Rule:
    """How a paper chose among the cells of its grid.

    Args:
        metric: the score on validation whose mean over seeds is the best.
        among: the keys of the grid; what differs in other keys is never weighed up.
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
        rest: the settings that all cells of the choice have, those outside the grid.
        cells: how many cells there were to choose from, finished or not.
        scored: how many of them have a score on validation.
    """

    group: Group | None
    rest: Mapping[str, str]
    cells: int
    scored: int


def choose(groups: Sequence[Group], rule: Rule) -> list[Choice]:
    """Choose one cell for each value of what is not in the grid; of equals the first.

    Cells without a score on validation are never chosen, unless there is one cell only.
    """
    together: dict[tuple[tuple[str, str], ...], list[Group]] = {}
    for group in groups:
        rest = tuple(pair for pair in group.settings.items() if pair[0] not in rule.among)
        together.setdefault(rest, []).append(group)
    choices = []
    for rest, cells in together.items():
        means = [summary.mean if (summary := _score(cell, rule)) else None for cell in cells]
        scored = [mean for mean in means if mean is not None]
        best = max(scored, key=lambda mean: signed(rule.metric, mean), default=None)
        chosen = cells[means.index(best)] if scored else None
        if len(cells) == 1:
            chosen = cells[0]
        choices.append(Choice(chosen, dict(rest), len(cells), len(scored)))
    return choices


def _score(group: Group, rule: Rule) -> Any:
    return group.summary("validation", rule.metric)


def chosen_table(runs: Sequence[RunRecord], rule: Rule) -> Table | None:
    """Show what was chosen: its settings, its score on validation, its scores on test.

    A choice that nothing can be said of yet has a row too, without any of these.

    Returns:
        None where there is nothing to choose from.
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
    note = (
        f"Of the cells over {', '.join(_named(rule.among, keys))} the one with the {end} "
        f"{rule.metric} on validation (mean over the seeds that a cell has); test scores were not "
        "looked at."
    )
    return Table("Chosen on validation", columns, tuple(rows), note)


def _named(among: Collection[str], keys: Collection[str]) -> list[str]:
    return [key for key in among if key in keys]
