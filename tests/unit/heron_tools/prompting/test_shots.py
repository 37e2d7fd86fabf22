"""Examples in a prompt: seeded, balanced, and never among the rows that are asked about."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.data.examples import Example
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.shots import Shots, read_pool
from small_prompts import compose, examples_of

LABELS = ["a", "b", "c"]
ASKED = [Example(f"q{i}", f"question {i}", label="a") for i in range(5)]


def pool(count=30):
    return [Example(f"p{i}", f"text {i}", label=LABELS[i % 3]) for i in range(count)]


def shots(rows=None, seed=0, asked=ASKED, **settings):
    return Shots(PromptingConfig(**settings), pool() if rows is None else rows, asked, LABELS, seed)


def guids(rows):
    return [row.guid for row in rows]


@given(st.integers(0, 12), st.integers(0, 5), st.sampled_from(["random", "balanced"]))
def test_as_many_as_asked_for_each_once_and_the_same_for_a_seed(count, seed, draw):
    found = [guids(shots(seed=seed, shots=count, draw=draw).of(ASKED[0])) for _ in range(2)]
    assert found[0] == found[1]
    assert len(set(found[0])) == count
    if draw == "balanced":
        by_label = Counter(
            row.label for row in shots(seed=seed, shots=count, draw=draw).of(ASKED[0])
        )
        per_class = [by_label[label] for label in LABELS]
        assert max(per_class) - min(per_class) <= 1


def test_ronlis_two_of_each_class():
    drawn = shots(shots=6, draw="balanced").of(ASKED[0])
    assert Counter(row.label for row in drawn) == dict.fromkeys(LABELS, 2)


def test_other_seeds_draw_others():
    assert len({tuple(guids(shots(seed=s, shots=3).of(ASKED[0]))) for s in range(8)}) > 4


def test_all_questions_share_examples_or_have_their_own():
    fixed, own = shots(shots=3), shots(shots=3, same=False)
    assert len({tuple(guids(fixed.of(row))) for row in ASKED}) == 1
    assert len({tuple(guids(own.of(row))) for row in ASKED}) == len(ASKED)
    again = shots(shots=3, same=False, asked=ASKED[2:])
    assert guids(own.of(ASKED[3])) == guids(again.of(ASKED[3])), "not by the place of a question"


def test_rows_that_are_asked_about_are_never_examples():
    same_guid = Example("q1", "another text", label="a")
    same_text = Example("p99", " question   2 ", label="b")
    rows = [*pool(6), same_guid, same_text]
    found = shots(rows, shots=6)
    assert found.left_out == 2
    for seed in range(20):
        drawn = shots(rows, seed, shots=6).of(ASKED[0])
        assert not {"q1", "p99"} & set(guids(drawn))


def test_guids_of_another_data_set_may_be_equal_by_chance():
    rows = [Example("q1", "another text", label="a"), Example("x", "question 1", label="b")]
    assert guids(shots(rows, shots=1, pool="other").of(ASKED[0])) == ["q1"]


def test_a_pool_that_is_too_small_says_so():
    with pytest.raises(ConfigError, match=r"prompting\.shots=4.*3 rows"):
        shots(pool(3), shots=4)
    drawn = shots(pool(2), shots=2, draw="balanced").of(ASKED[0])
    assert {row.label for row in drawn} == {"a", "b"}, "classes without a row are left out"


def test_the_pool_is_the_train_split_of_the_run_or_of_another_data_set(tmp_path):
    config = compose(tmp_path, "data=chronicle_nli", "model=gpt-4o", "prompting.shots=2")
    own = examples_of(config, "train")
    assert read_pool(config, config.prompting, own) == own
    other = compose(
        tmp_path,
        "data=chronicle_nli",
        "model=gpt-4o",
        "prompting.shots=2",
        "prompting.pool=chronicle_ronli",
    )
    with pytest.raises(ConfigError, match=r"prompting\.pool=chronicle_ronli.*classes"):
        read_pool(other, other.prompting, own)
    other.prompting.pool = "chronicle"
    with pytest.raises(ConfigError, match="task=relation"):
        read_pool(other, other.prompting, own)
    other.prompting.shots = 0
    assert read_pool(other, other.prompting, own) == []
