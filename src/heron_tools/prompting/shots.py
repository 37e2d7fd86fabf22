"""Few-shot examples, drawn from a pool without the rows that are asked about."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.folders import data_set_file
from heron.data.config import TRAIN, read_config
from heron.data.examples import Example, text_key
from heron.data.readers import load, read_rows
from heron.tasks.config import Config
from heron_tools.prompting.config import PromptingConfig


def read_pool(config: Config, settings: PromptingConfig, own: Sequence[Example]) -> list[Example]:
    """Read the labelled rows that examples may be drawn from.

    Args:
        config: of the run.
        settings: `pool` names a data set or a table; null is the run's own train split.
        own: the run's own train split.

    Raises:
        ConfigError: the pool is for another task, has other classes or no train split.
        DataError: its files are missing or wrong.
    """
    if not settings.shots:
        return []
    data = config.data
    name = settings.pool
    data_dir = Path(config.paths.data)
    table = data_dir / str(name)
    if name in (None, data.name):
        rows = own
    elif table.suffix:
        rows = read_rows(table, data, "required").examples
    else:
        pool = config.others.get(name) or read_config(data_set_file(name))
        if pool.task != data.task or {*pool.label_order} != {*data.label_order}:
            raise ConfigError(
                f"prompting.pool={name}: is for task={pool.task} with the classes "
                f"{', '.join(pool.label_order)}; {data.name} is for "
                f"task={data.task} with {', '.join(data.label_order)}"
            )
        rows = load(pool, data_dir, Path(config.paths.cache)).get(TRAIN, [])
    labelled = [row for row in rows if row.label is not None or row.target is not None]
    if not labelled:
        raise ConfigError(f"prompting.pool={name or data.name}: it has no train split")
    return labelled


class Shots:
    """Draws the examples of each question.

    Args:
        pool: rows that may be drawn.
        questions: the rows that are asked about. Rows with equal texts (or guids) are not drawn.

    Raises:
        ConfigError: the pool has too few rows.
    """

    def __init__(
        self,
        settings: PromptingConfig,
        pool: Sequence[Example],
        questions: Sequence[Example],
        labels: Sequence[str],
        seed: int,
    ):
        self.settings = settings
        self.seed = seed
        texts = {text_key(row) for row in questions}
        guids = {row.guid for row in questions}
        if settings.pool is not None:  # guids of two data sets may be equal by chance
            guids = set()
        self.pool = [row for row in pool if text_key(row) not in texts and row.guid not in guids]
        self.left_out = len(pool) - len(self.pool)
        if len(self.pool) < settings.shots:
            raise ConfigError(
                f"prompting.shots={settings.shots}: only {len(self.pool)} rows of the pool can be "
                f"examples ({self.left_out} others are questions)"
            )
        self.by_label = {}
        for label in labels:
            self.by_label[label] = [row for row in self.pool if row.label == label]
        self._same = self._draw("") if settings.same else []

    def of(self, example: Example) -> list[Example]:
        """Choose the examples for a question: the same for all, or by its guid."""
        return self._same if self.settings.same else self._draw(example.guid)

    def _draw(self, name: str) -> list[Example]:
        """Draw examples; the same for the same `name` and seed."""
        count = self.settings.shots
        if self.settings.draw == "first":
            return self.pool[:count]
        digest = hashlib.sha256(f"{self.seed}:{name}".encode()).digest()
        seed = int.from_bytes(digest, "big")
        source = random.Random(seed)
        if self.settings.draw == "random" or not self.by_label:
            return source.sample(self.pool, count)

        # Take a row of each class in turn. The shuffled order decides which classes have one more,
        # if the number is no multiple.
        labels = list(self.by_label)
        source.shuffle(labels)
        shuffled = {}
        for label, rows in self.by_label.items():
            shuffled[label] = source.sample(rows, len(rows))
        drawn: list[Example] = []
        while len(drawn) < count:
            for label in labels:
                if shuffled[label] and len(drawn) < count:
                    drawn.append(shuffled[label].pop())
        source.shuffle(drawn)
        return drawn
