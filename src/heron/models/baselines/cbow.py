"""Features of text pairs: mean word vectors, premise and hypothesis side by side, stored on disk.

Shape suffixes: R rows, T texts, D width of the vectors, F features.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from heron.base import array_store
from heron.base.errors import DataError, Problem
from heron.base.files import fingerprint
from heron.config.schema import BaselineConfig
from heron.data.examples import Example
from heron.models.baselines.vector_sources import VectorSource
from heron.models.baselines.word_vectors import SPLITTERS, mean_vectors

_VERSION = 1
_SIDES = {"pair": ("text", "text_pair"), "premise": ("text",), "hypothesis": ("text_pair",)}


class CbowFeatures:
    """Turns examples into feature rows; what was computed once is read from the cache.

    Args:
        settings: which texts, and what a word is.
        source: the word vectors, opened only where something is to be computed.
        cache: the cache folder.

    Source: RoNLI paper, section 4, "classifiers based on word embeddings".
    """

    def __init__(self, settings: BaselineConfig, source: VectorSource, cache: Path):
        self.settings, self.source, self.cache = settings, source, cache
        self.counts: dict[str, int] = {}  # of the last call

    def __call__(self, examples: Sequence[Example]) -> np.ndarray:
        """Return features_RF, float32; F is D per text that is read.

        Raises:
            DataError: examples without the second text, where it is read.
        """
        sides = _SIDES[self.settings.input]
        parts = [self._means(read_side(examples, side)) for side in sides]
        names = parts[0][1]
        self.counts = {name: sum(counts[name] for _, counts in parts) for name in names}
        return np.hstack([means_TD for means_TD, _ in parts])

    def _means(self, texts: list[str]) -> tuple[np.ndarray, dict[str, int]]:
        split = self.settings.words

        def build() -> tuple[array_store.Arrays, dict[str, int]]:
            vectors = self.source.open()
            means_TD, counts = mean_vectors([SPLITTERS[split](text) for text in texts], vectors)
            return {"means": means_TD}, counts

        key = fingerprint(_VERSION, self.source.key, split, texts)
        arrays, counts = array_store.load_or_build(self.cache, "cbow", key, build)
        return arrays["means"], counts


def read_side(examples: Sequence[Example], side: str) -> list[str]:
    """Collect `text` or `text_pair` of all examples.

    Raises:
        DataError: names the examples that have none.
    """
    texts = [getattr(example, side) for example in examples]
    missing = [e for e, text in zip(examples, texts, strict=True) if text is None]
    if missing:
        fix = "data.columns.text_pair names its column; baseline.input=premise does without"
        raise DataError([Problem(e.guid, "has no second text", fix) for e in missing])
    return texts
