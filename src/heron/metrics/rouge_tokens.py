"""ROUGE's tokens, as integers, by one of two profiles.

- `xlsum` splits exactly as the multilingual fork of rouge_score that came with XL-Sum, which Hebrew
  papers report. Letters of every script count, and Hebrew points stay. But an acronym is two
  tokens (צה״ל is צה and ל), and so is a number with a separator (3,5 is 3 and 5).
- `heron` compares words as `heron.languages.words` defines them, in one spelling: acronyms and
  numbers are whole, whatever quotation mark stands in them (צה״ל, צה"ל, צה”ל); Hebrew points and
  direction marks are removed; Romanian has its comma-below letters. Maqaf and hyphens separate
  words, digits are separated from letters (ב-1974 and ב1974 are ב and 1974), and everything else is
  dropped, emoji and currency signs included.

Source: https://github.com/csebuetnlp/xl-sum, multilingual_rouge_scoring (which splits with
pyonmttok's `aggressive` mode); checked character by character against both.
Deviates: with `lang`, the fork gives Thai, Chinese and Japanese to segmenters of their own; heron
splits as the fork does without `lang`.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, partial
from itertools import chain

from heron.base.errors import ConfigError, nearest
from heron.config.data import UnicodeOptions
from heron.languages.language import Language
from heron.languages.unicode import normalise
from heron.languages.words import words
from heron.metrics.names import PROFILES

_DROPPED_AT_ENDS = ".,:;!?()[]"
_MOST_WORDS = 2_000_000  # in one vocabulary, some 300 MB; then it is emptied

_CJK = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002ceaf\U0002f800-\U0002fa1f"
)
_HAS_CJK = re.compile(f"[{_CJK}]")
_CJK_TOKENS = re.compile(f"[{_CJK}]|[^{_CJK}]+")
# pyonmttok's own control symbols are replaced where a text contains them ...
_SUBSTITUTES = {"\u2581": "_", "\uffed": "\u25a0", "\uffe8": "\u2502"}
# ... and a mark without a letter before it stands on an escaped space.
_ESCAPED_SPACE = "\uff050020"


class _Sanitizer(dict[int, str | None]):
    """A table for `str.translate`, filled as characters turn up; None deletes."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        if char in "\t\n\r" or category == "Zs":
            kept: str | None = " "
        elif category[0] == "C" or char == "\ufffd":
            kept = None
        elif category[0] == "P" or (code < 128 and not char.isalnum()):
            kept = " "
        else:
            kept = char
        self[code] = kept
        return kept


_SANITIZER = _Sanitizer()


def _runs(chunk: str) -> Iterable[str]:
    """Split where letters and digits meet; each symbol is a token, marks stay with theirs."""
    runs: list[str] = []
    last = ""
    for char in chunk:
        kind = unicodedata.category(char)[0]
        if kind == "M":
            if runs:
                runs[-1] += char
            else:
                runs.append(_ESCAPED_SPACE + char)
        elif kind == last and kind in "LN":
            runs[-1] += char
        else:
            runs.append(_SUBSTITUTES.get(char, char))
            last = kind
    return runs


def _xlsum_word(word: str) -> list[str]:
    """Split what is between two spaces; a leading mark is written with its escaped space."""
    word = word.lower()
    if word.isalpha() and not _HAS_CJK.search(word):
        return [word]
    tokens: list[str] = []
    for chunk in word.translate(_SANITIZER).split():
        tokens.extend([chunk] if chunk.isalpha() or chunk.isdecimal() else _runs(chunk))
    if _HAS_CJK.search(word):
        return [part for token in tokens for part in _CJK_TOKENS.findall(token)]
    return tokens


_ONE_SPELLING = UnicodeOptions(niqqud="strip", punctuation="unify")
_QUOTES_AND_DASHES = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ′´`", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("-‐‑‒–—−", " "),
    }
)
# A quotation mark inside a word that another one closes (ל"שקוף") is not gershayim, except before a
# single last letter (צה"ל" at the end of a quotation).
_OPENING_QUOTE = re.compile(r'(?<=\w)"(?=\w{2,}[.,:;!?]*")')
_DIGITS_MEET_LETTERS = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")


def _heron_word(word: str, language: Language) -> list[str]:
    """Split what is between two spaces into words in one spelling."""
    word = normalise(word.casefold(), language, _ONE_SPELLING)
    if word.isalpha():
        return [word]
    word = word.translate(_QUOTES_AND_DASHES).replace("''", '"')
    return words(_DIGITS_MEET_LETTERS.sub(" ", _OPENING_QUOTE.sub(" ", word)))


class Vocabulary(dict[str, tuple[int, ...]]):
    """Splits texts by one profile and numbers their tokens; each distinct word is split once.

    It holds the numbers of each word's tokens. Only `heron` depends on the texts' language.

    Raises:
        ConfigError: an unknown profile.
    """

    def __init__(self, profile: str, language: Language):
        if profile not in PROFILES:
            hint = nearest(profile, PROFILES)
            raise ConfigError(f"unknown ROUGE profile={profile}.{hint}")
        heron_word = partial(_heron_word, language=language)
        self._split = _xlsum_word if profile == "xlsum" else heron_word
        self._numbers: dict[str, int] = {}  # of each token, in order
        self._at_start: dict[int, int] = {}  # a mark on an escaped space -> the mark alone

    def ids(self, text: str) -> list[int]:
        """Split `text`; equal tokens have equal numbers, within this vocabulary."""
        # Only at spaces: of other white space the fork deletes some, which depends on the word.
        ids = list(chain.from_iterable(map(self.__getitem__, text.split(" "))))
        if self._at_start and ids:
            # Nothing precedes the first token, so there is no space to escape.
            ids[0] = self._at_start.get(ids[0], ids[0])
        return ids

    def tokens(self, text: str) -> list[str]:
        """Split `text` into the tokens that are compared."""
        ids, spellings = self.ids(text), list(self._numbers)
        return [spellings[number] for number in ids]

    def __missing__(self, word: str) -> tuple[int, ...]:
        # Both profiles drop these at a word's ends: most new words are known ones with a comma.
        core = word.strip(_DROPPED_AT_ENDS)
        found = self[core] if len(core) < len(word) else tuple(map(self._number, self._split(word)))
        self[word] = found
        return found

    def _number(self, token: str) -> int:
        number = self._numbers.setdefault(token, len(self._numbers))
        if token.startswith(_ESCAPED_SPACE):
            self._at_start[number] = self._number(token.removeprefix(_ESCAPED_SPACE))
        return number


_shared = cache(Vocabulary)


def vocabulary(profile: str, language: Language) -> Vocabulary:
    """Get the process's vocabulary of a profile and language.

    Numbers hold until the next call: a vocabulary that has grown too large is then dropped.
    """
    if len(_shared(profile, language)) > _MOST_WORDS:
        forget()
    return _shared(profile, language)


def forget() -> None:
    """Drop all shared vocabularies, and free their memory."""
    _shared.cache_clear()
