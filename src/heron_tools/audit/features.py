"""Features of a text that may predict its label: casing, lengths, overlap, single words.

A feature has one value per example: yes or no, a name, or a number. `heron_tools.audit.rules`
measures how well it predicts the label.

Legend: N examples, V words, C classes.
"""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import CountVectorizer

from heron.data.examples import Example
from heron.languages import LANGUAGES
from heron.languages.words import HYPHENS
from heron_tools.audit.findings import Finding
from heron_tools.audit.rules import Ids, Values, majority
from heron_tools.audit.texts import EVENTS, HYPOTHESIS, PREMISE, fields, words

Counts = npt.NDArray[np.int64]

_LAST_MARKS = re.compile(r"[\"'”’»)\]\s]+$")
_HYPHEN = re.compile(f"[{HYPHENS}]")
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


def overlap(one: str, other: str) -> float:
    """Jaccard overlap of the words of two texts, a fraction."""
    first, second = set(words(one)), set(words(other))
    return len(first & second) / max(len(first | second), 1)


def _share_inside(premise: str, hypothesis: str) -> float:
    found = words(hypothesis)
    known = set(words(premise))
    return sum(word in known for word in found) / max(len(found), 1)


def _last(text: str) -> str:
    """Find the last character before quotation marks and brackets; `none`: a letter or digit."""
    end = _LAST_MARKS.sub("", text)[-1:]
    return "none" if not end or end.isalnum() else end


# Family, name and value of the features of one text, and of a premise and its hypothesis.
_OF_TEXT: tuple[tuple[str, str, Callable[[str], object]], ...] = (
    (
        "casing",
        "upper-case letter after the first character",
        lambda text: any(c.isupper() for c in text[1:]),
    ),
    ("casing", "begins with an upper-case letter", lambda text: text[:1].isupper()),
    ("length", "characters", lambda text: float(len(text))),
    ("length", "words", lambda text: float(len(text.split()))),
    ("punctuation", "last character", _last),
    ("punctuation", "question mark", lambda text: "?" in text),
    ("punctuation", "quotation mark", lambda text: any(c in '"„”“«»' for c in text)),
    ("punctuation", "digit", lambda text: any(c.isdigit() for c in text)),
    ("punctuation", "comma", lambda text: "," in text),
)
_OF_PAIR: tuple[tuple[str, str, Callable[[str, str], float]], ...] = (
    ("length", "length of hypothesis / premise", lambda one, two: len(two) / max(len(one), 1)),
    ("overlap", "word overlap (Jaccard)", overlap),
    ("overlap", "share of hypothesis words in the premise", _share_inside),
)


def _negates(text: str, negation: Set[str]) -> bool:
    """Find a word of negation, alone or before a hyphen (nu-i, n-am)."""
    return any(word in negation or _HYPHEN.split(word)[0] in negation for word in words(text))


def measure(examples: Sequence[Example], language: str) -> list[Feature]:
    """Measure every feature of every example; `language` gives the words of negation.

    The order is fixed, and constant features are included, so that splits match.
    """
    if not examples:
        return []
    texts = [fields(example) for example in examples]
    of_text = list(_OF_TEXT)
    known = LANGUAGES.find(language)
    if known and (negation := known.negation):
        of_text.append(("negation", "word of negation", lambda t: _negates(t, negation)))
    found = [
        Feature(family, field, f"{field}: {name}", _values(value(t.get(field, "")) for t in texts))
        for field in texts[0]
        for family, name, value in of_text
    ]
    if HYPOTHESIS in texts[0]:
        found += [
            Feature(family, "", name, _values(value(t[PREMISE], t[HYPOTHESIS]) for t in texts))
            for family, name, value in _OF_PAIR
        ]
    if EVENTS in texts[0]:
        distance = _values(float(abs(e.spans[1].start - e.spans[0].start)) for e in examples)
        found.append(Feature("distance", "", "characters between the events", distance))
    return found


def _values(values: Iterable[object]) -> Values:
    """Make an array of numbers or texts; `yes` and `no` for True and False."""
    named = {True: "yes", False: "no"}
    return np.array([named[each] if isinstance(each, bool) else each for each in values])


