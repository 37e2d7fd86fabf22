"""Joint labels of all pairs of a window, without contradictions.

Shape suffixes: R rows, C classes.

Source: the inference of Ning et al. (2017), "A Structured Learning Approach to Temporal Relation
Extraction", as an integer linear program; composition of relations between start points, as TRC's
guidelines compare them. The TRC paper decodes each pair separately.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

from heron.data.examples import Example
from heron.data.markers import Markers, parse_marked
from heron.languages import LANGUAGES, get_language
from heron.metrics.classification import score_task
from heron.tasks.relation import RELATIONS

BEFORE, AFTER, EQUAL, VAGUE = RELATIONS
INVERSE = {BEFORE: AFTER, AFTER: BEFORE, EQUAL: EQUAL, VAGUE: VAGUE}

# The relations a-c that relations a-b and b-c allow; pairs that are not listed allow all, such as
# two vague relations, or one before and one after.
COMPOSED: dict[tuple[str, str], set[str]] = {
    **{(EQUAL, relation): {relation} for relation in RELATIONS},
    **{(relation, EQUAL): {relation} for relation in RELATIONS},
    (BEFORE, BEFORE): {BEFORE},
    (AFTER, AFTER): {AFTER},
    (BEFORE, VAGUE): {BEFORE, VAGUE},
    (VAGUE, BEFORE): {BEFORE, VAGUE},
    (AFTER, VAGUE): {AFTER, VAGUE},
    (VAGUE, AFTER): {AFTER, VAGUE},
}

Span = tuple[int, int]
Side = tuple[int, bool]  # the position of a pair in its window, and whether it is reversed
Triple = tuple[Side, Side, Side]


def transitive(columns: Mapping[str, Sequence[Any]]) -> dict[str, float]:
    """Score the labels that `decode_windows` chooses: `transitive_macro_f1` and so on."""
    labels = [name.removeprefix("p/") for name in columns if name.startswith("p/")]
    probabilities_RC = np.asarray([columns[f"p/{label}"] for label in labels]).T
    pairs = [_unmarked(text) for text in columns["text"]]
    decoded = [labels[number] for number in decode_windows(pairs, probabilities_RC, labels)]
    scores = score_task("relation", columns["gold"], decoded, labels)
    return {f"transitive_{name}": score for name, score in scores.items() if "/" not in name}


def _unmarked(text: str) -> Example:
    """Remove its language's markers from a text."""
    markers = (Markers(*get_language(code).event_markers) for code in LANGUAGES)
    used = next(known for known in markers if all(marker in text for marker in known))
    plain, spans = parse_marked(text, used)
    return Example("", plain, spans=spans)


def decode_windows(
    examples: Sequence[Example], probabilities_RC: np.ndarray, labels: Sequence[str]
) -> np.ndarray:
    """Choose the most probable labels of each window without temporal contradictions.

    Args:
        examples: one event pair each; the pairs of a window have the same text.
        probabilities_RC: of every class, predicted for each pair separately.
        labels: names of the classes, among `RELATIONS`.

    Returns:
        Class ids, int64 [R]. They have the largest product of probabilities among all labels of a
        window that `COMPOSED` allows for every three events; the search is exact.
    """
    decoded_R = probabilities_RC.argmax(axis=1)
    names = np.asarray(labels, dtype=object)
    windows: dict[str, list[int]] = {}
    for row, example in enumerate(examples):
        windows.setdefault(example.text, []).append(row)

    for rows in windows.values():
        triples = list(find_triples([examples[row] for row in rows]))
        names_R = names[decoded_R[rows]]
        if any(_contradicts(triple, names_R) for triple in triples):
            probable_RC = np.maximum(probabilities_RC[rows].astype(float), 1e-12)
            decoded_R[rows] = _solve(-np.log(probable_RC), triples, labels)
    return decoded_R


def find_triples(pairs: Sequence[Example]) -> Iterator[Triple]:
    """Find all triples of events in a window whose three pairs are present, in three orders.

    Yields the pairs a-b, b-c and a-c: their positions, and whether each is reversed.
    """
    sides: dict[tuple[Span, Span], Side] = {}
    events: set[Span] = set()
    for index, pair in enumerate(pairs):
        events.update(pair.spans)
        first, second = pair.spans
        sides.setdefault((second, first), (index, True))
        sides[first, second] = (index, False)

    for a, b, c in permutations(sorted(events), 3):
        if a > c:  # c, b, a is equivalent
            continue
        ab = sides.get((a, b))
        bc = sides.get((b, c))
        ac = sides.get((a, c))
        if ab and bc and ac:
            yield ab, bc, ac


def _contradicts(triple: Triple, names: Sequence[str]) -> bool:
    first, second, third = (
        INVERSE[names[index]] if is_reversed else names[index] for index, is_reversed in triple
    )
    return third not in COMPOSED.get((first, second), RELATIONS)


def _solve(costs_RC: np.ndarray, triples: Sequence[Triple], labels: Sequence[str]) -> np.ndarray:
    """Minimize the cost of one label per pair, with a binary variable for each pair and label.

    Returns:
        Class ids, `[R]`.
    """
    pairs, classes = costs_RC.shape

    def variable(side: Side, name: str) -> int | None:
        """Find the variable of a relation, named as the side is read; None: no such class."""
        index, is_reversed = side
        if is_reversed:
            name = INVERSE[name]
        return index * classes + labels.index(name) if name in labels else None

    # Each constraint maps variables to their coefficients; first, every pair has one label.
    constraints: list[dict[int, float]] = []
    for pair in range(pairs):
        constraints.append({pair * classes + label: 1.0 for label in range(classes)})
    for ab, bc, ac in triples:
        for (first_name, second_name), allowed in COMPOSED.items():
            first = variable(ab, first_name)
            second = variable(bc, second_name)
            if first is None or second is None:
                continue
            # If both variables are 1, so is that of a relation which they allow.
            constraint = {first: 1.0, second: 1.0}
            for name in allowed:
                third = variable(ac, name)
                if third is not None:
                    constraint[third] = constraint.get(third, 0.0) - 1.0
            constraints.append(constraint)

    matrix = lil_array((len(constraints), costs_RC.size))
    for row, constraint in enumerate(constraints):
        for column, coefficient in constraint.items():
            matrix[row, column] = coefficient
    low = np.full(len(constraints), -np.inf)
    low[:pairs] = 1.0
    solution = milp(
        costs_RC.ravel(),
        integrality=np.ones(costs_RC.size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), low, np.ones(len(constraints))),
    )
    return solution.x.reshape(costs_RC.shape).argmax(axis=1)
