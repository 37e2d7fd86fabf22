"""Words, for statistics, bags of words and lexical diversity.

A word is a run of letters, marks and digits in any script. It includes gershayim, geresh and
apostrophes (צה״ל, צ'ק, don't), hyphens and maqaf, so that a Romanian word and its clitic are one
word (într-un, s-a, spunându-i), and the separators of a number (1.000, 3,5). All other punctuation
is left out. Hebrew prefixes and Romanian clitics stay: to separate them takes morphology.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping

# `\w` holds no combining marks: without these, Hebrew points would cut words into letters.
_MARKS = "".join(
    chr(code) for code in range(0x0300, 0x2100) if unicodedata.category(chr(code)).startswith("M")
)
_RUN = rf"(?:[^\W_]|[{_MARKS}])+"
HYPHENS = "‐‑־-"  # maqaf among them
_JOINER = rf"['’ʼ׳\"״{HYPHENS}]|(?<=\d)[.,](?=\d)"
_WORD = re.compile(rf"{_RUN}(?:(?:{_JOINER}){_RUN})*")
_WORD_OR_MARK = re.compile(rf"{_WORD.pattern}|(?P<mark>\S)")


def words(text: str) -> list[str]:
    """Split a text into its words."""
    return _WORD.findall(text)


def word_places(text: str) -> list[tuple[int, int]]:
    """Find the character spans of the words of `words`."""
    return [found.span() for found in _WORD.finditer(text)]


def folded_words(text: str) -> list[str]:
    """Split a text into its words, case-folded."""
    return _WORD.findall(text.casefold())


def words_and_marks(text: str) -> tuple[list[str], list[tuple[int, str]]]:
    """Split a text into `folded_words` and other characters.

    Returns:
        The words, and every other character but white space with the number of words before it.
    """
    found: list[str] = []
    marks: list[tuple[int, str]] = []
    for match in _WORD_OR_MARK.finditer(text.casefold()):
        if match["mark"]:
            marks.append((len(found), match["mark"]))
        else:
            found.append(match[0])
    return found, marks


# Definitions of a word by name: case-folded words, or unchanged strings between white space, as in
# RoNLI's Table 2.
TOKENIZERS: Mapping[str, Callable[[str], list[str]]] = {
    "words": folded_words,
    "whitespace": str.split,
}
