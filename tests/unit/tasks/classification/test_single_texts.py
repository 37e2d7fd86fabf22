"""Single-text classification: a table with texts and classes goes through every command."""

import csv
import json
import random

import pytest

from heron.base.tables import read_table
from small_runs import TINY, heron, in_folder

WORDS = {"economy": ["bank", "market"], "sport": ["goal", "team"], "culture": ["song", "film"]}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Write texts whose words give their class away; returns the words that name them."""
    folder = tmp_path_factory.mktemp("texts")
    draw = random.Random(0)
    for split, rows in (("train", 90), ("test", 20)):
        with (folder / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["guid", "text", "label"])
            for row in range(rows):
                label = draw.choice(list(WORDS))
                text = " ".join([f"The {draw.choice(WORDS[label])}", f"and {row} others ."])
                writer.writerow([f"{split}-{row}", text, label])
    files = [f"data.files.{split}.path={folder / split}.csv" for split in ("train", "test")]
    return folder, ("data.language=en", *files)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """Train one tiny run on them."""
    folder = tmp_path_factory.mktemp("runs")
    words = ["data=own_classification", *data[1], *(w for w in TINY if "generator" not in w)]
    words += ["trainer.max_epochs=4", "optim.lr=1e-2", "batching.tokens=200"]
    assert heron("train", *words, *in_folder(folder), "run.sweep=s", "run.job=a") == 0
    majority = ("baseline=majority", "run.sweep=s", "run.job=b")
    assert heron("train", *words, *in_folder(folder), *majority) == 0
    return folder / "runs" / "s"


def test_a_run_learns_and_beats_the_majority(trained):
    scores = [json.loads((trained / job / "scores.json").read_text()) for job in ("a", "b")]
    assert scores[0]["test"]["accuracy"] > scores[1]["test"]["accuracy"] > 0
    columns = read_table(trained / "a" / "predictions" / "test.parquet").columns
    assert {"guid", "gold", "prediction", "text", "p/sport"} <= set(columns)
    assert "text_pair" not in columns
    assert (trained / "a" / "dynamics" / "epoch=1.parquet").is_file()


def test_predictions_of_a_file_are_scored_as_the_run_scores_them(trained, data, tmp_path):
    given, predicted = data[0] / "test.csv", tmp_path / "p.csv"
    assert heron("predict", f"run={trained / 'a'}", f"input={given}", f"out={predicted}") == 0
    words = (f"gold={given}", f"predictions={predicted}", f"out={tmp_path / 's.json'}")
    assert heron("score", "task=classification", *words) == 0
    found = json.loads((tmp_path / "s.json").read_text())["p"]
    wanted = json.loads((trained / "a" / "scores.json").read_text())["test"]
    assert found["accuracy"] == pytest.approx(wanted["accuracy"])


def test_the_audit_takes_the_only_text_for_evidence(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert heron("audit", "data=own_classification", *data[1]) == 0
    findings = json.loads(next(tmp_path.rglob("findings.json")).read_text())["findings"]
    by_id = {finding["id"]: finding for finding in findings}
    assert by_id["text_only"]["severity"] == "info"
