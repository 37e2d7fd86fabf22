"""Where word vectors come from: trained on the train split, read from a file, kept by a run.

A source has a `key`, the fingerprint of all that decides its vectors, and opens them only when
asked: features that are stored already need none.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from heron.base import array_store
from heron.base.errors import ConfigError
from heron.base.files import fingerprint, read_json, sha256_file, write_json
from heron.config.schema import BaselineConfig
from heron.models.baselines.word_vectors import SPLITTERS, WordVectors

_VERSION = 1
_SHORTEST, _LONGEST = 3, 6  # characters per n-gram, fastText's defaults
# What gensim raises on files that hold something else.
_UNREADABLE = (ValueError, EOFError, OSError, AssertionError, NotImplementedError, struct.error)
_FACEBOOK, _TEXT = (".bin",), (".vec", ".vec.gz", ".txt", ".txt.gz")


class VectorSource(Protocol):
    """Word vectors that are not loaded yet."""

    @property
    def key(self) -> str:
        """Fingerprint of everything that decides the vectors."""

    def open(self) -> WordVectors:
        """Load them."""

    def keep(self, folder: Path) -> dict[str, Any]:
        """Leave in a run's `model/` what `kept_vectors` needs; returns its description, JSON."""


@dataclass(frozen=True)
class TrainedVectors:
    """fastText skip-gram vectors trained on some texts, once per content and seed.

    Args:
        settings: width, epochs and the like.
        texts: the train split's texts.
        seed: of the initial vectors and the samples drawn.
        cache: where they are stored.

    Deviates: RoNLI takes vectors trained on Common Crawl and Wikipedia (`baseline.vectors=FILE`).
    """

    settings: BaselineConfig
    texts: Sequence[str]
    seed: int
    cache: Path

    @property
    def key(self) -> str:
        """Fingerprint of texts, settings and seed."""
        chosen = self.settings
        settings = (chosen.words, chosen.dim, chosen.epochs, chosen.min_count, chosen.buckets)
        return fingerprint(_VERSION, settings, self.seed, list(self.texts))

    def open(self) -> WordVectors:
        """Load the stored vectors, memory-mapped, training them first where there are none."""
        arrays, words = self._load()
        return _wrap(arrays["vectors"], arrays["ngrams"], words)

    def keep(self, folder: Path) -> dict[str, Any]:
        """Link the stored vectors into `folder`: no room on the same disk, else copies."""
        arrays, words = self._load()
        for name, array in arrays.items():
            assert isinstance(array, np.memmap)
            _link(Path(str(array.filename)), folder / f"{name}.npy")
        write_json(folder / "words.json", words)
        return {"kept": True, "key": self.key}

    def _load(self) -> tuple[array_store.Arrays, list[str]]:
        arrays, rest = array_store.load_or_build(
            self.cache, "word-vectors", self.key, lambda: _train(self)
        )
        return arrays, rest["words"]


@dataclass(frozen=True)
class VectorFile:
    """Vectors in a file: fastText's .bin, or one word per line as in .vec.

    Args:
        path: the file.
        sha256: what it must hold, if known.

    Raises:
        ConfigError: no such file, another kind of file, or its content has changed.
    """

    path: Path
    sha256: str | None = None

    def __post_init__(self) -> None:
        allowed = _FACEBOOK + _TEXT
        if not self.path.name.endswith(allowed):
            raise ConfigError(
                f"baseline.vectors={self.path}: unknown file type; allowed are 'train' and files "
                f"ending in {', '.join(allowed)}"
            )
        if not self.path.is_file():
            raise ConfigError(f"baseline.vectors={self.path}: no such file")
        if self.sha256 not in (None, sha256_file(self.path)):
            raise ConfigError(f"{self.path}: changed since the run was trained on these vectors")

    @property
    def key(self) -> str:
        """Fingerprint of the file."""
        return fingerprint(_VERSION, sha256_file(self.path))

    def open(self) -> WordVectors:
        """Read the file with gensim.

        Raises:
            ConfigError: it holds something else.
        """
        from gensim.models import KeyedVectors
        from gensim.models.fasttext import load_facebook_vectors

        try:
            if self.path.name.endswith(_FACEBOOK):
                found = load_facebook_vectors(str(self.path))
                return WordVectors(
                    found.key_to_index,
                    found.vectors,
                    found.vectors_ngrams,
                    found.min_n,
                    found.max_n,
                )
            found = KeyedVectors.load_word2vec_format(str(self.path), unicode_errors="replace")
            return WordVectors(found.key_to_index, found.vectors)
        except _UNREADABLE as error:
            raise ConfigError(
                f"baseline.vectors={self.path}: cannot be read as word vectors: {error}"
            ) from error

    def keep(self, folder: Path) -> dict[str, Any]:
        """Copy nothing (such files have gigabytes): remember where it is and what it holds."""
        return {"path": str(self.path.absolute()), "sha256": sha256_file(self.path)}


@dataclass(frozen=True)
class KeptVectors:
    """The trained vectors that a run has left in its `model/`."""

    folder: Path
    key: str

    def open(self) -> WordVectors:
        """Load them, memory-mapped."""
        vectors, ngrams = (
            np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in ("vectors", "ngrams")
        )
        return _wrap(vectors, ngrams, read_json(self.folder / "words.json"))

    def keep(self, folder: Path) -> dict[str, Any]:
        """Link them into another folder."""
        for name in ("vectors.npy", "ngrams.npy", "words.json"):
            _link(self.folder / name, folder / name)
        return {"kept": True, "key": self.key}


def vector_source(
    settings: BaselineConfig, texts: Sequence[str], seed: int, cache: Path
) -> VectorSource:
    """Choose the source that `baseline.vectors` names.

    Args:
        settings: the baseline.
        texts: the train split's texts; the only ones that vectors are ever trained on.
        seed: the run's.
        cache: the cache folder.
    """
    if settings.vectors == "train":
        return TrainedVectors(settings, list(dict.fromkeys(texts)), seed, cache)
    return VectorFile(Path(settings.vectors).expanduser())


def kept_vectors(folder: Path, description: dict[str, Any]) -> VectorSource:
    """Open what `keep` has left in `folder` and returned."""
    if description.get("kept"):
        return KeptVectors(folder, description["key"])
    return VectorFile(Path(description["path"]), description["sha256"])


def _train(source: TrainedVectors) -> tuple[array_store.Arrays, dict[str, list[str]]]:
    """Train with gensim; one worker, or the order of the updates would differ every time."""
    from gensim.models import FastText

    settings = source.settings
    sentences = [SPLITTERS[settings.words](text) for text in source.texts]
    model = FastText(
        vector_size=settings.dim,
        min_count=settings.min_count,
        bucket=settings.buckets,
        min_n=_SHORTEST,
        max_n=_LONGEST,
        sg=1,
        seed=source.seed,
        workers=1,
    )
    model.build_vocab(sentences)
    if not len(model.wv):
        raise ConfigError(
            f"baseline.min_count={settings.min_count}: no word of the train split occurs that often"
        )
    model.train(sentences, total_examples=len(sentences), epochs=settings.epochs)
    arrays = {"vectors": model.wv.vectors, "ngrams": model.wv.vectors_ngrams}
    return arrays, {"words": list(model.wv.index_to_key)}


def _wrap(vectors_VD: np.ndarray, ngrams_GD: np.ndarray, words: list[str]) -> WordVectors:
    places = {word: place for place, word in enumerate(words)}
    return WordVectors(places, vectors_VD, ngrams_GD, _SHORTEST, _LONGEST)


def _link(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(path, target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(path, target)
