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
from scipy.sparse import csr_array

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
    **{(EQUAL, each): {each} for each in RELATIONS},
    **{(each, EQUAL): {each} for each in RELATIONS},
    (BEFORE, BEFORE): {BEFORE},
    (AFTER, AFTER): {AFTER},
    (BEFORE, VAGUE): {BEFORE, VAGUE},
    (VAGUE, BEFORE): {BEFORE, VAGUE},
    (AFTER, VAGUE): {AFTER, VAGUE},
    (VAGUE, AFTER): {AFTER, VAGUE},
}

Span = tuple[int, int]
Triple = tuple[tuple[int, bool], tuple[int, bool], tuple[int, bool]]


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
    known = [Markers(*get_language(code).event_markers) for code in LANGUAGES]
    plain, spans = parse_marked(text, next(m for m in known if all(map(text.__contains__, m))))
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
        if any(_contradicts(triple, names[decoded_R[rows]]) for triple in triples):
            costs = -np.log(np.maximum(probabilities_RC[rows].astype(float), 1e-12))
            decoded_R[rows] = _solve(costs, triples, labels)
    return decoded_R


def find_triples(pairs: Sequence[Example]) -> Iterator[Triple]:
    """Find all triples of events in a window whose three pairs are present, in three orders.

    Yields the pairs a-b, b-c and a-c: their positions, and whether each is reversed.
    """
    known: dict[tuple[Span, Span], tuple[int, bool]] = {}
    for number, pair in enumerate(pairs):
        first, second = pair.spans[0], pair.spans[1]
        known.setdefault((second, first), (number, True))
        known[first, second] = number, False
    events = sorted({event for pair in known for event in pair})
    for a, b, c in permutations(events, 3):
        if a < c and {(a, b), (b, c), (a, c)} <= known.keys():  # c, b, a is equivalent
            yield known[a, b], known[b, c], known[a, c]


def _contradicts(triple: Triple, names: Sequence[str]) -> bool:
    first, second, third = (
        INVERSE[names[number]] if turned else names[number] for number, turned in triple
    )
    return third not in COMPOSED.get((first, second), RELATIONS)


def _solve(costs: np.ndarray, triples: Sequence[Triple], labels: Sequence[str]) -> np.ndarray:
    """Minimize the cost of one label per pair, [pairs, C], with a binary variable for each."""
    pairs, classes = costs.shape

    def variable(pair: tuple[int, bool], name: str) -> int | None:
        name = INVERSE[name] if pair[1] else name
        return pair[0] * classes + labels.index(name) if name in labels else None

    rows: list[dict[int, float]] = [
        {pair * classes + label: 1.0 for label in range(classes)} for pair in range(pairs)
    ]
    for first, second, third in triples:
        for (one, two), allowed in COMPOSED.items():
            both = variable(first, one), variable(second, two)
            if both[0] is None or both[1] is None:
                continue
            row = {both[0]: 1.0, both[1]: 1.0}
            for name in allowed:
                if (place := variable(third, name)) is not None:
                    row[place] = row.get(place, 0.0) - 1.0
            rows.append(row)
    entries = [(n, place, value) for n, row in enumerate(rows) for place, value in row.items()]
    numbers, places, values = zip(*entries, strict=True)
    matrix = csr_array((values, (numbers, places)), shape=(len(rows), costs.size))
    low = [1.0] * pairs + [-np.inf] * (len(rows) - pairs)
    found = milp(
        costs.ravel(),
        integrality=np.ones(costs.size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, low, np.ones(len(rows))),
    )
    return found.x.reshape(costs.shape).argmax(axis=1)
