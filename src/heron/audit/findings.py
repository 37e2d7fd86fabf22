"""`Finding`: a result of the audit. Findings are stored by the hashes of the audited files.

`heron train` prints the serious ones, so this module imports nothing heavy. Audits are kept in
`<cache>/audit`, keyed by the hashes of the split files and by the options that change their text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from heron.base.files import fingerprint, read_json, write_json
from heron.data.config import SPLITS, DataConfig

Severity = Literal["info", "warning", "serious"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "info")

Measure = Mapping[str, str | int | float | None]

# The data set's option that answers a finding, by its check, and the values that do. Other findings
# cannot be answered in the data: scores must be read beside a baseline.
_REMEDIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "casing": ("normalize_case", ("capitalize", "lower")),
    "duplicates": ("duplicates", ("drop", "mark")),
}
_MEASURED = ("normalize_case",)  # an audit under the same option has measured its effect
_VERSION = 1


class Row(NamedTuple):
    """A row that a finding is about."""

    split: str  # where it is
    guid: str  # its id there
    label: str | None  # its gold label; None where unlabelled
    group: int  # rows of one number belong together (copies of one another); counts from 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check."""

    id: str  # the check and the place, `duplicates.validation.test`
    # `serious` changes the meaning of scores, `warning` may, `info` is good to know.
    severity: Severity
    title: str  # one sentence
    # Lines of a table, all with the same keys; shares are fractions from 0 to 1.
    measures: Sequence[Measure] = ()
    rows: Sequence[Row] = ()  # the rows it is about, the worst first
    advice: str = ""  # what to do, with the config key that helps
    meaning: str = ""  # how to read the numbers and which rows are listed; may be empty

    @property
    def check(self) -> str:
        """The check that found it: its id up to the first dot."""
        return _check(self.id)

    def as_json(self, rows: bool = True) -> dict[str, Any]:
        """Turn it into plain dictionaries, with or without its rows."""
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


def _check(id: str) -> str:
    return id.partition(".")[0]


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Sort by severity, the serious ones first; within one severity as they were found."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def text_options(config: DataConfig) -> dict[str, Any]:
    """List the options that decide which rows of the files are used, and their texts and labels."""
    return {
        "unicode": asdict(config.unicode),
        "normalize_case": config.normalize_case,
        "phrases": config.phrases.remove,
        "summaries": asdict(config.summaries),
        "columns": asdict(config.columns),
        "label_field": dict(config.label_field),
        "label_aliases": dict(config.label_aliases),
    }


def store(
    config: DataConfig, sha256: Mapping[str, str], findings: Sequence[Finding], cache: Path
) -> Path:
    """Store the findings of an audit, without their rows, by the split files' hashes."""
    content = {
        "version": _VERSION,
        "data": config.name,
        "sha256": dict(sha256),
        "options": text_options(config),
        "findings": [finding.as_json(rows=False) for finding in findings],
    }
    key = fingerprint(content["sha256"], content["options"])
    path = cache / "audit" / f"{key[:32]}.json"
    write_json(path, content)
    return path


def warnings(config: DataConfig, sources: Mapping[str, str], cache: Path) -> list[str]:
    """List the known problems of the data that no option answers.

    A line for each serious finding of a stored audit of these files (`sources`: hash by split), or
    of some of them, and for each entry of `data.findings`, but for those that `data.normalize_case`
    or `data.duplicates` answers.
    """
    audit = _latest(config, sources, cache)
    measured = audit.get("options") == text_options(config)
    lines = {
        finding["id"]: finding["title"]
        for finding in audit.get("findings", [])
        if finding["severity"] == "serious" and not _answered(finding["id"], config, measured)
    }
    found = {_check(id) for id in lines}
    for id, sentence in config.findings.items():
        if _check(id) not in found and not _answered(id, config):
            lines[id] = " ".join(sentence.split())
    return [f"{id}: {sentence}" for id, sentence in lines.items()]


def _answered(id: str, config: DataConfig, measured: bool = False) -> bool:
    """Tell whether an option of the data set answers a finding.

    Conflicts between two splits are answered like duplicates; not if `measured` under that option.
    """
    across = _check(id) == "conflicts" and id.count(".") == 2
    key, values = _REMEDIES.get("duplicates" if across else _check(id), ("", ()))
    if not key or (measured and key in _MEASURED):
        return False
    return getattr(config, key) in values


def _latest(config: DataConfig, sources: Mapping[str, str], cache: Path) -> Mapping[str, Any]:
    """Find the audit of most of these files, under these options if there is one."""
    wanted = {(split, sources[split]) for split in SPLITS if split in sources}
    options = text_options(config)
    best: Mapping[str, Any] = {}
    rank = (0, False, 0.0)
    for path in sorted((cache / "audit").glob("*.json")):
        try:
            audit = read_json(path)
            files = set(audit["sha256"].items())
            usable = audit["version"] == _VERSION and bool(files) and files <= wanted
            found = (len(files), audit["options"] == options, path.stat().st_mtime)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # damaged: as if it were not there
        if usable and found > rank:
            best, rank = audit, found
    return best
