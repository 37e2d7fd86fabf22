"""The checks of `heron audit`, one after the other."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress as Bars

from heron.base.progress import messages
from heron.results.shipped import Shipped
from heron.tasks.task import task_of
from heron_tools.audit.drift import find_drift
from heron_tools.audit.duplicates import find_duplicates
from heron_tools.audit.findings import Finding, Measure
from heron_tools.audit.near import find_near_duplicates
from heron_tools.audit.probes import find_by_probes
from heron_tools.audit.shortcuts import find_shortcuts, labelled
from heron_tools.audit.summaries import find_in_summaries
from heron_tools.audit.texts import is_pair

Progress = Callable[[int, int], object]


def audit(shipped: Shipped, near: float, step: Callable[[str], Progress]) -> list[Finding]:
    """Run every check; `near` is the least overlap of near duplicates, `step` shows progress."""
    labels = shipped.config.label_order
    if task_of(shipped.config).about.writes:
        return [
            *_completeness(shipped),
            *find_duplicates(shipped.splits),
            *find_near_duplicates(shipped.splits, near, step("near duplicates")),
            *find_in_summaries(shipped.splits),
            # With one class there are no shortcuts and no drift.
            *(f for f in find_drift(shipped.splits, labels) if f.check != "label_drift"),
        ]
    parts = labelled(shipped.splits, labels)
    return [
        *_completeness(shipped),
        *find_duplicates(shipped.splits),
        *find_near_duplicates(shipped.splits, near, step("near duplicates")),
        *find_shortcuts(parts, labels, shipped.config.language),
        *find_by_probes(parts, labels, step("probes")),
        *find_drift(shipped.splits, labels),
    ]


def _completeness(shipped: Shipped) -> list[Finding]:
    """Report what was not checked: missing files, rows left out, checks for pairs."""
    name = shipped.config.name
    findings = [
        Finding(
            f"missing.{split}",
            "warning",
            f"{split} is missing ({path}): nothing is known of it",
            advice=f"heron data {name} fetch=true, or data.files.{split}.path=FILE",
        )
        for split, path in shipped.missing.items()
    ]
    if shipped.dropped:
        reasons = sum(map(Counter, shipped.dropped.values()), Counter[str]())
        measures: list[Measure] = [
            {"split": split, "rows": sum(rows.values()), **{r: rows.get(r, 0) for r in reasons}}
            for split, rows in shipped.dropped.items()
        ]
        why = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
        title = f"{reasons.total():,} rows were left out: {why}"
        findings.append(Finding("unlabelled", "info", title, measures))
    if task_of(shipped.config).about.writes:
        return findings
    if not is_pair(shipped.splits):
        title = "not pairs of texts: overlap, hypothesis and premise were not looked at"
        meaning = (
            "Event pairs share their windows by design. Rows are copies of each other where text "
            "and events agree; texts are compared across splits only."
        )
        findings.append(Finding("skipped", "info", title, meaning=meaning))
    return findings


@contextmanager
def show_progress() -> Iterator[Callable[[str], Progress]]:
    """Show a progress bar for each long step, on standard error."""
    console = messages()
    # Elsewhere than on a terminal rich would print the bars as lines, in Jupyter as warnings.
    with Bars(console=console, transient=True, disable=not console.is_terminal) as bars:

        def step(name: str) -> Progress:
            task = bars.add_task(name, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield step
