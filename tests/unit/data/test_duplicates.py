"""What two splits share is kept, marked or dropped; repeats inside one are nobody's business."""

from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import DataError
from heron.data.examples import Example, Span, text_key
from heron.data.splits import apply_duplicates


def pair(guid: str, text: str, text_pair: str = "h") -> Example:
    return Example(guid, text, text_pair, label="A", side={"line": 2})


def splits() -> dict[str, list[Example]]:
    return {
        "train": [pair("1", "in all"), pair("2", "in two"), pair("3", "own"), pair("4", "own")],
        "validation": [pair("5", "in  all "), pair("6", "in two"), pair("7", "alone")],
        "test": [pair("8", "in all"), pair("9", "test only")],
    }


def guids(splits) -> dict[str, list[str]]:
    return {split: [example.guid for example in examples] for split, examples in splits.items()}


def test_drop_removes_from_the_earlier_split_and_leaves_test_whole():
    kept = apply_duplicates(splits(), "drop")
    assert guids(kept) == {"train": ["3", "4"], "validation": ["6", "7"], "test": ["8", "9"]}


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
