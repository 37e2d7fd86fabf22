"""ROUGE-1, ROUGE-2 and ROUGE-L of summaries in any language.

The scores are F, the harmonic mean of precision and recall, of n-grams or of the longest common
subsequence of words. Two profiles define words. Each distinct word of all texts is split once. Most
words have ordinary letters only and are one token in both profiles; Arrow lower-cases and numbers
them, and Python splits the others.

- `xlsum` (`rouge1`, `rouge2`, `rougeL`) splits exactly as the multilingual fork of rouge_score that
  came with XL-Sum, which Hebrew papers report. Letters of every script count, and Hebrew points
  stay. But an acronym is two tokens (צה״ל is צה and ל), and so is a number with a separator (3,5 is
  3 and 5).
- `heron` (`rouge1_heron` and so on) compares words as `heron.languages.words` defines them, in one
  spelling: acronyms and numbers are whole, whatever quotation mark stands in them (צה״ל, צה"ל,
  צה”ל); Hebrew points, direction marks and soft hyphens are removed; Romanian has its comma-below
  letters. Maqaf and hyphens separate words, digits are separated from letters (ב-1974 and ב1974 are
  ב and 1974), and everything else is dropped, emoji and currency signs included. In scripts without
  blanks each letter is a token.

Nothing is stemmed. A text without any token scores 0 against every text, itself included, as in the
fork.

Legend: N items, P pairs of an item and one of its references.
Source: Lin 2004; https://github.com/csebuetnlp/xl-sum, multilingual_rouge_scoring (which splits
with pyonmttok's `aggressive` mode), whose scores `profile=xlsum` equals; checked character by
character against both.
Deviates: the fork takes one reference; several are treated as in rouge_score 0.1.2. With `lang`,
the fork gives Thai, Chinese and Japanese to segmenters of their own; heron splits as without it.
"""

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate, chain, pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist
from scipy.sparse import csr_array

from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.language import Language
from heron.languages.romanian import ROMANIAN
from heron.languages.unicode import UnicodeOptions, fold, normalise
from heron.languages.words import spaced, words
from heron.metrics import require_rows
from heron.metrics.arrays import Counts, Floats
from heron.metrics.names import MEASURES

Ids: TypeAlias = "array[int]"  # the tokens of a text
References = Sequence[str] | Sequence[Sequence[str]]  # of each prediction one, or several

_DROPPED_AT_ENDS = ".,:;!?()[]"
_SURROGATE = re.compile("[\ud800-\udfff]")
# Letters of most words; both profiles only lower-case these.
_LETTERS = frozenset(HEBREW.alphabet + ROMANIAN.alphabet + ENGLISH.alphabet)
_MOST_WORDS = 1 << 20  # whose tokens a process caches

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
    """Split where letters and digits meet; each symbol is a token, with its marks."""
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
    """Tokenize text without spaces; a leading combining mark stays with its escaped space."""
    word = word.lower()
    has_cjk = _HAS_CJK.search(word)
    if word.isalpha() and not has_cjk:
        return [word]

    tokens: list[str] = []
    for chunk in word.translate(_SANITIZER).split():
        if chunk.isalpha() or chunk.isdecimal():
            tokens.append(chunk)
        else:
            tokens += _runs(chunk)
    if has_cjk:
        return [part for token in tokens for part in _CJK_TOKENS.findall(token)]
    return tokens


