"""Weights & Biases, offline: one W&B run per job, no account, and no secret on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from small_runs import TINY, heron, in_folder

SECRET = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture(autouse=True)
def _user_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heron.reporting.figures.run_figure", lambda *inputs: b"")
    monkeypatch.setattr("heron.reporting.figures.sweep_figure", lambda *inputs: b"")
    monkeypatch.setenv("WANDB_API_KEY", SECRET)
    monkeypatch.setenv("HF_TOKEN", SECRET)


def train(folder: Path, *overrides: str) -> list[Path]:
    """Train with W&B beside `metrics.csv`; returns the offline W&B runs."""
    words = (*TINY, *in_folder(folder), "trainer.max_epochs=1", "logger=wandb", "run.sweep=grid")
    words += ("batching.tokens=400",)  # more than ten steps: every tenth is logged
    heron("train", *words, *overrides)
    return sorted((folder / "runs" / "grid").glob("*/wandb/offline-run-*/run-*.wandb"))


@pytest.mark.slow
def test_each_job_of_a_sweep_has_a_wandb_run_of_its_own_and_no_secret_is_written(
    tmp_path: Path,
) -> None:
    records = train(tmp_path, "-m", "seed=0,1")
    assert len(records) == 2
    assert len({record.stem for record in records}) == 2
    for record in records:
        content, job = record.read_bytes(), record.parents[2].name
        assert job.encode() in content, "the job names the W&B run"
        assert b"grid" in content, "the sweep names its group"
        assert b"validation/macro_f1" in content
        assert b"train/loss" in content
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


@pytest.mark.slow
def test_failed_job_closes_its_wandb_run_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import wandb

    codes: list[int | None] = []
    finish = wandb.finish

    def remember(exit_code: int | None = None, *rest: Any) -> None:
        codes.append(exit_code)
        finish(exit_code, *rest)

    def fail(*_: Any) -> None:
        raise RuntimeError("a full disk")

    monkeypatch.setattr(wandb, "finish", remember)
    monkeypatch.setattr("heron.runtime.job.write_table", fail)
    assert len(train(tmp_path)) == 1
    assert codes == [1]
    assert wandb.run is None
