"""Hebrew words made up, which mean nothing, and sentences of the papers' data."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from heron.languages.hebrew import HEBREW

_END = re.compile(r"(?<=[.!?])\s+|\n")


def make_words(count: int = 200_000, seed: int = 0) -> list[str]:
    """Make up running text: Hebrew letters, Zipf's law, punctuation after every eighth word."""
    chance = random.Random(seed)
    spelt = ["".join(chance.choices(HEBREW.alphabet, k=chance.randint(2, 7))) for _ in range(60000)]
    ranks = np.random.default_rng(seed).zipf(1.15, 2 * count)
    words = [spelt[rank - 1] for rank in ranks if rank <= len(spelt)][:count]
    return [word + chance.choice(",.:") if chance.random() < 1 / 8 else word for word in words]


def read_sentences(data: Path) -> list[str]:
    """Collect the different sentences of 20 to 400 characters in JSON files below a folder."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield from (text for text in _END.split(value) if 20 <= len(text) <= 400)
        elif isinstance(value, (list, dict)):
            for part in value.values() if isinstance(value, dict) else value:
                yield from texts(part)

    found: set[str] = set()
    for path in sorted(data.rglob("*.json*")):
        text = path.read_text("utf-8")
        try:
            found.update(texts(json.loads(text)))
        except ValueError:  # JSON lines, whatever the name
            found.update(texts([json.loads(line) for line in text.splitlines()]))
    return sorted(found)
