"""Probes: the accuracy of a linear classifier on one text of a row, and on all texts.

A hypothesis without its premise has no label: whatever predicts one is an artifact of how the data
were made. Probes read cased character n-grams, as a cased encoder reads cased text.

Source: Gururangan et al. 2018, "Annotation Artifacts in Natural Language Inference Data".

Legend: N examples, V distinct texts, F features.
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
    list_scores,
    majority,
    predict_splits,
    score,
)
from heron_tools.audit.texts import EVIDENCE, fields

MOST_ROWS = 8_000  # per split; more rows take minutes and hardly change the scores
_FEATURES = 30_000
_NGRAMS = (2, 5)  # characters
_CHARACTERS = 2_000  # longer texts are truncated
_SERIOUS_GAIN = 0.10
_WARNING_GAIN = 0.03
_CERTAIN = 3.0  # standard deviations
_ALL = "all"


def find_by_probes(parts: Mapping[str, Labelled], labels: Sequence[str]) -> list[Finding]:
    """Fit a probe on each field and on all fields together: `<field>_only`.

    The first split is scored by five-fold cross-validation, the others by a probe fitted on the
    first; long splits are reduced to 8,000 rows at equal distances. Events and the text between
    them are expected to predict an event relation: those findings are `info`.

    Args:
        parts: the labelled rows by split.
        labels: the classes' names.
    """
    if not parts:
        return []

    parts = {split: _thinned(part) for split, part in parts.items()}

    first = next(iter(parts))
    classes = np.unique(parts[first].gold_N)
    if len(classes) < 2:
        return []

    texts = {}
    for split, part in parts.items():
        texts[split] = [fields(example) for example in part.examples]

    names = list(texts[first][0])
    matrices = {name: _vectorize(name, texts) for name in names}
    if len(names) > 1:
        matrices[_ALL] = {}
        for split in parts:
            columns = [matrices[name][split] for name in names]
            matrices[_ALL][split] = hstack(columns, format="csr")

    scores = {}
    for name in tracked([*matrices], "probes"):
        scores[name] = _scores(matrices[name], parts, len(labels))

    return [_finding(name, scores[name], scores.get(_ALL)) for name in names]


def _thinned(part: Labelled) -> Labelled:
    """Reduce a long split to `MOST_ROWS` rows at equal distances."""
    rows = len(part.examples)
    if rows <= MOST_ROWS:
        return part

    chosen = np.linspace(0, rows - 1, MOST_ROWS).astype(np.int64)
    examples = [part.examples[row] for row in chosen.tolist()]
    return Labelled(examples, part.gold_N[chosen])


def _vectorize(name: str, texts: Mapping[str, Sequence[Mapping[str, str]]]) -> dict[str, Any]:
    """Compute tf-idf of one field's n-grams in every split, with idf from the first.

    Args:
        name: of the field.
        texts: the fields of each row, by split.

    Returns:
        A sparse matrix `[N, F]` by split.
    """
    vectorizer = TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=_NGRAMS,
        lowercase=False,
        sublinear_tf=True,
        max_features=_FEATURES,
        dtype=np.float32,
    )
    by_split = {}
    for split, rows in texts.items():
        by_split[split] = [row.get(name, "")[:_CHARACTERS] for row in rows]

    first = next(iter(by_split.values()))
    # Each distinct text once: several rows share a premise or window.
    distinct = list(dict.fromkeys(first))
    is_empty = not any(text.strip() for text in distinct)
    vectorizer.fit(["-"] if is_empty else distinct)
    return {split: _transform(vectorizer, rows) for split, rows in by_split.items()}


def _transform(vectorizer: Any, texts: Sequence[str]) -> Any:
    """Compute the tf-idf of texts, once for each distinct text."""
    row_of: dict[str, int] = {}
    rows = [row_of.setdefault(text, len(row_of)) for text in texts]
    distinct_VF = vectorizer.transform(row_of)
    return distinct_VF[rows]


def _scores(
    by_split: Mapping[str, Any], parts: Mapping[str, Labelled], classes: int
) -> list[Score]:
    """Fit and score a probe on every split.

    Args:
        by_split: features of the rows, `[N, F]`.
        parts: the labelled rows of the same splits.
        classes: number of classes.
    """
    predicted = predict_splits(by_split, parts, _predict)
    first = next(iter(parts.values()))
    baseline = majority(first.gold_N, classes)

    scores = []
    for split, part in parts.items():
        scores.append(score(split, part.gold_N, predicted[split], baseline, classes))

    return scores


def _predict(fitted_NF: Any, gold_N: Ids, inputs_NF: Any) -> Ids:
    """Fit a logistic regression, and predict the classes of other rows.

    Args:
        fitted_NF: features of the rows to fit on.
        gold_N: their classes; a single one is predicted for all rows.
        inputs_NF: features of the rows to predict.
    """
    if len(np.unique(gold_N)) < 2:
        return np.full(inputs_NF.shape[0], gold_N[0], np.int64)

    model = LogisticRegression(tol=1e-3, max_iter=200)
    return model.fit(fitted_NF, gold_N).predict(inputs_NF)


def _finding(name: str, scores: Sequence[Score], all_scores: Sequence[Score] | None) -> Finding:
    """Describe the scores of one field's probe.

    Args:
        name: of the field.
        scores: of its probe, by split.
        all_scores: of the probe on all fields; None for a single field.
    """
    best = max(scores, key=lambda score: score.gain)
    is_artifact = best.z >= _CERTAIN and name not in EVIDENCE
    gain = best.gain if is_artifact else 0.0

    title = f"a linear probe on the {name} alone scores {list_scores(scores)}"
    measures = [{"sees": name, **score.measure()} for score in scores]
    if all_scores:
        title += f", {all_scores[0].accuracy:.3f} with all texts"
        measures += [{"sees": "all texts", **score.measure()} for score in all_scores]

    return Finding(
        id=f"{name}_only",
        severity=severity(gain, _WARNING_GAIN, _SERIOUS_GAIN),
        title=title,
        measures=measures,
        advice=f"also report a baseline that sees the {name} only",
        meaning=(
            f"Tf-idf of character {_NGRAMS[0]}- to {_NGRAMS[1]}-grams and logistic regression; "
            f"{FOLDS} folds within the first split; on the others, fitted on the first."
        ),
    )
