"""Copies inside and across splits are found at both levels, and their labels compared."""

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.heron_tools.audit.builders import by_id, event, pair, pairs

from heron.data.examples import Example
from heron_tools.audit.duplicates import find_duplicates
from heron_tools.audit.texts import loose, numbered


def copies(splits):
    return find_duplicates(splits, numbered(splits, loose))


SENTENCES = ["Casa e mare.", "casa  e mare", "Drum lung.", "Un pod", "un pod!"]


def test_nothing_repeated_means_nothing_found():
    assert copies({"train": pairs(50), "test": pairs(50, seed=1)}) == []


def test_a_repeated_pair_is_found_once_with_all_its_rows_and_labels():
    rows = [pair("1", "p", "h", "a"), pair("2", "p", "x", "a"), pair("3", "p", "h", "b")]
    found = by_id(copies({"dev": rows}))
    identical, loose = found["repeated_pairs.dev"].measures
    assert (identical["groups"], identical["rows"], identical["conflicting labels"]) == (1, 2, 1)
    assert identical | {"level": ""} == loose | {"level": ""}
    conflict = found["conflicts.dev"]
    assert [(row.guid, row.label, row.group) for row in conflict.rows] == [
        ("1", "a", 1),
        ("3", "b", 1),
    ]
    assert conflict.severity == "serious"
    assert conflict.title == "dev: 1 pair with different labels"


def test_a_copy_but_for_case_and_punctuation_is_a_level_of_its_own():
    rows = [pair("1", "Casa e mare.", "h"), pair("2", "casa  e mare", "H!")]
    (identical, loose) = by_id(copies({"dev": rows}))["repeated_pairs.dev"].measures
    assert (identical["groups"], loose["groups"]) == (0, 1)


def test_pairs_shared_by_two_splits_are_counted_by_agreement_of_their_labels():
    validation = [pair("v1", "p", "h", "a"), pair("v2", "q", "i", "a"), *pairs(20, prefix="v.")]
    test = [pair("t1", "p", "h", "a"), pair("t2", "q", "i", "b"), *pairs(20, 1, prefix="t.")]
    found = by_id(copies({"validation": validation, "test": test}))
    duplicates = found["duplicates.validation.test"]
    assert duplicates.severity == "serious"
    assert "2 pairs; 1 with one label, 1 with two" in duplicates.title
    # The one with two labels comes first.
    assert [row.guid for row in duplicates.rows] == ["v2", "t2", "v1", "t1"]
    assert {row.guid for row in found["conflicts.validation.test"].rows} == {"v2", "t2"}


def test_a_sentence_is_shared_on_whichever_side_it_stands():
    one = {"validation": [pair("v", "Un pod", "x")], "test": [pair("t", "y", "Un pod")]}
    shared = by_id(copies(one))["shared_texts.validation.test"]
    groups = {(m["text"], m["level"]): m["groups"] for m in shared.measures}
    assert groups["either side", "identical"] == 1
    assert groups["premise", "identical"] == groups["hypothesis", "identical"] == 0


def test_event_pairs_of_one_window_are_no_copies_but_the_same_events_are():
    text = "he ate , slept and left"
    rows = [event("1", text, "ate", "slept"), event("2", text, "ate", "left")]
    assert "repeated_pairs.train" not in by_id(copies({"train": rows}))
    rows.append(event("3", " " + text + " ", "ate", "left", label="AFTER"))
    found = by_id(copies({"train": rows}))
    assert [row.guid for row in found["conflicts.train"].rows] == ["2", "3"]


def test_repeated_single_texts_are_called_texts():
    rows = [Example(str(i), text) for i, text in enumerate(("one", "two", "two"))]
    titles = [found.title for found in copies({"train": rows})]
    assert any("text" in each for each in titles)
    assert not any("event" in each for each in titles)


def test_a_few_copies_in_a_large_split_are_a_warning_not_serious():
    validation, test = pairs(1000, 1, prefix="v"), pairs(1000, 2, prefix="t")
    test.append(pair("t", validation[0].text, validation[0].text_pair, validation[0].label))
    found = by_id(copies({"validation": validation, "test": test}))
    assert found["duplicates.validation.test"].severity == "warning"


rows = st.tuples(st.sampled_from(SENTENCES), st.sampled_from(SENTENCES), st.sampled_from("ab"))


@given(st.lists(rows, min_size=1), st.lists(rows, min_size=1))
def test_shared_pairs_are_those_of_the_two_sets(one, other):
    splits = {
        name: [pair(f"{name}{i}", *row) for i, row in enumerate(part)]
        for name, part in (("train", one), ("test", other))
    }
    expected = {row[:2] for row in one} & {row[:2] for row in other}
    found = by_id(copies(splits)).get("duplicates.train.test")
    assert (found.measures[0]["groups"] if found else 0) == len(expected)
