"""The corpus on disk: how many rows, which labels, which split, and the noise put in on purpose."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

from heron.data.chronicle.english import English
from heron.data.chronicle.hebrew import Hebrew
from heron.data.chronicle.plot import Story, draw_story
from heron.data.chronicle.relation import pairs
from heron.data.chronicle.romanian import Romanian
from heron.data.chronicle.telling import Teller, Told
from heron.data.chronicle.world import LABELS
from heron.errors import ConfigError, nearest
from heron.files import atomic_open

TASKS = ("relation",)
TELLERS: dict[str, type[Teller]] = {"he": Hebrew, "ro": Romanian, "en": English}
_SMALLEST, _LARGEST = 100, 1_000_000


@dataclass(frozen=True, slots=True)
class ChronicleConfig:
    """What to generate; equal configurations give identical bytes.

    Args:
        task: `relation`.
        language: `he`, `ro` or `en`; the same seed tells the same stories in all of them.
        size: rows in all splits together, exactly; 100 to 1,000,000.
        seed: of the stories, their wording and the noise.
        label_noise: fraction of train rows whose label is replaced by another one.
        class_weights: wanted mix of true labels, relative, in the order of `LABELS`; None keeps
            the natural mix. Rows are left out to reach it, so windows lose some of their pairs.

    Raises:
        ConfigError: an unknown task or language, or a value out of range; names all of them.
    """

    task: str = "relation"
    language: str = "he"
    size: int = 2000
    seed: int = 0
    label_noise: float = 0.0
    class_weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        problems = [message for message in self._problems() if message]
        if problems:
            raise ConfigError("chronicle: " + "; ".join(problems))

    def _problems(self) -> Iterator[str]:
        if self.task not in TASKS:
            yield f"task='{self.task}' does not exist.{nearest(self.task, TASKS)}"
        if self.language not in TELLERS:
            yield f"language='{self.language}' does not exist.{nearest(self.language, TELLERS)}"
        if not _SMALLEST <= self.size <= _LARGEST:
            yield f"size={self.size} is not between {_SMALLEST} and {_LARGEST} rows"
        if not 0 <= self.label_noise <= 1:
            yield f"label_noise={self.label_noise} is not a fraction between 0 and 1"
        weights = self.class_weights
        if weights is not None and not (
            len(weights) == len(LABELS) and all(map(_is_weight, weights)) and sum(weights) > 0
        ):
            yield (
                f"class_weights={tuple(weights)} are not {len(LABELS)} numbers, none negative and "
                f"one above 0, for {', '.join(LABELS)}"
            )


def _is_weight(weight: float) -> bool:
    return 0 <= weight < math.inf


def write(config: ChronicleConfig, folder: Path) -> dict[str, Path]:
    """Write train.jsonl, validation.jsonl and test.jsonl (70, 10 and 20 percent of the rows).

    A document is in one split only; noise is in train only. The files
    appear together, once all rows are written.

    Args:
        config: what to generate.
        folder: where to; created if absent, files of these names are replaced.

    Returns:
        The path of each split's file. A row holds `guid`, `text` with markers, `label`, and the
        side columns `document`, `flipped` and `true_label`.
    """
    train, validation = round(config.size * 0.7), round(config.size * 0.1)
    sizes = {
        "train": train,
        "validation": validation,
        "test": config.size - train - validation,
    }
    paths = {split: Path(folder) / f"{split}.jsonl" for split in sizes}
    flips = _flips(config, train)
    documents = count()
    with ExitStack() as stack:
        for split, size in sizes.items():
            file = stack.enter_context(atomic_open(paths[split]))
            for number, row in enumerate(islice(_rows(config, documents), size)):
                if split == "train" and number in flips:
                    other = (LABELS.index(row["label"]) + flips[number]) % len(LABELS)
                    row |= {"label": LABELS[other], "flipped": True}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return paths


def _rows(config: ChronicleConfig, documents: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Yield rows of ever new documents until the caller has enough."""
    wanted = _Mix(config.class_weights)
    for number in documents:
        name = f"chronicle-{config.language}-{config.seed}-{number:06d}"
        for pair in pairs(*document(config, number), config.language):
            if wanted.takes(pair.label):
                yield {
                    "guid": f"{name}.{pair.window}.{pair.number}",
                    "text": pair.text,
                    "label": pair.label,
                    "document": name,
                    "flipped": False,
                    "true_label": pair.label,
                }


def document(config: ChronicleConfig, number: int) -> tuple[Story, list[Told]]:
    """Make one document again: the story, and its sentences in the configured language."""
    # Strings as seeds are hashed by random itself, alike on every machine and Python.
    story = draw_story(Random(f"{config.seed}/story/{number}"))
    wording = Random(f"{config.seed}/{config.language}/{number}")
    return story, TELLERS[config.language](story, wording).tell()


def _flips(config: ChronicleConfig, rows: int) -> dict[int, int]:
    """Choose exactly the wanted fraction of rows; returns {row: how many labels further on}."""
    rng = Random(f"{config.seed}/noise")
    chosen = rng.sample(range(rows), round(rows * config.label_noise))
    return {row: rng.randrange(1, len(LABELS)) for row in chosen}


class _Mix:
    """Takes rows so that, at any length, each class keeps to its share within one row or two."""

    def __init__(self, weights: tuple[float, ...] | None):
        self.shares = (
            {label: weight / sum(weights) for label, weight in zip(LABELS, weights, strict=True)}
            if weights
            else None
        )
        self.taken = dict.fromkeys(LABELS, 0)

    def takes(self, label: str) -> bool:
        """Take the row unless its class is ahead of its share; some class never is."""
        if self.shares:
            share = self.shares[label]
            if not share or self.taken[label] > share * sum(self.taken.values()):
                return False
        self.taken[label] += 1
        return True
