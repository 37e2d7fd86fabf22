"""Splits never cut a group, depend on nothing but seed and names, and nest."""

import itertools
import math
import random
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from heron.base.errors import DataError
from heron.data.config import FoldsConfig, HoldoutConfig, SampleConfig, ValidationConfig
from heron.data.examples import Example, Span, text_key
from heron.data.splits import apply_duplicates, carve, sample, take_fold

FRACTIONS = (0.15, 0.25, 0.5, 0.75, 1.0)


def corpus(documents: int, windows: int = 3, pairs: int = 4) -> list[Example]:
    return [
        Example(f"{d}.{w}.{p}", text=f"window {w} of {d}", group=f"document {d}")
        for d in range(documents)
        for w in range(windows)
        for p in range(pairs)
    ]


def guids(examples: list[Example]) -> list[str]:
    return [example.guid for example in examples]


@given(st.integers(2, 30), st.floats(0.01, 0.5), st.integers(0, 5))
def test_carving_keeps_every_row_once_and_every_group_whole(documents, fraction, seed):
    examples = corpus(documents)
    train, validation = carve(examples, ValidationConfig(fraction, "group", seed))
    assert sorted(guids(train + validation)) == sorted(guids(examples))
    assert not {e.group for e in train} & {e.group for e in validation}
    assert len(validation) >= fraction * len(examples) - 1e-6


def test_carving_takes_no_more_groups_than_needed():
    _, validation = carve(corpus(20), ValidationConfig(0.1))
    assert len({e.group for e in validation}) == 2


def test_same_seed_carves_the_same_rows_whatever_their_order():
    examples = corpus(20)
    shuffled = random.Random(1).sample(examples, len(examples))
    one, other = (carve(rows, ValidationConfig(0.2))[1] for rows in (examples, shuffled))
    assert set(guids(one)) == set(guids(other))
    assert guids(one) == [guid for guid in guids(examples) if guid in guids(one)]


def test_another_seed_carves_other_groups():
    drawn = {
        frozenset(guids(carve(corpus(20), ValidationConfig(0.1, "group", seed))[1]))
        for seed in range(5)
    }
    assert len(drawn) > 1


def test_rows_without_a_group_are_held_together_by_their_text():
    examples = [Example(str(i), text=f"text {i // 3}") for i in range(30)]
    train, validation = carve(examples, ValidationConfig(0.2))
    assert not {e.text for e in train} & {e.text for e in validation}


@pytest.mark.parametrize("by", ["group", "row"])
def test_questions_on_one_paragraph_are_never_divided(by):
    answers = [(Span(0, 4),), ()]  # in every second paragraph, the last question has none
    examples = [
        Example(str(i), f"paragraph {i // 3}", "question", answers[i % 6 == 5], group="title")
        for i in range(60)
    ]
    train, validation = carve(examples, ValidationConfig(0.2, by))
    assert not {e.text for e in train} & {e.text for e in validation}
    assert len(validation) == 12


def test_carving_by_row_takes_exactly_the_fraction():
    train, validation = carve(corpus(10), ValidationConfig(0.1, "row"))
    assert (len(train), len(validation)) == (108, 12)


def test_rows_are_drawn_by_guid_even_where_they_share_a_text():
    examples = [Example(str(i), text="one premise", text_pair=f"{i}") for i in range(20)]
    train, test = carve(examples, HoldoutConfig(0.2))
    assert (len(train), len(test)) == (16, 4)


def rows_of(counts: dict[str, int], groups: int = 0) -> list[Example]:
    """Make rows of each class, in `groups` groups of about one size; 0: without groups."""
    labels = [label for label, count in counts.items() for _ in range(count)]
    random.Random(0).shuffle(labels)
    return [
        Example(str(row), f"text {row}", label=label, group=str(row % groups) if groups else "")
        for row, label in enumerate(labels)
    ]


def off(part: list[Example], rows: list[Example], share: float) -> float:
    """Measure how many rows the class furthest from its share of the rows has too many or few."""
    counts = Counter(example.label for example in part)
    totals = Counter(example.label for example in rows)
    return max(abs(counts[label] - share * total) for label, total in totals.items())


COUNTS = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(1, 60), min_size=1)


@given(COUNTS, st.floats(0.02, 0.5), st.integers(0, 5))
def test_single_rows_are_carved_in_the_classes_shares_to_the_row(counts, fraction, seed):
    rows = rows_of(counts)
    assume(len(rows) > 2)
    train, part = carve(rows, ValidationConfig(fraction, "row", seed))
    assert len(part) == math.ceil(fraction * len(rows) - 1e-9)
    assert off(part, rows, len(part) / len(rows)) < 1
    assert sorted(guids(train + part)) == sorted(guids(rows))


