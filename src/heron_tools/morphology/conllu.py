"""CoNLL-U, the format of Universal Dependencies, and other tools' analyses in it.

A token is a string between spaces or punctuation; its words are the morphemes that syntax uses.
Most tokens are one word; a multiword token (`1-2` in the first column) is several: Hebrew
"ובבית" is "ו", "ב", "בית".

Source: https://universaldependencies.org/format.html
"""

import gzip
import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.files import fingerprint, sha256_file
from heron_tools.morphology.analysis import Analysis, Token, Word, analysis_of, join

_COLUMNS = 10
_ID = re.compile(r"(?P<first>\d+)(?:-(?P<last>\d+)|(?P<empty>\.\d+))?")
_FIX = "CoNLL-U: ten columns between tabs, words numbered from 1, an empty line after a sentence"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence."""

    where: str  # file and line of its first token
    text: str  # its `# text`; without one, the tokens joined by spaces
    tokens: tuple[Token, ...]  # in order
    comments: dict[str, str]  # the other `# key = value` lines; the value may be empty


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Read a `.conllu` or `.conllu.gz` file by sentence; a DataError names a bad line."""
    with _open(path) as file:
        block: list[tuple[int, str]] = []
        try:
            for number, raw in enumerate(file, 1):
                if line := raw.rstrip("\r\n"):
                    block.append((number, line))
                elif block:
                    yield from _sentence(path, block)
                    block = []
        except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(Problem(str(path), f"cannot be read: {error}", _FIX)) from error
        yield from _sentence(path, block)


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="\n")
    return path.open(encoding="utf-8-sig", newline="\n")


def _sentence(path: Path, block: list[tuple[int, str]]) -> Iterator[Sentence]:
    """Read the lines of one sentence; comments alone are not a sentence."""
    comments: dict[str, str] = {}
    tokens: list[tuple[str, list[Word]]] = []
    last = words = 0  # the last word of the open multiword token, words so far
    where = ""
    for number, line in block:
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
            continue
        here = f"{path}:{number}"
        where = where or here
        columns = line.split("\t")
        found = _ID.fullmatch(columns[0])
        if len(columns) != _COLUMNS or found is None:
            raise DataError(Problem(here, f"not a line of CoNLL-U: {line!r:.60}", _FIX))
        if found["empty"]:  # an empty node: a word that is not written
            continue
        if int(found["first"]) != words + 1:
            raise DataError(Problem(here, f"word {columns[0]} comes after word {words}", _FIX))
        if found["last"]:
            last = int(found["last"])
            if last <= words:
                raise DataError(Problem(here, f"{columns[0]} is not a range of words", _FIX))
            tokens.append((columns[1], []))
            continue
        words += 1
        if words > last:
            tokens.append((columns[1], []))
        tokens[-1][1].append(Word(columns[1], *map(_value, (columns[2], columns[3], columns[5]))))
    if last > words:
        raise DataError(Problem(where, f"words {words + 1} to {last} of a token are missing", _FIX))
    if tokens:
        text = comments.pop("text", "") or " ".join(form for form, _ in tokens)
        made = tuple(Token(form, tuple(parts)) for form, parts in tokens)
        yield Sentence(where, text, made, comments)


def _value(cell: str) -> str:
    return "" if cell == "_" else cell


_SUFFIXES = (".conllu", ".conllu.gz")
_KEY = 16  # characters; sentences that begin alike are compared one by one
_ABSENT = "heron analyze data=NAME texts=FILE.jsonl writes the texts to analyse, as it reads them"


class StoredAnalyses:
    """A backend that looks texts up in CoNLL-U files (`morphology=conllu:PATH`).

    A text is found by its content: it is a sequence of whole sentences of one file. No ids have to
    agree, and a text that was changed since is not found. White space, invisible characters and
    Unicode composition make no difference.

    Raises:
        ConfigError: no such file or folder.
        DataError: a file is not CoNLL-U.
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
        """Look texts up; a DataError quotes the first that is not there."""
        found = [self._find(_plain(text)) for text in texts]
        missing = [text for text, one in zip(texts, found, strict=True) if one is None]
        if missing:
            what = f"no analysis of {len(missing)} of {len(texts)} texts, such as "
            begins = " ".join(missing[0].split())[:60]
            raise DataError(Problem(str(self._path), f"{what}'{begins}…'", _ABSENT))
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
    """Open the file or folder after `conllu:`; raises ConfigError without a CoNLL-U file."""
    if not argument:
        raise ConfigError("morphology=conllu: name a file or folder: morphology=conllu:FILE")
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
    """Remove spaces and invisible characters, and compose letters."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return "".join(text.split())
