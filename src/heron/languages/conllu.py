"""CoNLL-U, the format of Universal Dependencies: what other tools' analyses come in.

A token is what stands between spaces or punctuation; its words are the morphemes that syntax sees.
Most tokens are one word; a multiword token (`1-2` in the first column) is several: Hebrew
"ובבית" is "ו", "ב", "בית".

Source: https://universaldependencies.org/format.html
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from heron.base.errors import DataError, Problem

_COLUMNS = 10
_ID = re.compile(r"(?P<first>\d+)(?:-(?P<last>\d+)|(?P<empty>\.\d+))?")
_FIX = "CoNLL-U: ten columns between tabs, words numbered from 1, an empty line after a sentence"


class Word(NamedTuple):
    """A syntactic word.

    Args:
        form: as it is written, or would be by itself.
        lemma: its dictionary form; empty where there is none.
        pos: its universal part-of-speech tag; empty where there is none.
        feats: its features, `Definite=Cons|Gender=Fem`; empty where there are none.
    """

    form: str
    lemma: str
    pos: str
    feats: str


class Token(NamedTuple):
    """A token as it is written, and the words that it is made of, at least one."""

    form: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    Args:
        where: file and line of its first token.
        text: its `# text`; without one the tokens, between spaces.
        tokens: in order.
        comments: the other `# key = value` lines; a key without a value has an empty one.
    """

    where: str
    text: str
    tokens: tuple[Token, ...]
    comments: dict[str, str]


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Read a file sentence by sentence; of each word heron keeps form, lemma, tag and features.

    Args:
        path: `.conllu`, or packed `.conllu.gz`.

    Raises:
        DataError: a line that is none of the format's, or no UTF-8.
    """
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
    """Read the lines of one sentence; comments alone are none."""
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
            raise DataError(Problem(here, f"no line of CoNLL-U: {line!r:.60}", _FIX))
        if found["empty"]:  # a word that is understood, not written
            continue
        if int(found["first"]) != words + 1:
            raise DataError(Problem(here, f"word {columns[0]} comes after word {words}", _FIX))
        if found["last"]:
            last = int(found["last"])
            if last <= words:
                raise DataError(Problem(here, f"{columns[0]} is no range of words", _FIX))
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
