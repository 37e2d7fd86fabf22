"""The classification module: its loss, and pairs that are read both ways."""

import pytest
import torch
from torch.nn import functional as F

from heron.base.errors import ConfigError
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.models.heads import events_swapped
from heron.training.trainer import build_module, prediction_trainer

# BEFORE, AFTER, EQUAL, VAGUE: read from event 2, before is after and the others stay.
INVERSE = [1, 0, 2, 3]


@pytest.fixture
def built(chronicle_config):
    """Return a function that builds a module in eval mode and a batch of its train split."""

    def build(*overrides):
        data = DataModule(chronicle_config(*overrides))
        return build_module(data.config, data).eval(), next(iter(data.evaluation_loader("train")))

    return build


def test_loss_is_the_mean_cross_entropy_of_the_labelled_rows(built):
    module, batch = built("head=window")
    batch.labels_R[::2] = UNLABELLED
    output = module.step(batch)
    labelled_R = batch.labels_R != UNLABELLED
    expected = F.cross_entropy(output.logits_RC[labelled_R], batch.labels_R[labelled_R])
    torch.testing.assert_close(output.loss, expected)


@pytest.mark.parametrize("more", [(), ("optim.label_smoothing=0.1",)])
def test_the_validation_loss_does_not_depend_on_how_the_split_is_divided(
    chronicle_config, tmp_path, more
):
    losses, lengths = [], []
    for tokens in (60, 4000):
        words = ("head=window", "optim.class_weights=balanced", f"batching.tokens={tokens}", *more)
        data = DataModule(chronicle_config(*words))
        torch.manual_seed(0)
        module = build_module(data.config, data).eval()
        loader = data.evaluation_loader("validation")
        trainer = prediction_trainer(data.config, tmp_path)
        losses.append(trainer.validate(module, loader, verbose=False)[0]["validation/loss"])
        lengths.append(len(loader))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert lengths[0] > lengths[1]


def test_read_both_ways_a_turned_pair_has_the_inverted_probabilities(built):
    module, batch = built("head=window", "head.both_ways=true")
    straight_RC = module.step(batch).logits_RC.softmax(dim=1)
    turned_RC = module.step(events_swapped(batch)).logits_RC.softmax(dim=1)
    torch.testing.assert_close(turned_RC[:, INVERSE], straight_RC)


def test_both_readings_are_trained(built):
    module, batch = built("head=window", "head.both_ways=true")
    states_BLD = module.encoder(batch)
    straight = F.cross_entropy(module.head(states_BLD, batch), batch.labels_R)
    inverted_R = torch.tensor(INVERSE)[batch.labels_R]
    turned = F.cross_entropy(module.head(states_BLD, events_swapped(batch)), inverted_R)
    torch.testing.assert_close(module.step(batch).loss, (straight + turned) / 2)


@pytest.mark.parametrize(
    "words", [("head=cross",), ("head=siamese_cls",), ("head=hypothesis_only",)]
)
def test_what_reads_a_hypothesis_needs_a_format_that_has_one(chronicle_config, words):
    marked = ("data=chronicle_nli", "data.format=marked_table", "data.columns.text_pair=null")
    with pytest.raises(ConfigError, match=r"data\.format=pair_table and data\.columns\.text_pair"):
        chronicle_config(*marked, *words)
    chronicle_config(*marked, *words, "head.input=premise")
