"""A comparison of recordings finds any difference and none between a recording and its copy."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from behaviour.comparing import compare
from behaviour.recording import read_cases, record

ROW = '<td>{}</td>\n<td class="number" data-value="{}">{}</td>'
RUN = "work/runs/ess/one"
PREDICTIONS = f"{RUN}/predictions/test.parquet"
SWEEP = "work/runs/ess/report.html"
TABLE = "work/runs/ess/table.csv"


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """Write a recording by hand: one file of each kind."""
    folder = tmp_path / "before"
    texts = {
        "record.json": "{}",
        "steps/relation/00.txt": "epoch 1/2  train loss 1.451  3 s\nmacro_f1   0.302\n",
        "steps/relation/00.err": "a warning",
        "steps/relation/00.code": "0: heron train\n",
        TABLE: "job,macro_f1,seconds\nhead=ess,0.5,3.1\nhead=emp,0.25,2.9\n",
        f"{RUN}/scores.json": json.dumps({"test": {"macro_f1": 0.1, "ece": math.nan}}),
        f"{RUN}/status.json": json.dumps({"state": "done", "seconds": 2.0, "data": {"rows": 3}}),
        f"{RUN}/config.yaml": "seed: 0\n",
        f"{RUN}/report.html": "<p>" + "x" * 500 + "</p>",
        SWEEP: ROW.format("done", 0.1, 0.1) + ROW.format("ess", 0.6, 0.6),
        "steps/labels/20.txt": "state  epochs  seconds\ndone   2 of 2      4.5   0.069\n",
        "work/cache/chronicle/train.jsonl": "{}",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / f"{RUN}/report.png").write_bytes(b"\x89PNG\xff")
    (folder / PREDICTIONS).parent.mkdir()
    p = [0.25, math.nan, 0.0]
    pd.DataFrame({"guid": list("abc"), "p/BEFORE": p}).to_parquet(folder / PREDICTIONS)
    return folder


@pytest.fixture
def after(before: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(before, tmp_path / "after"))


def replace(name: str, old: str, new: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


def set_probability(row: int, value: float) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        table = pd.read_parquet(folder / PREDICTIONS)
        table.loc[row, "p/BEFORE"] = value
        table.to_parquet(folder / PREDICTIONS)

    return change


def narrow(folder: Path) -> None:
    table = pd.read_parquet(folder / PREDICTIONS).astype({"p/BEFORE": np.float32})
    table.to_parquet(folder / PREDICTIONS)


def test_a_copy_is_the_same(before: Path, after: Path) -> None:
    assert compare(before, after) == 0


CHANGES = {
    "one bit of a probability": (PREDICTIONS, set_probability(0, np.nextafter(0.25, 1))),
    "the sign of a zero": (PREDICTIONS, set_probability(2, -0.0)),
    "a column's type": (PREDICTIONS, narrow),
    "a cell": (TABLE, replace(TABLE, "0.25", "0.26")),
    "a score": (f"{RUN}/scores.json", replace(f"{RUN}/scores.json", "0.1", "0.1000000000000001")),
    "a count": (f"{RUN}/status.json", replace(f"{RUN}/status.json", '"rows": 3', '"rows": 4')),
    "a key": (f"{RUN}/config.yaml", replace(f"{RUN}/config.yaml", "seed", "sede")),
    "what was printed": ("steps/relation/00.txt", replace("steps/relation/00.txt", "302", "303")),
    "an exit code": ("steps/relation/00.code", replace("steps/relation/00.code", "0:", "1:")),
    "a picture": (
        f"{RUN}/report.png",
        lambda folder: (folder / f"{RUN}/report.png").write_bytes(b"\x89PNG\xfe"),
    ),
    "the end of a page": (f"{RUN}/report.html", replace(f"{RUN}/report.html", "xx</p>", "xy</p>")),
    "a score in a page": (SWEEP, replace(SWEEP, "0.6", "0.7")),
    "a score beside seconds": ("steps/labels/20.txt", replace("steps/labels/20.txt", "69", "68")),
    "a missing file": (TABLE, lambda folder: (folder / TABLE).unlink()),
    "a new file": ("work/new.csv", lambda folder: (folder / "work/new.csv").write_text("a\n")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_and_named(
    what: str, before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, change = CHANGES[what]
    change(after)
    assert compare(before, after) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == name
    assert all(len(line) < 200 for line in printed)
    assert printed[-1].endswith("1 differ, 0 may differ and do")
    assert compare(before, after, ["*/none", name]) == 0


@pytest.mark.parametrize(
    "change",
    [
        replace("steps/relation/00.txt", "3 s", "4 s"),
        replace("steps/relation/00.err", "a", "another"),
        replace(TABLE, "3.1", "4.1"),
        replace(SWEEP, "0.1", "0.2"),
        replace("steps/labels/20.txt", "4.5", "5.4"),
        replace(f"{RUN}/status.json", "2.0", "5.0"),
        lambda folder: shutil.rmtree(folder / "work/cache"),
    ],
)
def test_clocks_warnings_and_caches_do_not_count(
    change: Callable[[Path], object], before: Path, after: Path
) -> None:
    change(after)
    assert compare(before, after) == 0


def test_new_keys_are_left_out_and_other_lines_are_not(before: Path, after: Path) -> None:
    config = after / f"{RUN}/config.yaml"
    config.write_text("seed: 0\nloss: null\n")
    assert compare(before, after) == 1
    assert compare(before, after, without=["^loss: ", "^other: "]) == 0
    config.write_text("seed: 1\nloss: null\n")
    assert compare(before, after, without=["^loss: "]) == 1


def test_files_that_differ_alike_are_listed_once(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one.yaml", "two.yaml", "three.yaml"):
        for folder, text in ((before, "a"), (after, "b")):
            (folder / "work" / name).write_text(text)
    assert compare(before, after) == 1
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "work/one.yaml and 2 files more, such as work/three.yaml"
    assert ", 3 differ" in last


def test_a_recording_that_was_cut_is_refused(before: Path, after: Path) -> None:
    (after / "record.json").unlink()
    with pytest.raises(SystemExit, match="no finished recording"):
        compare(before, after)


def test_every_need_comes_before_its_case() -> None:
    names = list(cases := read_cases())
    for number, case in enumerate(cases.values()):
        assert set(case.needs) <= set(names[:number])


@pytest.mark.real
def test_runs_of_a_recording_are_read_again_without_training(tmp_path: Path) -> None:
    source, first, again = Path(__file__).parents[2], tmp_path / "first", tmp_path / "again"
    assert record(first, source, ["pairs"]) == 0
    assert record(again, source, ["pairs"], runs=first) == 0
    assert compare(first, again) == 0
    seconds = json.loads((again / "record.json").read_text())["seconds"]
    assert seconds["nli"]["wall"] < 1
