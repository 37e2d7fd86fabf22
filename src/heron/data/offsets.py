"""Offsets of annotated spans in characters, UTF-16 units (as JavaScript counts) or graphemes."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from heron.languages.words import WORD

# Beyond it, one character is two UTF-16 units.
_LAST_OF_ONE_UNIT = "\uffff"


def stands_at(context: str, answer: str, start: int) -> bool:
    """Tell whether `answer` is in `context` at character `start`."""
    return start >= 0 and context.startswith(answer, start)


def has_wide(text: str) -> bool:
    """Tell whether a text has characters of two UTF-16 units, such as emoji."""
    return not text.isascii() and max(text) > _LAST_OF_ONE_UNIT


def from_utf16(text: str, offset: int) -> int:
    """Convert an offset in UTF-16 units to one in characters."""
    if offset < 0 or not has_wide(text):
        return offset
    units = text.encode("utf-16-le", "surrogatepass")
    before = units[: 2 * offset].decode("utf-16-le", "ignore")
    return len(before) + max(0, offset - len(units) // 2)


def count_utf16(
    spans: Iterable[tuple[str, str, int]],
    stands: Callable[[str, str, int], bool] = stands_at,
) -> bool:
    """Tell whether offsets count UTF-16 units, because more of the spans then have their texts.

    Args:
        spans: the context, the text and the offset of each.
        stands: tells whether a text is in a context at a character.
    """
    by_character = by_unit = 0
    for context, text, start in spans:
        if has_wide(context):
            by_character += stands(context, text, start)
            by_unit += stands(context, text, from_utf16(context, start))
    return by_unit > by_character


def from_graphemes(text: str, offset: int) -> int:
    """Convert an offset in grapheme clusters (a letter with its marks) to one in characters."""
    import regex

    clusters = regex.findall(r"\X", text)
    return len("".join(clusters[:offset])) + max(0, offset - len(clusters))


# Offsets to characters, by the unit of the offset; the first is that of doccano by default.
_UNITS: dict[str, Callable[[str, int], int]] = {
    "UTF-16 units": from_utf16,
    "characters": lambda text, offset: offset,
    "graphemes": from_graphemes,
}


def in_characters(spans: Sequence[tuple[str, int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Convert spans without texts to characters, from the unit in which most are whole words.

    Args:
        spans: the context, the start and the end of each.

    Returns:
        The unit, and the start and the end of each span.
    """
    converted = {}
    whole_words = {}
    for unit, convert in _UNITS.items():
        places = []
        count = 0
        for text, start, end in spans:
            first = convert(text, start)
            last = convert(text, end)
            places.append((first, last))
            starts, ends = _word_borders(text)
            count += (first in starts) + (last in ends)

        converted[unit] = places
        whole_words[unit] = count

    best = max(_UNITS, key=whole_words.__getitem__)
    return best, converted[best]


@lru_cache(maxsize=1)  # the spans of a text follow each other
def _word_borders(text: str) -> tuple[set[int], set[int]]:
    """Find where the words of a text begin, and where they end."""
    starts = set()
    ends = set()
    for word in WORD.finditer(text):
        starts.add(word.start())
        ends.add(word.end())

    return starts, ends
