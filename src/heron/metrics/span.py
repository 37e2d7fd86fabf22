"""Scores of extractive question answering: exact match, token F1, and TLNLS.

Each prediction is compared with every gold answer of its question; the best score counts.
`exact_match` and `f1` equal those of the official SQuAD script. Its rules were made for English:
they know ASCII punctuation only (צה"ל and צה״ל differ), and they strip `a`, `an` and `the`
(Romanian "un an", a year, equals "un"). A language profile's scores (`he_f1`) repair that. `tlnls`
gives credit to a word with a wrong prefix (כנסת for הכנסת: F1 0, TLNLS .8).

Data with unanswerable questions are scored by the rules of SQuAD 2.0: an empty prediction is right
for them (1) and wrong for all others (0). Other data are scored by the rules of 1.1. The rules also
differ where normalisation leaves nothing of either answer: F1 is 0 in 1.1 and 1 in 2.0.

Legend: N questions, U texts.
Source: Rajpurkar et al. 2016 and 2018 and their scripts (1.1 and 2.0); Cohen et al. 2023 (HeQ) for
TLNLS.
Deviates: fractions, where the scripts print percent.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from rapidfuzz.distance.Levenshtein import distance

from heron.base.errors import DataError
from heron.languages.language import UNDETERMINED, Language
from heron.languages.unicode import UnicodeOptions, fold, normalise
from heron.languages.words import WORD_SPACES, spaced
from heron.metrics import require_rows
from heron.metrics.arrays import Floats

Tokens = tuple[str, ...]
Score = TypeVar("Score", float, tuple[float, float])

# `\b(a|an|the)\b`, but beginning with a letter, which a search finds eight times as fast.
_ARTICLES = re.compile(r"(?:a(?<!\wa)n?|t(?<!\wt)he)\b")
_UNICODE = UnicodeOptions(niqqud="strip")
# An unknown language: it has no letter variants of its own.
_ANY = Language("unicode", "any language", "ltr", "")
_OTHER_DASHES = "−⁃"  # minus sign and hyphen bullet: not dashes (Pd) to Unicode
_OTHER_MARKS = "ʼ´"  # typed for an apostrophe or a geresh; not punctuation to Unicode


@dataclass(frozen=True, slots=True)
class AnswerProfile:
    """A definition of equal answers: the rules that turn an answer into tokens."""

    name: str  # prefix of its scores (`he_f1`); empty for the standard scores (`f1`)
    # Normalises answers joined by newlines; it treats a newline like a space, and keeps it.
    normalise: Callable[[str], str]

    def score(self, name: str) -> str:
        """Name one of its scores."""
        return f"{self.name}_{name}" if self.name else name

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Normalise U texts and split them at white space; an empty tuple where nothing is left."""
        if not texts:
            return []
        lines = [text.replace("\n", " ") for text in texts]
        normalised = self.normalise("\n".join(lines))
        return [tuple(line.split()) for line in normalised.split("\n")]


def _squad(text: str) -> str:
    text = text.lower()
    for mark in string.punctuation:
        if mark in text:
            text = text.replace(mark, "")
    return _ARTICLES.sub(" ", text)


SQUAD = AnswerProfile("", _squad)


def language_profile(language: Language | None) -> AnswerProfile:
    """Make the profile of a language; a new language needs nothing beyond its `Language`.

    Letters and articles are never dropped: Hebrew's ה also begins words that have no article (הר,
    mountain), and Romanian's "un" is a numeral too. In order:

    1. Case folding, and one form of each Unicode variant: NFC, no Hebrew points or accents, no
       direction marks; Romanian ş ţ become ș ț.
    2. Dashes, hyphens, maqaf and minus signs become spaces: "1914–1918" and "1914-1918" are equal,
       and so are בית־ספר and בית ספר. So do marks between words: ርእሰ፡ከተማ and ርእሰ ከተማ are equal.
    3. All other punctuation, of Unicode and of ASCII (`$+<=>^|~`), is dropped, geresh, gershayim
       and quotation marks included: צה״ל, צה"ל and צה''ל are equal.
    4. Invisible format characters (soft hyphens, zero-width joiners) are dropped.
    5. In scripts without blanks between words (Chinese, Thai) each letter is a token.

    The scores of an unknown language (None) are `unicode_f1` etc.

    Source: heron's own; it repairs what the official rules get wrong on Hebrew.
    """
    known = language or _ANY

    def unify(text: str) -> str:
        text = _without_punctuation(normalise(fold(text, known), known, _UNICODE))
        # What was dropped may have stood between a letter and its diacritic.
        return spaced(normalise(text, known, _UNICODE))

    return AnswerProfile(known.code, unify)


