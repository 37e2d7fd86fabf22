"""Tables of a comparison for people, and one JSON value for programs."""

import dataclasses
from typing import Any

from heron.base.cells import Cell, Formatted, Interval, Table, summarize
from heron.metrics.names import COPIED_NOTE
from heron.metrics.paired import Bootstrap
from heron.results.comparison import Comparison


def tables(comparison: Comparison, split: str) -> list[Table]:
    """Build all tables: systems, further tests, seed by seed."""
    return [systems_table(comparison, split), tests_table(comparison), seeds_table(comparison)]


def _p(test: Any) -> Cell:
    """Show the p-value of a test, if it was done; p-values span orders of magnitude."""
    return None if test is None else Formatted(test.p, ".2g")


def _difference(found: Bootstrap) -> Interval:
    return Interval(found.difference, found.low, found.high)


def systems_table(comparison: Comparison, split: str) -> Table:
    """Show each system beside the baseline: mean ± sd, best run, difference, p-values."""
    metric = comparison.settings.metric
    rows: list[tuple[Cell, ...]] = []
    for result in comparison.systems:
        tested: list[Cell] = [None] * 5
        if found := result.against:
            p = _p(found.randomization), Formatted(found.p_holm, ".2g")
            tested = [_difference(found.bootstrap), *p, _p(found.bootstrap), _p(found.mcnemar)]
        scores = result.label, summarize(result.scores), result.scores[result.best]
        rows.append((*scores, *tested))
    rows += [(name, value, *[None] * 6) for name, value in comparison.copied.items()]
    title = f"{split}: {metric} against {comparison.baseline}, {comparison.rows:,} rows"
    tests = ("difference", "p", "p (Holm)", "p (bootstrap)", "p (McNemar)")
    return Table(title, ("system", metric, "best", *tests), tuple(rows), _note(comparison))


def _note(comparison: Comparison) -> str:
    settings = comparison.settings
    unit = "rows" if comparison.groups is None else f"{comparison.groups:,} whole documents"
    notes = [
        f"{settings.metric}: mean ± sample sd (runs); best: the run that is best on validation, or "
        f"the first. Difference of the means, p: {unit} are resampled ([low, high], "
        f"{1 - settings.alpha:.0%}; bootstrap) or swapped between the systems (p, approximate "
        f"randomisation), each with the predictions of all seeds; {settings.draws:,} draws. Holm: "
        f"p corrected for the number of comparisons ({len(comparison.systems) - 1}); at most "
        f"{settings.alpha:g} is significant.",
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
    rows: list[tuple[Cell, ...]] = []
    if found := comparison.cochran_q:
        systems = f"all {len(comparison.systems)} systems, best on validation"
        statistic = f"Q({found.degrees}) = {found.statistic:.2f}"
        unit = "a row, right or wrong"
        rows.append(("Cochran's Q", systems, unit, f"{found.n:,}", statistic, _p(found), None))
    for result in comparison.systems:
        if ranks := result.against and result.against.mann_whitney:
            systems = f"{result.label} / {comparison.baseline}"
            n, statistic = f"{ranks.n_first}, {ranks.n_second}", f"U = {ranks.statistic:g}"
            p = _p(ranks), Formatted(ranks.smallest_p, ".2g")
            unit = "a run (one seed of a system)"
            rows.append(("Mann-Whitney U", systems, unit, n, statistic, *p))
    note = (
        "Least p: no result of so few runs can be smaller. Cochran's Q takes rows to be "
        "independent."
    )
    columns = ("test", "systems", "unit", "n", "statistic", "p", "least p")
    return Table("Further tests", columns, tuple(rows), note)


def seeds_table(comparison: Comparison) -> Table:
    """Show each run beside the baseline's of the same seed; nothing here is corrected."""
    tests = ("difference", "p (randomisation)", "p (bootstrap)", "p (McNemar)")
    columns = ("system", "seed", comparison.settings.metric, comparison.baseline, *tests)
    rows: list[tuple[Cell, ...]] = []
    for result in comparison.systems:
        for pair in result.against.per_seed if result.against else ():
            scores = (result.label, pair.seed or "–", pair.score, pair.baseline)
            p = _p(pair.randomization), _p(pair.bootstrap), _p(pair.mcnemar)
            rows.append((*scores, _difference(pair.bootstrap), *p))
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
