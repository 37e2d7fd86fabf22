"""The benchmark of writing: all ways write the same, or it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import generation as benchmark
from benchmarks.frame import main
from heron.base.files import read_json

SMALL = ["articles=4", "tokens=5", "hidden=32", "layers=1", "rounds=1", "beams=1,2", "sizes=4"]


@pytest.fixture(autouse=True)
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the model that begins with an encoder's weights."""
    monkeypatch.delenv("HERON_ENCODER", raising=False)


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_all_ways_write_the_same_and_every_measurement_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kept.json"
    assert main(benchmark.Options, benchmark.run, [*SMALL, f"out={out}"]) == 0
    shown = capsys.readouterr().out
    assert "HERON_ENCODER names no folder" in shown
    assert "tokens per s" in shown
    seconds = read_json(out)["seconds"]
    assert list(seconds) == ["random weights, greedy", "random weights, 2 beams"]
    for times in seconds.values():
        ways = ("one by one", "Seq2SeqTrainer, 4 at once", "heron")
        assert {way: len(spent) for way, spent in times.items()} == dict.fromkeys(ways, 1)


def test_a_model_that_begins_with_an_encoder_is_a_case_of_its_own(tmp_path: Path) -> None:
    options = benchmark.Options(encoder=tmp_path, beams=[1, 4])
    names = [case.name for case in benchmark.cases(options)]
    assert names[2:] == [f"{tmp_path.name}, greedy", f"{tmp_path.name}, 4 beams"]
    config = benchmark.configure(options, benchmark.cases(options)[3], tmp_path)
    assert (config.encoder.name, config.task.generation.num_beams) == (str(tmp_path), 4)
    assert main(benchmark.Options, benchmark.run, [*SMALL, f"encoder={tmp_path / 'absent'}"]) == 2


def test_ways_that_write_otherwise_are_no_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "one_by_one", lambda module, data: ["x"] * 4)
    assert main(benchmark.Options, benchmark.run, [*SMALL, f"out={tmp_path / 'kept.json'}"]) == 2
    assert "4 summaries differ" in capsys.readouterr().err
