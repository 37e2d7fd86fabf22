"""What a word is, in one place: for statistics, bags of words and lexical diversity.

A word is a run of letters, marks and digits in any script. What people write inside a word stays
in it: gershayim, geresh and apostrophes (צה״ל, צ'ק, don't), hyphens and maqaf, so that a Romanian
word and its clitic are one word as they are one token between spaces (într-un, s-a, spunându-i),
and the separators of a number (1.000, 3,5). All other punctuation is left out.

Text segmentation by meaning (Hebrew prefixes, Romanian clitics by themselves) is morphology's:
`heron.languages.morphology`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

# `\w` holds no combining marks: without these, Hebrew points would cut words into letters.
_MARKS = "".join(
    chr(code) for code in range(0x0300, 0x2100) if unicodedata.category(chr(code)).startswith("M")
)
_RUN = rf"(?:[^\W_]|[{_MARKS}])+"
_JOINER = r"['’ʼ׳\"״‐‑־-]|(?<=\d)[.,](?=\d)"
_WORD = re.compile(rf"{_RUN}(?:(?:{_JOINER}){_RUN})*")
_WORD_OR_MARK = re.compile(rf"{_WORD.pattern}|(?P<mark>\S)")


def words(text: str) -> list[str]:
    """Split a text into its words, in order, spelt as they are."""
    return _WORD.findall(text)


def word_places(text: str) -> list[tuple[int, int]]:
    """Find where the words of `words` begin and end, in characters."""
    return [found.span() for found in _WORD.finditer(text)]


def folded_words(text: str) -> list[str]:
    """Split a text into its words, in order, without capitals."""
    return _WORD.findall(text.casefold())


def words_and_marks(text: str) -> tuple[list[str], list[tuple[int, str]]]:
    """Split a text into its words, without capitals, and the marks that stand between them.

    Returns:
        The words, as `folded_words` gives them, and every other character but white space, with
        the number of words before it.
    """
    found: list[str] = []
    marks: list[tuple[int, str]] = []
    for match in _WORD_OR_MARK.finditer(text.casefold()):
        if match["mark"]:
            marks.append((len(found), match["mark"]))
        else:
            found.append(match[0])
    return found, marks


# Definitions of a word by name. `words` also folds capitals, so that a word at the beginning of a
# sentence is the same word; `whitespace` is what stands between spaces, punctuation and capitals
# included, the definition that RoNLI's Table 2 turns out to use.
TOKENIZERS: Mapping[str, Callable[[str], list[str]]] = {
    "words": folded_words,
    "whitespace": str.split,
}
