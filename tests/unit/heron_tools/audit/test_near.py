"""Near duplicates: what is reported overlaps, and little that overlaps is missed."""

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.heron_tools.audit.builders import by_id, event, pair, pairs, sentence

from heron_tools.audit.near import bands, find_near_duplicates, find_neighbours, jaccard, shingle
from heron_tools.audit.texts import loose, numbered


def near_copies(splits):
    return find_near_duplicates(splits, numbered(splits, loose))


def grams(text: str) -> set[str]:
    text = text.ljust(5)
    return {text[i : i + 5] for i in range(len(text) - 4)}


@given(st.text("abc ", max_size=30), st.text("abc ", max_size=30))
def test_the_overlap_is_the_jaccard_overlap_of_character_5_grams(one, other):
    first, second = grams(one), grams(other)
    expected = len(first & second) / len(first | second)
    assert jaccard(shingle(one), shingle(other)) == pytest.approx(expected)


def variants(count: int) -> list[str]:
    """Random sentences and copies of them with some words replaced."""
    rng = random.Random(3)
    texts = [sentence(rng, 20) for _ in range(count)]
    for text in texts[: count // 2]:
        changed = text.split()
        for _ in range(rng.randrange(1, 3)):
            changed[rng.randrange(len(changed))] = "altceva"
        texts.append(" ".join(changed))
    return list(dict.fromkeys(texts))


def test_nearly_all_neighbours_of_a_full_comparison_are_found_and_no_other():
    texts = variants(200)
    sets = [shingle(text) for text in texts]
    expected = {
        (texts[i], texts[j])
        for i, j in combinations(range(len(texts)), 2)
        if jaccard(sets[i], sets[j]) >= 0.8
    }
    of, _ = find_neighbours(texts, 0.8)
    found = {(a, b) for a, others in of.items() for b in others if texts.index(a) < texts.index(b)}
    assert len(expected) > 30
    assert found <= expected
    assert len(found) >= 0.95 * len(expected)


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9, 1.0])
def test_98_percent_of_the_pairs_at_the_threshold_become_candidates(threshold):
    count, rows = bands(threshold)
    assert 1 - (1 - threshold**rows) ** count >= 0.98


LONG = "Consiliul local a hotărât ieri să repare podul vechi de peste râu până la sfârșitul anului"
OTHER = (
    "Primarul a spus apoi că lucrările vor începe abia după ce se topește toată zăpada din munți"
)


def test_both_texts_must_be_near():
    rows = [
        pair("1", LONG, OTHER, "a"),
        pair("2", LONG + " viitor", OTHER, "b"),
        pair("3", LONG, "Nimeni nu știe cine va plăti pentru toate acestea", "a"),
    ]
    found = by_id(near_copies({"train": rows}))["near_pairs.train"]
    assert [row.guid for row in found.rows] == ["1", "2"]
    assert found.measures[0]["conflicting labels"] == 1
    assert found.severity == "warning"


def test_a_near_copy_across_splits_is_serious_and_an_exact_one_is_not_its_business():
    train, test = [pair("1", LONG, OTHER)], [pair("2", LONG + " viitor", OTHER)]
    found = by_id(near_copies({"train": train, "test": test}))
    assert found["near_pairs.train.test"].severity == "serious"
    assert near_copies({"train": train, "test": [pair("2", LONG, OTHER + "!")]}) == []


def test_windows_of_event_pairs_are_compared_across_splits_only():
    train = [
        event("1", LONG, "hotărât", "repare"),
        event("2", LONG + " viitor", "hotărât", "repare"),
    ]
    assert near_copies({"train": train}) == []
    found = by_id(near_copies({"train": train[:1], "test": train[1:]}))
    assert list(found) == ["near_texts.train.test"]


def test_a_text_with_many_neighbours_is_cut_off_and_that_is_said():
    rows = [pair(str(i), f"{LONG} {i}", OTHER) for i in range(80)]
    (found,) = near_copies({"train": rows})
    assert "more than 50 candidates" in found.meaning


def test_random_sentences_have_no_neighbours():
    assert near_copies({"train": pairs(60)}) == []


def test_a_short_or_empty_text_has_a_shingle():
    assert len(shingle("")) == len(shingle("abc")) == 1
    assert shingle(loose("abc")).dtype == np.uint64
