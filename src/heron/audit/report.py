"""The report of an audit: a page, the same in Markdown, `findings.json`, a printed summary."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from heron import __version__
from heron.audit.findings import SEVERITIES, Finding, Row, text_options
from heron.audit.texts import (
    ARTICLE,
    HYPOTHESIS,
    PREMISE,
    SUMMARY,
    has_summaries,
    is_pair,
    second_of,
)
from heron.base.cells import Cell, Formatted, Table, to_markdown
from heron.base.files import write_file, write_json
from heron.data.examples import Example
from heron.data.markers import event_markers, mark
from heron.languages import get_language
from heron.results.shipped import Shipped

_MARKDOWN_ROWS, _HTML_ROWS = 20, 200  # of one finding; findings.json has all
_MARKDOWN_TEXT, _HTML_TEXT = 160, 1_200  # characters
_TINY = 0.0005  # would be shown as 0.000


@dataclass(frozen=True, slots=True)
class Report:
    """The findings on a data set, serious ones first, and the words that named and changed it."""

    shipped: Shipped
    findings: Sequence[Finding]
    overrides: Sequence[str]

    @property
    def title(self) -> str:
        """Name it for a heading."""
        return f"Audit of {self.shipped.config.title or self.shipped.config.name}"

    @property
    def counts(self) -> str:
        """Count the findings by severity."""
        found = Counter(finding.severity for finding in self.findings)
        return ", ".join(f"{found[severity]} {severity}" for severity in SEVERITIES)


class ShownRow(NamedTuple):
    """A row of a finding, with its texts."""

    row: Row
    texts: tuple[str, ...]


def write(report: Report, folder: Path) -> list[Path]:
    """Write the three files into `folder`; returns their paths."""
    from heron.base.pages import render

    examples = {(s, e.guid): e for s, rows in report.shipped.splits.items() for e in rows}
    findings = folder / "findings.json"
    page = write_file(folder / "audit.html", render("audit.html.j2", **_page(report, examples)))
    text = write_file(folder / "audit.md", "\n".join(_markdown(report, examples)))
    write_json(findings, as_json(report))
    return [page, text, findings]


def as_json(report: Report) -> dict[str, Any]:
    """Turn the report into plain dictionaries, with all rows of each finding."""
    config = report.shipped.config
    return {
        "heron": __version__,
        "data": config.name,
        "overrides": list(report.overrides),
        "sha256": report.shipped.sha256,
        "missing": list(report.shipped.missing),
        "options": text_options(config),
        "rows": {split: len(rows) for split, rows in report.shipped.splits.items()},
        "findings": [finding.as_json() for finding in report.findings],
    }


def print_summary(report: Report) -> None:
    """Print one line for each finding that is more than information."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(f"{report.title}: {report.counts}", "bold"))
    for finding in report.findings:
        if finding.severity != "info":
            style = "bold red" if finding.severity == "serious" else "yellow"
            line = Text.assemble((f"{finding.severity:<8}", style), f" {finding.id}: ")
            console.print(line + Text(finding.title))
            if finding.advice:
                console.print(Text(f"{'':<9}{finding.advice}", "dim"))


def measure_table(finding: Finding) -> Table | None:
    """Make a table of a finding's numbers; None where it has none."""
    if not finding.measures:
        return None
    columns = tuple(finding.measures[0])
    rows = tuple(tuple(_cell(line[c]) for c in columns) for line in finding.measures)
    return Table("Numbers", columns, rows, finding.meaning)


def _cell(value: str | int | float | None) -> Cell:
    tiny = isinstance(value, float) and 0 < abs(value) < _TINY
    return Formatted(value, ".1e") if tiny else value  # type: ignore[arg-type]


def _shown(
    finding: Finding, examples: dict[tuple[str, str], Example], limit: int, config: Any
) -> Iterator[ShownRow]:
    for row in islice(finding.rows, limit):
        yield ShownRow(row, _texts(examples[row.split, row.guid], config))


def _texts(example: Example, config: Any) -> tuple[str, ...]:
    """List the texts of an example, with event markers."""
    if (second := second_of(example)) is not None:
        return example.text, second
    if example.spans:
        return (mark(example.text, example.spans, event_markers(config)).text,)
    return (example.text,)


def _columns(report: Report) -> tuple[str, ...]:
    if is_pair(report.shipped.splits):
        return PREMISE, HYPOTHESIS
    return (ARTICLE, SUMMARY) if has_summaries(report.shipped.splits) else ("text",)


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _facts(report: Report) -> list[tuple[str, str]]:
    shipped = report.shipped
    facts = [
        ("asked for", " ".join(report.overrides)),
        ("language", get_language(shipped.config.language).name),
        *((f"{split}, sha256", value) for split, value in shipped.sha256.items()),
        *((f"{split}, missing", str(path)) for split, path in shipped.missing.items()),
        ("heron", __version__),
    ]
    return [(name, value) for name, value in facts if value]


def _page(report: Report, examples: dict[tuple[str, str], Example]) -> dict[str, Any]:
    config = report.shipped.config
    language = get_language(config.language)
    shown = [
        (finding, measure_table(finding), list(_shown(finding, examples, _HTML_ROWS, config)))
        for finding in report.findings
    ]
    return {
        "title": report.title,
        "synthetic": "Synthetic data: not a research result." if config.synthetic else "",
        "counts": report.counts,
        "facts": _facts(report),
        "findings": shown,
        "columns": _columns(report),
        "language": language.code,
        "direction": language.direction,
        "markers": tuple(event_markers(config)),
        "width": _HTML_TEXT,
        "shorten": _shorten,
    }


def _markdown(report: Report, examples: dict[tuple[str, str], Example]) -> Iterator[str]:
    yield f"# {html.escape(report.title, quote=False)}\n"
    yield f"{report.counts}.\n"
    yield from (f"- {name}: `{value}`" for name, value in _facts(report))
    yield ""
    for finding in report.findings:
        yield f"## {finding.severity}: {finding.id}\n"
        yield f"{html.escape(finding.title, quote=False)}.\n"
        if finding.advice:
            yield f"What to do: {html.escape(finding.advice, quote=False)}.\n"
        if table := measure_table(finding):
            yield to_markdown(table)
        if finding.rows:
            yield to_markdown(_rows_table(report, finding, examples))


def _rows_table(
    report: Report, finding: Finding, examples: dict[tuple[str, str], Example]
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            shown.row.group,
            shown.row.split,
            shown.row.guid,
            shown.row.label or "",
            *(_shorten(text, _MARKDOWN_TEXT) for text in shown.texts),
        )
        for shown in _shown(finding, examples, _MARKDOWN_ROWS, report.shipped.config)
    ]
    columns = ("group", "split", "guid", "label", *_columns(report))
    more = len(finding.rows) - len(rows)
    note = f"{more:,} more in findings.json." if more else ""
    return Table("Rows", columns, tuple(rows), note)
