"""What ROUGE compares: tokens as integers, cut in one of two named ways.

- `xlsum` cuts exactly as the multilingual fork of rouge_score that came with XL-Sum, which Hebrew
  papers report. Letters of every script count, and Hebrew points stay. But an acronym is two
  tokens (צה״ל is צה and ל), and so is a number with a separator (3,5 is 3 and 5).
- `heron` compares words as `heron.languages.words` defines them, in one spelling: acronyms and
  numbers are whole, whatever quotation mark stands in them (צה״ל, צה"ל, צה”ל); Hebrew points and
  direction marks are off; Romanian has its comma-below letters. Maqaf and hyphens part words in
  every language, digits part from letters (ב-1974 is ב and 1974, as ב1974 is), and what is neither
  letter nor digit is left out, emoji and currency signs included.

Most words of a text were seen before: each is cut once and then looked up.

Source: https://github.com/csebuetnlp/xl-sum, multilingual_rouge_scoring (which itself cuts with
pyonmttok's `aggressive` mode); checked character by character against both.
Deviates: the fork hands Thai, Chinese and Japanese to segmenters of their own when its `lang` asks
for them; heron has none, and cuts as the fork does without `lang`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import islice

from heron.base.errors import ConfigError, nearest
from heron.config.data import UnicodeOptions
from heron.languages.language import Language
from heron.languages.unicode import normalise
from heron.languages.words import words
from heron.metrics.names import PROFILES

Stem = Callable[[str], str]

_STEMMED_FROM = 4  # characters; the fork leaves shorter tokens as they are
_DROPPED_AT_ENDS = ".,:;!?()[]"
_SEVERAL = -1
_MOST_WORDS = 2_000_000  # in one vocabulary, some 300 MB; then it begins anew

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
    """Cut at changes between letters and digits; every symbol stands alone, marks stay put."""
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
    """Cut what stands between two spaces; a leading mark is written with its escaped space."""
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
# A quotation mark inside a word that another one closes (ל"שקוף") is no gershayim; but it is one
# before a single last letter (צה"ל" at the end of a quotation).
_OPENING_QUOTE = re.compile(r'(?<=\w)"(?=\w{2,}[.,:;!?]*")')
_DIGITS_MEET_LETTERS = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")


def _heron_word(word: str, language: Language) -> list[str]:
    """Cut what stands between two spaces into words in one spelling."""
    word = normalise(word.casefold(), language, _ONE_SPELLING)
    if word.isalpha():
        return [word]
    word = word.translate(_QUOTES_AND_DASHES).replace("''", '"')
    return words(_DIGITS_MEET_LETTERS.sub(" ", _OPENING_QUOTE.sub(" ", word)))


def _stemmed_word(word: str, cut: Callable[[str], list[str]], stem: Stem) -> list[str]:
    """Cut a word, and leave its longer tokens' stems; empty ones go."""
    stems = (stem(token) if len(token) >= _STEMMED_FROM else token for token in cut(word))
    return [token for token in stems if token]


class Vocabulary:
    """Cuts texts by one profile and numbers their tokens; remembers every word it has cut.

    Args:
        profile: `xlsum` or `heron`.
        language: the texts' language; only `heron` depends on it.
        stem: shortens a token to its stem; tokens of up to three characters are left alone.

    Raises:
        ConfigError: an unknown profile.
    """

    def __init__(self, profile: str, language: Language, stem: Stem | None = None):
        if profile not in PROFILES:
            raise ConfigError(f"profile={profile}: no way to cut.{nearest(profile, PROFILES)}")
        cut = _xlsum_word if profile == "xlsum" else partial(_heron_word, language=language)
        self._cut = cut if stem is None else partial(_stemmed_word, cut=cut, stem=stem)
        self._spellings: list[str] = []
        self.clear()

    def clear(self) -> None:
        """Forget all words and numbers."""
        self._words = _Words(self._cut)
        self._spellings.clear()

    def __len__(self) -> int:
        """Count the distinct words, not tokens, seen so far."""
        return len(self._words)

    def ids(self, text: str) -> list[int]:
        """Cut `text`; equal tokens have equal numbers, within this vocabulary."""
        # Only at spaces: of other white space the fork deletes some, which a word's cut decides.
        words, known = text.split(" "), self._words
        ids = list(map(known.__getitem__, words))
        place = 0
        for word in filter(known.several.__contains__, words):
            place = ids.index(_SEVERAL, place)
            ids[place : place + 1] = known.several[word]
        if known.at_start and ids:
            # Nothing precedes the first token, so there is no space to escape.
            ids[0] = known.at_start.get(ids[0], ids[0])
        return ids

    def tokens(self, text: str) -> list[str]:
        """Cut `text`, spelt out: for a look at what is compared."""
        ids, numbers = self.ids(text), self._words.numbers
        new = islice(reversed(numbers), len(numbers) - len(self._spellings))
        self._spellings.extend(reversed(list(new)))
        return [self._spellings[number] for number in ids]


class _Words(dict[str, int]):
    """The number of a word's only token; a new word is cut when it is first asked for.

    Words of no token or several are `_SEVERAL` here, and their numbers in `several`. `numbers` has
    each token's number, in order; `at_start` leads from a mark on an escaped space to the mark.
    """

    def __init__(self, cut: Callable[[str], list[str]]):
        self._cut = cut
        self.numbers: dict[str, int] = {}
        self.several: dict[str, list[int]] = {}
        self.at_start: dict[int, int] = {}

    def __missing__(self, word: str) -> int:
        # Both profiles drop these at a word's ends: most new words are known ones with a comma.
        core = word.strip(_DROPPED_AT_ENDS)
        if len(core) < len(word):
            number = self[core]
            if number == _SEVERAL:
                self.several[word] = self.several[core]
        elif len(tokens := self._cut(word)) == 1 and tokens[0][0] != _ESCAPED_SPACE[0]:
            number = self.numbers.setdefault(tokens[0], len(self.numbers))
        else:
            number = _SEVERAL
            self.several[word] = list(map(self._number, tokens))
        self[word] = number
        return number

    def _number(self, token: str) -> int:
        number = self.numbers.setdefault(token, len(self.numbers))
        if token.startswith(_ESCAPED_SPACE):
            self.at_start[number] = self._number(token.removeprefix(_ESCAPED_SPACE))
        return number


@cache
def _shared(profile: str, language: Language) -> Vocabulary:
    return Vocabulary(profile, language)


def vocabulary(profile: str, language: Language, stem: Stem | None = None) -> Vocabulary:
    """Take the process's vocabulary of this profile and language, or a new one for a stemmer.

    Numbers hold until the next call: a vocabulary that has grown too large then begins anew.
    """
    if stem is not None:
        return Vocabulary(profile, language, stem)
    found = _shared(profile, language)
    if len(found) > _MOST_WORDS:
        found.clear()
    return found


def forget() -> None:
    """Let go of all shared vocabularies and their memory."""
    _shared.cache_clear()
