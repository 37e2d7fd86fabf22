"""Lexical diversity of a text: type-token ratios.

The type-token ratio falls with text length (with 17 part-of-speech tags, it is about 17 / length),
so a moving average is computed, too, and analyses control for length.

Legend: T tokens.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from heron_tools.morphology.backends import Analysis

WINDOW = 20  # tokens; shorter than nearly all pairs of sentences


class Diversity(NamedTuple):
    """Lexical diversity of one example; all ratios are fractions."""

    ttr: float  # the mean of `lemma` and `pos`; `lemma` without parts of speech
    lemma: float  # distinct lemmas / lemmas
    pos: float | None  # distinct part-of-speech tags / tags; None without tags
    mattr: float  # mean of distinct lemmas / lemmas over all windows of `WINDOW` tokens
    tokens: int  # T


def diversity(analyses: Sequence[Analysis]) -> Diversity:
    """Measure the texts of one example (premise, then hypothesis) as one text.

    Source: LCHAIM, section 5.1, after Kettunen 2014.
    Deviates: LCHAIM does not name its tagger; without tags the part-of-speech term is left out.
    """
    lemmas: list[str] = []
    tags: list[str] = []
    for analysis in analyses:
        lemmas += analysis.lemmas
        tags += analysis.pos or ()
    by_lemma = type_token_ratio(lemmas)
    ttr = by_lemma
    by_pos = None
    if all(analysis.pos is not None for analysis in analyses):
        by_pos = type_token_ratio(tags)
        ttr = (by_lemma + by_pos) / 2
    return Diversity(ttr, by_lemma, by_pos, mattr(lemmas), len(lemmas))


def ratio_name(measured: Sequence[Diversity]) -> str:
    """Name `ttr` in tables: LCHAIM's, or of lemmas only without part-of-speech tags."""
    lemmas_alone = bool(measured) and measured[0].pos is None
    return "type-token ratio of lemmas" if lemmas_alone else "type-token ratio"


def type_token_ratio(tokens_T: Sequence[Hashable]) -> float:
    """Divide distinct tokens by all tokens; 0 for an empty text."""
    return len(set(tokens_T)) / max(len(tokens_T), 1)


def mattr(tokens_T: Sequence[Hashable], window: int = WINDOW) -> float:
    """Average the type-token ratio over all windows of `window` tokens, or over a shorter text.

    Source: Covington and McFall 2010, "Cutting the Gordian knot", section 3.
    """
    if len(tokens_T) <= window:
        return type_token_ratio(tokens_T)
    counts = Counter(tokens_T[:window])
    total = types = len(counts)
    for leaving, entering in zip(tokens_T, tokens_T[window:], strict=False):
        counts[leaving] -= 1
        if counts[leaving] == 0:
            types -= 1
        if counts[entering] == 0:
            types += 1
        counts[entering] += 1
        total += types
    windows = len(tokens_T) - window + 1
    return total / (window * windows)
