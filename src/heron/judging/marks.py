"""Marks that people write into a cell of a sheet: yes, no or nothing."""

from __future__ import annotations

_YES = frozenset(("x", "v", "1", "y", "yes", "true", "✓", "כן", "da"))
_NO = frozenset(("0", "n", "no", "false", "-", "לא", "nu"))


def read_mark(name: str, text: str) -> bool | None:
    """Read one mark: True, False, or None for an empty cell.

    Raises:
        ValueError: what is wrong, and how to fix it.
    """
    word = text.strip().casefold()
    if not word:
        return None
    if word not in _YES | _NO:
        raise ValueError(f"{name}={text}: no mark", "x or 1 for yes, 0 or nothing for no")
    return word in _YES
