"""`Finding`: one thing the audit found, with its numbers and the rows it is about.

Imports nothing heavy: training reads stored findings before it starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Severity = Literal["info", "warning", "serious"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "info")

# Which option of the data set answers a finding, by its check, and the values that do. What has no
# option here has no cure in the data; scores must be read beside a baseline.
REMEDIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "casing": ("normalize_case", ("capitalize", "lower")),
    "duplicates": ("duplicates", ("drop", "mark")),
}

Measure = Mapping[str, str | int | float | None]


class Row(NamedTuple):
    """A row that a finding is about.

    Args:
        split: where it is.
        guid: its id there.
        label: its gold label; None where unlabelled.
        group: rows of one number belong together (copies of one another); counts from 1.
    """

    split: str
    guid: str
    label: str | None
    group: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    Args:
        id: what and where, `duplicates.validation.test`; the first part names the check.
        severity: `serious` makes scores mean something else than they say, `warning` may, `info`
            is good to know.
        title: one sentence.
        measures: its numbers, one mapping per line of a table, all with the same keys; shares are
            fractions from 0 to 1.
        rows: the rows it is about, the worst first.
        advice: what to do, with the config key that helps.
        meaning: how to read the numbers and which rows are listed; may be empty.
    """

    id: str
    severity: Severity
    title: str
    measures: Sequence[Measure] = ()
    rows: Sequence[Row] = ()
    advice: str = ""
    meaning: str = ""

    @property
    def check(self) -> str:
        """The check that found it: its id up to the first dot."""
        return self.id.partition(".")[0]

    def as_json(self, rows: bool = True) -> dict[str, Any]:
        """Turn it into plain dictionaries; without its rows where only the numbers are wanted."""
        value: dict[str, Any] = {
            "id": self.id,
            "severity": self.severity,
            "title": self.title,
            "meaning": self.meaning,
            "advice": self.advice,
            "measures": [dict(measure) for measure in self.measures],
            "row_count": len(self.rows),
        }
        return value | ({"rows": [row._asdict() for row in self.rows]} if rows else {})


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Sort by severity, the serious ones first; within one severity as they were found."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