@given(COUNTS, st.integers(2, 6), st.integers(0, 5))
def test_folds_of_single_rows_have_the_classes_shares_to_the_row(counts, count, seed):
    rows = rows_of(counts)
    assume(len(rows) >= count)
    parts = [take_fold(rows, FoldsConfig(count, fold, "row", seed))[1] for fold in range(count)]
    assert {len(part) for part in parts} <= {len(rows) // count, -(-len(rows) // count)}
    assert max(off(part, rows, 1 / count) for part in parts) < 1


def test_whole_groups_come_near_the_classes_shares():
    counts = {"a": 500, "b": 300, "c": 150, "d": 50}
    rows = rows_of(counts, groups=31)
    for seed in range(5):
        train, part = carve(rows, ValidationConfig(0.2, "group", seed))
        folds = [take_fold(rows, FoldsConfig(4, fold, "group", seed))[1] for fold in range(4)]
        assert not {e.group for e in train} & {e.group for e in part}
        assert off(part, rows, len(part) / len(rows)) < 3
        assert max(off(fold, rows, len(fold) / len(rows)) for fold in folds) < 7
        assert max(map(len, folds)) - min(map(len, folds)) <= 34  # a group


def test_small_classes_are_in_every_split_that_they_suffice_for():
    rows = rows_of({"a": 41, "b": 36, "c": 36, "d": 37})
    _, test = carve(rows, HoldoutConfig(0.2, "group"))
    assert sorted(Counter(example.label for example in test).values()) == [7, 7, 8, 8]


@pytest.mark.parametrize("by", ["pair", "window"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_larger_share_contains_the_smaller(by, seed):
    examples = corpus(25)
    shares = [set(guids(sample(examples, SampleConfig(f, by, seed)))) for f in FRACTIONS]
    for smaller, larger in itertools.pairwise(shares):
        assert smaller < larger
    assert len(shares[-1]) == len(examples)


def test_sampling_by_pair_is_exact():
    sizes = [len(sample(corpus(25), SampleConfig(f))) for f in FRACTIONS]
    assert sizes == [45, 75, 150, 225, 300]


def test_sampling_by_window_takes_all_of_its_pairs():
    examples = corpus(25)
    kept = sample(examples, SampleConfig(0.25, "window"))
    texts = {e.text for e in kept}
    assert guids(kept) == guids([e for e in examples if e.text in texts])


def test_a_draw_stays_the_same_from_version_to_version():
    # Hash order is part of the contract: a changed draw would change every published split.
    kept = sample(corpus(4, 1, 2), SampleConfig(0.5, "pair", seed=0))
    assert guids(kept) == ["0.0.1", "1.0.1", "3.0.0", "3.0.1"]


@given(count=st.integers(2, 6), by=st.sampled_from(["group", "row"]), seed=st.integers(0, 99))
def test_folds_hold_every_row_once_and_every_group_whole(count, by, seed):
    rows = corpus(documents=12)
    parts = [take_fold(rows, FoldsConfig(count, fold, by, seed)) for fold in range(count)]
    assert sorted(g for _, fold in parts for g in guids(fold)) == sorted(guids(rows))
    for train, fold in parts:
        assert sorted(guids(train) + guids(fold)) == sorted(guids(rows))
        if by == "group":
            assert not {e.group for e in train} & {e.group for e in fold}
    sizes = [len(fold) for _, fold in parts]
    assert max(sizes) - min(sizes) <= (12 if by == "group" else 1)


def test_folds_are_the_same_whatever_the_order_of_the_rows():
    rows = corpus(documents=12)
    other = random.Random(0).sample(rows, len(rows))
    found, again = (take_fold(each, FoldsConfig(3, 1))[1] for each in (rows, other))
    assert sorted(guids(found)) == sorted(guids(again))
    assert sorted(guids(take_fold(rows, FoldsConfig(3, 1, seed=1))[1])) != sorted(guids(found))


def pair(guid: str, text: str, text_pair: str = "h") -> Example:
    return Example(guid, text, text_pair, label="A", side={"line": 2})


def splits() -> dict[str, list[Example]]:
    return {
        "train": [pair("1", "in all"), pair("2", "in two"), pair("3", "own"), pair("4", "own")],
        "validation": [pair("5", "in  all "), pair("6", "in two"), pair("7", "alone")],
        "test": [pair("8", "in all"), pair("9", "test only")],
    }


def guids_by_split(splits) -> dict[str, list[str]]:
    return {split: [example.guid for example in examples] for split, examples in splits.items()}


def test_drop_removes_from_the_earlier_split_and_leaves_test_whole():
    kept = apply_duplicates(splits(), "drop")
    assert guids_by_split(kept) == {
        "train": ["3", "4"],
        "validation": ["6", "7"],
        "test": ["8", "9"],
    }


def test_mark_names_a_copy_in_another_split_and_keeps_the_other_columns():
    marked = {e.guid: e.side for es in apply_duplicates(splits(), "mark").values() for e in es}
    of = {guid: side["duplicate_of"] for guid, side in marked.items() if "duplicate_of" in side}
    assert of == {
        "1": "test:8",
        "2": "validation:6",
        "5": "test:8",
        "6": "train:2",
        "8": "validation:5",
    }
    assert all(side["line"] == 2 for side in marked.values())


def test_another_hypothesis_or_other_events_make_another_row():
    assert text_key(pair("1", "t", "h")) != text_key(pair("1", "t", "g"))
    window = "it began before it ended"
    one, other = (
        Example("1", window, spans=(Span(3, 8),)),
        Example("2", window, spans=(Span(0, 2),)),
    )
    assert text_key(one) != text_key(other)


_TEXTS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12)


@given(_TEXTS, _TEXTS, _TEXTS)
def test_after_dropping_no_text_is_in_two_splits(train, validation, test):
    given_ = {
        split: [pair(f"{split}{i}", text) for i, text in enumerate(texts)]
        for split, texts in (("train", train), ("validation", validation), ("test", test))
    }
    try:
        kept = apply_duplicates(given_, "drop")
    except DataError:
        return
    keys = [{text_key(example) for example in examples} for examples in kept.values()]
    assert len(set.union(*keys)) == sum(map(len, keys))
    assert kept["test"] == given_["test"]
    assert set.union(*keys) == {text_key(e) for examples in given_.values() for e in examples}
