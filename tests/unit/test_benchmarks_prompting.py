"""The benchmark of prompts: all ways give the same answers, or it says so."""

import dataclasses

import pytest

from benchmarks import prompting as benchmark
from benchmarks.frame import main
from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.prompting.answers import Answer

SMALL = ["prompts=4", "shared=40", "own=10", "written=3", "hidden=32", "layers=1", "rounds=1"]


def test_every_way_is_measured_and_kept(tmp_path, capsys):
    out = tmp_path / "kept.json"
    assert main(benchmark.Options, benchmark.run, [*SMALL, f"out={out}"]) == 0
    assert "times faster" in capsys.readouterr().out
    seconds = read_json(out)["seconds"]
    assert next(iter(seconds)) == benchmark.ONE_BY_ONE
    assert {way: len(spent) for way, spent in seconds.items()} == dict.fromkeys(seconds, 1)
    assert len(seconds) == 4


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
