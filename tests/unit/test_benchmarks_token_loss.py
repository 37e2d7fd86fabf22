"""The benchmark of the loss over a vocabulary: the ways agree, or it says so."""

import pytest

from benchmarks import token_loss as benchmark
from benchmarks.frame import main
from heron.base.errors import HeronError
from heron.base.files import read_json


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(benchmark, "VOCABULARIES", (50, 200))
    monkeypatch.setattr("torch.set_num_threads", lambda count: None)


def test_every_way_is_timed_and_kept(tmp_path, capsys):
    words = ["tokens=6", "rounds=2", f"out={tmp_path / 'kept.json'}"]
    assert main(benchmark.Options, benchmark.run, words) == 0
    seconds = read_json(tmp_path / "kept.json")["seconds"]
    assert {len(spent) for times in seconds.values() for spent in times.values()} == {2}
    assert list(seconds["200"]) == list(benchmark.WAYS)
    assert "times torch" in capsys.readouterr().out


def test_ways_that_disagree_are_no_benchmark(monkeypatch):
    monkeypatch.setitem(benchmark.WAYS, "heron", lambda *inputs: 1 + benchmark.torch_loss(*inputs))
    with pytest.raises(HeronError, match="differ"):
        benchmark.measure(50, benchmark.Options(tokens=4, rounds=1))
