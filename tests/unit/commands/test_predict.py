"""`heron predict`: labels for new rows, in file order; rows that cannot be used cost no others."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from heron.base.files import read_json
from heron.base.tables import write_table
from heron.data.datamodule import DataModule
from heron.training.trainer import predict_split as real_predict_split
from small_baselines import LABELS as PAIR_LABELS
from small_baselines import train as train_baseline
from small_runs import heron, train
from tiers import quick

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
PROBABILITIES = [f"p/{label}" for label in LABELS]


@pytest.fixture(scope="module", params=["ess", "window"])
def run(request, tmp_path_factory):
    """One finished run per input form: marked pairs, and windows with all their pairs."""
    home = tmp_path_factory.mktemp(request.param)
    return train(home, f"head={request.param}", "trainer.max_epochs=1")


@pytest.fixture(scope="module")
def test_rows(run):
    """The run's own predictions on its test split."""
    return pq.read_table(run.predictions("test")).to_pylist()


def write_texts(path: Path, texts: Sequence[str], guids: Sequence[str] = ()) -> Path:
    """Write rows in the format that the suffix names; their label is none of the run's."""
    columns = {"text": texts, "label": ["LATER"] * len(texts)}
    write_table(path, columns | ({"guid": guids[: len(texts)]} if guids else {}))
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def probabilities(rows: Sequence[dict[str, object]]) -> np.ndarray:
    return np.array([[float(str(row[name])) for name in PROBABILITIES] for row in rows])


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_predictions_equal_those_of_the_run_itself(suffix, run, test_rows, tmp_path):
    test_rows = sorted(test_rows, key=lambda row: len(row["text"]), reverse=True)
    texts, guids = ([str(row[name]) for row in test_rows] for name in ("text", "guid"))
    path = write_texts(tmp_path / f"rows{suffix}", texts, guids)
    assert heron("predict", f"run={run.path}", f"input={path}", f"cache={tmp_path}") == 0
    rows = read_csv(tmp_path / "rows.predictions.csv")
    assert list(rows[0]) == ["guid", "label", *PROBABILITIES, "text", "input_label"]
    assert [(row["text"], row["input_label"]) for row in rows] == [(t, "LATER") for t in texts]
    assert [row["guid"] for row in rows] == guids
    assert [row["label"] for row in rows] == [row["prediction"] for row in test_rows]
    np.testing.assert_allclose(probabilities(rows), probabilities(test_rows), atol=1e-6)


@pytest.mark.parametrize("suffix", quick([".csv", ".jsonl", ".parquet"]))
def test_a_file_in_several_chunks_is_predicted_as_in_one(
    suffix, run, test_rows, tmp_path, monkeypatch, capsys
):
    texts, guids = [str(row["text"]) for row in test_rows], [f"row {n}" for n in range(99)]
    texts[6], texts[8] = "אין סימון", "מלה " * 500 + texts[8]  # in the second chunk
    guids[12], guids[13] = guids[0], guids[11]
    path = write_texts(tmp_path / f"rows{suffix}", texts, guids)
    words = (f"run={run.path}", f"input={path}", f"cache={tmp_path}")
    said = []
    for name, size in (("whole", 10_000), ("parts", 5)):
        monkeypatch.setattr("heron.commands.predict.CHUNK", size)
        assert heron("predict", *words, f"out={tmp_path / name}.csv") == 1
        said.append(capsys.readouterr())
    whole, parts = (read_csv(tmp_path / f"{name}.csv") for name in ("whole", "parts"))
    bad = (6, 8, 12, 13)
    assert [row["guid"] for row in parts] == [guids[n] for n in range(len(texts)) if n not in bad]
    assert [(r["guid"], r["label"]) for r in parts] == [(r["guid"], r["label"]) for r in whole]
    np.testing.assert_allclose(probabilities(parts), probabilities(whole), atol=1e-6)
    assert said[0].err == said[1].err
    header = suffix == ".csv"
    for n, reason in zip(bad, ("[א1]", "cut", "is already on", "is already on"), strict=True):
        (line,) = [
            line for line in said[1].err.splitlines() if f"{path}:{n + 1 + header}: " in line
        ]
        assert reason in line


