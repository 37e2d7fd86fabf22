"""Word lists as a reader edits them: one string, words apart by blanks, fields by slashes."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """Split a list at blanks; an underscore stands for a blank inside a word."""
    return tuple(word.replace("_", " ") for word in text.split())


def fields(text: str) -> tuple[tuple[str, ...], ...]:
    """Split a list at blanks and each word at slashes: `judge/judges court/courts`."""
    return tuple(tuple(word.split("/")) for word in words(text))


def lines(text: str) -> tuple[tuple[str, ...], ...]:
    """Split a list at line ends and each line at slashes, for words of several parts."""
    return tuple(tuple(line.strip().split("/")) for line in text.splitlines())
