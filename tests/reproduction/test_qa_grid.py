"""Two cells of ParaShoot's grid on real files: stopped, taken up again, chosen on validation."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import pytorch_lightning as pl
import torch

from heron.base.files import read_json, read_yaml
from heron.base.run_folder import RunFolder
from real_data import DATA, ENCODER, needs
from small_runs import heron
from small_sweeps import wait_until

pytestmark = [pytest.mark.slow, *needs(DATA, ENCODER)]
STEPS = 6


def words_of(home: Path) -> list[str]:
    """Narrow the paper's grid to two cells of a few steps, as a user would."""
    return [
        "train",
        "experiment=parashoot/grid",
        "data=parashoot_dev",
        f"encoder={ENCODER}",
        "encoder.num_layers=2",
        "optim.lr=5e-5,1e-4",
        "batching.size=16",
        f"trainer.max_steps={STEPS}",
        "trainer.checkpoint_steps=1",
        "trainer.threads=1",
        "trainer.accelerator=cpu",
        "task.bootstrap=20",
        "run.export=false",
        "run.keep_checkpoints=true",
        f"paths.data={DATA}",
        f"paths.cache={home / 'cache'}",
        f"paths.runs={home / 'runs'}",
    ]


def jobs(home: Path) -> list[RunFolder]:
    return [RunFolder(path.parent) for path in sorted(home.glob("runs/*/*/config.yaml"))]


def in_state(home: Path, state: str) -> list[RunFolder]:
    return [job for job in jobs(home) if job.state() == state]


def stop_inside_the_second_cell(home: Path) -> None:
    """Start the sweep, and press Ctrl+C when its second job has made a step."""
    command = [sys.executable, "-m", "heron", *words_of(home)]
    sweep = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        wait_until(lambda: len(in_state(home, "done")) == 1, seconds=300)
        wait_until(lambda: any(job.last.is_file() for job in in_state(home, "running")), 300)
        sweep.send_signal(signal.SIGINT)
        said, _ = sweep.communicate(timeout=60)
    finally:
        sweep.kill()
    assert sweep.returncode not in (0, None), said
    assert "Traceback" not in said


class Batches(pl.Callback):
    """Counts the batches that are trained on."""

    def __init__(self) -> None:
        self.count = 0

    def on_train_batch_start(self, *_: object) -> None:
        self.count += 1


def test_a_stopped_grid_goes_on_and_validation_chooses_the_cell(tmp_path, monkeypatch):
    stop_inside_the_second_cell(tmp_path)
    (first,) = in_state(tmp_path, "done")
    (second,) = (job for job in jobs(tmp_path) if job.path != first.path)
    before = {path: path.read_bytes() for path in first.path.rglob("*") if path.is_file()}
    made = torch.load(second.last, weights_only=True)["global_step"]
    assert made >= 1

    batches = Batches()
    monkeypatch.setattr("heron.training.trainer.Progress", lambda *_: batches)
    assert heron(*words_of(tmp_path), "run.isolate=false") == 0
    assert batches.count == STEPS - made, "the stopped cell goes on where it was"
    assert [job.state() for job in jobs(tmp_path)] == ["done", "done"]
    # Its page is written again, and its configuration says where the command ran last.
    rewritten = {"report.html", "report.png", "config.yaml"}
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert changed <= rewritten, "a finished cell is left alone"
    assert torch.load(second.last, weights_only=True)["global_step"] == STEPS

    scores = {job.path: read_json(job.scores) for job in jobs(tmp_path)}
    best = max(scores, key=lambda path: scores[path]["validation"]["f1"])
    with (first.path.parent / "table4 chosen.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["cells"] == "2 of 2 finished"
    assert float(row["optim.lr"]) == read_yaml(best / "config.yaml")["optim"]["lr"]
    assert float(row["validation f1 mean"]) == pytest.approx(scores[best]["validation"]["f1"])
    assert float(row["test f1 mean"]) == pytest.approx(scores[best]["test"]["f1"])
    assert "2 runs on other data left out" in (first.path.parent / "table.md").read_text("utf-8")
