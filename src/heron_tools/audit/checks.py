"""All checks of `heron audit`."""

from collections import Counter
from collections.abc import Iterator

from heron.data.config import DataConfig
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
    """Run every check.

    Args:
        shipped: the data set.
        near: minimum overlap of near duplicates, a fraction.
    """
    splits = shipped.splits
    labels = shipped.config.label_order
    has_classes = not task_of(shipped.config).about.writes

    yield from _completeness(shipped)
    yield from find_cases(shipped.config)
    if has_classes and len(names_of(splits)) == 1:
        yield Finding(
            id="skipped",
            severity="info",
            title="not pairs of texts: overlap, hypothesis and premise were not checked",
            meaning=(
                "Event pairs share their windows by design. Rows are duplicates if text and events "
                "agree; texts are compared across splits only."
            ),
        )

    loose_texts = numbered(splits, loose)
    yield from find_duplicates(splits, loose_texts)
    yield from find_near_duplicates(splits, loose_texts, near)
    del loose_texts  # the largest part of the audit's memory

    drift = find_drift(splits, labels)
    if has_classes:
        parts = labelled(splits, labels)
        yield from find_shortcuts(parts, labels, shipped.config.language)
        yield from find_by_probes(parts, labels)
        yield from drift
    else:
        yield from find_in_summaries(splits)
        yield from (finding for finding in drift if finding.check != "label_drift")


def _completeness(shipped: Shipped) -> Iterator[Finding]:
    """Report what was not checked: missing files, rows left out."""
    name = shipped.config.name
    for split, path in shipped.missing.items():
        yield Finding(
            id=f"missing.{split}",
            severity="warning",
            title=f"{split} is missing ({path}): it was not checked",
            advice=f"heron data {name} fetch=true, or data.files.{split}.path=FILE",
        )

    if shipped.dropped:
        reasons = Counter[str]()
        for counts in shipped.dropped.values():
            reasons += Counter(counts)

        measures: list[Measure] = []
        for split, counts in shipped.dropped.items():
            by_reason = {reason: counts.get(reason, 0) for reason in reasons}
            measures.append({"split": split, "rows": sum(counts.values()), **by_reason})

        causes = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
        yield Finding(
            id="unlabelled",
            severity="info",
            title=f"{reasons.total():,} rows were left out: {causes}",
            measures=measures,
        )


def find_cases(config: DataConfig) -> Iterator[Finding]:
    """Report classes, and labels of the files, that differ in case only."""
    classes: dict[str, list[str]] = {}
    for name in (*config.label_order, *config.label_aliases):
        classes.setdefault(name.casefold(), []).append(name)

    names_of_classes = set(config.label_order)
    for names in classes.values():
        if len(names) < 2:
            continue
        meaning = f"They are read as one class, {names[0]}."
        advice = ""
        is_apart = len(names_of_classes.intersection(names)) > 1
        if is_apart:
            meaning = "They are classes of their own, as data.label_order says."
            advice = "name one of them there: case is ignored then"
        yield Finding(
            id=f"case.{names[0]}",
            severity="warning" if is_apart else "info",
            title=f"labels that differ in case only: {', '.join(names)}",
            meaning=meaning,
            advice=advice,
        )
