"""The benchmark of the loss over a vocabulary: the ways agree, or it says so."""

import pytest

from benchmarks import token_loss as benchmark
from heron.base.errors import HeronError


def test_ways_that_disagree_are_no_benchmark(monkeypatch):
    monkeypatch.setitem(benchmark.WAYS, "heron", lambda *inputs: 1 + benchmark.torch_loss(*inputs))
    with pytest.raises(HeronError, match="differ"):
        benchmark.measure(50, benchmark.Options(tokens=4, rounds=1))
