"""Analyses made elsewhere, by any tool, read from CoNLL-U.

A text is found by its own words: it is a run of whole sentences of one file, one after another. No
ids have to agree, and a text that was changed since is not found, rather than counted wrongly.
White space, invisible characters and Unicode composition make no difference.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.files import fingerprint, sha256_file
from heron.languages.analysis import Analysis, analysis_of, join
from heron.languages.conllu import read_conllu

_SUFFIXES = (".conllu", ".conllu.gz")
_KEY = 16  # characters; sentences that begin alike are compared one by one
_FIX = "heron analyze data=NAME texts=FILE.jsonl writes the texts to analyse, as heron reads them"


class StoredAnalyses:
    """A backend that looks texts up in CoNLL-U files (`morphology=conllu:PATH`).

    Args:
        path: a file, `.conllu` or `.conllu.gz`, or a folder of them.

    Raises:
        ConfigError: there is no such file.
        DataError: a file that is no CoNLL-U.
    """

    note = ""

    def __init__(self, path: Path):
        files = _files(path)
        self._path = path
        self.name = f"conllu {path.name} {fingerprint(*map(sha256_file, files))[:8]}"
        self._texts: list[str] = []  # of each file, without white space
        self._sentences: list[list[Analysis]] = []
        self._at: list[dict[int, int]] = []  # where a sentence begins: its number
        self._starts: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for file in files:
            self._add(file)

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Look texts up.

        Raises:
            DataError: some are not there; names the first of them.
        """
        found = [self._find(_plain(text)) for text in texts]
        missing = [text for text, one in zip(texts, found, strict=True) if one is None]
        if missing:
            what = f"no analysis of {len(missing)} of {len(texts)} texts, such as "
            begins = " ".join(missing[0].split())[:60]
            raise DataError(Problem(str(self._path), f"{what}'{begins}…'", _FIX))
        return [one for one in found if one is not None]

    def _add(self, path: Path) -> None:
        parts: list[str] = []
        sentences: list[Analysis] = []
        begins: dict[int, int] = {}
        length = 0
        for sentence in read_conllu(path):
            if not (text := _plain(sentence.text)):
                continue
            begins[length] = len(sentences)
            sentences.append(analysis_of(sentence.tokens))
            parts.append(text)
            length += len(text)
        begins[length] = len(sentences)
        text, number = "".join(parts), len(self._texts)
        for begin in begins:
            self._starts[text[begin : begin + _KEY]].append((number, begin))
        self._texts.append(text)
        self._sentences.append(sentences)
        self._at.append(begins)

    def _find(self, text: str) -> Analysis | None:
        if not text:
            return join([])
        for number, begin in self._candidates(text):
            at = self._at[number]
            end = begin + len(text)
            if end in at and self._texts[number].startswith(text, begin):
                return join(self._sentences[number][at[begin] : at[end]])
        return None

    def _candidates(self, text: str) -> list[tuple[int, int]]:
        if len(text) >= _KEY:
            return self._starts.get(text[:_KEY], [])
        return [(number, begin) for number, at in enumerate(self._at) for begin in at]


def open_stored(argument: str) -> StoredAnalyses:
    """Open what stands behind `conllu:`.

    Raises:
        ConfigError: nothing stands there, or no CoNLL-U file.
    """
    if not argument:
        raise ConfigError("morphology=conllu: say where: morphology=conllu:FILE, or a folder")
    return StoredAnalyses(Path(argument).expanduser())


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        names = [file.name for file in path.parent.glob("*")] if path.parent.is_dir() else []
        raise ConfigError(f"morphology=conllu:{path}: no such file.{nearest(path.name, names)}")
    files = sorted(file for file in path.iterdir() if file.name.endswith(_SUFFIXES))
    if not files:
        raise ConfigError(f"morphology=conllu:{path}: no file in it ends in {_SUFFIXES[0]}")
    return files


def _plain(text: str) -> str:
    """Leave out what tools add, drop or compose: spaces and invisible characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return "".join(text.split())
