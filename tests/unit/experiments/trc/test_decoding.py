"""`task.metrics=[transitive]` finds the most probable labels that do not contradict each other."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import small_runs
from heron.base.files import read_json
from heron.data.examples import Example
from heron.metrics import METRICS
from heron.tasks.relation import RELATIONS

LABELS = list(RELATIONS)
assert METRICS["transitive"]  # imports the fork
from heron_forks.trc.decoding import (  # noqa: E402
    COMPOSED,
    INVERSE,
    decode_windows,
    transitive,
)


def window(events: int, turned: int = 0, text: str = "w", without: int = 0) -> list[Example]:
    """Make all pairs of a window but the first `without`; bit n of `turned` reverses pair n."""
    pairs = []
    for number, pair in enumerate(combinations(range(events), 2)):
        first, second = reversed(pair) if turned >> number & 1 else pair
        spans = ((3 * first, 3 * first + 2), (3 * second, 3 * second + 2))
        pairs.append(Example(guid=f"{text}{number}", text=text, spans=spans, label=None))
    return pairs[without:]


def is_consistent(pairs, names) -> bool:
    """Check every ordering of three events by the definition, without `find_triples`."""
    relations = {}
    for pair, name in zip(pairs, names, strict=True):
        first, second = pair.spans
        relations[first, second] = name
        relations[second, first] = INVERSE[name]
    events = {event for pair in relations for event in pair}
    return all(
        relations[a, c] in COMPOSED.get((relations[a, b], relations[b, c]), RELATIONS)
        for a, b, c in product(events, repeat=3)
        if {(a, b), (b, c), (a, c)} <= relations.keys()
    )


def random_probabilities(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(4, 0.4), size=rows).astype("float32")


def test_what_two_relations_allow_is_the_same_read_backwards():
    for (first, second), allowed in COMPOSED.items():
        assert COMPOSED[INVERSE[second], INVERSE[first]] == {INVERSE[name] for name in allowed}


@settings(max_examples=8)  # each looks at 4,096 ways to label six pairs
@given(turned=st.integers(0, 63), without=st.integers(0, 2), seed=st.integers(0, 9999))
def test_labels_are_the_most_probable_of_all_that_agree(turned, without, seed):
    pairs = window(4, turned, without=without)
    probabilities_RC = random_probabilities(len(pairs), seed)
    decoded = [LABELS[n] for n in decode_windows(pairs, probabilities_RC, LABELS)]
    assert is_consistent(pairs, decoded)
    logs = np.log(probabilities_RC.astype(float))
    rows = np.arange(len(pairs))
    best = max(
        logs[rows, list(ids)].sum()
        for ids in product(range(4), repeat=len(pairs))
        if is_consistent(pairs, [LABELS[n] for n in ids])
    )
    total = logs[rows, [LABELS.index(name) for name in decoded]].sum()
    assert total == pytest.approx(best, abs=1e-6)


def test_each_window_is_decoded_alone_in_whatever_order_the_rows_stand():
    pairs = [*window(4, text="one"), *window(5, text="two"), *window(2, text="three")]
    probabilities_RC = random_probabilities(len(pairs), 1)
    decoded_R = decode_windows(pairs, probabilities_RC, LABELS)
    order = np.random.default_rng(0).permutation(len(pairs))
    again = decode_windows([pairs[n] for n in order], probabilities_RC[order], LABELS)
    assert (again == decoded_R[order]).all()
    alone = decode_windows(pairs[:6], probabilities_RC[:6], LABELS)
    assert (alone == decoded_R[:6]).all()
    assert decoded_R[-1] == probabilities_RC[-1].argmax()


def test_probabilities_are_matched_to_classes_by_name_if_some_are_absent_or_reordered():
    labels = ["AFTER", "BEFORE"]
    pairs = window(3)  # 0-1, 0-2, 1-2
    probabilities_RC = np.array([[0.1, 0.9], [0.6, 0.4], [0.2, 0.8]], dtype="float32")
    assert decode_windows(pairs, probabilities_RC, labels).tolist() == [1, 1, 1]


@pytest.mark.parametrize("head", ["window", "ess"])
def test_evaluate_adds_transitive_scores_and_keeps_the_others(head, tmp_path):
    folder = small_runs.train(tmp_path, f"head={head}")
    stored = folder.read_scores()["test"]
    out = tmp_path / "scores.json"
    words = ["evaluate", f"run={folder.path}", "task.metrics=[transitive]", f"out={out}"]
    assert small_runs.heron(*words) == 0
    scores = read_json(out)["test"]
    assert scores["macro_f1"] == stored["macro_f1"]
    # A model this small contradicts itself.
    assert scores["transitive_macro_f1"] != scores["macro_f1"]


def test_markers_are_no_part_of_a_window():
    # The three pairs of one text's events; only together do they contradict each other.
    columns = {
        "text": [
            "[א1] אמר [/א1] ואז [א2] הלך [/א2] ושב",
            "אמר ואז [א1] הלך [/א1] [א2] ושב [/א2]",
            "[א1] אמר [/א1] ואז הלך [א2] ושב [/א2]",
        ],
        "gold": ["BEFORE", "BEFORE", "BEFORE"],
        "p/BEFORE": [0.9, 0.9, 0.4],
        "p/AFTER": [0.1, 0.1, 0.6],
        "p/VAGUE": [0.0, 0.0, 0.0],
        "p/EQUAL": [0.0, 0.0, 0.0],
    }
    assert transitive(columns)["transitive_accuracy"] == 1  # .667 if each row were a window
