"""A training is ended when its trial has no prospects, and only then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import optuna
import pytest
import torch

from heron.base.run_folder import RunFolder, config_text
from heron.commands.train_from import configure
from heron.dynamics.config import CurriculumConfig
from heron.sweeps.search import problems
from heron.tasks import BaselineConfig
from heron.tasks.config import Config, SweeperConfig
from heron.training.checkpointing import ended_early
from heron.training.curriculum import without_curriculum
from heron.training.study import Pruning, open_study, trial_of


@pytest.fixture
def config(chronicle_config):
    """Make a trial's configuration: number 3 of a study whose other trials scored 0.5."""
    found: Config = chronicle_config("trainer.max_epochs=4")
    found.sweeper = SweeperConfig(pruner="median", startup_trials=3, study="s", trial=3)
    return found


@pytest.fixture
def study(config, tmp_path):
    """Begin the study."""
    return begin(config, tmp_path)


def begin(config: Config, tmp_path: Path) -> optuna.Study:
    """Begin the study: three trials that scored 0.5 after every epoch, and one that runs."""
    study = open_study(tmp_path, "s", config.sweeper, 4, config.trainer.monitor)
    for _ in range(3):
        trial = study.ask()
        for epoch in range(1, 5):
            trial.report(0.5, epoch)
        study.tell(trial, 0.5)
    study.ask()
    return study


def after(callback: Pruning, scores: list[float], stopped_by_another: bool = False) -> Any:
    """Let a training go through epochs with these scores, until it is stopped."""
    strategy = SimpleNamespace(broadcast=lambda value: value)
    trainer: Any = SimpleNamespace(
        callbacks=[callback], is_global_zero=True, strategy=strategy,
        should_stop=stopped_by_another, max_epochs=4, current_epoch=0,
    )  # fmt: skip
    for epoch, score in enumerate(scores):
        trainer.current_epoch = epoch
        trainer.callback_metrics = {callback.monitor: torch.tensor(score)}
        callback.on_train_epoch_end(trainer, None)  # type: ignore[arg-type]
        if trainer.should_stop:
            break
    return trainer


def make(config: Config, tmp_path: Path, curriculum: Any = None) -> Pruning:
    data: Any = SimpleNamespace(curriculum=curriculum, batches_per_epoch=lambda: [1] * 4)
    return Pruning(config, tmp_path, data)


def test_a_training_below_the_median_is_ended_and_one_above_is_not(config, study, tmp_path):
    trainer = after(make(config, tmp_path), [0.6, 0.6, 0.6, 0.6])
    assert ended_early(trainer) is None
    assert trial_of(study, 3).storage.get_trial(3).intermediate_values == pytest.approx(
        {1: 0.6, 2: 0.6, 3: 0.6, 4: 0.6}
    )


def test_it_is_ended_after_the_first_epoch_that_may_end_it(config, study, tmp_path):
    trainer = after(make(config, tmp_path), [0.25, 0.25])
    assert ended_early(trainer) == {"epochs": 1, "score": 0.25}
    assert trainer.should_stop


@pytest.mark.parametrize(("loss", "epochs"), [(0.25, None), (0.6, 1)])
def test_of_a_monitored_loss_the_training_above_the_median_is_ended(config, tmp_path, loss, epochs):
    config.trainer.monitor = "loss"
    begin(config, tmp_path)
    found = ended_early(after(make(config, tmp_path), [loss] * 4))
    assert (found or {}).get("epochs") == epochs


@pytest.mark.usefixtures("study")
def test_every_training_gets_its_startup_epochs(config, tmp_path):
    config.sweeper.startup_epochs = 3
    assert ended_early(after(make(config, tmp_path), [0.1] * 4)) == {
        "epochs": 3, "score": pytest.approx(0.1),
    }  # fmt: skip


@pytest.mark.usefixtures("study")
def test_a_training_that_is_over_is_not_pruned(config, tmp_path):
    config.sweeper.startup_epochs = 4
    assert ended_early(after(make(config, tmp_path), [0.1] * 4)) is None
    assert ended_early(after(make(config, tmp_path), [0.1], stopped_by_another=True)) is None


def test_a_trial_that_has_failed_and_is_tried_again_is_trained_to_its_end(config, study, tmp_path):
    study.tell(3, state=optuna.trial.TrialState.FAIL)
    assert ended_early(after(make(config, tmp_path), [0.1] * 4)) is None


@pytest.mark.usefixtures("study")
def test_nothing_is_pruned_while_a_curriculum_holds_examples_back(config, tmp_path):
    curriculum = SimpleNamespace(has_unlocked_all=lambda epoch: epoch >= 2)
    trainer = after(make(config, tmp_path, curriculum), [0.1] * 4)
    assert (ended_early(trainer) or {})["epochs"] == 3


def test_a_run_that_is_repeated_and_one_that_a_curriculum_learns_from_are_no_trials(
    config, tmp_path
):
    folder = RunFolder(tmp_path / "runs" / "sweep" / "job")
    folder.path.mkdir(parents=True)
    folder.config.write_text(config_text(config), encoding="utf-8")
    assert configure(folder, []).sweeper == SweeperConfig()
    config.curriculum = CurriculumConfig(name="cart_cl")
    assert without_curriculum(config).sweeper == SweeperConfig()


def test_a_pruner_with_stages_and_a_search_without_validation_are_refused(config):
    def named(changed: Config) -> str:
        return " ".join(problems(changed))

    config.stages = ["chronicle"]
    assert "sweeper.pruner" in named(config)
    config.stages, config.trainer.select = [], "last"
    config.trainer.monitor = "loss"
    assert "trainer.monitor" in named(replace(config, baseline=BaselineConfig("majority")))
    config.data.generator, config.data.validation.fraction = None, 0.0
    assert "validation" in named(config)