def language_profiles(language: Language | None) -> list[AnswerProfile]:
    """List the profiles whose scores to report: the language's; none where it is not known."""
    is_known = language is not None and language.code != UNDETERMINED
    return [language_profile(language)] if is_known else []


def _without_punctuation(text: str) -> str:
    """Drop punctuation in any script; dashes become spaces."""
    dropped = string.punctuation + _OTHER_MARKS
    for character in sorted(set(text)):
        category = unicodedata.category(character)
        if category == "Pd" or character in _OTHER_DASHES + WORD_SPACES:
            text = text.replace(character, " ")
        elif category[0] == "P" or category == "Cf" or character in dropped:
            text = text.replace(character, "")
    return text


def item_scores(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    profiles: Sequence[AnswerProfile] = (),
    *,
    no_answer: bool | None = None,
) -> dict[str, Floats]:
    """Score each question.

    Args:
        predictions: N answers; empty for no answer.
        golds: N lists of right answers; an empty list where the question has none.
        profiles: language profiles to report beside the standard scores.
        no_answer: whether SQuAD 2.0's rules hold; None: where any question has no gold. Set it
            for part of a split.

    Returns:
        float64 `[N]`, fractions: `exact_match`, `f1`, each profile's (`<name>_f1`), and `tlnls`.
        Under SQuAD 2.0's rules also `answerable_<score>` for each of them, NaN where the question
        has no gold, and `no_answer_accuracy`, NaN where it has one.

    Raises:
        DataError: unequal lengths, or a question without a gold while `no_answer` is False.
    """
    require_rows("span scores", predictions, golds)
    answerable_N = np.array([len(answers) > 0 for answers in golds], dtype=bool)
    squad_2 = not answerable_N.all() if no_answer is None else no_answer
    if not squad_2 and not answerable_N.all():
        what = f"no gold answer of question {answerable_N.argmin() + 1}"
        raise DataError("span scores", what, "no_answer=True follows SQuAD 2.0")

    scores: dict[str, Floats] = {}
    for profile in (SQUAD, *profiles):
        best = _best(_overlap, _pairs(predictions, golds, profile, squad_2), squad_2)
        best_N2 = np.array(best, dtype=np.float64).reshape(-1, 2)
        scores[profile.score("exact_match")] = best_N2[:, 0].copy()
        scores[profile.score("f1")] = best_N2[:, 1].copy()
    pairs = _pairs(predictions, golds, SQUAD, squad_2)
    scores["tlnls"] = np.array(_best(_tlnls, pairs, squad_2), dtype=np.float64)
    if not squad_2:
        return scores

    of_answers = {}
    for name, score_N in scores.items():
        of_answers[f"answerable_{name}"] = np.where(answerable_N, score_N, np.nan)
    no_answer_N = np.where(answerable_N, np.nan, scores["exact_match"])
    return {**scores, **of_answers, "no_answer_accuracy": no_answer_N}


def mean_scores(items: Mapping[str, Floats]) -> dict[str, float]:
    """Average each score over the questions that count (not NaN); 0 where none does.

    They are sorted first, so that their order does not change the last bit.
    """
    means = dict.fromkeys(items, 0.0)
    for name, score_N in items.items():
        if not np.isnan(score_N).all():
            means[name] = float(np.nanmean(np.sort(score_N)))
    return means


def best_threshold(none_N: ArrayLike, gain_N: ArrayLike) -> float:
    """Choose the threshold with the highest F1; of several, the nearest to 0.

    Args:
        none_N: how far the score of "no answer" is ahead of that of each answer; "no answer" is
            predicted where it is above the threshold. Infinite ones do not count.
        gain_N: the F1 of each answer minus that of "no answer".

    Source: as in the official evaluation of SQuAD 2.0.
    """
    none = np.asarray(none_N, np.float64)
    gain = np.asarray(gain_N, np.float64)
    order = np.lexsort((gain, none))
    order = order[np.isfinite(none[order])]
    if not len(order):
        return 0.0
    none = none[order]
    gain = gain[order]

    # With the k-th threshold, the first k rows get an answer: it is in the middle between two
    # scores, or 0 where that gives the same answers.
    totals = np.cumsum([0.0, *gain])
    between = (none[:-1] + none[1:]) / 2
    thresholds = np.array([none[0] - 1, *between, none[-1] + 1])
    below = np.append(-np.inf, none)
    above = np.append(none, np.inf)
    thresholds[(below <= 0) & (above > 0)] = 0.0

    is_possible = below < above  # no threshold is between two equal scores
    totals = totals[is_possible]
    thresholds = thresholds[is_possible]
    best = thresholds[totals >= totals.max() - 1e-9]
    return float(best[np.abs(best).argmin()])


