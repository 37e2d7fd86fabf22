"""A run's folder is enough to train it again."""

from __future__ import annotations

import shutil

import pytest

from heron.base.files import dump_yaml, read_json, read_yaml, write_json
from heron.base.run_folder import RunFolder
from heron.commands.train_from import configure
from small_runs import heron, train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("repeat"), "seed=3")


def again(run: RunFolder) -> RunFolder:
    return RunFolder(run.path.with_name(f"{run.path.name}-again"))


def test_a_run_is_repeated_from_its_folder_to_the_same_scores(run, capsys):
    assert heron("train", f"run.from={run.path}") == 0
    assert read_json(again(run).scores) == read_json(run.scores)
    assert again(run).metrics.read_bytes() == run.metrics.read_bytes()
    assert "scores are equal" in capsys.readouterr().out


def test_a_repetition_that_is_cut_goes_on_though_the_old_run_began_anew(run, tmp_path):
    old = RunFolder(tmp_path / "sweep" / "old")
    old.path.mkdir(parents=True)
    stored = read_yaml(run.config)
    stored["run"]["resume"] = False
    old.config.write_text(dump_yaml(stored), encoding="utf-8")
    assert configure(old, []).run.resume
    assert not configure(old, ["run.resume=false"]).run.resume


def test_a_changed_key_is_changed_and_the_difference_is_said(run, capsys):
    assert heron("train", f"run.from={run.path}", "seed=4", "run.job=other") == 0
    other = RunFolder(run.path.with_name("other"))
    assert read_json(other.status)["seed"] == 4
    said = capsys.readouterr().out
    assert "scores differ, most of all:" in said
    assert "the files differ" not in said


def test_what_else_differs_is_said(run, tmp_path, capsys):
    old = RunFolder(tmp_path / "sweep" / "old")
    shutil.copytree(run.path, old.path)
    status = read_json(old.status)
    write_json(old.status, {**status, "versions": {"torch": "1.0"}, "threads": 64})
    assert heron("train", f"run.from={old.path}") == 0
    said = capsys.readouterr().out
    assert "scores are equal" in said
    assert "the versions differ" in said
    assert "the numbers of CPU threads (trainer.threads sets it) differ" in said


@pytest.mark.parametrize(
    "target",
    ["mine.Callback", "os.system", "torch.os.system", "torch.hub.load", "subprocess.Popen"],
)
def test_code_that_a_run_from_elsewhere_names_needs_trust(target, run, tmp_path, capsys):
    old = RunFolder(tmp_path / "sweep" / "old")
    old.path.mkdir(parents=True)
    stored = read_yaml(run.config)
    known = {"_target_": "pytorch_lightning.callbacks.EarlyStopping", "monitor": "validation/loss"}
    stored["callbacks"] = {"known": known}
    stored["run"]["trust"] = True  # only the user can say so
    old.config.write_text(dump_yaml(stored), encoding="utf-8")
    assert configure(old, []).callbacks == {"known": known}
    stored["callbacks"]["known"]["inner"] = [{"_target_": target}]
    old.config.write_text(dump_yaml(stored), encoding="utf-8")
    assert heron("train", f"run.from={old.path}") == 2
    error = capsys.readouterr().err
    assert f"callbacks.known.inner.0._target_={target}" in error
    assert "run.trust=true" in error
    assert not again(old).path.exists()
    assert configure(old, ["run.trust=true"]).callbacks == stored["callbacks"]
