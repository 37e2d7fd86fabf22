"""Known problems of a data set's files, stored by the hashes of these files.

An audit stores what it has found in `<cache>/audit`, keyed by the hashes of the split files and by
the options that change their text; `heron train` prints the serious findings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heron.base.files import fingerprint, read_json, write_json
from heron.data.config import SPLITS, DataConfig

# By check: the option of `data`, and its values, that resolve the check's findings. No option
# resolves the others: scores must be read beside a baseline.
_REMEDIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "casing": ("normalize_case", ("capitalize", "lower")),
    "duplicates": ("duplicates", ("drop", "mark")),
}
_MEASURED = ("normalize_case",)  # an audit with this option includes its effect


def text_options(config: DataConfig) -> dict[str, Any]:
    """List the options that decide which rows of the files are used, and their texts and labels."""
    return {
        "unicode": asdict(config.unicode),
        "normalize_case": config.normalize_case,
        "phrases": config.phrases,
        "summaries": asdict(config.summaries),
        "columns": asdict(config.columns),
        "label_field": dict(config.label_field),
        "label_aliases": dict(config.label_aliases),
    }


def store(
    config: DataConfig,
    sha256: Mapping[str, str],
    findings: Sequence[Mapping[str, Any]],
    cache: Path,
) -> Path:
    """Store the findings of an audit, without their rows, by the split files' hashes."""
    path = _place(config, sha256, cache)
    write_json(path, list(findings))
    return path


def known_problems(config: DataConfig, sources: Mapping[str, str], cache: Path) -> list[str]:
    """List the known problems of the data that no option resolves.

    A line for each serious finding of a stored audit of these files (`sources`: hash by split),
    under these options or else the latest one, and for each entry of `data.findings`, without those
    that `data.normalize_case` or `data.duplicates` resolves.
    """
    path = _place(config, sources, cache)
    others = path.parent.glob(f"{path.name.partition('-')[0]}-*.json")
    measured = path.is_file()
    stored = [path] if measured else sorted(others, key=lambda each: each.stat().st_mtime)[-1:]
    lines = {
        finding["id"]: finding["title"]
        for each in stored
        for finding in read_json(each)
        if finding["severity"] == "serious" and not _answered(finding["id"], config, measured)
    }
    found = {check_of(id) for id in lines}
    for id, sentence in config.findings.items():
        if check_of(id) not in found and not _answered(id, config):
            lines[id] = " ".join(sentence.split())
    return [f"{id}: {sentence}" for id, sentence in lines.items()]


def _place(config: DataConfig, sha256: Mapping[str, str], cache: Path) -> Path:
    files = fingerprint([sha256.get(split) for split in SPLITS])
    return cache / "audit" / f"{files[:32]}-{fingerprint(text_options(config))[:16]}.json"


def check_of(id: str) -> str:
    """Name the check of a finding: the id up to its first dot."""
    return id.partition(".")[0]


def _answered(id: str, config: DataConfig, measured: bool = False) -> bool:
    """Tell whether an option of the data set resolves a finding.

    Conflicts between two splits count as duplicates. `measured`: the audit ran with these options.
    """
    across = check_of(id) == "conflicts" and id.count(".") == 2
    key, values = _REMEDIES.get("duplicates" if across else check_of(id), ("", ()))
    if not key or (measured and key in _MEASURED):
        return False
    return getattr(config, key) in values
