"""`heron train` on a data set of one's own: what can be wrong with it, and what heron says then."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from heron.base.run_folder import RunFolder
from small_runs import TINY, heron, in_folder

LABELS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")
ROWS = [
    (f"r{i}", f"ביום {i} [א1] הגיע [/א1] השר ואחר כך [א2] עזב [/א2] את העיר .", LABELS[i % 4])
    for i in range(24)
]


def write_csv(path: Path, rows: list[tuple[str, ...]] | None = None, header: str = "") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((header or "guid,text,label").split(","))
        writer.writerows(ROWS if rows is None else rows)
    return path


def own(folder: Path, train_file: Path, *overrides: str, job: str = "own") -> tuple[str, ...]:
    """Say a data set of one's own, as the command line does."""
    test_file = folder / "test.csv"
    if not test_file.exists():
        write_csv(test_file, ROWS[:8])
    return (
        "train",
        "data=own_relation",
        *(word for word in TINY if not word.startswith("data.")),
        *in_folder(folder),
        "trainer.max_epochs=1",
        f"run.job={job}",
        f"data.files.train.path={train_file}",
        f"data.files.test.path={test_file}",
        *overrides,
    )


def with_row(line: int, guid: str = "", text: str = "", label: str = "") -> list[tuple[str, ...]]:
    """Replace cells of the row on a line of the file; the header is line 1."""
    rows: list[tuple[str, ...]] = list(ROWS)
    old = rows[line - 2]
    rows[line - 2] = (guid or old[0], text or old[1], label or old[2])
    return rows


def text(content: str) -> Callable[[Path], Path]:
    return lambda folder: write_csv(folder / "train.csv", with_row(6, text=content))


def _raw(content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / "train.csv").write_bytes(content)
        return folder / "train.csv"

    return make


def _invalid_utf8(folder: Path) -> Path:
    path = write_csv(folder / "train.csv")
    lines = path.read_bytes().split(b"\n")
    lines[4] = lines[4].replace("הגיע".encode(), b"\xe4\xe2\xe9")  # as Windows-1255 would have it
    path.write_bytes(b"\n".join(lines))
    return path


def _jsonl(folder: Path) -> Path:
    rows = [dict(zip(("guid", "text", "label"), row, strict=True)) for row in ROWS]
    lines = [json.dumps(row) for row in rows]
    lines[2] = '{"guid": "x", "text": NaN, "label": "BEFORE"}'
    lines[3] = "{broken"
    (folder / "train.jsonl").write_text("\n".join(lines))
    return folder / "train.jsonl"


# What is wrong: how to make such a file, and what the message must say.
WRONG: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "no such file": (
        lambda folder: folder / "nowhere.csv",
        ["nowhere.csv: missing", "paths.data"],
    ),
    "an empty file": (_raw(b""), ["train.csv: the file is empty"]),
    "a header and no rows": (_raw(b"guid,text,label\n"), ["train.csv: has no rows"]),
    "no text column": (
        lambda folder: write_csv(folder / "train.csv", header="guid,txt,label"),
        ["train.csv: no column 'text'", "'txt'", "data.columns"],
    ),
    "no label column": (
        lambda folder: write_csv(folder / "train.csv", header="guid,text,lable"),
        ["train.csv: no column 'label'", "'lable'"],
    ),
    "an unknown label": (
        lambda folder: write_csv(folder / "train.csv", with_row(6, label="BEFOR")),
        ["train.csv:6: unknown label 'BEFOR'", "Did you mean 'BEFORE'", "AFTER, EQUAL, VAGUE"],
    ),
    "a guid used twice": (
        lambda folder: write_csv(folder / "train.csv", with_row(6, guid="r0")),
        ["train.csv:6:", "'r0'", "line 2"],
    ),
    "text that is not UTF-8": (_invalid_utf8, ["train.csv:5: not UTF-8: byte 0xe4", "UTF-8"]),
    "a quote never closed": (
        _raw(b'"guid","text","label"\nr0,"abc,BEFORE\nr1,abc,AFTER\n'),
        ["train.csv:2: broken quoting"],
    ),
    "a cell too many": (
        _raw("guid,text,label\nr0,א,BEFORE,1\n".encode()),
        ["train.csv:2: 4 cells where the header has 3"],
    ),
    "broken lines in JSON": (
        _jsonl,
        ["train.jsonl:3: 'text' is empty", "train.jsonl:4: broken JSON"],
    ),
    "a file type it does not know": (
        lambda folder: write_csv(folder / "train.xlsx"),
        ["train.xlsx: unknown file type '.xlsx'", ".parquet"],
    ),
    "a marker missing": (
        text("[א1] הגיע [/א1] השר ו [א2] עזב ."),
        ["train.csv:6: no [/א2] in the text", "mark two events"],
    ),
    "a marker twice": (
        text("[א1] הגיע [/א1] [א1] השר [א2] עזב [/א2] ."),
        ["train.csv:6: [א1] 2 times"],
    ),
    "events crossed": (
        text("[א1] הגיע [א2] השר [/א1] עזב [/א2] ."),
        ["train.csv:6: the two events are crossed"],
    ),
    "events nested": (
        text("[א1] הגיע [א2] השר [/א2] עזב [/א1] ."),
        ["train.csv:6: one event is nested"],
    ),
    "an event without a word": (
        text("[א1]  [/א1] השר [א2] עזב [/א2] ."),
        ["train.csv:6: event 1 is empty"],
    ),
}


