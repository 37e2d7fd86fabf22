"""The report of an audit: a page, `findings.json`, a printed summary."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markupsafe import Markup, escape
from rich.console import Console
from rich.text import Text

from heron import __version__
from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import visible
from heron.base.files import write_file, write_json
from heron.base.terminal import hold_results, output
from heron.data.examples import Example
from heron.data.findings import text_options
from heron.data.markers import event_markers, with_markers
from heron.languages import get_language
from heron.reports.pages import cut_text, render
from heron.results.shipped import Shipped
from heron_tools.audit.findings import SEVERITIES, Finding, FindingRow
from heron_tools.audit.texts import WINDOW, names_of, sides

_ROWS = 200  # per finding; findings.json has all
_TEXT = 1_200  # characters
_TINY = 0.0005  # would be shown as 0.000


@dataclass(frozen=True)
class Report:
    """The findings on a data set, serious ones first, and the command's arguments."""

    shipped: Shipped  # the data set
    findings: Sequence[Finding]
    overrides: Sequence[str]  # words of the command line

    @property
    def title(self) -> str:
        """The heading of the page."""
        config = self.shipped.config
        return f"Audit of {config.own or config.title or config.name}"

    @property
    def counts(self) -> str:
        """The number of findings of each severity, as text."""
        counts = Counter(finding.severity for finding in self.findings)
        return ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES)

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the data's files and versions, by name."""
        facts = {
            "options": " ".join(self.overrides),
            "language": get_language(self.shipped.config.language).name,
        }
        for split, sha256 in self.shipped.sha256.items():
            facts[f"{split}, sha256"] = sha256

        for split in self.shipped.splits:
            if split not in self.shipped.sha256:
                facts[split] = "taken from train, as heron train does"

        for split, path in self.shipped.missing.items():
            facts[f"{split}, missing"] = str(path)

        facts["heron"] = __version__
        return facts

    @property
    def columns(self) -> list[str]:
        """Names of a row's texts."""
        names = names_of(self.shipped.splits)
        return [name.replace(WINDOW, "text") for name in names]

    @cached_property
    def examples(self) -> Mapping[tuple[str, str], Example]:
        """The examples by split and guid."""
        examples = {}
        for split, rows in self.shipped.splits.items():
            for example in rows:
                examples[split, example.guid] = example

        return examples

    def rows(self, finding: Finding) -> list[tuple[FindingRow, list[str]]]:
        """List the first rows of a finding, with their texts.

        Returns:
            Each row and its texts; events have their markers.
        """
        shown = []
        for row in finding.rows[:_ROWS]:
            example = self.examples[row.key]
            texts = list(sides(example).values())
            if len(texts) == 1 and example.spans:
                texts = [with_markers(example, self.shipped.config)]
            shown.append((row, texts))

        return shown


def write(report: Report, folder: Path) -> list[Path]:
    """Write both files into `folder`; returns their paths."""
    config = report.shipped.config
    language = get_language(config.language)

    findings = []
    for finding in report.findings:
        numbers = measure_table(finding)
        rows = report.rows(finding)
        findings.append((finding, numbers, rows))

    page = render(
        "audit.html.j2",
        Path(__file__).parent / "templates",
        title=report.title,
        highlight=highlight,
        synthetic="Synthetic data: not a research result." if config.synthetic else "",
        counts=report.counts,
        facts=report.facts,
        findings=findings,
        columns=report.columns,
        language=language.code,
        direction=language.direction,
        markers=tuple(event_markers(config)),
        width=_TEXT,
        shorten=cut_text,
    )

    stored = {
        "heron": __version__,
        "data": config.name,
        "overrides": list(report.overrides),
        "sha256": report.shipped.sha256,
        "missing": list(report.shipped.missing),
        "options": text_options(config),
        "rows": {split: len(rows) for split, rows in report.shipped.splits.items()},
        "findings": [finding.as_json() for finding in report.findings],
    }
    write_json(folder / "findings.json", stored)
    return [write_file(folder / "audit.html", page), folder / "findings.json"]


def print_summary(report: Report) -> None:
    """Print one line for each finding except `info`, and its advice below."""
    title = f"{report.title}: {report.counts}"
    shown = [finding for finding in report.findings if finding.severity != "info"]

    rows = []
    for finding in shown:
        rows.append((finding.severity, finding.id, finding.title, finding.advice))

    table = Table(title, ("severity", "id", "finding", "advice"), rows)
    if hold_results(tables=[table]):
        return

    console = Console(file=output().file, highlight=False)
    console.soft_wrap = not console.is_terminal
    console.print(Text(visible(title), "bold"))

    for severity, id, sentence, advice in rows:
        style = "bold red" if severity == "serious" else "yellow"
        styled_severity = (f"{severity:<8}", style)
        console.print(Text.assemble(styled_severity, f" {id}: ", visible(sentence)))
        if advice:
            indented = f"{'':<9}{advice}"
            console.print(Text(visible(indented), "dim"))


def measure_table(finding: Finding) -> Table | None:
    """Make a table of a finding's numbers; None without numbers."""
    if not finding.measures:
        return None

    columns = tuple(finding.measures[0])
    rows = []
    for measure in finding.measures:
        cells = [_cell(measure[column]) for column in columns]
        rows.append(tuple(cells))

    return Table("Numbers", columns, rows, finding.meaning)


def _cell(value: str | int | float | None) -> Cell:
    """Show a tiny number, such as a p-value, with its exponent."""
    if isinstance(value, float) and 0 < abs(value) < _TINY:
        return Formatted(value, ".1e")
    return value


def highlight(text: str, markers: Sequence[str]) -> Markup:
    """Escape a text as HTML, and highlight its events with their markers.

    Args:
        text: with markers around events.
        markers: opening and closing marker of the first event, and of the second.
    """
    html = str(escape(text))
    marked = r'<mark><bdi class="marker">\1</bdi>\2<bdi class="marker">\3</bdi></mark>'
    patterns = [re.escape(str(escape(marker))) for marker in markers]
    openings = patterns[::2]
    closings = patterns[1::2]
    for opening, closing in zip(openings, closings, strict=True):
        html = re.sub(f"({opening})(.*?)({closing})", marked, html, flags=re.DOTALL)

    return Markup(html)
