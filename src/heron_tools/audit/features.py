"""Features of a text that may predict its label: casing, lengths, overlap, single words.

A feature has one value per example: yes or no, a name, or a number. `heron_tools.audit.rules`
measures how well it predicts the label.

Legend: N examples, V words, C classes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import CountVectorizer

from heron.data.examples import Example
from heron.languages import LANGUAGES
from heron.languages.words import HYPHENS, lacks_blanks, word_count
from heron_tools.audit.findings import Finding
from heron_tools.audit.rules import Ids, Values, majority
from heron_tools.audit.texts import EVENTS, HYPOTHESIS, PREMISE, fields, words

Counts = npt.NDArray[np.int64]

_LAST_MARKS = re.compile(r"[\"'”’»)\]\s]+$")
_HYPHEN = re.compile(f"[{HYPHENS}]")
# Also of Arabic, Ethiopic, Armenian and Chinese.
_QUESTION_MARKS = frozenset("?؟፧՞？")
_COMMAS = frozenset(",،፣՝，、")
_QUOTATION_MARKS = frozenset('"„”“«»')
_LEAST_ROWS = 10  # minimum number of texts with a word
_LEAST_SHARE = 0.002  # minimum share of texts with a word
_BEST = 5  # words per field
_PER_CLASS = 8  # words in a table


class Feature(NamedTuple):
    """A feature and its value for each example."""

    # The check: `casing`, `length`, `overlap`, `negation`, `punctuation`, `word` or `distance`.
    family: str
    field: str  # the text it is computed from; empty for several
    name: str  # a description
    values_N: Values  # float (rules have a threshold), or text (rules have a class for each value)


def overlap(text: str, other_text: str) -> float:
    """Jaccard overlap of the words of two texts, a fraction."""
    types = set(words(text))
    other_types = set(words(other_text))
    common = len(types & other_types)
    return common / max(len(types | other_types), 1)


def _share_inside(premise: str, hypothesis: str) -> float:
    """Compute the share of the hypothesis's words that are in the premise."""
    premise_types = set(words(premise))
    hypothesis_words = words(hypothesis)
    inside = sum(word in premise_types for word in hypothesis_words)
    return inside / max(len(hypothesis_words), 1)


def _last(text: str) -> str:
    """Find the last punctuation mark of a text, but for closing quotation marks and brackets.

    `none` if the text ends with a letter or digit, or is empty.
    """
    last = _LAST_MARKS.sub("", text)[-1:]
    if not last or last.isalnum():
        return "none"
    return last


# Family, name and value of the features of one text, and of a premise and its hypothesis.
_OF_TEXT: tuple[tuple[str, str, Callable[[str], object]], ...] = (
    (
        "casing",
        "upper-case letter after the first character",
        lambda text: any(character.isupper() for character in text[1:]),
    ),
    ("casing", "begins with an upper-case letter", lambda text: text[:1].isupper()),
    ("length", "characters", lambda text: float(len(text))),
    ("length", "words", lambda text: float(word_count(text))),
    ("punctuation", "last character", _last),
    ("punctuation", "question mark", lambda text: not _QUESTION_MARKS.isdisjoint(text)),
    ("punctuation", "quotation mark", lambda text: not _QUOTATION_MARKS.isdisjoint(text)),
    ("punctuation", "digit", lambda text: any(character.isdigit() for character in text)),
    ("punctuation", "comma", lambda text: not _COMMAS.isdisjoint(text)),
)
_OF_PAIR: tuple[tuple[str, str, Callable[[str, str], float]], ...] = (
    (
        "length",
        "length of hypothesis / premise",
        lambda premise, hypothesis: len(hypothesis) / max(len(premise), 1),
    ),
    ("overlap", "word overlap (Jaccard)", overlap),
    ("overlap", "share of hypothesis words in the premise", _share_inside),
)


def _negates(text: str, negation: Set[str]) -> bool:
    """Find a word of negation, alone or before a hyphen (nu-i, n-am); anywhere without blanks."""
    if lacks_blanks(text):
        return any(word in text for word in negation)

    for word in words(text):
        stem, *_ = _HYPHEN.split(word)
        if word in negation or stem in negation:
            return True

    return False


def measure(examples: Sequence[Example], language: str) -> list[Feature]:
    """Measure every feature of every example.

    Args:
        examples: of one split.
        language: ISO 639 code, for the words of negation.

    Returns:
        The features in a fixed order, with constant ones, so that those of several splits match.
    """
    if not examples:
        return []

    text_features = list(_OF_TEXT)
    profile = LANGUAGES.find(language)
    if profile and profile.negation:
        has_negation = partial(_negates, negation=profile.negation)
        text_features.append(("negation", "word of negation", has_negation))

    features = []
    texts = [fields(example) for example in examples]
    for field in texts[0]:
        field_texts = [row.get(field, "") for row in texts]
        for family, name, compute in text_features:
            values_N = _values(map(compute, field_texts))
            features.append(Feature(family, field, f"{field}: {name}", values_N))

    if HYPOTHESIS in texts[0]:
        premises = [row[PREMISE] for row in texts]
        hypotheses = [row[HYPOTHESIS] for row in texts]
        for family, name, compare in _OF_PAIR:
            values_N = _values(map(compare, premises, hypotheses))
            features.append(Feature(family, "", name, values_N))

    if EVENTS in texts[0]:
        distances = []
        for example in examples:
            first, second = example.spans[:2]
            distances.append(float(abs(second.start - first.start)))

        values_N = _values(distances)
        features.append(Feature("distance", "", "characters between the events", values_N))

    return features


