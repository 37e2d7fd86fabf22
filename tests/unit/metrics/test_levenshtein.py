"""Distances are those of the textbook, whatever else is in the batch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heron.metrics import levenshtein as module
from heron.metrics.levenshtein import levenshtein

WORDS = st.text(st.sampled_from("abאבșț\0😀"), max_size=9)


def textbook(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
    return row[-1]


@given(st.lists(st.tuples(WORDS, WORDS), max_size=12))
def test_every_pair_has_the_distance_of_the_textbook(pairs):
    found = levenshtein([one for one, _ in pairs], [other for _, other in pairs])
    assert found.tolist() == [textbook(*pair) for pair in pairs]


def test_parting_many_pairs_into_batches_changes_nothing(monkeypatch):
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abc"), random.integers(0, 20))) for _ in range(200)]
    whole = levenshtein(words, words[::-1])
    monkeypatch.setattr(module, "_NUMBERS_AT_ONCE", 100)
    assert levenshtein(words, words[::-1]).tolist() == whole.tolist()


def test_known_distances():
    found = levenshtein(["kitten", "כנסת", "", "abc"], ["sitting", "הכנסת", "ab", ""])
    assert found.tolist() == [3, 1, 2, 3]
