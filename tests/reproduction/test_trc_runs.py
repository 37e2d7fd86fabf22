"""TRC trains end to end on the real data with a pretrained encoder; a few steps only."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from heron.base.run_folder import RunFolder
from real_data import DATA, ENCODER, needs
from small_runs import heron

pytestmark = [pytest.mark.slow, *needs(DATA, ENCODER)]

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
# Rows of the shipped test file: each must be predicted or counted as refused.
TEST_ROWS = 1485


@pytest.fixture(scope="module", params=["window", "ess"])
def run(request, tmp_path_factory):
    home = tmp_path_factory.mktemp(request.param)
    words = (
        f"experiment=trc/{request.param}",
        "encoder=pretrained",
        f"encoder.name={ENCODER}",
        "encoder.max_length=256",
        "encoder.num_layers=2",
        "encoder.freeze=none",
        f"paths.data={DATA}",
        f"paths.cache={home / 'cache'}",
        f"paths.runs={home / 'runs'}",
        "run.sweep=trc",
        "run.job=few-steps",
        "data.sample.fraction=0.02",
        "data.on_cut=drop",
        "trainer.max_epochs=1",
        "trainer.accelerator=cpu",
        "task.bootstrap=20",
    )
    assert heron("train", *words) == 0
    return RunFolder(home / "runs" / "trc" / "few-steps")


def test_every_test_row_is_predicted_or_counted_as_refused(run):
    table = pq.read_table(run.predictions("test"))
    scores = json.loads(run.scores.read_text())["test"]
    assert len(table) + scores["refused"] == TEST_ROWS
    assert scores["refused"] <= 2
    assert len(set(table["guid"].to_pylist())) == len(table)
    assert set(table["gold"].to_pylist()) == set(LABELS)


def test_scores_status_and_dynamics_are_there(run):
    scores = json.loads(run.scores.read_text())
    assert {"validation", "test"} == set(scores)
    for name in ("macro_f1", "weighted_f1", "relaxed_macro_f1", "relaxed_weighted_f1"):
        assert 0 <= scores["test"][name] <= 1
    status = json.loads(run.status.read_text())
    assert status["state"] == "done"
    assert set(status["sources"]) == {"train", "test", "join", "encoder"}
    dynamics = pq.read_table(run.dynamics(0))
    assert len(dynamics) == status["data"]["splits"]["train"]["rows"]
    assert 90 <= len(dynamics) <= 120, "two per cent of the training rows that were not carved"


def test_trained_run_labels_rows_without_labels(run, tmp_path):
    table = pq.read_table(run.predictions("test")).slice(0, 20)
    path = tmp_path / "rows.parquet"
    pq.write_table(table.select(["guid", "text"]), path)
    words = (f"run={run.path}", f"input={path}", f"cache={tmp_path}")
    assert heron("predict", *words, f"out={tmp_path / 'labels.parquet'}") == 0
    labels = pq.read_table(tmp_path / "labels.parquet")
    assert labels["guid"].to_pylist() == table["guid"].to_pylist()
    assert labels["label"].to_pylist() == table["prediction"].to_pylist()
