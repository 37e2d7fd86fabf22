"""Logits that are not finite have no best class, answer or score: every task refuses them."""

import math

import optuna
import pytest
import torch

from heron.base.errors import HeronError
from heron.base.run_folder import RunFolder
from heron.data.config import VALIDATION
from heron.tasks.several import Mean, WithEachSetting
from heron.training import inference
from heron.training.study import open_storage
from heron.training.trainer import predict_split, prediction_trainer
from small_runs import TINY, heron, in_folder
from small_tasks import RUNS, build

DIVERGING = (
    *("optim.lr=1e30", "optim.warmup=0", "optim.schedule=constant", "trainer.max_steps=1"),
    *("trainer.gradient_clip_val=0", "dynamics.enabled=false"),
)


def spoil(module, value):
    """Give a module the weights of a training that diverged."""
    for weight in module.parameters():
        torch.nn.init.constant_(weight, value)


@pytest.mark.parametrize("value", [1e30, math.nan])
@pytest.mark.parametrize("task", RUNS)
def test_every_task_s_prediction_and_validation_name_the_rows_and_the_cause(
    task, value, tmp_path, tiny_encoder
):
    module, data = build(task, tmp_path, tiny_encoder, "encoder.freeze=none")
    spoil(module, value)
    trainer = prediction_trainer(data.config, tmp_path)
    for run in (
        lambda: predict_split(trainer, module, data, VALIDATION),
        lambda: trainer.validate(module, data, verbose=False),
    ):
        with pytest.raises(HeronError, match="diverged") as refused:
            run()
        assert any(guid in str(refused.value) for guid in data.features[VALIDATION].guids)


def test_several_runs_and_several_settings_are_refused_too(tmp_path, tiny_encoder):
    module, data = build("nli", tmp_path, tiny_encoder)
    spoil(module, math.nan)
    for several in (Mean([module, module]), WithEachSetting([module, module])):
        trainer = prediction_trainer(data.config, tmp_path)
        with pytest.raises(HeronError, match="not finite"):
            predict_split(trainer, several.eval(), data, VALIDATION)


def test_a_precision_that_is_too_narrow_is_told_from_a_training_that_diverged(
    tmp_path, tiny_encoder
):
    module, data = build("nli", tmp_path, tiny_encoder)
    module.encoder.register_forward_hook(lambda *passed: passed[2] * math.inf)
    with pytest.raises(HeronError, match="32-true") as refused:
        predict_split(prediction_trainer(data.config, tmp_path), module, data, VALIDATION)
    assert "diverged" not in str(refused.value)


@pytest.fixture
def table(tmp_path):
    """Write a table of single texts; returns the words of a run that names it as its splits."""
    rows = [f"propoziția {row} despre vreme,{('rău', 'bun')[row % 2]}" for row in range(24)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    words = [word for word in TINY if "generator" not in word]
    words += ["data=own_classification", "data.language=ro", *in_folder(tmp_path)]
    return lambda *splits: [
        *words,
        *(f"data.files.{split}.path={tmp_path / 'rows.csv'}" for split in splits),
    ]


@pytest.mark.parametrize("splits", [("train",), ("train", "test")])
def test_a_diverged_run_fails_with_its_reason_also_where_only_train_could_tell(
    splits, table, tmp_path, capsys
):
    only = ("data.validation.fraction=0", "data.holdout.fraction=0", "trainer.select=last")
    words = table(*splits) + list(only)
    assert heron("train", *words, *DIVERGING, "run.sweep=s", "run.job=j") == 2
    error = capsys.readouterr().err
    assert "diverged" in error
    assert "Traceback" not in error
    folder = RunFolder(tmp_path / "runs" / "s" / "j")
    assert folder.state() == "failed"
    assert "diverged" in folder.read_status()["error"]
    assert heron("export", f"run={folder.path}", f"out={tmp_path / 'out'}") == 2


def test_prediction_from_a_run_that_an_earlier_heron_left_is_refused_without_a_traceback(
    table, tmp_path, capsys, monkeypatch
):
    assert heron("train", *table("train", "test"), "run.sweep=s", "run.job=j") == 0
    load = inference.load_exported

    def spoilt(*given):
        config, encoder, head = load(*given)
        spoil(head, math.nan)
        return config, encoder, head

    monkeypatch.setattr(inference, "load_exported", spoilt)
    run, source = tmp_path / "runs" / "s" / "j", tmp_path / "rows.csv"
    out = tmp_path / "out.csv"
    for words in (
        ("predict", run, "text=vreme"),
        ("predict", run, f"input={source}", f"out={out}"),
        ("evaluate", run, "split=test"),
    ):
        capsys.readouterr()
        assert heron(*words) == 2
        error = capsys.readouterr().err
        assert "not finite" in error
        assert "Traceback" not in error
    assert not out.exists()


def test_a_diverged_trial_of_a_search_has_failed(table, tmp_path):
    words = [word for word in DIVERGING if not word.startswith("optim.lr")]
    words += ["hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "optim.lr=choice(1e-3,1e30)"]
    assert heron("train", *table("train"), *words, "run.sweep=s", "-m") != 0
    states = {
        RunFolder(path.parent).state(): path.parent.name
        for path in (tmp_path / "runs" / "s").glob("*/status.json")
    }
    assert sorted(states) == ["done", "failed"]
    assert "lr=1e_30" in states["failed"]
    storage = open_storage(tmp_path / "runs" / "s")
    (name,) = optuna.get_all_study_names(storage)
    trials = optuna.load_study(study_name=name, storage=storage).trials
    own = [trial for trial in trials if "repeats" not in trial.user_attrs]
    assert sorted(trial.state.name for trial in own) == ["COMPLETE", "FAIL"]
