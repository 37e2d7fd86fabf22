"""Mean word vectors of text pairs, trained on the train split or read from a file.

A source of vectors has a `key`, the fingerprint of everything that its vectors depend on, and loads
them only if needed: cached features need none. `keep` writes files for `kept_vectors` to a
run's `model/`, and returns their description for JSON.

Shape suffixes: V words, G n-gram buckets, D width, T texts, U distinct words, R rows, F features.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.errors import ConfigError, Problem, raise_all
from heron.base.files import Arrays, fingerprint, load_or_build, read_json, sha256_file, write_json
from heron.data.examples import Example
from heron.languages.words import folded_words, words

from .rules import CbowConfig

_VERSION = 1
_SHORTEST = 3  # characters per n-gram, fastText's defaults
_LONGEST = 6
# gensim's errors on other files.
_UNREADABLE = (ValueError, EOFError, OSError, AssertionError, NotImplementedError, struct.error)
_FASTTEXT = (".bin",)
_TEXT = (".vec", ".vec.gz", ".txt", ".txt.gz")
_SIDES = {"pair": ("text", "text_pair"), "premise": ("text",), "hypothesis": ("text_pair",)}
# `CbowConfig.words`.
SPLITTERS: Mapping[str, Callable[[str], list[str]]] = {
    "words": words,
    "folded": folded_words,
    "whitespace": str.split,
}


@dataclass(frozen=True, slots=True)
class WordVectors:
    """fastText's or plain word vectors; the arrays may be memory-mapped.

    Args:
        rows: the row of each known word in `vectors_VD`.
        vectors_VD: one row per known word (in fastText including its n-grams), float32.
        ngrams_GD: one row per bucket of n-grams, float32; None for vectors without n-grams.
        shortest, longest: characters per n-gram, including the marks of word boundaries.
    """

    rows: dict[str, int]
    vectors_VD: np.ndarray
    ngrams_GD: np.ndarray | None = None
    shortest: int = _SHORTEST
    longest: int = _LONGEST

    def find(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Look up U words.

        Returns:
            vectors_UD, float32, and known_U. An unknown word without n-grams has the zero
            vector.

        Source: Bojanowski et al. 2017; the same numbers as gensim's `FastTextKeyedVectors`.
        """
        vectors_UD = np.zeros((len(words), self.vectors_VD.shape[1]), dtype=np.float32)
        known_U = np.zeros(len(words), dtype=bool)
        for index, word in enumerate(words):
            vector_D = self._vector(word)
            if vector_D is not None:
                vectors_UD[index] = vector_D
                known_U[index] = True
        return vectors_UD, known_U

    def _vector(self, word: str) -> np.ndarray | None:
        """Look up a word, or average the vectors of its n-grams; None without any."""
        if word in self.rows:
            return self.vectors_VD[self.rows[word]]
        if self.ngrams_GD is None:
            return None
        from gensim.models.fasttext import ft_ngram_hashes  # start-up time

        buckets = list(ft_ngram_hashes(word, self.shortest, self.longest, len(self.ngrams_GD)))
        return self.ngrams_GD[buckets].mean(axis=0) if buckets else None


def mean_vectors(
    texts: Sequence[Sequence[str]], vectors: WordVectors
) -> tuple[np.ndarray, dict[str, int]]:
    """Average the vectors of each text's words, repeated words included.

    Args:
        texts: the words of T texts.
        vectors: their vectors.

    Returns:
        means_TD, float32 (zeros for a text without words), and counts: `words`, `without_vector`
        (they count as zero vectors), and `empty` texts.
    """
    from scipy.sparse import csr_array  # start-up time

    indices: dict[str, int] = {}  # of distinct words
    for text in texts:
        for word in text:
            indices.setdefault(word, len(indices))

    vectors_UD, known_U = vectors.find(list(indices))

    # A row of the sparse matrix for each text, with a one for each of its words.
    columns = np.array([indices[word] for text in texts for word in text], dtype=np.int64)
    lengths_T = np.array([len(text) for text in texts], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths_T)])
    ones = np.ones(len(columns), dtype=np.float32)
    counts_TU = csr_array((ones, columns, starts), shape=(len(texts), len(indices)))

    divisors_T = np.maximum(lengths_T, 1).astype(np.float32)
    means_TD = counts_TU @ vectors_UD / divisors_T[:, None]

    counts = {
        "words": len(columns),
        "without_vector": int((~known_U[columns]).sum()),
        "empty": int((lengths_T == 0).sum()),
    }
    return np.asarray(means_TD, dtype=np.float32), counts


