"""All checks of `heron audit`."""

from collections import Counter
from collections.abc import Iterator

from heron.results.shipped import Shipped
from heron.tasks.task import task_of
from heron_tools.audit.drift import find_drift
from heron_tools.audit.duplicates import find_duplicates
from heron_tools.audit.findings import Finding, Measure
from heron_tools.audit.near import find_near_duplicates
from heron_tools.audit.probes import find_by_probes
from heron_tools.audit.rules import labelled
from heron_tools.audit.shortcuts import find_shortcuts
from heron_tools.audit.summaries import find_in_summaries
from heron_tools.audit.texts import loose, names_of, numbered


def audit(shipped: Shipped, near: float) -> Iterator[Finding]:
    """Run every check; `near` is the minimum overlap of near duplicates."""
    splits, labels = shipped.splits, shipped.config.label_order
    writes = task_of(shipped.config).about.writes
    yield from _completeness(shipped)
    if not writes and len(names_of(splits)) == 1:
        title = "not pairs of texts: overlap, hypothesis and premise were not checked"
        meaning = (
            "Event pairs share their windows by design. Rows are duplicates if text and events "
            "agree; texts are compared across splits only."
        )
        yield Finding("skipped", "info", title, meaning=meaning)
    loosely = numbered(splits, loose)
    yield from find_duplicates(splits, loosely)
    yield from find_near_duplicates(splits, loosely, near)
    del loosely  # the largest part of the audit's memory
    if writes:  # shortcuts and label drift need classes
        yield from find_in_summaries(splits)
        yield from (f for f in find_drift(splits, labels) if f.check != "label_drift")
        return
    parts = labelled(splits, labels)
    yield from find_shortcuts(parts, labels, shipped.config.language)
    yield from find_by_probes(parts, labels)
    yield from find_drift(splits, labels)


def _completeness(shipped: Shipped) -> Iterator[Finding]:
    """Report what was not checked: missing files, rows left out."""
    name = shipped.config.name
    for split, path in shipped.missing.items():
        title = f"{split} is missing ({path}): it was not checked"
        advice = f"heron data {name} fetch=true, or data.files.{split}.path=FILE"
        yield Finding(f"missing.{split}", "warning", title, advice=advice)
    if shipped.dropped:
        reasons = sum(map(Counter, shipped.dropped.values()), Counter[str]())
        measures: list[Measure] = [
            {"split": split, "rows": sum(rows.values()), **{r: rows.get(r, 0) for r in reasons}}
            for split, rows in shipped.dropped.items()
        ]
        why = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
        title = f"{reasons.total():,} rows were left out: {why}"
        yield Finding("unlabelled", "info", title, measures)
