"""`RunFolder`: names of files, state, and how a run folder is opened, cleared and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder, open_run
from heron.tasks.config import Config
from heron.training.run import Run
from heron.training.run_names import config_key, run_path


def test_names_are_those_of_the_contract(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    parts = ("config", "status", "scores", "metrics", "best", "last", "model")
    paths = [getattr(folder, part) for part in parts]
    paths += [folder.predictions("test"), folder.dynamics(3)]
    names = "config.yaml status.json scores.json metrics.csv checkpoints/best.ckpt"
    names += " checkpoints/last.ckpt model predictions/test.parquet dynamics/epoch=3.parquet"
    assert [str(path.relative_to(tmp_path)) for path in paths] == names.split()
    assert list(tmp_path.iterdir()) == [], "naming a file touches nothing"


def test_a_sweep_may_lie_deeper_inside_the_runs_folder(
    chronicle_config: Callable[..., Config],
) -> None:
    config = chronicle_config("run.sweep=paper/table4", "run.job=a")
    assert run_path(config, []) == Path(config.paths.runs) / "paper" / "table4" / "a"


def test_state_is_absent_until_a_status_says_otherwise(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    assert folder.state() == "absent"
    folder.update_status(state="running", seed=3)
    folder.update_status(state="done")
    assert folder.state() == "done"
    assert json.loads(folder.status.read_text()) == {"state": "done", "seed": 3}


def test_clear_removes_what_a_run_left_and_nothing_else(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    own = [
        folder.config,
        folder.status,
        folder.scores,
        folder.metrics,
        folder.model / "config.json",
    ]
    own += [folder.predictions("test"), folder.dynamics(0), folder.best, folder.last]
    for path in [*own, tmp_path / "notes.md", tmp_path / "figures" / "mine.png"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    folder.clear()
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["figures", "figures/mine.png", "notes.md"]
    folder.clear()  # a second time there is nothing to do


@pytest.mark.parametrize("text", ["", "{", "[1]", "\udc80"])
def test_a_damaged_status_is_none_and_is_written_again(text: str, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.status.write_text(text, "utf-8", errors="surrogateescape")
    assert (folder.state(), folder.read_status()) == ("absent", {})
    folder.update_status(state="running")
    assert folder.read_status() == {"state": "running"}


def claim(config: Config, folder: RunFolder) -> None:
    folder.path.mkdir(exist_ok=True)
    with Run(config, folder).claimed():
        pass


def test_starting_over_removes_a_runs_own_files_alone_behind_a_link(tmp_path: Path) -> None:
    folder, disk = RunFolder(tmp_path / "run"), tmp_path / "disk"
    disk.mkdir()
    folder.path.mkdir()
    folder.last.parent.symlink_to(disk)
    folder.last.write_text("of another configuration")
    (disk / "thesis.tex").write_text("not the run's")
    (disk / "inside").mkdir()
    folder.clear()
    assert folder.last.parent.is_symlink()
    assert sorted(path.name for path in disk.iterdir()) == ["inside", "thesis.tex"]


def test_the_number_of_devices_is_no_other_run(chronicle_config: Callable[..., Config]) -> None:
    one = config_key(chronicle_config())
    words = "trainer.devices=2", "trainer.strategy=ddp_find_unused_parameters_true"
    assert config_key(chronicle_config(*words)) == one
    assert config_key(chronicle_config("trainer.patience=2")) != one


def test_sweep_folder_is_answered_with_its_runs(tmp_path: Path) -> None:
    for job in ("seed=1", "seed=0"):
        RunFolder(tmp_path / job).update_status(state="done")
        RunFolder(tmp_path / job).config.write_text("seed: 0")
    with pytest.raises(ConfigError, match="name one of its runs: seed=0, seed=1"):
        open_run(tmp_path)


def test_missing_model_names_the_state_of_the_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.update_status(state="failed")
    with pytest.raises(ConfigError, match=r"not finished \(it is failed\); its heron train"):
        folder.require_model()
    folder.update_status(state="done")
    with pytest.raises(ConfigError, match=r"run\.export was false.*run\.resume=false") as told:
        folder.require_model()
    assert "not finished" not in str(told.value)
    folder.model.mkdir()
    (folder.model / "head.safetensors").touch()
    folder.require_model()
