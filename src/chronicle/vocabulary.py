"""Word lists in an editable form: one string, words separated by spaces, fields by slashes."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """Split a list at spaces; an underscore is a space inside a word."""
    return tuple(word.replace("_", " ") for word in text.split())


def fields(text: str) -> tuple[tuple[str, ...], ...]:
    """Split a list at spaces and each word at slashes: `judge/judges court/courts`."""
    return tuple(tuple(word.split("/")) for word in words(text))


def lines(text: str) -> tuple[tuple[str, ...], ...]:
    """Split a list at line ends and each line at slashes, for entries of several words."""
    return tuple(tuple(line.strip().split("/")) for line in text.splitlines())