@dataclass(frozen=True)
class TrainedVectors:
    """fastText skip-gram vectors trained on texts, cached by content and seed.

    Args:
        settings: width, epochs and so on.
        texts: the train split's texts.
        seed: of the initial vectors and of sampling.
        cache: folder of the vectors.

    Deviates: RoNLI uses vectors trained on Common Crawl and Wikipedia (`baseline.vectors=FILE`).
    """

    settings: CbowConfig
    texts: Sequence[str]
    seed: int
    cache: Path

    @property
    def key(self) -> str:
        """Fingerprint of texts, settings and seed."""
        options = self.settings
        values = (options.words, options.dim, options.epochs, options.min_count, options.buckets)
        return fingerprint(_VERSION, values, self.seed, list(self.texts))

    def open(self) -> WordVectors:
        """Load the cached vectors, memory-mapped; train them first if needed."""
        arrays, words = self._load()
        return _wrap(arrays["vectors"], arrays["ngrams"], words)

    def keep(self, folder: Path) -> dict[str, Any]:
        """Hard-link the cached vectors into `folder`, or copy them to another disk."""
        arrays, words = self._load()
        for name, array in arrays.items():
            assert isinstance(array, np.memmap)
            _link(Path(str(array.filename)), folder / f"{name}.npy")
        write_json(folder / "words.json", words)
        return {"kept": True, "key": self.key}

    def _load(self) -> tuple[Arrays, list[str]]:
        arrays, rest = load_or_build(self.cache, "word-vectors", self.key, self._train)
        return arrays, rest["words"]

    def _train(self) -> tuple[Arrays, dict[str, list[str]]]:
        """Train with gensim and one worker, because more would make updates non-deterministic."""
        from gensim.models import FastText  # start-up time

        settings = self.settings
        sentences = [SPLITTERS[settings.words](text) for text in self.texts]
        model = FastText(
            vector_size=settings.dim,
            min_count=settings.min_count,
            bucket=settings.buckets,
            min_n=_SHORTEST,
            max_n=_LONGEST,
            sg=1,
            seed=self.seed,
            workers=1,
        )
        model.build_vocab(sentences)
        if not len(model.wv):
            raise ConfigError(
                f"baseline.min_count={settings.min_count}: no word of the train split occurs that "
                "often"
            )
        model.train(sentences, total_examples=len(sentences), epochs=settings.epochs)
        arrays = {"vectors": model.wv.vectors, "ngrams": model.wv.vectors_ngrams}
        return arrays, {"words": list(model.wv.index_to_key)}


@dataclass(frozen=True)
class VectorFile:
    """Vectors in a file: fastText's .bin, or one word per line as in .vec.

    Args:
        path: the file.
        sha256: its expected hash, if known.

    Raises:
        ConfigError: no such file, another file type, or changed content.
    """

    path: Path
    sha256: str | None = None

    def __post_init__(self) -> None:
        allowed = _FASTTEXT + _TEXT
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
        """Read the file with gensim; raises a ConfigError if it has no word vectors."""
        from gensim.models import KeyedVectors  # start-up time
        from gensim.models.fasttext import load_facebook_vectors

        try:
            if not self.path.name.endswith(_FASTTEXT):
                plain = KeyedVectors.load_word2vec_format(str(self.path), unicode_errors="replace")
                return WordVectors(plain.key_to_index, plain.vectors)
            model = load_facebook_vectors(str(self.path))
        except _UNREADABLE as error:
            raise ConfigError(
                f"baseline.vectors={self.path}: cannot be read as word vectors: {error}"
            ) from error
        return WordVectors(
            model.key_to_index, model.vectors, model.vectors_ngrams, model.min_n, model.max_n
        )

    def keep(self, folder: Path) -> dict[str, Any]:
        """Return path and hash, without copying the file (gigabytes)."""
        return {"path": str(self.path.absolute()), "sha256": sha256_file(self.path)}


