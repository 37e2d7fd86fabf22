"""The texts of an example for the audit: by field, by word, and numbered for duplicates."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heron.data.examples import Example
from heron.languages.words import folded_words

Splits = Mapping[str, Sequence[Example]]

PREMISE, HYPOTHESIS = "premise", "hypothesis"
ARTICLE, SUMMARY = "article", "summary"
WINDOW, EVENTS, BETWEEN = "window", "events", "between"
TEXT = "text"  # a row's only text
EVIDENCE = (EVENTS, BETWEEN, TEXT)  # legitimate evidence for the label

_NO_WORD = re.compile(r"[\W_]+")


def sides(example: Example) -> dict[str, str]:
    """Name the texts of a row: premise and hypothesis, article and summary, window or text."""
    if example.text_pair is not None:
        return {PREMISE: example.text, HYPOTHESIS: example.text_pair}
    if example.target is not None:
        return {ARTICLE: example.text, SUMMARY: example.target}
    return {WINDOW if example.spans else TEXT: example.text}


def names_of(splits: Splits) -> tuple[str, ...]:
    """Name the texts of a data set's rows; some rows may lack the second."""
    found = {tuple(sides(example)) for example in every(splits)}
    return max(found, key=lambda names: (len(names), names), default=(TEXT,))


def every(splits: Splits) -> Iterator[Example]:
    """Iterate over the examples of all splits."""
    return (example for examples in splits.values() for example in examples)


def fields(example: Example) -> dict[str, str]:
    """Name the parts of a row that a model could read alone.

    They are `sides`, the second first; for a window also its `events` and the text `between` them.
    """
    texts = sides(example)
    if len(texts) > 1:
        return dict(reversed(texts.items()))
    if len(example.spans) < 2:
        return {TEXT: example.text}
    spans = sorted(example.spans)
    events = " … ".join(example.text[start:end] for start, end in example.spans)
    between = example.text[spans[0].end : max(spans[1].start, spans[0].end)]
    return {EVENTS: events, BETWEEN: between, WINDOW: example.text}


def words(text: str) -> list[str]:
    """Split into words (see `heron.languages.words`), case folded; ’ is an apostrophe."""
    return folded_words(text.replace("’", "'"))


class Numbered(NamedTuple):
    """The texts of all rows as numbers, at a level at which texts are alike."""

    texts: list[str]  # the distinct ones, as they first occur; number 0 is the empty text
    rows: Mapping[str, npt.NDArray[Any]]  # by split, int32 [N, 2]


def numbered(splits: Splits, level: Callable[[str], str]) -> Numbered:
    """Number texts, each normalised once: a row is its two `sides`, or its only text and -1.

    For a text with events, the second number stands for these, and is below -1.
    """
    texts = defaultdict(count(1).__next__, {"": 0})
    events: defaultdict[Hashable, int] = defaultdict(count(-2, -1).__next__)

    def row(example: Example) -> tuple[int, int]:
        first, *second = (texts[level(text)] for text in sides(example).values())
        if second:
            return first, second[0]
        # Offsets may differ between copies: an event is its words and the text before it.
        found = tuple((level(example.text[:a]), level(example.text[a:b])) for a, b in example.spans)
        return first, events[found] if found else -1

    found = {
        split: np.fromiter(map(row, examples), np.dtype((np.int32, 2)), len(examples))
        for split, examples in splits.items()
    }
    return Numbered(list(texts), found)


def loose(text: str) -> str:
    """Keep letters and digits only, in lower case, with one space between words.

    Combining marks that do not compose with a letter (Hebrew points) are dropped, too.
    """
    if not text.isascii():
        text = _combining().sub("", unicodedata.normalize("NFC", text))
    return _NO_WORD.sub(" ", text.casefold()).strip()


@cache
def _combining() -> re.Pattern[str]:
    marks = (chr(code) for code in range(0x300, 0x10000) if unicodedata.combining(chr(code)))
    return re.compile(f"[{''.join(marks)}]")