def test_no_more_than_a_chunk_is_predicted_at_once_and_a_late_failure_writes_nothing(
    run, test_rows, tmp_path, monkeypatch
):
    path = write_texts(tmp_path / "rows.csv", [str(row["text"]) for row in test_rows])
    out = tmp_path / "rows.predictions.csv"
    out.write_text("as before")
    sizes = []

    def predict_split(trainer: object, module: object, data: DataModule, *rest: object) -> object:
        sizes.append(len(data.examples["input"]))
        if len(sizes) >= 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return real_predict_split(trainer, module, data, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("heron.commands.predict.CHUNK", 5)
    monkeypatch.setattr("heron.training.inference.predict_split", predict_split)
    words = (f"run={run.path}", f"input={path}", f"cache={tmp_path}")
    with pytest.raises(RuntimeError, match="out of memory"):
        heron("predict", *words)
    assert sizes == [5, 5]
    assert out.read_text() == "as before"
    assert not list(tmp_path.glob(".rows*"))
    monkeypatch.undo()
    assert heron("predict", *words, "batching.tokens=450") == 0


def test_unusable_rows_are_reported_by_line_and_all_others_predicted(
    run, test_rows, tmp_path, capsys
):
    good = [str(row["text"]) for row in test_rows[:3]]
    lines = [
        b"text",
        good[0].encode(),
        "השר הגיע ועזב".encode(),  # line 3
        "[א1] הגיע [א2] השר [/א1] עזב [/א2]".encode(),  # line 4
        b"[\xe01] \xe4\xe2\xe9\xf2",  # line 5
        good[1].encode(),
        ("מלה " * 500 + good[0]).encode(),  # line 7
        b'""',  # line 8
        good[2].encode(),
    ]
    path = tmp_path / "rows.tsv"  # a tab never stands in these texts, a comma may
    path.write_bytes(b"\n".join(lines))
    assert heron("predict", f"run={run.path}", f"input={path}", f"cache={tmp_path}") == 1

    rows = read_csv(tmp_path / "rows.predictions.csv")
    assert [row["guid"] for row in rows] == ["rows:2", "rows:6", "rows:9"]
    assert [row["label"] for row in rows] == [row["prediction"] for row in test_rows[:3]]
    printed = capsys.readouterr()
    for line, reason in {
        3: "[א1]",
        4: "[א2] [/א1]",
        5: "not UTF-8: byte 0xe0",
        7: "cut",
        8: "'text' is empty",
    }.items():
        (said,) = [said for said in printed.err.splitlines() if f"{path}:{line}: " in said]
        assert reason in said


def test_run_folder_works_from_any_working_directory_and_after_a_move(
    run, test_rows, tmp_path, monkeypatch
):
    moved = tmp_path / "elsewhere"
    moved.symlink_to(run.path)
    monkeypatch.chdir(tmp_path)
    write_texts(Path("rows.csv"), [str(row["text"]) for row in test_rows])
    assert heron("predict", "run=elsewhere", "input=rows.csv", "cache=cache") == 0
    labels = [row["label"] for row in read_csv(Path("rows.predictions.csv"))]
    assert labels == [row["prediction"] for row in test_rows]


def test_one_text_is_labelled_on_the_command_line(run, test_rows, tmp_path, capsys):
    row = test_rows[0]
    assert heron("predict", f"run={run.path}", f"text={row['text']}", f"cache={tmp_path}") == 0
    label, *lines = capsys.readouterr().out.splitlines()
    assert label == row["prediction"]
    found = {name: float(value) for name, value in (line.split() for line in lines)}
    assert found == {
        label: pytest.approx(row[f"p/{label}"], abs=1e-4)  # four decimals are shown
        for label in LABELS
    }


@pytest.fixture(scope="module")
def pair_run(tmp_path_factory):
    """A finished baseline on sentence pairs."""
    return train_baseline(
        tmp_path_factory.mktemp("pairs"), "baseline=cbow_svm", "baseline.scale=standard"
    )


def write_pairs(path: Path, rows: Sequence[dict[str, object]], *columns: str) -> Path:
    names = {"premise": "text", "hypothesis": "text_pair", "guid": "guid"}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows({column: row[names[column]] for column in columns} for row in rows)
    return path


def test_pairs_are_predicted_as_the_run_itself_predicted_them(pair_run, tmp_path, monkeypatch):
    monkeypatch.setattr("heron.commands.predict.CHUNK", 9)
    rows = pq.read_table(pair_run.predictions("test")).to_pylist()
    path = write_pairs(tmp_path / "pairs.csv", rows, "guid", "premise", "hypothesis")
    assert heron("predict", f"run={pair_run.path}", f"input={path}", f"cache={tmp_path}") == 0
    found = read_csv(tmp_path / "pairs.predictions.csv")
    own = ["premise", "hypothesis"]
    assert list(found[0]) == ["guid", "label", *(f"p/{label}" for label in PAIR_LABELS), *own]
    assert [row["premise"] for row in found] == [row["text"] for row in rows]
    assert [row["label"] for row in found] == [row["prediction"] for row in rows]
    assert [row["guid"] for row in found] == [row["guid"] for row in rows]


def test_one_pair_is_labelled_on_the_command_line(pair_run, capsys):
    words = f"run={pair_run.path}", "text=Ana cântă în parc."
    assert heron("predict", *words, "text_pair=Ana are un câine.") == 0
    assert capsys.readouterr().out.splitlines()[0] == "neutral"
    assert heron("predict", *words) == 2
    assert "missing option text_pair=" in capsys.readouterr().err


def test_a_run_predicts_and_is_scored_in_the_precision_asked_for(tmp_path):
    run = train(tmp_path, "head=ess", "trainer.max_epochs=1", "trainer.precision=32-true")
    rows = pq.read_table(run.predictions("test")).to_pylist()
    path = write_texts(tmp_path / "rows.csv", [str(row["text"]) for row in rows])
    own_RC = probabilities(rows)
    for precision, difference in (("32-true", 0), ("bf16-mixed", 1e-2)):
        out, word = tmp_path / f"{precision}.csv", f"trainer.precision={precision}"
        assert heron("predict", f"run={run.path}", f"input={path}", f"out={out}", word) == 0
        half_RC = probabilities(read_csv(out))
        np.testing.assert_allclose(half_RC, own_RC, atol=difference + 1e-6)
    assert np.abs(half_RC - own_RC).max() > 1e-5
    out, both = tmp_path / "scores.json", "trainer.precision=32-true,bf16-mixed"
    assert heron("evaluate", f"run={run.path}", "split=validation", both, f"out={out}") == 0
    full, half = (scores["validation"] for scores in read_json(out).values())
    assert 0 < abs(full["brier"] - half["brier"]) < 1e-2  # one's logits are not the other's