def _values(values: Iterable[object]) -> Values:
    """Make an array of numbers or texts; `yes` and `no` for True and False."""
    converted: list[object] = []
    for value in values:
        if isinstance(value, bool):
            converted.append("yes" if value else "no")
        else:
            converted.append(value)
    return np.array(converted)


class FrequentWords(NamedTuple):
    """The frequent words of a field (V), and a sparse 0/1 matrix of examples by words."""

    words: list[str]
    holds_NV: Any


def vocabulary(field_texts: Sequence[str]) -> FrequentWords:
    """Find the words that are in at least 10 texts and in at least .2 % of them."""
    least = _least_texts(len(field_texts))
    counter = CountVectorizer(analyzer=words, binary=True, min_df=least, dtype=np.int64)
    try:
        holds_NV = counter.fit_transform(field_texts)
    except ValueError:  # no word is that frequent
        return FrequentWords([], None)

    return FrequentWords(counter.get_feature_names_out().tolist(), holds_NV.tocsr())


def _least_texts(total: int) -> int:
    """Compute the minimum number of texts with a word, of `total` texts."""
    return max(_LEAST_ROWS, int(_LEAST_SHARE * total))


def best_words(vocabulary: FrequentWords, gold_N: Ids, fold_N: Ids, classes: int) -> list[str]:
    """Choose the words whose rule (class if present, class if absent) is best on held-out folds.

    Args:
        vocabulary: of the N texts.
        gold_N: class indices.
        fold_N: the fold of each text.
        classes: number of classes.

    Returns:
        At most five that beat the majority class, best first.
    """
    if not vocabulary.words:
        return []

    gold_NC = np.eye(classes, dtype=np.int64)[gold_N]
    majority_class = majority(gold_N, classes)
    gain_V = np.zeros(len(vocabulary.words), np.int64)

    for fold in np.unique(fold_N):
        is_held_N = fold_N == fold
        if is_held_N.all():  # no row is left to fit on
            return []

        fitted = _present_and_absent(vocabulary.holds_NV[~is_held_N], gold_NC[~is_held_N])
        scored = _present_and_absent(vocabulary.holds_NV[is_held_N], gold_NC[is_held_N])
        for fitted_VC, scored_VC in zip(fitted, scored, strict=True):
            predicted_V = fitted_VC.argmax(1)
            right_V = scored_VC[np.arange(len(scored_VC)), predicted_V]
            gain_V += right_V - scored_VC[:, majority_class]

    best = (-gain_V).argsort(kind="stable")[:_BEST]
    return [vocabulary.words[word] for word in best if gain_V[word] > 0]


def word_feature(field: str, word: str, field_texts: Sequence[str]) -> Feature:
    """Make a feature of whether each text of a field has a word."""
    values_N = _values(word in words(text) for text in field_texts)
    return Feature("word", field, f"{field}: the word '{word}'", values_N)


def typical_words(
    split: str, field: str, vocabulary: FrequentWords, gold_N: Ids, labels: Sequence[str]
) -> Iterator[Finding]:
    """List the words most typical of each class, by pointwise mutual information.

    The counts are smoothed by the minimum number of texts with a word, so that rare words do not
    fill the list.

    Args:
        split: the name of the split.
        field: the name of the texts.
        vocabulary: of the N texts.
        gold_N: class indices.
        labels: the classes' names.

    Source: Gururangan et al. 2018, "Annotation Artifacts in Natural Language Inference Data",
    section 3 (there with 100 for smoothing, on half a million rows).
    """
    if not vocabulary.words:
        return

    gold_NC = np.eye(len(labels), dtype=np.int64)[gold_N]
    counts_VC, _ = _present_and_absent(vocabulary.holds_NV, gold_NC)
    rows_V = counts_VC.sum(1)
    share_C = gold_NC.sum(0) / len(gold_N)

    # Smoothed towards the class's share: an uninformative word has 0 bits.
    smoothing = _least_texts(len(gold_N))
    likely_VC = (counts_VC + smoothing * share_C) / (rows_V + smoothing)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bits_VC = np.where(share_C > 0, np.log2(likely_VC / share_C), -np.inf)

    measures = []
    for class_index, label in enumerate(labels):
        bits_V = bits_VC[:, class_index]
        best = (-bits_V).argsort(kind="stable")[:_PER_CLASS]
        for word in best:
            if bits_V[word] <= 0:
                break

            measures.append(
                {
                    "class": label,
                    "word": vocabulary.words[word],
                    "bits": float(bits_V[word]),
                    "rows": int(rows_V[word]),
                    "share of class": float(counts_VC[word, class_index] / rows_V[word]),
                    "share of class in all": float(share_C[class_index]),
                }
            )

    yield Finding(
        id=f"words.{field}",
        severity="info",
        title=f"{split}: the words of the {field} most typical of each class",
        measures=measures,
        meaning="Pointwise mutual information of word and class, smoothed; a text counts once.",
    )


def _present_and_absent(holds_NV: Any, gold_NC: Counts) -> tuple[Counts, Counts]:
    """Count the classes of the rows with and without each word, both `[V, C]`."""
    present_VC = np.asarray(holds_NV.T @ gold_NC)
    absent_VC = gold_NC.sum(0) - present_VC
    return present_VC, absent_VC
