"""Which parameter learns how fast, decays or not, and when; how classes weigh."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim import SGD
from transformers import get_scheduler

from heron.models.config import EncoderConfig, HeadConfig, OptimConfig
from heron.models.encoder import Encoder, load_encoder
from heron.models.heads import Head
from heron.models.optim import build_optimizer, build_schedule, class_weights


@pytest.fixture
def encoder(tiny_encoder):
    return Encoder(load_encoder(EncoderConfig(name=str(tiny_encoder), max_length=64), 0, 0))


@pytest.fixture
def head():
    return Head(
        HeadConfig("window", "window", "span_ends", classifier="mlp", hidden=[8], distance=4), 32, 4
    )


def settings_of(optimizer, **modules):
    """Map each parameter's name to its (learning rate, weight decay)."""
    names = {
        id(parameter): f"{prefix}.{name}"
        for prefix, module in modules.items()
        for name, parameter in module.named_parameters()
    }
    return {
        names[id(parameter)]: (group["lr"], group["weight_decay"])
        for group in optimizer.param_groups
        for parameter in group["params"]
    }


def test_matrices_decay_biases_and_normalisation_never(encoder, head):
    optimizer = build_optimizer(encoder, head, OptimConfig(weight_decay=0.3))
    for name, (_, decay) in settings_of(optimizer, encoder=encoder, head=head).items():
        assert decay == (0.0 if name.endswith("bias") or "LayerNorm" in name else 0.3), name


def test_every_trainable_parameter_is_in_one_group_and_frozen_ones_in_none(encoder, head):
    encoder.layers[0].requires_grad_(False)
    optimizer = build_optimizer(encoder, head, OptimConfig(layer_decay=0.9, head_lr=1.0))
    grouped = [p for group in optimizer.param_groups for p in group["params"]]
    trainable = [p for m in (encoder, head) for p in m.parameters() if p.requires_grad]
    assert sorted(map(id, grouped)) == sorted(map(id, trainable))


def test_layers_learn_slower_the_further_they_are_from_the_head(encoder, head):
    optim = OptimConfig(lr=1.0, head_lr=5.0, layer_decay=0.5)
    found = settings_of(build_optimizer(encoder, head, optim), encoder=encoder, head=head)
    rates = {
        "head.": 5.0,
        "encoder.model.encoder.layer.1.": 1.0,
        "encoder.model.encoder.layer.0.": 0.5,
        "encoder.model.embeddings.": 0.25,
    }
    for name, (rate, _) in found.items():
        (expected,) = (rate for prefix, rate in rates.items() if name.startswith(prefix))
        assert rate == expected, name


@pytest.mark.parametrize("total", [40, 400])
@pytest.mark.parametrize(
    ("name", "ours"),
    [("linear", "linear"), ("cosine", "cosine"), ("constant_with_warmup", "constant")],
)
def test_warm_up_in_steps_is_that_of_transformers(name, ours, total, encoder, head):
    optim = OptimConfig(lr=1.0, schedule=ours, warmup=0.5, warmup_steps=100)
    optimizer = build_optimizer(encoder, head, optim)
    plan = build_schedule(optimizer, optim, total_steps=total)
    theirs = get_scheduler(name, SGD(head.parameters(), lr=1.0), 100, total)
    for step in range(total):
        assert plan.lr_lambdas[0](step) == pytest.approx(theirs.lr_lambdas[0](step)), step


@pytest.mark.parametrize(
    ("warmup", "steps", "at_one"), [(0.5, None, 0.5), (0.5, 4, 0.25), (0.5, 0, 1)]
)
def test_warm_up_steps_replace_the_fraction(warmup, steps, at_one, encoder, head):
    optim = OptimConfig(lr=1.0, warmup=warmup, warmup_steps=steps, schedule="constant")
    plan = build_schedule(build_optimizer(encoder, head, optim), optim, total_steps=4)
    assert plan.lr_lambdas[0](1) == at_one


def test_the_schedule_scales_each_groups_own_rate(encoder, head):
    optim = OptimConfig(lr=1.0, head_lr=10.0, warmup=0.5)
    optimizer = build_optimizer(encoder, head, optim)
    plan = build_schedule(optimizer, optim, total_steps=4)
    optimizer.step()
    plan.step()
    assert {group["lr"] for group in optimizer.param_groups} == {0.5, 5.0}


COUNTS = st.lists(st.integers(1, 10_000), min_size=2, max_size=6).map(torch.tensor)


@given(COUNTS)
def test_class_weights_follow_their_formulas(counts_C):
    total, classes = counts_C.sum().item(), len(counts_C)
    balanced = [total / (classes * count) for count in counts_C.tolist()]
    one_minus_share = [1 - count / total for count in counts_C.tolist()]
    assert class_weights("none", counts_C) is None
    for kind, expected in (("balanced", balanced), ("one_minus_share", one_minus_share)):
        weights_C = class_weights(kind, counts_C)
        assert weights_C.dtype == torch.float32
        torch.testing.assert_close(weights_C, torch.tensor(expected))


def test_an_absent_class_weighs_as_if_it_occurred_once():
    absent, once = torch.tensor([9, 0]), torch.tensor([9, 1])
    for kind in ("balanced", "one_minus_share"):
        assert torch.equal(class_weights(kind, absent), class_weights(kind, once))
