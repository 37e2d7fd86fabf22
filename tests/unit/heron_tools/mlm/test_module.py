"""Masked language modelling as a run: its loss, masks, scores, resume and export."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from heron.base.errors import ConfigError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.data.collate import IGNORED
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.tasks.base import TaskModule
from heron.training.inference import open_trained
from heron.training.job import run_job
from heron.training.trainer import build_module
from heron_tools.mlm.predictions import text_scores
from made_up_texts import run_on, sentences
from stopping import assert_same_run, stopping


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "train.txt"
    texts = [*sentences(60, seed=1), *sentences(3, seed=2, words=60)]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def composed(corpus, tiny_encoder, session_cache):
    """Return a function that composes a small run; it takes overrides."""
    return lambda *words: run_on(corpus, tiny_encoder, session_cache, *words)


@pytest.fixture(scope="module")
def trained(composed, tmp_path_factory):
    """A finished run of two epochs that records dynamics."""
    folder = RunFolder(tmp_path_factory.mktemp("trained") / "run")
    words = ("trainer.checkpoint_steps=3", "run.keep_checkpoints=true")
    config = composed("dynamics.enabled=true", *words)
    run_job(config, folder)
    return config, folder


@pytest.fixture
def built(composed):
    """A module in eval mode, its data and a batch of train."""
    config = composed()
    data = DataModule(config)
    module = build_module(config, data).eval()
    return module, data, next(iter(data.evaluation_loader(TRAIN)))


def test_the_loss_is_that_of_transformers_on_the_same_masks(trained):
    config, folder = trained
    data = DataModule(config)
    module = TaskModule.load_from_checkpoint(folder.best)
    model = AutoModelForMaskedLM.from_pretrained(folder.model).eval()
    for batch in data.evaluation_loader(VALIDATION):
        batch = module.masked(batch)
        with torch.no_grad():
            ours = module.step(batch).loss
            theirs = model(batch.tokens_BL, batch.mask_BL, labels=batch.columns["masked"]).loss
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_the_loss_is_the_mean_over_masked_tokens_and_only_they_are_scored(built):
    module, _, batch = built
    batch = module.masked(batch)
    chosen_BL = batch.columns["masked"] != IGNORED
    logits_NV = module.logits(batch)
    assert len(logits_NV) == chosen_BL.sum() < batch.mask_BL.sum() / 4
    expected = torch.nn.functional.cross_entropy(logits_NV, batch.columns["masked"][chosen_BL])
    torch.testing.assert_close(module.step(batch).loss, expected)


def test_each_epoch_has_new_masks_from_the_seed_and_evaluation_always_the_same(built, monkeypatch):
    module, _, batch = built

    def masks(epoch, seed, training):
        monkeypatch.setattr(type(module), "current_epoch", epoch)
        module.config.seed = seed
        return module.train(training).masked(batch).columns["masked"]

    first = masks(0, 0, True)
    assert torch.equal(first, masks(0, 0, True))
    assert not torch.equal(first, masks(1, 0, True))
    assert not torch.equal(first, masks(0, 1, True))
    assert torch.equal(masks(0, 0, False), masks(3, 1, False))


def test_a_run_learns_and_leaves_scores_and_predictions_of_each_text(trained):
    folder = trained[1]
    scores = read_json(folder.scores)["validation"]
    assert scores["perplexity"] == pytest.approx(np.exp(scores["loss"]), rel=1e-3)
    table = read_table(folder.predictions(VALIDATION))
    assert len(table) == len({row["guid"] for row in table.rows})
    pairs = [(row["gold"].split(), row["prediction"].split()) for row in table.rows]
    assert all(len(gold) == len(best) >= 1 for gold, best in pairs)
    right = [one == other for pair in pairs for one, other in zip(*pair, strict=True)]
    assert scores["accuracy"] == pytest.approx(np.mean(right))
    losses = [float(row["validation/loss"]) for row in read_table(folder.metrics).rows
              if row["validation/loss"]]  # fmt: skip
    assert losses[1] < losses[0]
    assert folder.dynamics(1).is_file()


@pytest.mark.parametrize("batch", [5, 9])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(trained, tmp_path, batch):
    config, expected = trained
    folder = RunFolder(tmp_path / "run")
    with stopping("on_train_batch_start", batch):
        run_job(config, folder)
    assert folder.state() == "interrupted"
    assert not folder.scores.is_file()
    run_job(config, folder)
    assert_same_run(folder, expected)


def test_its_model_starts_another_run_and_scores_other_texts(trained, composed, tmp_path):
    config, folder = trained
    system = open_trained(folder)
    examples = [Example(str(n), text) for n, text in enumerate(sentences(3, seed=9))]
    predictions, refused = system.predict(examples)
    assert not refused
    assert predictions.guids == ["0", "1", "2"]
    assert set(predictions.answers(config)) == {"guid", "loss", "accuracy"}
    again = composed("trainer.max_epochs=1", "task.whole_words=true")
    again.encoder.name = str(folder.model)
    data = DataModule(again)
    module = build_module(again, data)
    before = system.module.encoder.model.state_dict()
    for name, value in module.encoder.model.state_dict().items():
        assert torch.equal(value, before[name]), name
    scores = run_job(again, RunFolder(tmp_path / "again"))
    assert scores["validation"]["loss"] > 0


def test_heron_compare_scores_each_text_by_its_share_of_right_tokens():
    found = text_scores().items(
        ["a b c", "a", "", "x y"], [["a b d"], ["a"], [""], ["y x"]], None, None
    )
    np.testing.assert_array_equal(found["accuracy"], [2 / 3, 1, np.nan, 0])
    np.testing.assert_array_equal(found["exact_match"], [0, 1, np.nan, 0])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("head.classifier=linear", "needs head.pooling=tokens and head.classifier=mlm"),
        ("task.mask_share=0", "task.mask_share=0"),
    ],
)
def test_settings_that_cannot_work_are_refused(composed, word, message):
    with pytest.raises(ConfigError, match=message):
        composed(word)
