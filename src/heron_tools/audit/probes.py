"""Probes: the accuracy of a linear classifier on one text of a row, and on all texts.

A hypothesis alone neither follows nor contradicts: whatever predicts its label is an artifact of
how the data were made. Probes read cased character n-grams, as a cased encoder reads cased text.

Source: Gururangan et al. 2018, "Annotation Artifacts in Natural Language Inference Data".

Legend: N examples, F features.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from heron.base.terminal import tracked
from heron_tools.audit.findings import Finding, severity
from heron_tools.audit.rules import (
    FOLDS,
    Ids,
    Labelled,
    Score,
    majority,
    predict_splits,
    say_scores,
    score,
)
from heron_tools.audit.texts import EVIDENCE, fields

MOST_ROWS = 8_000  # per split; more rows change a probe little and take minutes
_FEATURES = 30_000
_NGRAMS = (2, 5)  # characters
_CHARACTERS = 2_000  # longer texts are truncated
_SERIOUS_GAIN, _WARNING_GAIN = 0.10, 0.03
_CERTAIN = 3.0  # standard deviations
_ALL = "all"


def find_by_probes(parts: Mapping[str, Labelled], labels: Sequence[str]) -> list[Finding]:
    """Fit a probe on each field and on all fields together: `<field>_only`.

    The first split is scored by five-fold cross-validation, the others by a probe fitted on the
    first; long splits are reduced to 8,000 rows at equal distances. Events and the text between
    them are expected to predict an event relation: those findings are `info`.
    """
    parts = {split: _thinned(part) for split, part in parts.items()}
    if not parts or len(np.unique(next(iter(parts.values())).gold_N)) < 2:
        return []
    texts = {split: [fields(e) for e in part.examples] for split, part in parts.items()}
    names = list(next(iter(texts.values()))[0])
    matrices = {name: _vectorize(name, texts) for name in names}
    if len(names) > 1:
        matrices[_ALL] = {
            s: hstack([matrices[name][s] for name in names], format="csr") for s in parts
        }
    scores = {
        name: _scores(matrices[name], parts, len(labels)) for name in tracked([*matrices], "probes")
    }
    return [_finding(name, scores) for name in names]


def _thinned(part: Labelled) -> Labelled:
    """Take rows of a long split at equal distances."""
    if len(part.examples) <= MOST_ROWS:
        return part
    chosen = np.linspace(0, len(part.examples) - 1, MOST_ROWS).astype(np.int64)
    return Labelled([part.examples[i] for i in chosen.tolist()], part.gold_N[chosen])


def _vectorize(name: str, texts: Mapping[str, Sequence[Mapping[str, str]]]) -> dict[str, Any]:
    """Compute tf-idf of one field's n-grams in every split, with idf from the first."""
    vectorizer = TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=_NGRAMS,
        lowercase=False,
        sublinear_tf=True,
        max_features=_FEATURES,
        dtype=np.float32,
    )
    by_split = {s: [row.get(name, "")[:_CHARACTERS] for row in rows] for s, rows in texts.items()}
    # Each distinct text once: several rows share a premise or window.
    distinct = list(dict.fromkeys(next(iter(by_split.values()))))
    vectorizer.fit(distinct if any(text.strip() for text in distinct) else ["-"])
    return {split: _transform(vectorizer, rows) for split, rows in by_split.items()}


def _transform(vectorizer: Any, texts: Sequence[str]) -> Any:
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    return vectorizer.transform(place)[[place[text] for text in texts]]


def _scores(
    by_split: Mapping[str, Any], parts: Mapping[str, Labelled], classes: int
) -> list[Score]:
    part = next(iter(parts.values()))
    predicted = predict_splits(by_split, parts, _predict)
    usual = majority(part.gold_N, classes)
    return [score(s, one.gold_N, predicted[s], usual, classes) for s, one in parts.items()]


def _predict(fitted_NF: Any, gold_N: Ids, inputs_NF: Any) -> Ids:
    if len(np.unique(gold_N)) < 2:
        return np.full(inputs_NF.shape[0], gold_N[0], np.int64)
    return LogisticRegression(tol=1e-3, max_iter=200).fit(fitted_NF, gold_N).predict(inputs_NF)


def _finding(name: str, scores: Mapping[str, Sequence[Score]]) -> Finding:
    best = max(scores[name], key=lambda s: s.gain)
    gain = best.gain if best.z >= _CERTAIN and name not in EVIDENCE else 0.0
    whole = f", {scores[_ALL][0].accuracy:.3f} with all texts" if _ALL in scores else ""
    shown = {name: scores[name]} | ({"all texts": scores[_ALL]} if _ALL in scores else {})
    return Finding(
        f"{name}_only",
        severity(gain, _WARNING_GAIN, _SERIOUS_GAIN),
        f"a linear probe on the {name} alone scores {say_scores(scores[name])}{whole}",
        [{"sees": seen, **s.measure()} for seen, each in shown.items() for s in each],
        advice=f"also report a baseline that sees the {name} only",
        meaning=(
            f"Tf-idf of character {_NGRAMS[0]}- to {_NGRAMS[1]}-grams and logistic regression; "
            f"{FOLDS} folds within the first split; on the others, fitted on the first."
        ),
    )
