"""Offsets of annotated spans: tools count characters, or UTF-16 units as JavaScript does."""

from collections.abc import Callable, Iterable

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
