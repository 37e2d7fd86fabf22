"""Linking phrases go, whole words only, and never leave a trace that tells they were there."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data.config import DataConfig, FileConfig
from heron_forks.ronli.phrases import Phrases, read_phrases

PHRASES = ("Astfel", "Astfel că", "Prin urmare", "în esență")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Prin urmare, orașul a crescut.", "Orașul a crescut."),
        ("Astfel că orașul a crescut.", "Orașul a crescut."),
        ("  Astfel: orașul a crescut.", "Orașul a crescut."),
        ("Orașul a crescut.", "Orașul a crescut."),
        ("orașul, Prin urmare, a crescut.", "orașul, Prin urmare, a crescut."),
        ("prin urmare, orașul a crescut.", "prin urmare, orașul a crescut."),
        ("Astfelul de oraș a crescut.", "Astfelul de oraș a crescut."),
    ],
)
def test_at_the_start_one_phrase_goes_with_its_comma(text, left):
    assert Phrases(PHRASES, anywhere=False).remove(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Orașul, Prin urmare, a crescut.", "Orașul, a crescut."),
        ("Orașul, prin urmare, a crescut.", "Orașul, a crescut."),
        ("Orașul a crescut, în esență.", "Orașul a crescut."),
        ("Prin urmare orașul a crescut în esență mult.", "Orașul a crescut mult."),
        ("Orașul a crescut.  Foarte   mult.", "Orașul a crescut.  Foarte   mult."),
    ],
)
def test_anywhere_all_phrases_go_and_other_texts_stay_as_they_are(text, left):
    assert Phrases(PHRASES, anywhere=True).remove(text) == left


@pytest.mark.parametrize("anywhere", [False, True])
def test_a_text_of_nothing_but_phrases_is_empty_afterwards(anywhere):
    assert Phrases(PHRASES, anywhere).remove("Prin urmare, .") == ""


def test_without_phrases_nothing_is_removed():
    assert Phrases([], anywhere=True).remove("Astfel că da.") == "Astfel că da."


@given(st.lists(st.sampled_from([*PHRASES, "orașul", "Râul", ",", ".", "crescut"]), max_size=8))
def test_anywhere_leaves_no_phrase_behind(words):
    phrases = Phrases(PHRASES, anywhere=True)
    left = phrases.remove(" ".join(words))
    assert not any(phrase.lower() in left.lower() for phrase in PHRASES)
    assert phrases.remove(left) == left


def config(**values) -> DataConfig:
    files = {"phrases": FileConfig("phrases.json")}
    own = {"language": "ro", "task": "nli", "label_order": ["reasoning"]}
    return DataConfig(**own, files=files, phrases="start", **values)


def test_listed_phrases_are_normalised_like_the_texts(tmp_path):
    path = tmp_path / "phrases.json"
    path.write_text(json.dumps({"reasoning": ["Aşadar"]}))  # with a cedilla
    assert read_phrases(path, config()).remove("Așadar, da.") == "Da."
