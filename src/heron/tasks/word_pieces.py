"""Token ids of texts, each distinct word tokenized once.

Most words of a corpus are repetitions, and tokenizers work word by word. Texts that this does not
hold for are left to the tokenizer.

Shape suffixes: U distinct words, W words of all texts, T tokens of all texts, X texts.
"""

import json
import re
from array import array
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, cast
from unicodedata import category, normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heron.data.features import token_ids

# Pre-tokenizers that end a word at every space. (Byte-level ones keep the space with the word.)
_BY_WORDS = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
_ORDINARY = re.compile("[0-9A-Za-z\u00c0-\u024f\u05d0-\u05ea\u0400-\u045f.,]+")
_TOGETHER = 1000  # words given to the tokenizer as one text
_SPACE = "\u2581"  # how a Metaspace writes a space


class WordPieces:
    """Remembers the tokens of words, for a fast Hugging Face tokenizer."""

    def __init__(self, tokenizer: Any):
        self.tokenizer = tokenizer
        state = json.loads(tokenizer.backend_tokenizer.to_str())
        steps = state["pre_tokenizer"] or {"type": None}
        steps = steps.get("pretokenizers", [steps])
        added = [_SPACE, *(token["content"] for token in state["added_tokens"])]
        self.added = re.compile("|".join(map(re.escape, added)))
        self.by_words = all(map(_by_words, steps)) and not any(" " in token for token in added)
        self.numbers: dict[str, int] = {}  # of words; -1 for those that need their neighbours
        self.ids_T, self.ends_U = array("i"), array("q", [0])

    def texts(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Tokenize texts without special tokens; int32."""
        found = self._known(texts)
        left = [row for row, ids in enumerate(found) if ids is None]
        if left:
            some = [texts[row] for row in left]
            encoded = self.tokenizer(some, add_special_tokens=False, verbose=False)["input_ids"]
            for row, ids in zip(left, encoded, strict=True):
                found[row] = token_ids(ids)
        return cast(list[np.ndarray], found)

    def sequences(
        self, texts: Sequence[tuple[str, ...]], max_length: int
    ) -> list[tuple[np.ndarray, int] | None]:
        """Tokenize single texts, or pairs of texts, into one sequence each.

        Returns:
            The token ids, special ones included, and where the second text begins (-1 for
            tokenizers with one segment); None where the tokenizer itself must read the texts, and
            where they are longer than `max_length` tokens.
        """
        if not self.by_words:
            return [None] * len(texts)
        between, second = self._template(len(texts[0]))
        columns = [self._known(column) for column in zip(*texts, strict=True)]
        found: list[tuple[np.ndarray, int] | None] = []
        for parts in zip(*columns, strict=True):
            known = [part for part in parts if part is not None]
            length = sum(map(len, known)) + sum(map(len, between))
            if len(known) < len(parts) or length > max_length:
                found.append(None)
                continue
            pieces = [between[0], *chain.from_iterable(zip(known, between[1:], strict=True))]
            begin = -1 if second is None else len(known[0]) + second
            found.append((np.concatenate(pieces), begin))
        return found

    def _template(self, count: int) -> tuple[list[np.ndarray], int | None]:
        """Find the special tokens around and between `count` texts, and where segment 1 begins.

        The beginning is counted in tokens beside those of the first text; None: there is none.
        """
        (encoding,) = self.tokenizer(*[["a"]] * count).encodings
        sources = np.asarray([-1 if one is None else one for one in encoding.sequence_ids])
        ids = np.asarray(encoding.ids, dtype=np.int32)
        ends = [0, *(end for k in range(count) for end in _ends(sources == k)), len(ids)]
        begin = second_start(encoding)
        second = None if begin < 0 else begin - int((sources == 0).sum())
        return [ids[first:last] for first, last in zip(ends[::2], ends[1::2], strict=True)], second

    def _known(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Tokenize texts without special tokens, from their words.

        Returns:
            The token ids of each text, int32; None where a word may not be tokenized alone: it
            begins or ends with a mark or blank, or contains an added token.
        """
        if not self.by_words:
            return [None] * len(texts)
        words = pc.split_pattern(pa.array(texts, pa.large_string()), " ")
        coded = words.values.dictionary_encode()
        distinct = coded.dictionary.to_pylist()
        self._learn([word for word in distinct if word not in self.numbers])
        number_U = np.fromiter(map(self.numbers.__getitem__, distinct), np.int64, len(distinct))
        number_W = number_U[coded.indices.to_numpy()]
        alone_W = number_W >= 0
        ends_U, ids_T = np.frombuffer(self.ends_U, np.int64), np.frombuffer(self.ids_T, np.int32)
        start_W = ends_U[number_W]
        length_W = np.where(alone_W, ends_U[number_W + 1] - start_W, 0)
        end_W = np.concatenate([[0], np.cumsum(length_W)])
        taken = np.repeat(start_W - end_W[:-1], length_W) + np.arange(end_W[-1])
        tokens_T = ids_T[taken]
        border_X = words.offsets.to_numpy()
        unknown_W = np.concatenate([[0], np.cumsum(~alone_W)])
        return [
            None if unknown_W[first] != unknown_W[last] else tokens_T[end_W[first] : end_W[last]]
            for first, last in pairwise(border_X.tolist())
        ]

    def _learn(self, words: Sequence[str]) -> None:
        alone = [word for word in words if self._stands_alone(word)]
        self.numbers.update(dict.fromkeys(words, -1))
        if not alone:
            return
        for start in range(0, len(alone), _TOGETHER):
            some = alone[start : start + _TOGETHER]
            encoded = self.tokenizer(" ".join(some), add_special_tokens=False, verbose=False)
            (encoding,) = encoded.encodings
            # A token ends inside its word; a mere sign for the space ends before the word begins.
            end_U = np.cumsum([len(word) + 1 for word in some]) - 1
            end_T = np.asarray(encoding.offsets, dtype=np.int64).reshape(-1, 2)[:, 1]
            self.ends_U.extend(len(self.ids_T) + np.searchsorted(end_T, end_U, side="right"))
            self.ids_T.extend(encoding.ids)
            first = len(self.ends_U) - 1 - len(some)
            self.numbers.update(zip(some, range(first, first + len(some)), strict=True))

    def _stands_alone(self, word: str) -> bool:
        """Tell whether the spaces around a word can have no part in its tokens."""
        if self.added.search(word):
            return False
        return bool(_ORDINARY.fullmatch(word)) or all(
            form and category(form[0])[0] in "LNPS" and category(form[-1])[0] in "LMNPS"
            for form in (word, normalize("NFKC", word))
        )


def _by_words(step: dict[str, Any]) -> bool:
    """Tell whether a pre-tokenizer treats a word alike at every position of a text."""
    if step["type"] == "Metaspace":
        return step["prepend_scheme"] == "always" and bool(step["split"])
    return step["type"] in _BY_WORDS


def _ends(inside_L: np.ndarray) -> tuple[int, int]:
    """Find the first token of a run and the one after it."""
    places = np.flatnonzero(inside_L)
    return int(places[0]), int(places[-1]) + 1


def second_start(encoding: Any) -> int:
    """Find the first token of segment 1; -1 for tokenizers with one segment."""
    types = encoding.type_ids
    return types.index(1) if 1 in types else -1
