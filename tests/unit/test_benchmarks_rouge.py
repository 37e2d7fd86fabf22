"""The benchmark of ROUGE compares like with like."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.rouge import cut, heron, make_words, plain, plain_tokens

FORK = json.loads(Path(__file__).parent.joinpath("metrics/rouge_fork.json").read_text())


def test_the_plain_scorer_restates_the_fork_on_ordinary_text():
    # It leaves out the fork's rarest rules: CJK, marks on spaces, pyonmttok's own symbols.
    rare = "中\u0301\u05b0￭▁\x0b\x85"
    pairs = [pair[:2] for pair in FORK["pairs"] if not set(rare) & set("".join(pair[:2]))]
    assert len(pairs) > 25
    np.testing.assert_allclose(plain(pairs), heron(pairs))
    for text, tokens in FORK["tokens"]:
        if not set(rare) & set(text):
            assert plain_tokens(text) == tokens


def test_made_up_pairs_have_the_lengths_asked_for_and_share_words():
    pairs = cut(make_words(5000), (200, 33), 5, 0)
    assert {tuple(len(text.split()) for text in pair) for pair in pairs} == {(200, 33)}
    assert heron(pairs)[:, 0].all()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_makes_the_same_text(seed):
    assert make_words(50, seed) == make_words(50, seed)
