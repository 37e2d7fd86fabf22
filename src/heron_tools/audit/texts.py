"""The texts of an example for the audit: by field, by word, and numbered for duplicates."""

import re
import unicodedata
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heron.data.examples import Example
from heron.languages.words import MARKS, folded_words

Splits = Mapping[str, Sequence[Example]]

PREMISE = "premise"
HYPOTHESIS = "hypothesis"
ARTICLE = "article"
SUMMARY = "summary"
WINDOW = "window"
EVENTS = "events"
BETWEEN = "between"
TEXT = "text"  # a row's only text
EVIDENCE = (EVENTS, BETWEEN, TEXT)  # legitimate evidence for the label

# Unicode's combining classes of marks that writers may leave out.
_OPTIONAL = {*range(10, 37), *range(200, 241)}
_NO_WORD = re.compile(rf"(?:[^\w{MARKS}]|_)+")


def sides(example: Example) -> dict[str, str]:
    """Name the texts of a row: premise and hypothesis, article and summary, window or text.

    Returns:
        One or two texts by name.
    """
    if example.text_pair is not None:
        return {PREMISE: example.text, HYPOTHESIS: example.text_pair}

    if example.target is not None:
        return {ARTICLE: example.text, SUMMARY: example.target}

    name = WINDOW if example.spans else TEXT
    return {name: example.text}


def names_of(splits: Splits) -> tuple[str, ...]:
    """Name the texts of a data set's rows; some rows may lack the second."""
    kinds: set[tuple[str, ...]] = set()
    for examples in splits.values():
        kinds.update(tuple(sides(example)) for example in examples)

    return max(kinds, key=lambda names: (len(names), names), default=(TEXT,))


def fields(example: Example) -> dict[str, str]:
    """Name the parts of a row that a model could read alone.

    These are its `sides`, the second one first, or a window, its `events` and the text `between`
    them.

    Returns:
        Texts by name.
    """
    texts = sides(example)
    if len(texts) > 1:
        return dict(reversed(texts.items()))

    if len(example.spans) < 2:
        return {TEXT: example.text}

    first, second, *_ = sorted(example.spans)
    between = example.text[first.end : max(second.start, first.end)]
    events = [example.text[start:end] for start, end in example.spans]
    return {EVENTS: " … ".join(events), BETWEEN: between, WINDOW: example.text}


def words(text: str) -> list[str]:
    """Split into words (see `heron.languages.words`), case folded; ’ is an apostrophe."""
    return folded_words(text.replace("’", "'"))


class Numbered(NamedTuple):
    """The texts of all rows as numbers: texts that a normalisation makes equal have one number."""

    texts: list[str]  # distinct normalised texts, in order of number; number 0 is the empty text
    rows: Mapping[str, npt.NDArray[Any]]  # by split, int32 [N, 2]


def numbered(splits: Splits, normalize: Callable[[str], str]) -> Numbered:
    """Number the texts of all rows.

    A row has the numbers of its two `sides`. The second number of a row with one text is -1, or a
    number below -1 for its events.

    Args:
        splits: the rows.
        normalize: normalises a text; texts that it makes equal have one number.
    """
    text_ids = {"": 0}
    event_ids: dict[Hashable, int] = {}

    def number(text: str) -> int:
        return text_ids.setdefault(normalize(text), len(text_ids))

    rows = {}
    for split, examples in splits.items():
        rows[split] = np.empty((len(examples), 2), np.int32)
        for row, example in enumerate(examples):
            first, *second = map(number, sides(example).values())
            if second:
                rows[split][row] = first, second[0]
                continue

            # Offsets may differ between copies: an event is its words and the text before it.
            events = []
            for start, end in example.spans:
                before = normalize(example.text[:start])
                event = normalize(example.text[start:end])
                events.append((before, event))

            events_id = -1
            if events:
                events_id = event_ids.setdefault(tuple(events), -2 - len(event_ids))

            rows[split][row] = first, events_id

    return Numbered(list(text_ids), rows)


def loose(text: str) -> str:
    """Keep letters and digits only, in lower case, with one space between words.

    Hebrew points, Arabic vowel signs and accents that do not compose with a letter are dropped,
    too; vowels of Hindi, Thai or Khmer, which are marks to Unicode, stay.
    """
    if not text.isascii():
        composed = unicodedata.normalize("NFC", text)
        text = _combining().sub("", composed)

    return _NO_WORD.sub(" ", text.casefold()).strip()


@cache
def _combining() -> re.Pattern[str]:
    """Match one point, Arabic vowel sign or accent, by its combining class."""
    characters = map(chr, range(0x300, 0x10000))
    marks = [mark for mark in characters if unicodedata.combining(mark) in _OPTIONAL]
    return re.compile(f"[{''.join(marks)}]")
