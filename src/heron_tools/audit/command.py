"""`heron audit data=<name>`: find leakage and shortcuts before training."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.terminal import print_lines
from heron.config.constraints import Share
from heron.config.parsing import DataFolders, parse_with_data
from heron.data.overrides import configure


@dataclass
class AuditOptions(DataFolders):
    """Options of `heron audit`."""

    data: str  # name of the data set
    out: Path | None = None  # default `runs/audit/<name>`
    near: Share = 0.8  # minimum overlap of near duplicates, a fraction
    strict: bool = False  # exit with 1 if a finding is serious


def run(arguments: Sequence[str]) -> int:
    """Audit a data set; returns the exit code: 1 if `strict` and a finding is serious, else 0."""
    options, overrides = parse_with_data(AuditOptions, arguments)
    # start-up time: a wrong option is reported before these libraries load
    from heron.data.findings import store, warn_of_script
    from heron.results.shipped import read_shipped
    from heron_tools.audit.checks import audit
    from heron_tools.audit.findings import in_order
    from heron_tools.audit.report import Report, print_summary, write

    config = configure(options.data, overrides)
    shipped = read_shipped(config, *options.folders, carved=True)
    warn_of_script(config, shipped.splits)
    findings = in_order(list(audit(shipped, options.near)))

    report = Report(shipped, findings, [f"data={options.data}", *overrides])
    files = write(report, options.out or Path("runs") / "audit" / shipped.config.folder_name)
    if options.near == AuditOptions.near:  # `heron train` warns of the findings at the default
        stored = [finding.as_json(rows=False) for finding in findings]
        _, cache = options.folders
        store(shipped.config, shipped.sha256, stored, cache)

    print_summary(report)
    print_lines(*files)
    is_serious = any(finding.severity == "serious" for finding in findings)
    return int(options.strict and is_serious)
