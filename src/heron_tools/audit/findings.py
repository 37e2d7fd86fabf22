"""`Finding`: a result of the audit; `heron.data.findings` stores them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from heron.data.examples import Example
from heron.data.findings import check_of

Severity = Literal["info", "warning", "serious"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "info")

Measure = Mapping[str, str | int | float | None]


class FindingRow(NamedTuple):
    """A row that a finding is about."""

    split: str  # its split
    guid: str  # its id in the split
    label: str | None  # its gold label; None where unlabelled
    group: int = 0  # rows with one number are duplicates of each other; from 1

    @property
    def place(self) -> tuple[str, str]:
        """Its split and guid."""
        return self.split, self.guid


def rows_of(split: str, examples: Iterable[Example]) -> list[FindingRow]:
    """Make rows of examples, each its own group."""
    rows = []
    for number, example in enumerate(examples, 1):
        rows.append(FindingRow(split, example.guid, example.label, number))
    return rows


def grouped(groups: Iterable[Iterable[FindingRow]]) -> list[FindingRow]:
    """List the rows of groups, with the group's number."""
    numbered = []
    for number, rows in enumerate(groups, 1):
        numbered += [row._replace(group=number) for row in rows]
    return numbered


def severity(value: float, warning: float, serious: float = float("inf")) -> Severity:
    """Choose a severity: `warning` and `serious` are the minimum values of each."""
    if value >= serious:
        return "serious"
    if value >= warning:
        return "warning"
    return "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check."""

    id: str  # the check and the place, `duplicates.validation.test`
    # `serious`: changes the meaning of scores; `warning`: may change it; `info`: does not.
    severity: Severity
    title: str  # one sentence
    # Rows of a table, all with the same keys; shares are fractions from 0 to 1.
    measures: Sequence[Measure] = ()
    rows: Sequence[FindingRow] = ()  # the rows concerned, the worst first
    advice: str = ""  # what to do, with the configuration key
    meaning: str = ""  # how to read the numbers and which rows are listed; may be empty

    @property
    def check(self) -> str:
        """The check that found it: its id up to the first dot."""
        return check_of(self.id)

    def as_json(self, rows: bool = True) -> dict[str, Any]:
        """Turn it into plain dictionaries, with or without its rows."""
        values: dict[str, Any] = {
            "id": self.id,
            "severity": self.severity,
            "title": self.title,
            "meaning": self.meaning,
            "advice": self.advice,
            "measures": list(map(dict, self.measures)),
            "row_count": len(self.rows),
        }
        if rows:
            values["rows"] = [row._asdict() for row in self.rows]
        return values


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Sort by severity, the serious ones first; within one severity as they were found."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
