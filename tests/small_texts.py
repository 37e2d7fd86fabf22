"""Generated raw text, and small runs on it."""

from __future__ import annotations

import copy
import random
from functools import cache
from pathlib import Path

from heron.tasks.config import Config
from heron.training.compose import compose

WORDS = [
    *("הוועדה", "ההצעה", "השר", "האולם", "החברה", "העובדים", "שביתה", "בבוקר", "עזב"),
    *("דחתה", "התכנסה", "לאחר", "לפני", "את", "של", "על"),
]


def sentences(count: int, seed: int = 0, words: int = 12) -> list[str]:
    """Draw different texts of about `words` words."""
    draw = random.Random(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[" ".join(draw.choices(WORDS, k=draw.randint(words // 2, words)))] = None
    return list(texts)


@cache
def _compose(*words: str) -> Config:
    return compose(words)


def run_on(file: Path, encoder: Path, cache_dir: Path, *words: str) -> Config:
    """Compose a small run on a file of raw text."""
    config = _compose(
        "data=own_text",
        "encoder=pretrained",
        "encoder.name=somewhere",
        "encoder.max_length=32",
        "data.files.train.path=train.txt",
        "data.validation.fraction=0.2",
        "trainer.max_epochs=2",
        "trainer.precision=32-true",
        "trainer.accelerator=cpu",
        "trainer.threads=1",
        "trainer.enable_progress_bar=false",
        "batching.tokens=256",
        *words,
    )
    config = copy.deepcopy(config)
    config.encoder.name, config.data.files["train"].path = str(encoder), str(file)
    config.paths.cache = str(cache_dir)
    return config
