"""Known problems of a data set's files, stored by the hashes of these files.

An audit stores what it has found in `<cache>/audit`, keyed by the hashes of the split files and by
the options that change their text; `heron train` prints the serious findings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heron.base.files import fingerprint, read_json, write_json
from heron.base.terminal import say
from heron.data.config import SPLITS, DataConfig
from heron.data.examples import Splits
from heron.languages import get_language

# By check: the option of `data`, and its values, that resolve the check's findings. No option
# resolves the others: scores must be read beside a baseline.
_REMEDIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "casing": ("normalize_case", ("capitalize", "lower")),
    "duplicates": ("duplicates", ("drop", "mark")),
}
_MEASURED = ("normalize_case",)  # an audit with this option includes its effect
_ROWS = 200  # of the first split, whose letters are compared with the language's


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
    path = _path_of(config, sha256, cache)
    write_json(path, list(findings))
    return path


def warn_of_script(config: DataConfig, splits: Splits) -> None:
    """Warn where most letters of a data set's texts are of another script than its language's."""
    language = get_language(config.language)
    alphabet = frozenset(language.alphabet)
    rows = next(iter(splits.values()), [])
    text = "".join(row.text for row in rows[:_ROWS])

    letters = [letter for letter in text.lower() if letter.isalpha()]
    others = sum(letter not in alphabet for letter in letters)
    if others > len(letters) / 2:
        say(
            f"{config.name}: {others / len(letters):.0%} of the letters are no letters of "
            f"{language.name}: set data.language to the language of the texts"
        )


def known_problems(config: DataConfig, sources: Mapping[str, str], cache: Path) -> list[str]:
    """List the known problems of the data that no option resolves.

    Args:
        config: of the data set.
        sources: hash of each split's file.
        cache: the folder of all caches.

    Returns:
        A line for each serious finding of a stored audit of these files, under these options or
        else the latest one, and for each entry of `data.findings`, without those that
        `data.normalize_case` or `data.duplicates` resolves.
    """
    path = _path_of(config, sources, cache)
    has_options = path.is_file()  # an audit with the options of this configuration
    if not has_options:
        files, _, _ = path.name.partition("-")
        audits = path.parent.glob(f"{files}-*.json")
        path = max(audits, key=lambda audit: audit.stat().st_mtime, default=path)

    problems = {}
    findings = read_json(path) if path.is_file() else []
    for finding in findings:
        if finding["severity"] == "serious" and not _resolved(finding["id"], config, has_options):
            problems[finding["id"]] = finding["title"]

    measured_checks = {check_of(id) for id in problems}
    for id, sentence in config.findings.items():
        if check_of(id) not in measured_checks and not _resolved(id, config):
            problems[id] = " ".join(sentence.split())
    return [f"{id}: {sentence}" for id, sentence in problems.items()]


def _path_of(config: DataConfig, sha256: Mapping[str, str], cache: Path) -> Path:
    """Name the file of an audit by the hashes of the split files and of the options."""
    files = fingerprint([sha256.get(split) for split in SPLITS])
    options = fingerprint(text_options(config))
    return cache / "audit" / f"{files[:32]}-{options[:16]}.json"


def check_of(id: str) -> str:
    """Name the check of a finding: the id up to its first dot."""
    return id.partition(".")[0]


def _resolved(id: str, config: DataConfig, has_options: bool = False) -> bool:
    """Tell whether an option of the data set resolves a finding.

    `has_options` tells whether the audit ran with the options of this configuration.
    """
    check = check_of(id)
    if check == "conflicts" and id.count(".") == 2:  # between two splits
        check = "duplicates"
    if check not in _REMEDIES:
        return False
    key, values = _REMEDIES[check]
    if has_options and key in _MEASURED:
        return False
    return getattr(config, key) in values
