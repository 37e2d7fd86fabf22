"""The frame of the benchmarks: options are checked before anything is measured, all is written."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from benchmarks.frame import AbsentError, Found, call, compare, main, time_rounds
from heron.base.cells import Table
from heron.base.errors import HeronError
from heron.base.files import read_json

# Options of a small run that have to be at least 1, further ones, and the keys of its seconds.
SMALL: dict[str, tuple[str, str, str]] = {
    "rouge": ("pairs=2 articles=1", "", "title; short; article"),
    "span_scores": ("few=20 pairs=40", "", "20; 40"),
    "significance": (
        "rows=60 draws=20 loop=2 seeds=2",
        "",
        "sklearn_loop; numpy_loop; heron; heron_randomization; heron_2_seeds",
    ),
    "token_loss": ("tokens=6", "", "50; 200"),
    "prompting": (
        "prompts=4 own=10 written=3 threads=1",
        "shared=40 hidden=32 layers=1",
        "one by one; heron, written; likelihood, each prompt whole; heron, likelihood",
    ),
}


@dataclass
class Options:
    """Options of a benchmark of the test."""

    pairs: int = 3
    out: Path = Path("nowhere")


def not_reached(options: object) -> Found:
    raise AssertionError(f"measured with {options}")


@pytest.mark.parametrize("name", SMALL)
def test_a_small_run_prints_ratios_and_keeps_every_round(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HERON_DATA", raising=False)
    monkeypatch.setattr("torch.set_num_threads", lambda count: None)
    benchmark: Any = import_module(f"benchmarks.{name}")
    monkeypatch.setattr(benchmark, "VOCABULARIES", (50, 200), raising=False)
    counts, more, keys = SMALL[name]
    words = [*counts.split(), *more.split(), "rounds=2", f"out={tmp_path / 'kept.json'}"]
    assert main(benchmark.Options, benchmark.run, words) == 0
    shown = capsys.readouterr().out
    assert "times" in shown
    assert (name == "rouge") == ("heron and plain differ by at most 0\n" in shown)
    seconds = read_json(tmp_path / "kept.json")["seconds"]
    assert list(seconds) == keys.split("; ")
    for found in seconds.values():
        assert name != "token_loss" or list(found) == list(benchmark.WAYS)
        for times in found.values() if isinstance(found, dict) else [found]:
            assert len(times) == 2


@pytest.mark.parametrize("name", [*SMALL, "generation", "recorder"])
def test_a_count_of_nothing_is_refused_in_one_line_before_measuring(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    others = {"generation": "articles=1 tokens=1 threads=1 beams=1 sizes=1 rounds=1"}
    counts = SMALL[name][0] + " rounds=1" if name in SMALL else others.get(name, "steps=6")
    for word in counts.split():
        option = word.partition("=")[0]
        assert main(import_module(f"benchmarks.{name}").Options, not_reached, [f"{option}=0"]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"benchmark: {option}")
        assert said.count("\n") == 1


def test_an_unknown_option_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(Options, not_reached, ["pears=1"]) == 2
    assert "pairs" in capsys.readouterr().err


def test_tables_and_lines_are_printed_and_the_record_is_written_with_its_circumstances(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made" / "kept.json"
    found = Found({"seconds": [1.5]}, [Table("title", ("way",), (("heron",),))], ["a line"], 1)
    assert main(Options, lambda options: found, [f"out={out}"]) == 1
    shown = capsys.readouterr().out
    assert shown.index("title") < shown.index("heron") < shown.index("a line")
    assert shown.endswith(f"{out}\n")
    kept = read_json(out)
    assert kept["seconds"] == [1.5]
    assert kept["options"] == {"pairs": 3, "out": str(out)}
    assert {"python", "torch", "heron-nlu"} <= kept["versions"].keys()
    assert kept["processor"]


def test_what_is_absent_or_fails_writes_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def raises(error: Exception) -> Any:
        def benchmark(options: Options) -> Found:
            raise error

        return benchmark

    out = tmp_path / "kept.json"
    assert main(Options, raises(AbsentError("no encoder")), [f"out={out}"]) == 0
    assert capsys.readouterr().out == "benchmark skipped:\n  no encoder\n"
    assert main(Options, raises(HeronError("the scores differ")), [f"out={out}"]) == 2
    assert capsys.readouterr().err == "benchmark: the scores differ\n"
    assert not out.exists()
    out.mkdir()
    assert main(Options, lambda options: Found({"a": 1}), [f"out={out}"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("benchmark: ")
    assert said.endswith(": Is a directory\n")


def test_ways_run_in_turn_and_every_round_is_checked() -> None:
    order, checked = [], []
    ways = {name: lambda name=name: order.append(name) or name for name in "ab"}
    times = time_rounds(ways, 2, checked.append)
    assert order == ["a", "b", "a", "b"]
    assert checked == [{"a": "a", "b": "b"}] * 2
    assert {name: len(spent) for name, spent in times.items()} == {"a": 2, "b": 2}


def test_ratios_are_taken_within_rounds() -> None:
    times = {"loop": [40.0, 60.0, 50.0], "heron": [0.1, 0.1, 0.2]}
    rows = compare("title", {"case": times}, "loop").rows
    assert [(way, spent.value, ratio.value) for _, way, spent, ratio in rows] == [
        ("loop", 50.0, 1.0),
        ("heron", 0.1, 400.0),
    ]


def test_a_process_of_its_own_says_why_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("platform").strip()
    with pytest.raises(HeronError, match=r"no_such_module failed: \n.*No module named"):
        call("no_such_module")
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(HeronError, match="platform failed: see above"):
        call("platform", shown=True)