class Vocabulary(NamedTuple):
    """The frequent words of a field (V), and a sparse 0/1 matrix of examples by words."""

    words: list[str]
    holds_NV: Any


def vocabulary(field_texts: Sequence[str]) -> Vocabulary:
    """Find the words that are in at least 10 texts and in at least .2 % of them."""
    least = max(_LEAST_ROWS, int(_LEAST_SHARE * len(field_texts)))
    counter = CountVectorizer(analyzer=words, binary=True, min_df=least, dtype=np.int64)
    try:
        holds_NV = counter.fit_transform(field_texts)
    except ValueError:  # no word is that frequent
        return Vocabulary([], None)
    return Vocabulary(counter.get_feature_names_out().tolist(), holds_NV.tocsr())


def best_words(found: Vocabulary, gold_N: Ids, fold_N: Ids, classes: int) -> list[str]:
    """Choose the words whose rule (class if present, class if absent) is best on held-out folds.

    At most five that beat the majority class, best first.
    """
    if not found.words:
        return []
    gold_NC = np.eye(classes, dtype=np.int64)[gold_N]
    usual = majority(gold_N, classes)
    gain_V = np.zeros(len(found.words), np.int64)
    for fold in np.unique(fold_N):
        rest, held = fold_N != fold, fold_N == fold
        if not rest.any():
            return []
        fitted = _present_and_absent(found.holds_NV[rest], gold_NC[rest])
        scored = _present_and_absent(found.holds_NV[held], gold_NC[held])
        for fitted_VC, scored_VC in zip(fitted, scored, strict=True):
            chosen_V = fitted_VC.argmax(1)
            right_V = np.take_along_axis(scored_VC, chosen_V[:, None], 1)[:, 0]
            gain_V += right_V - scored_VC[:, usual]
    order = (-gain_V).argsort(kind="stable")[:_BEST]
    return [found.words[i] for i in order if gain_V[i] > 0]


def word_feature(field: str, word: str, field_texts: Sequence[str]) -> Feature:
    """Make the feature whether each text has a word."""
    values = ["yes" if word in words(text) else "no" for text in field_texts]
    return Feature("word", field, f"{field}: the word '{word}'", np.array(values))


def typical_words(
    split: str, field: str, found: Vocabulary, gold_N: Ids, labels: Sequence[str]
) -> list[Finding]:
    """List the words most typical of each class, by pointwise mutual information.

    The counts are smoothed by the minimum number of texts with a word, so that rare words do not
    fill the list.

    Source: Gururangan et al. 2018, "Annotation Artifacts in Natural Language Inference Data",
    section 3 (there with 100 for smoothing, on half a million rows).
    """
    if not found.words:
        return []
    counts_VC, _ = _present_and_absent(found.holds_NV, np.eye(len(labels), dtype=np.int64)[gold_N])
    share_C = np.bincount(gold_N, minlength=len(labels)) / len(gold_N)
    smooth = max(_LEAST_ROWS, int(_LEAST_SHARE * len(gold_N)))
    word_V = counts_VC.sum(1)
    # Smoothed towards the class's share: an uninformative word has 0 bits.
    likely_VC = (counts_VC + smooth * share_C) / (word_V + smooth)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bits_VC = np.where(share_C > 0, np.log2(likely_VC / share_C), -np.inf)
    measures = [
        {
            "class": labels[c],
            "word": found.words[v],
            "bits": float(bits_VC[v, c]),
            "rows": int(word_V[v]),
            "share of class": float(counts_VC[v, c] / word_V[v]),
            "share of class in all": float(share_C[c]),
        }
        for c in range(len(labels))
        for v in (-bits_VC[:, c]).argsort(kind="stable")[:_PER_CLASS]
        if bits_VC[v, c] > 0
    ]
    title = f"{split}: the words of the {field} most typical of each class"
    meaning = "Pointwise mutual information of word and class, smoothed; a text counts once."
    return [Finding(f"words.{field}", "info", title, measures, meaning=meaning)]


def _present_and_absent(holds_NV: Any, gold_NC: Counts) -> tuple[Counts, Counts]:
    """Count the classes of the rows with and without each word, both `[V, C]`."""
    present_VC = np.asarray(holds_NV.T @ gold_NC)
    return present_VC, gold_NC.sum(0) - present_VC
