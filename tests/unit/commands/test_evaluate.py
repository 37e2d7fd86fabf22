"""`heron evaluate`: a finished run's scores again, on its splits or on another labelled file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from heron.base.run_folder import RunFolder
from heron.base.tables import received
from small_runs import heron, train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("home"))


def evaluate(run: RunFolder, out: Path, *words: str) -> dict[str, dict[str, float]]:
    assert heron("evaluate", f"run={run.path}", f"out={out}", *words) == 0
    scores: dict[str, dict[str, float]] = json.loads(out.read_text())
    return scores


def write_labelled(path: Path, run: RunFolder) -> Path:
    """Write the test split with its gold labels as a file of one's own."""
    rows = pq.read_table(run.predictions("test")).to_pylist()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((row["text"], row["gold"]) for row in rows)
    return path


@pytest.mark.parametrize("split", ["test", "validation"])
def test_scores_equal_those_of_the_run(run, tmp_path, split):
    again = evaluate(run, tmp_path / "scores.json", f"split={split}")[split]
    scores = json.loads(run.scores.read_text())[split]
    assert again == pytest.approx(scores, abs=1e-12)


@pytest.mark.parametrize("name", ["mine", "stdin"])
def test_labelled_file_is_scored_like_a_split(run, tmp_path, monkeypatch, name):
    path = write_labelled(tmp_path / "mine.csv", run)
    received.cache_clear()
    with path.open(encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        given = f"input={path if name == 'mine' else '-'}"
        again = evaluate(run, tmp_path / "scores.json", given)[name]
    scores = json.loads(run.scores.read_text())["test"]
    points = {name: value for name, value in again.items() if not name.endswith(("_low", "_high"))}
    points.pop("refused", None)
    assert points == {name: pytest.approx(scores[name]) for name in points}
    assert "f1/VAGUE" in points
