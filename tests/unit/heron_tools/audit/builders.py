"""Examples for the audit's tests."""

from __future__ import annotations

import random

from heron.data.examples import Example, Span

WORDS = ["casa", "drum", "munte", "râu", "oraș", "carte", "școală", "pod", "câmp", "lac", "turn"]


def pair(guid: str, premise: str, hypothesis: str, label: str | None = "a") -> Example:
    return Example(guid, premise, hypothesis, label=label)


def event(guid: str, text: str, *mentions: str, label: str = "BEFORE") -> Example:
    """An event pair; each mention is found in the text."""
    spans = tuple(Span(text.index(m), text.index(m) + len(m)) for m in mentions)
    return Example(guid, text, spans=spans, label=label)


def sentence(rng: random.Random, length: int = 9) -> str:
    return " ".join(rng.choices(WORDS, k=length)) + f" {rng.randrange(10**6)}"


def pairs(count: int, seed: int = 0, labels: str = "ab", prefix: str = "g") -> list[Example]:
    """Pairs of random sentences with random labels: nothing to find."""
    rng = random.Random(seed)
    return [
        pair(f"{prefix}{i}", sentence(rng), sentence(rng), rng.choice(labels)) for i in range(count)
    ]


def by_id(findings):
    found = {finding.id: finding for finding in findings}
    assert len(found) == len(findings)
    return found
