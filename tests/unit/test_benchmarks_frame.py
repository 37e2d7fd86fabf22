"""The frame of the benchmarks: options are checked before anything is measured, all is written."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.frame import AbsentError, Found, call, main, ratio, time_rounds
from heron.base.cells import Table
from heron.base.errors import HeronError
from heron.base.files import read_json

AT_LEAST_ONE = {
    "rouge": ("pairs", "articles", "rounds"),
    "significance": ("rows", "draws", "loop", "rounds", "seeds"),
    "span_scores": ("few", "pairs", "rounds"),
    "generation": ("articles", "tokens", "rounds", "threads", "beams", "sizes"),
    "prompting": ("prompts", "own", "written", "rounds", "threads"),
    "token_loss": ("tokens", "rounds"),
    "recorder": ("steps",),
}


@dataclass
class Options:
    """Options of a benchmark of the test."""

    pairs: int = 3
    out: Path = Path("nowhere")


def not_reached(options: object) -> Found:
    raise AssertionError(f"measured with {options}")


@pytest.mark.parametrize("name", AT_LEAST_ONE)
def test_a_count_of_nothing_is_refused_in_one_line_before_measuring(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = import_module(f"benchmarks.{name}").Options
    for option in AT_LEAST_ONE[name]:
        assert main(schema, not_reached, [f"{option}=0"]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"benchmark: {option}=")
        assert "must be at least" in said
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
    def absent(options: Options) -> Found:
        raise AbsentError("no encoder")

    def failing(options: Options) -> Found:
        raise HeronError("the scores differ")

    out = tmp_path / "kept.json"
    assert main(Options, absent, [f"out={out}"]) == 0
    assert capsys.readouterr().out == "benchmark skipped:\n  no encoder\n"
    assert main(Options, failing, [f"out={out}"]) == 2
    assert capsys.readouterr().err == "benchmark: the scores differ\n"
    (tmp_path / "file").touch()
    beneath = tmp_path / "file" / "kept.json"
    assert main(Options, lambda options: Found({"a": 1}), [f"out={beneath}"]) == 2
    assert f"benchmark: out={beneath}: " in capsys.readouterr().err
    assert not out.exists()


def test_ways_run_in_turn_and_every_round_is_checked() -> None:
    order, checked = [], []
    ways = {name: lambda name=name: order.append(name) or name for name in "ab"}
    times = time_rounds(ways, 2, checked.append)
    assert order == ["a", "b", "a", "b"]
    assert checked == [{"a": "a", "b": "b"}] * 2
    assert {name: len(spent) for name, spent in times.items()} == {"a": 2, "b": 2}
    assert ratio({"a": [8.0, 9.0, 30.0], "b": [4.0, 3.0, 3.0]}, "a", "b") == 3.0


def test_a_process_of_its_own_says_why_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("platform").strip()
    with pytest.raises(HeronError, match=r"no_such_module failed: \n.*No module named"):
        call("no_such_module")
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(HeronError, match="platform failed: see above"):
        call("platform", shown=True)
