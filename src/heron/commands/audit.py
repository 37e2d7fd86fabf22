"""`heron audit data=<name>`: look for leakage and shortcuts before anyone trains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heron.audit.findings import Finding, Measure, in_order
from heron.base.errors import ConfigError
from heron.config.options import DataFolders, parse_with_data
from heron.tasks.task import task_of

if TYPE_CHECKING:
    from heron.results.shipped import Shipped

Progress = Callable[[int, int], object]


@dataclass
class AuditOptions(DataFolders):
    """Options of `heron audit`.

    Args:
        data: name of the data set.
        out: where the report goes; default `runs/audit/<name>`.
        near: least overlap of near duplicates, a fraction.
        strict: exit with 1 if a finding is serious.
    """

    data: str
    out: Path | None = None
    near: float = 0.8
    strict: bool = False


def run(arguments: Sequence[str]) -> int:
    """Audit a data set; returns the exit code: 1 under `strict` when anything is serious."""
    options, overrides = parse_with_data(AuditOptions, arguments, first="data")
    if not 0 < options.near <= 1:
        raise ConfigError(f"near={options.near}: must be above 0 and at most 1")
    # start-up time: a wrong option does not wait for the libraries behind these
    from heron.audit.findings import store
    from heron.audit.report import Report, print_summary, write
    from heron.base.folders import default_cache_dir, default_data_dir
    from heron.config.overrides import configure
    from heron.results.shipped import read_shipped

    config = configure(options.data, overrides)
    cache = options.paths_cache or default_cache_dir()
    shipped = read_shipped(config, options.paths_data or default_data_dir(), cache)
    with _progress() as step:
        findings = audit(shipped, options.near, step)
    report = Report(shipped, in_order(findings), [f"data={options.data}", *overrides])
    files = write(report, options.out or Path("runs") / "audit" / config.name)
    store(shipped.config, shipped.sha256, findings, cache)
    print_summary(report)
    print(*files, sep="\n")
    return int(options.strict and any(finding.severity == "serious" for finding in findings))


def audit(shipped: Shipped, near: float, step: Callable[[str], Progress]) -> list[Finding]:
    """Run every check.

    Args:
        shipped: the data set.
        near: least overlap of near duplicates, a fraction.
        step: from the name of a long step to what shows its progress.

    Returns:
        The findings, in the order of the checks.
    """
    from heron.audit.drift import find_drift
    from heron.audit.duplicates import find_duplicates
    from heron.audit.near import find_near_duplicates
    from heron.audit.probes import find_by_probes
    from heron.audit.shortcuts import find_shortcuts, labelled
    from heron.audit.summaries import find_in_summaries

    labels = shipped.config.label_order
    if task_of(shipped.config).writes:
        return [
            *_completeness(shipped),
            *find_duplicates(shipped.splits),
            *find_near_duplicates(shipped.splits, near, step("near duplicates")),
            *find_in_summaries(shipped.splits),
            # All rows are of one class: no shortcut to it, no drift of it.
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
    """Say what could not be looked at: missing files, rows without a label, checks for pairs."""
    from heron.audit.texts import is_pair

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
        measures: list[Measure] = [
            {"split": split, "rows": rows} for split, rows in shipped.dropped.items()
        ]
        what = task_of(shipped.config).writes or "gold label"
        title = f"{sum(shipped.dropped.values()):,} rows have no {what} and were left out"
        findings.append(Finding("unlabelled", "info", title, measures))
    if task_of(shipped.config).writes:
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
def _progress() -> Iterator[Callable[[str], Progress]]:
    """Show a bar for each long step, on standard error."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:

        def step(name: str) -> Progress:
            task = bars.add_task(name, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield step