class TestWrongData:
    @pytest.mark.parametrize(("make", "expected"), WRONG.values(), ids=WRONG)
    def test_is_refused_with_place_reason_and_fix(
        self,
        make: Callable[[Path], Path],
        expected: list[str],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert heron(*own(tmp_path, make(tmp_path))) == 2
        printed = capsys.readouterr()
        assert [words for words in expected if words not in printed.err] == []
        assert printed.err.count("heron train:") == 1
        assert "Traceback" not in printed.out + printed.err

    def test_all_bad_rows_of_all_files_are_named_at_once(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_csv(tmp_path / "test.csv", with_row(3, label="LATER"))
        bad = [(guid, text, "?") for guid, text, _ in ROWS]
        assert heron(*own(tmp_path, write_csv(tmp_path / "train.csv", bad))) == 2
        error = capsys.readouterr().err
        assert f"{len(ROWS) + 1} problems" in error
        assert "train.csv:2: unknown label '?'" in error
        assert "... and 5 more" in error

    def test_wrong_content_is_told_by_its_sha256(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = write_csv(tmp_path / "train.csv")
        pinned = f"data.files.train.sha256={'0' * 64}"
        assert heron(*own(tmp_path, path, pinned)) == 2
        error = capsys.readouterr().err
        assert hashlib.sha256(path.read_bytes()).hexdigest() in error
        assert "data.verify=false" in error
        assert "Traceback" not in error

    def test_wrong_data_leaves_no_folder_and_the_same_command_works_once_it_is_mended(
        self, tmp_path: Path
    ) -> None:
        path = write_csv(tmp_path / "train.csv", with_row(6, label="?"))
        folder = RunFolder(tmp_path / "runs" / "own_relation-relation" / "own")
        assert heron(*own(tmp_path, path)) == 2
        assert not folder.path.parent.exists()
        write_csv(path)
        assert heron(*own(tmp_path, path)) == 0
        assert folder.state() == "done"
        assert json.loads(folder.status.read_text())["error"] is None

    def test_length_limit_that_cuts_an_event_names_the_row_and_the_key(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        long = "מלה " * 400 + ROWS[4][1]
        path = write_csv(tmp_path / "train.csv", with_row(6, text=long))
        assert heron(*own(tmp_path, path)) == 2
        error = capsys.readouterr().err
        assert "r4" in error
        assert "encoder.max_length" in error
        assert "data.on_cut=drop" in error
        assert "Traceback" not in error


def test_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    plain = write_csv(tmp_path / "train.csv")
    windows = tmp_path / "windows" / "train.csv"
    windows.parent.mkdir()
    windows.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n"))
    for path, job in ((plain, "plain"), (windows, "windows")):
        assert heron(*own(tmp_path, path, job=job)) == 0
    runs = tmp_path / "runs" / "own_relation-relation"
    for name in ("scores.json", "metrics.csv", "model/model.safetensors"):
        assert (runs / "plain" / name).read_bytes() == (runs / "windows" / name).read_bytes()
