"""The benchmark of writing: both ways write the same, or it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import generation as benchmark
from heron.files import read_json

SMALL = ["articles=4", "tokens=5", "hidden=32", "layers=1", "rounds=1"]


def test_both_ways_write_the_same_and_every_measurement_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kept.json"
    assert benchmark.main([*SMALL, f"out={out}"]) == 0
    assert "tokens per s" in capsys.readouterr().out
    assert {len(spent) for spent in read_json(out)["seconds"].values()} == {1}


def test_ways_that_write_otherwise_are_no_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "one_by_one", lambda module, data: ["x"] * 4)
    assert benchmark.main([*SMALL, f"out={tmp_path / 'kept.json'}"]) == 2
    assert "4 summaries differ" in capsys.readouterr().err
    assert benchmark.main(["rounds=0"]) == 2
