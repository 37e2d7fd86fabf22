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
    text: str  # its `# text`; without one, the tokens, with spaces where `SpaceAfter=No` is absent
    tokens: tuple[Token, ...]  # in order
    comments: dict[str, str]  # the other `# key = value` lines; the value may be empty


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Read a `.conllu` or `.conllu.gz` file by sentence.

    Raises:
        DataError: a line is not that of the next word; names it.
    """
    block: list[tuple[int, str]] = []
    with opened(path) as file:
        for number, line in enumerate(open_text(file, "\n"), 1):
            text = line.rstrip("\r\n")
            if text:
                block.append((number, text))
            else:
                yield from _sentence(path, block)
                block = []
        yield from _sentence(path, block)


def _sentence(path: Path, block: Sequence[tuple[int, str]]) -> Iterator[Sentence]:
    """Read the numbered lines of one sentence; comments alone are not a sentence.

    Raises:
        DataError: a line is not that of the next word, or a token lacks words.
    """
    comments: dict[str, str] = {}
    tokens: list[tuple[str, list[Word]]] = []  # form and words of each
    spelt = ""  # the text by its tokens
    last_word = 0  # of the current multiword token
    words = 0  # so far
    where = ""
    for number, line in block:
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
            continue

        line_place = f"{path}:{number}"
        where = where or line_place
        columns = line.split("\t")
        match = _ID.fullmatch(columns[0])
        if match and match["empty"]:  # an empty node, which is not in the text
            continue
        is_next = match is not None and int(match["first"]) == words + 1
        if match is None or not is_next or len(columns) != _COLUMNS:
            problem = f"not the line of word {words + 1}: {line!r:.60}"
            raise DataError(line_place, problem, _FIX)

        form = columns[1]
        is_word = not match["last"]
        is_token = not is_word or words >= last_word
        if is_token:
            tokens.append((form, []))
            spelt += form if "SpaceAfter=No" in columns[9].split("|") else f"{form} "
        if not is_word:
            last_word = int(match["last"])
            continue
        words += 1
        cells = []  # lemma, part of speech, features
        for index in (2, 3, 5):
            cell = columns[index]
            cells.append("" if cell == "_" else cell)
        tokens[-1][1].append(Word(form, *cells))

    if last_word > words:
        problem = f"words {words + 1} to {last_word} of a token are missing"
        raise DataError(where, problem, _FIX)
    if tokens:
        text = comments.pop("text", "") or spelt.strip()
        parsed = tuple(Token(form, tuple(parts)) for form, parts in tokens)
        yield Sentence(where, text, parsed, comments)


_KEY = 16  # characters by which beginnings of sentences are indexed
_ABSENT = "heron analyze data=NAME texts=FILE.jsonl writes the texts to parse"


_Start = tuple[int, int]  # of a sentence: number of its file, first character


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
        """Read all files.

        Args:
            path: of a file, or of a folder with `.conllu` and `.conllu.gz` files.
        """
        files = [path]
        if path.is_dir():
            files = sorted(path.glob("*.conllu*"))
        if not path.exists() or not files:
            names = [file.name for file in path.parent.glob("*.conllu*")]
            near = nearest(path.name, names)
            raise ConfigError(f"morphology=conllu:{path}: name a file or a folder of them.{near}")
        self._path = path
        digest = fingerprint(*map(sha256_file, files))
        self.name = f"conllu {path.name} {digest[:8]}"
        # Of each file: its text without white space, the analyses of its sentences, and the number
        # of the sentence that begins at a character of the text.
        self._texts: list[str] = []
        self._analyses: list[list[Analysis]] = []
        self._sentence_at: list[dict[int, int]] = []
        # Sentences in order, and by the characters that they begin with.
        self._starts: list[_Start] = []
        self._starts_by_key: dict[str, list[_Start]] = defaultdict(list)
        for file in files:
            self._add(file)

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Look texts up.

        Returns:
            One analysis per text.

        Raises:
            DataError: texts are not found; quotes the first.
        """
        analyses = []
        missing = []
        for text in texts:
            analysis = self._find(_plain(text))
            if analysis is None:
                missing.append(text)
            else:
                analyses.append(analysis)
        if missing:
            beginning = " ".join(missing[0].split())[:60]
            counts = f"{len(missing)} of {len(texts)} texts"
            problem = f"no analysis of {counts}, such as '{beginning}…'"
            raise DataError(str(self._path), problem, _ABSENT)
        return analyses

    def _add(self, path: Path) -> None:
        """Read a file."""
        sentences = []
        analyses = []
        length = 0
        sentence_at = {0: 0}
        for sentence in read_conllu(path):
            text = _plain(sentence.text)
            if text:
                sentences.append(text)
                analyses.append(analysis_of(sentence.tokens))
                length += len(text)
                sentence_at[length] = len(analyses)

        whole_text = "".join(sentences)
        file_number = len(self._texts)
        for character in sentence_at:
            start = (file_number, character)
            key = whole_text[character : character + _KEY]
            self._starts.append(start)
            self._starts_by_key[key].append(start)
        self._texts.append(whole_text)
        self._analyses.append(analyses)
        self._sentence_at.append(sentence_at)

    def _find(self, text: str) -> Analysis | None:
        """Join the analyses of the sentences that a text consists of; None if it is not found."""
        if not text:
            return join([])
        starts = self._starts  # a text shorter than a key is looked for everywhere
        if len(text) >= _KEY:
            starts = self._starts_by_key.get(text[:_KEY], [])
        for file_number, start in starts:
            end = start + len(text)
            sentence_at = self._sentence_at[file_number]
            if end not in sentence_at:
                continue
            if self._texts[file_number].startswith(text, start):
                first = sentence_at[start]
                last = sentence_at[end]
                analyses = self._analyses[file_number][first:last]
                return join(analyses)
        return None


def _plain(text: str) -> str:
    """Remove white space and invisible characters, and compose letters."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return "".join(text.split())