_ONE_SPELLING = UnicodeOptions(niqqud="strip", punctuation="unify")
_QUOTES_AND_DASHES = str.maketrans(
    {
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),  # invisible: dropped
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
    """Split text without spaces into words, with Unicode variants unified."""
    word = normalise(fold(word, language), language, _ONE_SPELLING)
    if word.isalpha() and spaced(word) == word:
        return [word]
    word = word.translate(_QUOTES_AND_DASHES).replace("''", '"')
    word = _OPENING_QUOTE.sub(" ", word)
    return words(_DIGITS_MEET_LETTERS.sub(" ", word))


@cache
def _ways(profile: str, language: Language) -> tuple[str, Callable[[str], str]]:
    """Choose how a profile splits words.

    Returns:
        The pattern of words that are one token, in lower case; and the function that splits all
        others, which joins their tokens by spaces.
    """
    letters = _LETTERS
    split = _xlsum_word
    if profile == "heron":
        letters = letters.difference(language.variants[::2])
        if fold("I", language) != "i":
            letters = letters.difference("I")
        split = partial(_heron_word, language=language)
    return f"^[{''.join(letters)}]+$", lru_cache(_MOST_WORDS)(lambda word: " ".join(split(word)))


def number_tokens(
    texts: Sequence[str], profile: str, language: Language
) -> tuple[list[Ids], pa.Array]:
    """Split texts by one profile and number their tokens.

    Args:
        texts: to split.
        profile: `xlsum` or `heron`.
        language: of the texts; only `heron` depends on it.

    Returns:
        The numbers of each text's tokens, and the token of each number.
    """
    one_token, split = _ways(profile, language)
    # Only at spaces: of other white space the fork deletes some, which depends on the word.
    words = pc.split_pattern(_column(texts), " ")
    distinct = words.flatten().dictionary_encode()

    # The tokens of each distinct word, joined by spaces.
    cores = pc.utf8_trim(distinct.dictionary, _DROPPED_AT_ENDS)  # both profiles drop these
    others = pc.invert(pc.match_substring_regex(cores, one_token))
    split_others = [split(word) for word in cores.filter(others).to_pylist()]
    joined = pc.replace_with_mask(pc.utf8_lower(cores), others, _column(split_others))
    by_word = pc.split_pattern(joined, " ")

    # The number of each token of each word of the texts, without words that have no token ("").
    tokens = by_word.flatten().dictionary_encode()
    numbered = pa.ListArray.from_arrays(by_word.offsets, tokens.indices).take(distinct.indices)
    number = numbered.flatten().to_numpy()
    kept = number != tokens.dictionary.index("").as_py()
    flat = array("q", number[kept].astype(np.int64).tobytes())

    kept_before = np.append(0, kept.cumsum())
    first_of_word = numbered.offsets.to_numpy()
    first_of_text = first_of_word[words.offsets.to_numpy()]
    bounds = kept_before[first_of_text].tolist()
    ids = [flat[start:end] for start, end in pairwise(bounds)]
    return ids, _unescape(ids, tokens.dictionary)


def _column(texts: Sequence[str]) -> pa.Array:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:  # half of a surrogate pair, which is no letter in either profile
        return pa.array([_SURROGATE.sub("\ufffd", text) for text in texts], pa.large_string())


def _unescape(ids: list[Ids], spellings: pa.Array) -> pa.Array:
    """Remove the escaped space of a mark at the beginning of a text: no space precedes it.

    Changes the first number of such texts in `ids`; returns the spellings with the new ones.
    """
    escaped = pc.starts_with(spellings, _ESCAPED_SPACE)
    if not pc.any(escaped).as_py():
        return spellings

    bare = pc.utf8_slice_codeunits(spellings.filter(escaped), len(_ESCAPED_SPACE))
    all_spellings = pa.concat_arrays([spellings, bare]).dictionary_encode()
    numbers = pc.indices_nonzero(escaped).to_pylist()
    bare_numbers = all_spellings.indices[len(spellings) :].to_pylist()
    at_start = dict(zip(numbers, bare_numbers, strict=True))

    for text in ids:
        if text:
            text[0] = at_start.get(text[0], text[0])
    return all_spellings.dictionary


_MOST_TOKENS = 1 << 31  # of a vocabulary: so the ids of two tokens fit into one integer


def pair_scores(first: Sequence[Ids], second: Sequence[Ids]) -> Floats:
    """Compute F of ROUGE-1, ROUGE-2 and ROUGE-L.

    Args:
        first: the tokens of P texts.
        second: the tokens of the texts that they are compared with.

    Returns:
        float64 `[P, 3]`; 0 where a pair shares nothing.
    """
    shared_P3 = shared_counts(first, second)
    precision_P3 = shared_P3 / _totals(first)
    recall_P3 = shared_P3 / _totals(second)
    sum_P3 = precision_P3 + recall_P3
    nothing_P3 = np.zeros_like(sum_P3)
    return np.divide(2 * precision_P3 * recall_P3, sum_P3, out=nothing_P3, where=sum_P3 > 0)


def _totals(texts: Sequence[Ids]) -> Counts:
    """Count the unigrams, bigrams and tokens of each text, `[P, 3]`; at least 1, to divide by."""
    length_P = np.array([len(text) for text in texts], dtype=np.int64)
    totals_P3 = np.column_stack([length_P, length_P - 1, length_P])
    return np.maximum(totals_P3, 1)


def shared_counts(first: Sequence[Ids], second: Sequence[Ids]) -> Counts:
    """Count what the texts of each pair share, P in `first` and P in `second`.

    Returns:
        Unigrams and bigrams, each as often as both texts have it, and the tokens of the longest
        common subsequence; int64 `[P, 3]`.
    """
    shared = _ngrams(first).minimum(_ngrams(second)).sum(axis=1)
    unigrams_P, bigrams_P = shared.reshape(2, -1)
    subsequence_P = cpdist(first, second, scorer=LCSseq.similarity, dtype=np.int64)
    return np.stack([unigrams_P, bigrams_P, subsequence_P], axis=-1)


def _ngrams(texts: Sequence[Ids]) -> csr_array:
    """Count n-grams.

    Returns:
        A row for each text's unigrams, then one for each text's bigrams; a column for each n-gram.
    """
    lengths = [len(text) for text in texts]
    ids = np.frombuffer(b"".join(texts), np.int64)
    text = np.repeat(np.arange(len(texts)), lengths)

    # Bigrams of neighbours, but for those of two texts.
    is_bigram = text[1:] == text[:-1]
    bigrams = (ids[:-1] * _MOST_TOKENS + ids[1:])[is_bigram]
    bigram_text = text[1:][is_bigram]

    rows = np.concatenate([text, bigram_text + len(texts)])
    columns = np.concatenate([ids, bigrams])
    shape = (2 * len(texts), _MOST_TOKENS**2)
    # Built from rows and columns, it sums entries of one place.
    return csr_array((np.ones_like(rows), (rows, columns)), shape)


def rouge(
    predictions: Sequence[str],
    references: References,
    profile: str,
    language: Language,
) -> dict[str, Floats]:
    """Score every prediction by itself.

    Args:
        predictions: N texts.
        references: for each prediction its reference, or several: each score takes the best one.
        profile: `xlsum` or `heron`.
        language: of the texts.

    Returns:
        F as `rouge1`, `rouge2` and `rougeL`, fractions, float64 `[N]`.

    Raises:
        DataError: not one entry of references for every prediction.
    """
    require_rows("rouge", predictions, references)
    several = [[entry] if isinstance(entry, str) else entry for entry in references]
    assert all(several), "each prediction needs a reference"
    lengths = [len(texts) for texts in several]
    texts = [*predictions, *chain.from_iterable(several)]
    ids, _ = number_tokens(texts, profile, language)

    predicted_P = []  # each prediction as often as it has references
    for prediction, length in zip(ids, lengths, strict=False):
        predicted_P += [prediction] * length
    f_P3 = pair_scores(predicted_P, ids[len(predictions) :])
    firsts = [0, *accumulate(lengths)][:-1]  # each prediction's first pair
    best_N3 = np.maximum.reduceat(f_P3, firsts) if firsts else f_P3
    return {measure: best_N3[:, column].copy() for column, measure in enumerate(MEASURES)}
