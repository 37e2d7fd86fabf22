"""A run whose first stage is of another task: raw text, then the run's own data."""

import copy

import pytest
import torch
from safetensors.torch import load_file

from heron.base.errors import ConfigError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.training import job
from heron.training.stages import stage_config
from heron.training.stored import read_own
from made_up_texts import sentences
from stopping import stopping


@pytest.fixture
def prose(tmp_path, monkeypatch):
    """Add a data set of raw text."""
    (tmp_path / "prose.txt").write_text("\n".join(sentences(60)), encoding="utf-8")
    path = tmp_path / "prose.yaml"
    path.write_text(
        "name: prose\ntask: mlm\nformat: texts\nlabel_order: [text]\n"
        f"files: {{train: {{path: {tmp_path}/prose.txt}}}}\n"
        "validation: {fraction: 0.2, by: row}\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("heron.base.folders.data_sets", lambda: {"prose": path})


@pytest.fixture
def composed(chronicle_config, tiny_encoder, prose):
    """Return a function that composes a run on chronicle with stages; it takes overrides."""

    def compose(stages, *overrides):
        words = (f"encoder.name={tiny_encoder}", "encoder.max_length=128", "data.on_cut=drop")
        config = copy.deepcopy(chronicle_config("task.bootstrap=0", *words, *overrides))
        config.stages = stages
        return config

    return compose


def stored(folder):
    return read_own(folder.config)


def test_raw_text_then_relations_is_one_run(composed, tmp_path):
    config = composed(
        ["prose", "chronicle"],
        "optim.class_weights=balanced",  # of relations only
        "batching.oversample=balanced",
        "trainer.monitor=weighted_f1",
    )
    folder = RunFolder(tmp_path / "run")
    scores = job.run_job(config, folder)
    assert {*scores} == {
        *("validation", "test", "1-prose/validation"),
        *("2-chronicle/validation", "2-chronicle/test"),
    }
    assert set(scores["1-prose/validation"]) >= {"loss", "perplexity", "accuracy"}
    first, second = (RunFolder(folder.stages / name) for name in ("1-prose", "2-chronicle"))
    read, tuned = stored(first), stored(second)
    assert (read.task.name, read.head.name, read.trainer.monitor) == ("mlm", "mlm", "loss")
    assert (read.optim.head_lr, read.optim.class_weights) == (1e-3, "none")
    assert (tuned.task.name, tuned.optim.class_weights) == ("relation", "balanced")
    assert tuned.encoder.name == str(first.model)
    assert tuned.head.start is None
    begun = load_file(first.model / "model.safetensors")["bert.embeddings.LayerNorm.weight"]
    ended = load_file(second.model / "model.safetensors")["embeddings.LayerNorm.weight"]
    torch.testing.assert_close(begun, ended, atol=0.1, rtol=0)
    assert read_json(folder.scores) == scores


def test_a_stage_s_own_settings_win_over_its_task_s(composed):
    changes = {"task.whole_words": True, "optim.lr": 2e-3, "task.name": "mlm"}
    config = composed([{"data": "prose", "max_epochs": 4, "changes": changes}, "chronicle"])
    stages = config.read_stages()
    inner = stage_config(config, stages, stages[0], None)
    assert (inner.task.whole_words, inner.optim.lr, inner.trainer.max_epochs) == (True, 2e-3, 4)
    assert inner.also_test == []
    assert stage_config(config, stages, stages[1], None).optim.lr == config.optim.lr


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_new_head_can_learn_alone_before_the_encoder_does(composed, tiny_encoder, tmp_path):
    alone = {"data": "prose", "freeze": "all"}
    folder = RunFolder(tmp_path / "run")
    job.run_job(composed([alone, "prose", "chronicle"]), folder)
    first, second = (RunFolder(folder.stages / name) for name in ("1-prose", "2-prose"))
    before = load_file(tiny_encoder / "model.safetensors")
    for name, value in load_file(first.model / "model.safetensors").items():
        if name.removeprefix("bert.") in before:
            assert torch.equal(value, before[name.removeprefix("bert.")]), name
    assert stored(second).head.start == str(first.model), "the same task keeps its head"
    assert stored(RunFolder(folder.stages / "3-chronicle")).head.start is None


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_stop_in_the_raw_text_ends_as_if_there_had_been_none(composed, tmp_path):
    config = composed(["prose", "chronicle"], "batching.tokens=256", "trainer.checkpoint_steps=1")
    whole, broken = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "broken")
    scores = job.run_job(copy.deepcopy(config), whole)
    with stopping("on_train_batch_start", 3):
        job.run_job(copy.deepcopy(config), broken)
    assert RunFolder(broken.stages / "1-prose").last.is_file()
    assert not (broken.stages / "2-chronicle").exists()
    assert job.run_job(copy.deepcopy(config), broken) == scores
    for name in ("model.safetensors", "head.safetensors"):
        assert (broken.model / name).read_bytes() == (whole.model / name).read_bytes()


def test_a_stage_of_another_task_cannot_be_the_last(composed, tmp_path):
    with pytest.raises(ConfigError, match=r"prose.*mlm"):
        job.run_job(composed(["chronicle", "prose"]), RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run" / "stages").exists()
