"""Texts of several files and data sets as one table, without overlap with evaluation splits.

<cache>/texts/<key>/train.jsonl   guid, text, group, source, and the reason of a left-out row

The table is written once; the key is a hash of the settings and of all files.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from heron.base.errors import DataError, raise_all
from heron.base.files import fingerprint, sha256_file, stored_folder
from heron.base.folders import data_set_file
from heron.base.tables import table_stem, write_table
from heron.data.config import TEST, TRAIN, VALIDATION, DataConfig, read_config
from heron.data.examples import Example
from heron.data.readers import load
from heron.data.sources import locate
from heron.languages import get_language
from heron.languages.unicode import UNIFY_ALL, normalise
from heron.languages.words import folded_words
from heron_tools.mlm.reader import COPY, LEFT_OUT, open_texts

_VERSION = 1
SEEN = "with words of evaluation texts"

Groups = dict[str, str]  # the document of each text


def collect(config: DataConfig, files: Mapping[str, Path], data_dir: Path, cache_dir: Path) -> Path:
    """Write the texts of `files` and `data.texts` to the cache, unless they are cached.

    Args:
        config: of the data set of texts.
        files: its files by name, `train` and `texts.<n>`.
        data_dir: `paths.data`.
        cache_dir: `paths.cache`.

    Returns:
        The path of the table.

    Raises:
        ConfigError: a data set does not exist.
        DataError: files are missing, or rows of them cannot be read.
    """
    names = dict.fromkeys([*config.texts.sets, *config.texts.unseen])
    sets = {name: read_config(data_set_file(name)) for name in names}
    own_paths = [path for key, path in files.items() if key == TRAIN or key.startswith("texts.")]
    paths = [*own_paths]
    for data_set in sets.values():
        paths += locate(data_set, data_dir, cache_dir).values()
    key = fingerprint(
        _VERSION,
        asdict(config),
        [asdict(data_set) for data_set in sets.values()],
        [(path.name, sha256_file(path)) for path in paths],
    )

    def write(folder: Path) -> None:
        texts: dict[str, Groups] = {}
        evaluated: list[str] = []
        for name, data_set in sets.items():
            splits = load(data_set, data_dir, cache_dir)
            if name in config.texts.sets:
                texts[name] = _texts(splits[TRAIN])
            for split in (VALIDATION, TEST):
                evaluated += _texts(splits.get(split, ()))
        for path in own_paths:
            texts[table_stem(path)] = _read(path, config)
        overlap = Overlap(evaluated, config.texts.overlap, config.language)
        write_table(folder / "train.jsonl", _columns(texts, overlap, config))

    return stored_folder(cache_dir / "texts" / key[:16], write) / "train.jsonl"


class Overlap:
    """Tells whether a text shares an n-gram of `size` words with any of the given texts.

    Words are compared without case, punctuation and Unicode variants. A text with fewer words
    overlaps if all of them occur contiguously.
    """

    def __init__(self, texts: Iterable[str], size: int, language: str):
        self.size = size
        self.language = get_language(language)
        self._texts = [self._words(text) for text in texts]
        # N-grams of all texts, by length, computed when needed.
        self._ngrams: dict[int, set[str]] = {}

    def __contains__(self, text: str) -> bool:
        words = self._words(text)
        size = min(self.size, len(words))
        if size not in self._ngrams:
            known = self._ngrams.setdefault(size, set())
            for other_words in self._texts:
                known.update(_ngrams(other_words, size))
        return not self._ngrams[size].isdisjoint(_ngrams(words, size))

    def _words(self, text: str) -> list[str]:
        unified = normalise(text, self.language, UNIFY_ALL)
        return folded_words(unified)


def _ngrams(words: Sequence[str], size: int) -> Iterator[str]:
    """Yield all sequences of `size` words, joined by spaces; none for a size of 0."""
    if not size:
        return
    for end in range(size, len(words) + 1):
        yield " ".join(words[end - size : end])


def _texts(examples: Sequence[Example]) -> Groups:
    """List all distinct texts of examples, inputs and targets."""
    groups: Groups = {}
    for example in examples:
        for text in (example.text, example.text_pair, example.target):
            if text:
                groups[text] = example.group
    return groups


def _read(path: Path, config: DataConfig) -> Groups:
    rows = open_texts(config, {})(path, "ignored", "", {})
    raise_all(rows.problems)
    return _texts(rows.examples)


def _columns(
    texts: Mapping[str, Groups], overlap: Overlap, config: DataConfig
) -> dict[str, list[str]]:
    """Lay out the table; rows that are left out have no text.

    Args:
        texts: by source, a data set or a file.
        overlap: with evaluation splits.
        config: names the columns.

    Raises:
        DataError: there is no text.
    """
    names = config.columns
    table = defaultdict[str, list[str]](list)
    known: set[str] = set()
    for source, groups in texts.items():
        for number, (text, group) in enumerate(groups.items(), 1):
            reason = ""
            if text in known:
                reason = f"{COPY} ({source})"
            elif text in overlap:
                reason = f"{SEEN} ({source})"
            known.add(text)
            row = {
                names.guid: f"{source}:{number}",
                names.text: "" if reason else text,
                names.group or "group": f"{source}:{group}" if group else "",
                "source": source,
                LEFT_OUT: reason,
            }
            for column, cell in row.items():
                table[column].append(cell)
    if not known:
        fix = "name data.files.train.path, or data sets in data.texts.sets"
        raise DataError("data.texts", "there is no text to train on", fix)
    return table
