"""A label cell means a class, no gold label, or a mistake that names the nearest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data.config import DataConfig
from heron.data.rows import LabelError, LabelReader

CLASSES = ["contrastive", "entailment", "reasoning", "neutral"]
ALIASES = {"0": "contrastive", "1": "entailment", "2": "reasoning", "3": "neutral", "n": "neutral"}


@pytest.fixture
def reader() -> LabelReader:
    config = DataConfig(
        label_order=CLASSES, label_aliases={**ALIASES, "causal": "reasoning"}, no_label=["-"]
    )
    return LabelReader(config, "label")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("reasoning", "reasoning"),
        ("causal", "reasoning"),
        ("Causal", "reasoning"),
        ("NEUTRAL", "neutral"),
        ("N", "neutral"),
        (" entailment ", "entailment"),
        (2, "reasoning"),
        (2.0, "reasoning"),
        ("2", "reasoning"),
    ],
)
def test_ids_letters_and_capitals_mean_the_class(reader, value, label):
    assert reader.read(value) == label


@pytest.mark.parametrize("value", ["-", "", None, float("nan"), " "])
def test_an_empty_cell_and_a_configured_value_mean_no_gold_label(reader, value):
    assert reader.read(value) is None


@given(st.sampled_from([*CLASSES, *ALIASES]), st.data())
def test_any_spelling_of_a_name_reads_as_its_class(name, data):
    letters = [data.draw(st.sampled_from([c.lower(), c.upper()])) for c in name]
    reader = LabelReader(DataConfig(label_order=CLASSES, label_aliases=ALIASES), "label")
    assert reader.read("".join(letters)) == ALIASES.get(name, name)


def test_the_exact_spelling_comes_before_the_one_without_capitals():
    config = DataConfig(label_order=["E", "e"], label_aliases={"x": "E", "X": "e"})
    reader = LabelReader(config, "label")
    assert [reader.read(value) for value in ("E", "e", "x", "X")] == ["E", "e", "E", "e"]


def test_a_spelling_that_could_mean_two_classes_is_refused():
    reader = LabelReader(DataConfig(label_order=["Ab", "aB"]), "label")
    with pytest.raises(LabelError, match="unknown label 'AB'"):
        reader.read("AB")