def expected_f1(answers: Sequence[str], p_N: ArrayLike, profile: AnswerProfile) -> Floats:
    """Compute the F1 of each candidate on average over all of them as gold answers.

    The candidate with the highest value is that of minimum Bayes risk.

    Args:
        answers: N candidates.
        p_N: their probabilities.
        profile: how answers are normalised.

    Returns:
        float64 `[N]`.

    Source: Kumar and Byrne 2004, with 1 - F1 as loss and the candidates as the evidence space.
    """
    tokens = profile.tokens(answers)
    overlaps = [_overlap(answer, gold, squad_2=False) for answer, gold in product(tokens, tokens)]
    f1_NN = np.reshape([f1 for _, f1 in overlaps], (len(tokens), len(tokens)))
    return f1_NN @ np.asarray(p_N, dtype=np.float64)


def _pairs(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    profile: AnswerProfile,
    squad_2: bool,
) -> Iterator[tuple[Tokens, list[Tokens]]]:
    """Tokenize predictions and gold answers, each distinct text once.

    Yields:
        The tokens of a prediction, and of its gold answers; no answer is one empty answer.
    """
    texts = list(dict.fromkeys(chain(predictions, *golds)))
    tokens = dict(zip(texts, profile.tokens(texts), strict=True))

    for prediction, answers in zip(predictions, golds, strict=True):
        right = [tokens[answer] for answer in answers]
        if squad_2:  # golds emptied by normalisation count only if all are
            right = [gold for gold in right if gold]
        yield tokens[prediction], right or [()]


def _best(
    score: Callable[[Tokens, Tokens, bool], Score],
    pairs: Iterable[tuple[Tokens, list[Tokens]]],
    squad_2: bool,
) -> list[Score]:
    """Score each prediction against its golds and keep the best score."""
    best = []
    for prediction, golds in pairs:
        best.append(max([score(prediction, gold, squad_2) for gold in golds]))
    return best


def _overlap(answer: Tokens, gold: Tokens, squad_2: bool) -> tuple[float, float]:
    """Compare the tokens of an answer and a gold answer.

    Returns:
        Exact match, 0 or 1, and the F1 of tokens, each counted as often as both have it.
    """
    if answer == gold:
        return 1.0, float(bool(answer) or squad_2)
    distinct = set(answer)
    shared = len(distinct.intersection(gold))
    if not shared:
        return 0.0, 0.0

    if len(distinct) < len(answer) and len(set(gold)) < len(gold):  # both texts repeat a token
        shared = (Counter(answer) & Counter(gold)).total()
    # The official order of operations: the last bit is the same, too.
    precision = shared / len(answer)
    recall = shared / len(gold)
    return 0.0, 2 * precision * recall / (precision + recall)


def _tlnls(answer: Tokens, gold: Tokens, squad_2: bool) -> float:
    """Compute the token-level normalised Levenshtein similarity.

    Each gold token is compared with the most similar token of the prediction; the sum of these
    similarities is divided by the number of tokens of the longer answer:
    sum over g in G of max over p in P of (1 - distance(g, p) / max(|g|, |p|)), / max(|G|, |P|),
    with the Levenshtein distance over characters. It is not symmetric.

    Source: Cohen et al. 2023 (HeQ).
    Deviates: a later benchmark (MRLEval) scores answers that are half digits or more by F1 instead,
    since 1948 and 1949 are 3/4 alike; this does not.
    """
    if not answer or not gold:
        return float(squad_2 and answer == gold)
    others = set(answer)
    whole = 0
    partial = 0.0
    for token in gold:
        if token in others:
            whole += 1
        else:
            partial += max(
                [1 - distance(token, other) / max(len(token), len(other)) for other in others]
            )
    return (whole + partial) / max(len(answer), len(gold))
