"""What earlier audits of exactly these files found: one line each, for `train` to print.

Cheap: reads a few small JSON files. Audits are kept in `<cache>/audit`, keyed by the hashes of the
split files and by the options that change their text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heron.audit.findings import REMEDIES, Finding
from heron.base.files import fingerprint, read_json, write_json
from heron.config.data import SPLITS, DataConfig

VERSION = 1
_MEASURED = ("normalize_case",)  # an audit under the same option has looked at its effect


def store(
    config: DataConfig, sha256: Mapping[str, str], findings: Sequence[Finding], cache: Path
) -> Path:
    """Keep the findings of an audit, without their rows.

    Args:
        config: the data set as it was audited.
        sha256: hash of each split file.
        findings: what was found.
        cache: `paths.cache`.

    Returns:
        The file that was written.
    """
    content = {
        "version": VERSION,
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
    """List what is known to be wrong with the data and not yet answered by an option.

    Args:
        config: the data set as it is about to be used.
        sources: hash of each of its files, by split; other names are ignored.
        cache: `paths.cache`.

    Returns:
        One line for each serious finding of a stored audit of these files (of some of them, where
        not all were there), and for each entry of `data.findings`; but for those that
        `data.normalize_case` or `data.duplicates` already answers.
    """
    audit = _latest(config, sources, cache)
    measured = audit.get("options") == text_options(config)
    serious = [f for f in audit.get("findings", []) if f["severity"] == "serious"]
    lines = {
        finding["id"]: finding["title"]
        for finding in serious
        if not answered(finding["id"], config, measured)
    }
    found = {_check(id) for id in lines}
    for id, sentence in config.findings.items():
        if _check(id) not in found and not answered(id, config):
            lines[id] = " ".join(sentence.split())
    return [f"{id}: {sentence}" for id, sentence in lines.items()]


def answered(id: str, config: DataConfig, measured: bool = False) -> bool:
    """Tell whether an option of the data set answers a finding.

    Args:
        id: the finding's; `conflicts` between two splits go where the duplicates go.
        config: the data set as it is about to be used.
        measured: the finding was made under the same options: what it still found is there.
    """
    across = _check(id) == "conflicts" and id.count(".") == 2
    key, values = REMEDIES.get("duplicates" if across else _check(id), ("", ()))
    if not key or (measured and key in _MEASURED):
        return False
    return getattr(config, key) in values


def text_options(config: DataConfig) -> dict[str, Any]:
    """List the options that decide which text and label a row of the files gets."""
    return {
        "unicode": asdict(config.unicode),
        "normalize_case": config.normalize_case,
        "phrases": config.phrases.remove,
        "columns": asdict(config.columns),
        "label_field": dict(config.label_field),
        "label_aliases": dict(config.label_aliases),
    }


def _check(id: str) -> str:
    return id.partition(".")[0]


def _latest(config: DataConfig, sources: Mapping[str, str], cache: Path) -> Mapping[str, Any]:
    """Find the audit that saw most of these files, under these options rather than others."""
    wanted = {(split, sources[split]) for split in SPLITS if split in sources}
    options = text_options(config)
    best: Mapping[str, Any] = {}
    rank = (0, False, 0.0)
    for path in sorted((cache / "audit").glob("*.json")):
        try:
            audit = read_json(path)
            files = set(audit["sha256"].items())
            usable = audit["version"] == VERSION and bool(files) and files <= wanted
            found = (len(files), audit["options"] == options, path.stat().st_mtime)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # damaged: as if it were not there
        if usable and found > rank:
            best, rank = audit, found
    return best
