"""The benchmark of prompts: all ways give the same answers, or it says so."""

import dataclasses

import pytest

from benchmarks import prompting as benchmark
from heron.base.errors import HeronError
from heron_tools.prompting.answers import Answer


def test_other_answers_are_refused():
    same = Answer("a", logprobs=(-1.0, -2.0))
    found = {
        benchmark.ONE_BY_ONE: ["a"] * 4,
        "heron, written": [same] * 4,
        "likelihood, each prompt whole": [same] * 4,
        "heron, likelihood": [same] * 4,
    }
    benchmark._check(found)
    other = [dataclasses.replace(same, text="b")] * 4
    with pytest.raises(HeronError, match="4 answers differ"):
        benchmark._check(found | {"heron, written": other})
    far = [dataclasses.replace(same, logprobs=(-1.0, -2.001))] * 4
    with pytest.raises(HeronError, match="log-likelihoods differ"):
        benchmark._check(found | {"heron, likelihood": far})
