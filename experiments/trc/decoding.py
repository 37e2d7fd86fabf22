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
    probabilities = {}
    for name, values in columns.items():
        if name.startswith("p/"):
            label = name.removeprefix("p/")
            probabilities[label] = values

    labels = list(probabilities)
    probabilities_RC = np.asarray(list(probabilities.values())).T

    pairs = [_unmarked(text) for text in columns["text"]]
    decoded_R = decode_windows(pairs, probabilities_RC, labels)
    decoded = [labels[number] for number in decoded_R]
    scores = score_task("relation", columns["gold"], decoded, labels)

    transitive_scores = {}
    for name, score in scores.items():
        if "/" not in name:  # scores of single classes are left out
            transitive_scores[f"transitive_{name}"] = score
    return transitive_scores


def _unmarked(text: str) -> Example:
    """Remove its language's markers from a text."""
    for code in LANGUAGES:
        language = get_language(code)
        markers = Markers(*language.event_markers)
        if all(marker in text for marker in markers):
            break

    plain, spans = parse_marked(text, markers)
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
        pairs = [examples[row] for row in rows]
        triples = list(find_triples(pairs))
        names_R = names[decoded_R[rows]]
        if not any(_contradicts(triple, names_R) for triple in triples):
            continue

        window_RC = probabilities_RC[rows].astype(float)
        costs_RC = -np.log(np.maximum(window_RC, 1e-12))
        decoded_R[rows] = _solve(costs_RC, triples, labels)

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
        sides[first, second] = (index, False)
        sides.setdefault((second, first), (index, True))  # unless the file has this order, too

    for a, b, c in permutations(sorted(events), 3):
        if a > c:  # c, b, a is equivalent
            continue
        ab = sides.get((a, b))
        bc = sides.get((b, c))
        ac = sides.get((a, c))
        if ab and bc and ac:
            yield ab, bc, ac


def _contradicts(triple: Triple, names: Sequence[str]) -> bool:
    """Tell whether the relations a-b and b-c do not allow that of a-c."""
    relations = []
    for index, is_reversed in triple:
        relation = names[index]
        if is_reversed:
            relation = INVERSE[relation]
        relations.append(relation)

    first, second, third = relations
    allowed = COMPOSED.get((first, second), RELATIONS)
    return third not in allowed


def _solve(costs_RC: np.ndarray, triples: Sequence[Triple], labels: Sequence[str]) -> np.ndarray:
    """Minimize the cost of one label per pair, with a binary variable for each pair and label.

    Args:
        costs_RC: negative logarithms of the probabilities of a window's pairs.
        triples: pairs whose labels must not contradict each other.
        labels: names of the classes.

    Returns:
        Class ids, `[R]`.
    """
    pairs, classes = costs_RC.shape

    def variable(side: Side, name: str) -> int | None:
        """Find the variable of a relation, named as the side is read; None: no such class."""
        index, is_reversed = side
        if is_reversed:
            name = INVERSE[name]
        if name not in labels:
            return None
        return index * classes + labels.index(name)

    # Each constraint maps variables to their coefficients; first, every pair has one label.
    constraints: list[dict[int, float]] = []
    for pair in range(pairs):
        first_variable = pair * classes
        variables = range(first_variable, first_variable + classes)
        constraints.append(dict.fromkeys(variables, 1.0))

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
    high = np.ones(len(constraints))
    solution = milp(
        costs_RC.ravel(),
        integrality=np.ones(costs_RC.size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), low, high),
    )
    return solution.x.reshape(costs_RC.shape).argmax(axis=1)
