"""CoNLL-U, the format of Universal Dependencies, and other parsers' output in it.

A token is a string between spaces or punctuation; its words are syntactic units (morphemes).
Most tokens are one word; a multiword token (`1-2` in the first column) is several: Hebrew
"ובבית" is "ו", "ב", "בית".

Source: https://universaldependencies.org/format.html
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path

from heron.base.errors import ConfigError, DataError, nearest
from heron.base.files import fingerprint, sha256_file
from heron.base.tables import open_text, opened
from heron_tools.morphology.analyses import Analysis, Token, Word, analysis_of, join

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
    with opened(path) as file:
        lines = enumerate((line.rstrip("\r\n") for line in open_text(file, "\n")), 1)
        for is_sentence, block in groupby(lines, lambda each: bool(each[1])):
            if is_sentence:
                yield from _sentence(path, list(block))


def _sentence(path: Path, block: Sequence[tuple[int, str]]) -> Iterator[Sentence]:
    """Read the lines of one sentence; comments alone are not a sentence."""
    comments: dict[str, str] = {}
    tokens: list[tuple[str, list[Word]]] = []
    last = words = 0  # last word of the current multiword token; words so far
    where = ""
    for number, line in block:
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
            continue
        where = where or f"{path}:{number}"
        columns = line.split("\t")
        found = _ID.fullmatch(columns[0])
        if found and found["empty"]:  # an empty node, which is not in the text
            continue
        is_next = found and int(found["first"]) == words + 1
        if len(columns) != _COLUMNS or not found or not is_next:
            what = f"not the line of word {words + 1}: {line!r:.60}"
            raise DataError(f"{path}:{number}", what, _FIX)
        if found["last"]:
            last = int(found["last"])
            tokens.append((columns[1], []))
            continue
        words += 1
        if words > last:
            tokens.append((columns[1], []))
        cells = ("" if cell == "_" else cell for cell in (columns[2], columns[3], columns[5]))
        tokens[-1][1].append(Word(columns[1], *cells))
    if last > words:
        raise DataError(where, f"words {words + 1} to {last} of a token are missing", _FIX)
    if tokens:
        text = comments.pop("text", "") or " ".join(form for form, _ in tokens)
        made = tuple(Token(form, tuple(parts)) for form, parts in tokens)
        yield Sentence(where, text, made, comments)


_KEY = 16  # characters by which beginnings of sentences are indexed
_ABSENT = "heron analyze data=NAME texts=FILE.jsonl writes the texts to parse"


class StoredAnalyses:
    """Looks texts up in a CoNLL-U file or a folder of them (`morphology=conllu:PATH`).

    A text is found by its content, without ids: it must be a sequence of whole sentences of one
    file. White space, invisible characters and Unicode composition are ignored; a text that has
    changed since is not found.

    Raises:
        ConfigError: no such file or folder.
        DataError: a file is not CoNLL-U.
    """

    def __init__(self, path: Path):
        files = sorted(path.glob("*.conllu*")) if path.is_dir() else [path]
        if not path.exists() or not files:
            near = nearest(path.name, [file.name for file in path.parent.glob("*.conllu*")])
            raise ConfigError(f"morphology=conllu:{path}: name a file or a folder of them.{near}")
        self._path = path
        self.name = f"conllu {path.name} {fingerprint(*map(sha256_file, files))[:8]}"
        self._texts: list[str] = []  # of each file, without white space
        self._sentences: list[list[Analysis]] = []
        self._at: list[dict[int, int]] = []  # sentence number by its start
        self._starts: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for file in files:
            self._add(file)

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Look texts up; a DataError quotes the first text that is not found."""
        found = [self._find(_plain(text)) for text in texts]
        missing = [text for text, one in zip(texts, found, strict=True) if one is None]
        if missing:
            what = f"no analysis of {len(missing)} of {len(texts)} texts, such as "
            begins = " ".join(missing[0].split())[:60]
            raise DataError(str(self._path), f"{what}'{begins}…'", _ABSENT)
        return [one for one in found if one is not None]

    def _add(self, path: Path) -> None:
        found = [
            (text, analysis_of(sentence.tokens))
            for sentence in read_conllu(path)
            if (text := _plain(sentence.text))
        ]
        begins = accumulate((len(text) for text, _ in found), initial=0)
        at = {begin: sentence for sentence, begin in enumerate(begins)}
        whole, number = "".join(text for text, _ in found), len(self._texts)
        for begin in at:
            self._starts[whole[begin : begin + _KEY]].append((number, begin))
        self._texts.append(whole)
        self._sentences.append([analysis for _, analysis in found])
        self._at.append(at)

    def _find(self, text: str) -> Analysis | None:
        if not text:
            return join([])
        shorter = (  # at each sentence's start
            (number, begin) for number, at in enumerate(self._at) for begin in at
        )
        for number, begin in self._starts.get(text[:_KEY], []) if len(text) >= _KEY else shorter:
            at, end = self._at[number], begin + len(text)
            if end in at and self._texts[number].startswith(text, begin):
                return join(self._sentences[number][at[begin] : at[end]])
        return None


def _plain(text: str) -> str:
    """Remove white space and invisible characters, and compose letters."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return "".join(text.split())