@dataclass(frozen=True)
class KeptVectors:
    """Trained vectors in a run's `model/`."""

    folder: Path
    key: str

    def open(self) -> WordVectors:
        """Load them, memory-mapped."""
        vectors = np.load(self.folder / "vectors.npy", mmap_mode="r")
        ngrams = np.load(self.folder / "ngrams.npy", mmap_mode="r")
        return _wrap(vectors, ngrams, read_json(self.folder / "words.json"))

    def keep(self, folder: Path) -> dict[str, Any]:
        """Link them into another folder."""
        for name in ("vectors.npy", "ngrams.npy", "words.json"):
            _link(self.folder / name, folder / name)
        return {"kept": True, "key": self.key}


VectorSource = TrainedVectors | VectorFile | KeptVectors


def vector_source(
    settings: CbowConfig, texts: Sequence[str], seed: int, cache: Path
) -> VectorSource:
    """Make the source of `baseline.vectors`.

    Args:
        settings: of the baseline.
        texts: of the train split; used where vectors are trained.
        seed: of that training.
        cache: where trained vectors are kept.
    """
    if settings.vectors == "train":
        return TrainedVectors(settings, list(dict.fromkeys(texts)), seed, cache)
    return VectorFile(Path(settings.vectors).expanduser())


def kept_vectors(folder: Path, description: dict[str, Any]) -> VectorSource:
    """Open the files and description of `keep`."""
    if description.get("kept"):
        return KeptVectors(folder, description["key"])
    return VectorFile(Path(description["path"]), description["sha256"])


def _wrap(vectors_VD: np.ndarray, ngrams_GD: np.ndarray, words: list[str]) -> WordVectors:
    rows = {word: row for row, word in enumerate(words)}
    return WordVectors(rows, vectors_VD, ngrams_GD)


def _link(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(path, target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(path, target)


class CbowFeatures:
    """Turns examples into mean word vectors (continuous bag of words), cached.

    Args:
        settings: the texts used, and the tokenization.
        source: the word vectors, loaded only if something is computed.
        cache: the cache folder.

    Source: RoNLI paper, section 4, "classifiers based on word embeddings".
    """

    def __init__(self, settings: CbowConfig, source: VectorSource, cache: Path):
        self.settings = settings
        self.source = source
        self.cache = cache
        self.counts: dict[str, int] = {}  # of the last call

    def __call__(self, examples: Sequence[Example]) -> np.ndarray:
        """Return features_RF, float32; F is D per text used.

        Raises:
            DataError: examples lack a second text that is used.
        """
        means = []
        total = Counter[str]()
        for side in _SIDES[self.settings.input]:
            means_RD, counts = self._means(read_side(examples, side))
            means.append(means_RD)
            total.update(counts)
        self.counts = dict(total)
        return np.hstack(means)

    def _means(self, texts: list[str]) -> tuple[np.ndarray, dict[str, int]]:
        """Average the words' vectors of each text once, see `mean_vectors`."""
        splitter = self.settings.words

        def build() -> tuple[Arrays, dict[str, int]]:
            words = [SPLITTERS[splitter](text) for text in texts]
            means_TD, counts = mean_vectors(words, self.source.open())
            return {"means": means_TD}, counts

        key = fingerprint(_VERSION, self.source.key, splitter, texts)
        arrays, counts = load_or_build(self.cache, "cbow", key, build)
        return arrays["means"], counts


def read_side(examples: Sequence[Example], side: str) -> list[str]:
    """Collect `text` or `text_pair` of all examples.

    Raises:
        DataError: examples lack it; names them.
    """
    texts = []
    problems = []
    fix = "data.columns.text_pair names its column; baseline.input=premise needs none"
    for example in examples:
        text = getattr(example, side)
        if text is None:
            problems.append(Problem(example.guid, "has no second text", fix))
        texts.append(text)
    raise_all(problems)
    return texts
