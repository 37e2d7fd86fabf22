"""Prefixes come off where a dictionary has the rest; nothing is lost on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.languages.hebrew import HEBREW
from heron.languages.words import folded_words
from heron_tools.morphology.backends import load_morphology, splits


@pytest.fixture(scope="module")
def backend():
    return load_morphology("simplemma-prefixes", HEBREW)


@pytest.mark.parametrize(
    ("word", "morphemes"),
    [
        ("ובבית", ("ו", "ב", "בית")),
        ("לישראל", ("ל", "ישראל")),
        ("וכשהילדים", ("ו", "כש", "ה", "ילדים")),
        ("הילדים", ("ה", "ילדים")),  # the dictionary has the definite form, too
        ("החברה", ("ה", "חברה")),
        ("של", ("של",)),
        ("היה", ("היה",)),
        ("קורונהוירוס", ("קורונהוירוס",)),  # unknown: whole
        ("2024", ("2024",)),
    ],
)
def test_prefixes_come_off_where_the_rest_is_known(backend, word, morphemes):
    assert backend.analyse([word])[0].morphemes == morphemes


@given(word=st.text(alphabet="אבהוכלמש", min_size=1, max_size=9))
def test_every_way_spells_the_word_and_the_first_is_the_whole(word):
    found = splits(word, HEBREW.prefixes)
    assert found[0] == (word,)
    assert all("".join(split) == word for split in found)
    assert len(set(found)) == len(found)
    assert all(len(split[-1]) > 1 for split in found[1:])


@given(words=st.lists(st.sampled_from(["ובבית", "ילדים", "שהיה", "מהעיר", "abc", "קטן"])))
def test_morphemes_are_the_letters_of_the_text_and_words_do_not_see_each_other(words):
    backend = load_morphology("simplemma-prefixes", HEBREW)
    (found,) = backend.analyse([" ".join(words)])
    assert "".join(found.morphemes) == "".join(words)
    assert found.words == len(found.readings) == len(folded_words(" ".join(words)))
    alone = [backend.analyse([word])[0].morphemes for word in words]
    assert found.morphemes == tuple(part for one in alone for part in one)


def test_lemmas_are_those_of_the_rest_and_readings_count_the_ways(backend):
    (found,) = backend.analyse(["ובילדים שהיה"])
    assert found.lemmas == ("ו", "ב", "ילד", *found.lemmas[3:])
    assert found.readings[0] == 1  # nothing but ילדים is in the dictionary
    assert found.readings[1] == 3  # "stayed", "that was", "that the Yah"
    assert (found.constructs, found.anaphors, found.pos) == (None, None, None)
