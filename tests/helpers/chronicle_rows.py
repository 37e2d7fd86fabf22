"""Rows of the built-in corpus, as it lies on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chronicle.corpus import ChronicleConfig, write

LANGUAGES = ("he", "ro", "en")
Row = dict[str, Any]
Rows = dict[str, list[Row]]


def rows_of(folder: Path, task: str = "relation", **options: Any) -> Rows:
    """Write a corpus and read it back, by split; an article has 8 to 20 sentences."""
    if task == "summarization":
        options = {"premise_sentences": (8, 20), **options}
    paths = write(ChronicleConfig(task=task, **options), folder)
    return {split: [json.loads(line) for line in path.open()] for split, path in paths.items()}


def in_languages(factory: Any, **options: Any) -> dict[str, Rows]:
    """Write a corpus in every language."""
    folder = factory.mktemp("chronicle")
    return {each: rows_of(folder / each, language=each, **options) for each in LANGUAGES}
