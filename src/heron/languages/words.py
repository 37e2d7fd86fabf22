"""Words, for statistics, bags of words and lexical diversity.

A word is a run of letters, marks and digits in any script. It includes gershayim, geresh and
apostrophes (צה״ל, צ'ק, don't), hyphens and maqaf, so that a Romanian word and its clitic are one
word (într-un, s-a, spunându-i), and the separators of a number (1.000, 3,5). All other punctuation
is left out. Hebrew prefixes and Romanian clitics stay: to separate them takes morphology. In
scripts without blanks between words (Chinese, Japanese, Thai) each letter is a word.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import chain

# `\w` holds no combining marks: without these, Hebrew points would cut words into letters.
# Up to Khmer, and Javanese to Manipuri; with those above U+FFFF it takes three times as long.
_BLOCKS = chain(range(0x300, 0x2100), range(0xA800, 0xAC00))
MARKS = "".join(mark for mark in map(chr, _BLOCKS) if unicodedata.category(mark).startswith("M"))
# Letters of scripts that put no blank between words: Han, Hiragana, Thai, Lao, Myanmar, Khmer. By
# Unicode's default segmentation (UAX 29) each is a word of its own, where no dictionary is at hand.
_EAST = (
    "\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9"
    "\U00020000-\U0002a6df\U0002a700-\U0002b738\U0002b740-\U0002b81d\U0002b820-\U0002cea1"
    "\U0002ceb0-\U0002ebe0\U0002f800-\U0002fa1d\U00030000-\U0003134a"
    "\u3041-\u3096\u309d-\u309f"
)
_SOUTHEAST = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055"
    "\ua9e0-\ua9ef\uaa60-\uaa7a\u1780-\u17b3\u17d7"
)
_UNSPACED = _EAST + _SOUTHEAST
WORD_SPACES = "፡་༌"  # Ethiopic word space, Tibetan tsheg: punctuation to Unicode
_ALONE = rf"[{_UNSPACED}][{MARKS}]*"
_RUN = rf"(?:[^\W_{_UNSPACED}]|[{MARKS}])+"
HYPHENS = "‐‑־-"  # maqaf among them
_JOINER = rf"['’ʼ׳\"״{HYPHENS}]|(?<=\d)[.,](?=\d)"
WORD = re.compile(rf"{_ALONE}|{_RUN}(?:(?:{_JOINER}){_RUN})*")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}{WORD_SPACES}]")
_UNSPACED_LETTER = re.compile(f"({_ALONE})")
_SOUTHEAST_LETTER = re.compile(f"[{_SOUTHEAST}]")


def words(text: str) -> list[str]:
    """Split a text into its words."""
    return WORD.findall(text)


def spaced(text: str) -> str:
    """Put blanks around each letter of a script that writes none between words."""
    return _UNSPACED_LETTER.sub(r" \1 ", text) if _HAS_UNSPACED.search(text) else text


def lacks_blanks(text: str) -> bool:
    """Tell whether most words are letters of Thai, Lao, Burmese or Khmer.

    ROUGE's and SQuAD's rules do not split these; those of ROUGE do split Chinese.
    """
    return len(_SOUTHEAST_LETTER.findall(text)) > len(words(text)) / 2


def word_count(text: str) -> int:
    """Count what stands between white space; in scripts that use other signs or none, `words`."""
    parts = words(text) if _HAS_UNSPACED.search(text) else text.split()
    return len(parts)


def word_places(text: str) -> list[tuple[int, int]]:
    """Find the character spans of the words of `words`."""
    return [match.span() for match in WORD.finditer(text)]


def folded_words(text: str) -> list[str]:
    """Split a text into its words, case-folded."""
    return WORD.findall(text.casefold())


# Definitions of a word by name: case-folded words, or unchanged strings between white space, as in
# RoNLI's Table 2.
TOKENIZERS: Mapping[str, Callable[[str], list[str]]] = {
    "words": folded_words,
    "whitespace": str.split,
}
