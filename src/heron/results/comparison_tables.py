"""Tables of a comparison for people, and one JSON value for programs."""

from __future__ import annotations

import dataclasses
from typing import Any

from heron.base.cells import Cell, Formatted, Interval, Table, summarize
from heron.metrics.names import COPIED_NOTE
from heron.metrics.significance import INPUTS
from heron.results.comparison import Comparison, SystemResult

_P = ".2g"  # p-values span orders of magnitude


def tables(comparison: Comparison, split: str) -> list[Table]:
    """Build all tables: systems, further tests, seed by seed."""
    return [
        systems_table(comparison, split),
        tests_table(comparison),
        seeds_table(comparison),
    ]


def systems_table(comparison: Comparison, split: str) -> Table:
    """Show each system beside the baseline: mean ± sd, best run, difference, p-values."""
    metric = comparison.settings.metric
    columns = ("system", metric, "best", "difference", "p", "p (Holm)", "p (bootstrap)")
    rows = (
        *(_system_row(result) for result in comparison.systems),
        *((name, value, *[None] * 6) for name, value in comparison.copied.items()),
    )
    title = f"{split}: {metric} against {comparison.baseline}, {comparison.rows:,} rows"
    return Table(title, (*columns, "p (McNemar)"), rows, _note(comparison))


def _system_row(result: SystemResult) -> tuple[Cell, ...]:
    scores = (summarize(result.scores), result.scores[result.best])
    found = result.against
    if found is None:
        return (result.label, *scores, None, None, None, None, None)
    bootstrap = found.bootstrap
    return (
        result.label,
        *scores,
        Interval(bootstrap.difference, bootstrap.low, bootstrap.high),
        Formatted(found.randomization.p, _P),
        Formatted(found.p_holm, _P),
        Formatted(bootstrap.p, _P),
        Formatted(found.mcnemar.p, _P) if found.mcnemar else None,
    )


def _note(comparison: Comparison) -> str:
    settings = comparison.settings
    unit = "rows" if comparison.groups is None else f"{comparison.groups:,} whole documents"
    notes = [
        f"{settings.metric}: mean ± sample sd (runs); best: the run that is best on validation. "
        f"Difference of the means, p: {unit} are drawn ([low, high], {1 - settings.alpha:.0%}; "
        "bootstrap) or swapped between the systems (p, approximate randomisation), each with the "
        f"predictions of all seeds; {settings.draws:,} draws. Holm: p corrected for the number of "
        f"comparisons ({len(comparison.systems) - 1}); at most {settings.alpha:g} is significant.",
        f"McNemar: exact, rows right or wrong ({comparison.right}) in the best runs, taken to be "
        "independent."
        if comparison.right
        else "Rows are not right or wrong: no McNemar, no Cochran's Q.",
        *([f"{COPIED_NOTE} On the whole split, not tested."] if comparison.copied else []),
        *comparison.notes,
    ]
    return " ".join(notes)


def tests_table(comparison: Comparison) -> Table:
    """Show Cochran's Q over all systems, and Mann-Whitney over the seeds' scores."""
    found = comparison.cochran_q
    rows: list[tuple[Cell, ...]] = []
    if found:
        rows.append(
            (
                "Cochran's Q",
                f"all {len(comparison.systems)} systems, best on validation",
                "a row, right or wrong",
                f"{found.n:,}",
                f"Q({found.degrees}) = {found.statistic:.2f}",
                Formatted(found.p, _P),
                None,
            )
        )
    for result in comparison.systems:
        ranks = result.against.mann_whitney if result.against else None
        if ranks:
            rows.append(
                (
                    "Mann-Whitney U",
                    f"{result.label} / {comparison.baseline}",
                    INPUTS[ranks.inputs],
                    f"{ranks.n_first}, {ranks.n_second}",
                    f"U = {ranks.statistic:g}",
                    Formatted(ranks.p, _P),
                    Formatted(ranks.smallest_p, _P),
                )
            )
    note = (
        "Least p: no result of so few runs can be smaller. Cochran's Q takes rows to be "
        "independent."
    )
    columns = ("test", "systems", "unit", "n", "statistic", "p", "least p")
    return Table("Further tests", columns, tuple(rows), note)


def seeds_table(comparison: Comparison) -> Table:
    """Show each run beside the baseline's of the same seed; nothing here is corrected."""
    metric = comparison.settings.metric
    columns = (
        "system",
        "seed",
        metric,
        comparison.baseline,
        "difference",
        "p (randomisation)",
        "p (bootstrap)",
        "p (McNemar)",
    )
    rows = [
        (
            result.label,
            pair.seed or "–",
            pair.score,
            pair.baseline,
            Interval(pair.bootstrap.difference, pair.bootstrap.low, pair.bootstrap.high),
            Formatted(pair.randomization.p, _P),
            Formatted(pair.bootstrap.p, _P),
            Formatted(pair.mcnemar.p, _P) if pair.mcnemar else None,
        )
        for result in comparison.systems
        if result.against
        for pair in result.against.per_seed
    ]
    several = any(len(result.scores) > 1 for result in comparison.systems)
    note = "Same seed with same seed; these p-values are not corrected for their number."
    return Table("Seed by seed", columns, tuple(rows) if several else (), note)


def to_json(comparison: Comparison, split: str) -> dict[str, Any]:
    """Turn a comparison into JSON's own types, named as in the dataclasses."""
    values = dataclasses.asdict(comparison)
    for system, result in zip(values["systems"], comparison.systems, strict=True):
        summary = summarize(result.scores)
        system |= summary._asdict() if summary else {}
    return {"split": split, **values}
