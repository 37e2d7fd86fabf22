"""Heads: the classifiers of the papers, with their parameter counts, and per-row logits."""

import dataclasses

import pytest
import torch
import yaml
from torch import nn

from heron.base.folders import conf_dir
from heron.models.config import HeadConfig
from heron.models.heads import (
    Head,
    build_classifier,
    combine,
    distance_bucket,
    events_swapped,
    join_windows,
    pooled_width,
)
from heron_forks.trc.repository_heads import PerEvent
from operations import Operations

SEQ_CLS = HeadConfig("seq_cls", "marked", "cls")
ESS = HeadConfig("ess", "marked", "event_start")
EMP = HeadConfig("emp", "marked", "mention_pool")
WINDOW = HeadConfig("window", "window", "span_ends", classifier="mlp", hidden=[12], distance=4)
PER_EVENT = HeadConfig("ess", "marked", "event_start", classifier="per_event")
ALL = {"seq_cls": SEQ_CLS, "ess": ESS, "emp": EMP, "window": WINDOW, "per_event": PER_EVENT}
WIDTH, CLASSES = 8, 4


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def random_states(batch):
    random = torch.Generator().manual_seed(0)
    return torch.randn(*batch.tokens_BL.shape, WIDTH, generator=random)


def rows_of(batch, rows):
    """The columns of some rows."""
    return {name: column[rows] for name, column in batch.columns.items()}


def alone(batch, row, own_B):
    """The batch that holds one row and its sequences, unpadded; and its length."""
    length = int(batch.mask_BL[own_B].sum(dim=1).max())
    rows = slice(row, row + 1)
    whole = dataclasses.replace(
        batch,
        tokens_BL=batch.tokens_BL[own_B, :length],
        mask_BL=batch.mask_BL[own_B, :length],
        second_B=batch.second_B[own_B],
        owners_B=torch.zeros(int(own_B.sum()), dtype=torch.int64),
        sequences_R=torch.zeros(1, dtype=torch.int64),
        columns=rows_of(batch, rows),
        labels_R=batch.labels_R[rows],
        rows_R=batch.rows_R[rows],
    )
    return whole, length


@pytest.mark.parametrize("config", ALL.values(), ids=ALL)
def test_a_row_in_a_batch_has_the_logits_it_has_alone(config, make_batch):
    batch = make_batch(padding=5)
    states_BLD = random_states(batch)
    head = Head(config, WIDTH, CLASSES).eval()
    logits_RC = head(states_BLD, batch)
    assert logits_RC.shape == (len(batch), CLASSES)
    for row in range(len(batch)):
        own_B = torch.arange(len(batch.mask_BL)) == batch.sequences_R[row]
        single, length = alone(batch, row, own_B)
        expected = head(states_BLD[own_B, :length], single)
        torch.testing.assert_close(logits_RC[row : row + 1], expected)


@pytest.mark.parametrize("config", ALL.values(), ids=ALL)
def test_logits_are_float32_under_autocast(config, make_batch):
    batch, head = make_batch(), Head(config, WIDTH, CLASSES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert head(random_states(batch), batch).dtype == torch.float32


def test_logits_of_a_wide_head_are_not_rounded_to_16_bits(make_batch):
    batch = make_batch()
    config = HeadConfig(classifier="mlp", pooling="mean", hidden=[500, 500])
    head = Head(config, WIDTH, CLASSES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits_RC = head(random_states(batch), batch)
    assert not head.is_small
    assert not torch.equal(logits_RC, logits_RC.bfloat16().float())


@pytest.mark.parametrize("config", ALL.values(), ids=ALL)
def test_dropout_is_on_in_train_mode_alone(config, make_batch):
    batch, head = make_batch(), Head(config, WIDTH, CLASSES)
    states_BLD = random_states(batch)
    assert not torch.equal(head.train()(states_BLD, batch), head(states_BLD, batch))
    assert torch.equal(head.eval()(states_BLD, batch), head(states_BLD, batch))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (SEQ_CLS, 768 * 4 + 4),
        (ESS, 2 * 768 * 4 + 4),
        (EMP, 2 * 768 * 4 + 4),
        # Two Linear(768), Linear(1536 -> 768), Linear(768 -> 4), each with biases.
        (PER_EVENT, 2 * (768 * 768 + 768) + (1536 * 768 + 768) + (768 * 4 + 4)),
    ],
    ids=["seq_cls", "ess", "emp", "per_event"],
)
def test_heads_have_as_many_parameters_as_the_papers_or_its_codes(config, expected):
    assert parameters(Head(config, 768, 4)) == expected


def test_per_event_gives_each_event_a_layer_of_its_own():
    stack = PerEvent(6, 4, dropout=0.0)
    pooled_RP = torch.randn(5, 6)
    logits_RC = stack(pooled_RP)
    assert logits_RC.shape == (5, 4)
    one, two = stack.events
    joined = torch.cat([one(pooled_RP[:, :3]), two(pooled_RP[:, 3:])], dim=1)
    torch.testing.assert_close(logits_RC, stack.classes(stack.joined(joined)))
    swapped = stack(pooled_RP[:, [3, 4, 5, 0, 1, 2]])
    assert not torch.allclose(logits_RC, swapped)


@pytest.mark.parametrize(
    ("bucket", "distances"),
    [
        (0, (0, 1)),
        (1, (2,)),
        (2, (3, 4)),
        (3, (5, 8)),
        (4, (9, 16)),
        (5, (17, 32)),
        (6, (33, 64)),
        (7, (65, 128)),
        (8, (129, 500)),
    ],
)
def test_distances_fall_into_doubling_buckets(bucket, distances, make_batch):
    spans = [[3, 3, 3 + apart, 3 + apart] for apart in distances]
    batch = make_batch().with_columns(spans=torch.tensor(spans))
    assert set(distance_bucket(batch).tolist()) == {bucket}
    backwards = {bucket + 9 if apart else bucket for apart in distances}
    assert set(distance_bucket(events_swapped(batch)).tolist()) == backwards


CROSS = HeadConfig("cross", "pair", "cls")
LAST = HeadConfig("last", "pair", "last_token")
MEAN = HeadConfig("mean", "premise", "mean", over_windows="max_logits")
SIAMESE = HeadConfig("siamese", "separate", "cls", classifier="mlp", hidden=[6])
COMPARE = HeadConfig("compare", "separate", "mean", combine="compare")
MEAN_STATES = dataclasses.replace(CROSS, over_windows="mean_states")
PAIRS = {
    "cross": CROSS,
    "max_logits": dataclasses.replace(CROSS, over_windows="max_logits"),
    "mean_states": MEAN_STATES,
    "last_token": LAST,
    "mean": MEAN,
    "siamese": SIAMESE,
    "compare": COMPARE,
}
LENGTHS = (9, 14, 11, 6, 10, 12)  # six sequences of three rows
WINDOWS = (3, 1, 2)


def several_sequences(make_batch, config, padding=0):
    """A batch whose rows have several sequences: two each where texts are read apart."""
    counts = torch.tensor((2, 2, 2) if config.input == "separate" else WINDOWS)
    batch = make_batch(lengths=LENGTHS, rows=(1,) * len(LENGTHS), padding=padding)
    rows = slice(0, len(counts))
    return dataclasses.replace(
        batch,
        owners_B=torch.repeat_interleave(torch.arange(len(counts)), counts),
        sequences_R=counts.cumsum(0) - counts,
        columns=rows_of(batch, rows),
        labels_R=batch.labels_R[rows],
        rows_R=batch.rows_R[rows],
    )


@pytest.mark.parametrize("config", PAIRS.values(), ids=PAIRS)
def test_a_row_of_several_sequences_has_the_logits_it_has_alone(config, make_batch):
    batch = several_sequences(make_batch, config, padding=5)
    states_BLD = random_states(batch)
    head = Head(config, WIDTH, CLASSES).eval()
    logits_RC = head(states_BLD, batch)
    assert logits_RC.shape == (3, CLASSES)
    for row in range(len(batch)):
        single, length = alone(batch, row, own_B := batch.owners_B == row)
        expected = head(states_BLD[own_B, :length], single)
        torch.testing.assert_close(logits_RC[row : row + 1], expected)


@pytest.mark.parametrize("config", PAIRS.values(), ids=PAIRS)
def test_pooling_first_and_classifying_stored_vectors_later_is_the_same(config, make_batch):
    batch = several_sequences(make_batch, config)
    states_BLD, head = random_states(batch), Head(config, WIDTH, CLASSES).eval()
    pooled_XP = head.pool(states_BLD, batch)
    assert head.pools_rows() == (len(pooled_XP) == len(batch))
    assert pooled_XP.shape[1] == pooled_width(config, WIDTH)
    nothing = dataclasses.replace(batch, tokens_BL=batch.tokens_BL[:, :0])
    assert torch.equal(head.classify(pooled_XP, nothing), head(states_BLD, batch))


def test_mean_states_averages_before_the_classifier_and_mean_logits_after(make_batch):
    batch = several_sequences(make_batch, CROSS)
    states_BLD = random_states(batch)
    mlp = {"classifier": "mlp", "hidden": [7]}
    for how in ("mean_states", "mean_logits"):
        head = Head(dataclasses.replace(CROSS, over_windows=how, **mlp), WIDTH, CLASSES).eval()
        first_BD = states_BLD[:, 0]
        for row, windows in enumerate(([0, 1, 2], [3], [4, 5])):
            if how == "mean_states":
                expected = head.classifier(first_BD[windows].mean(dim=0))
            else:
                expected = head.classifier(first_BD[windows]).mean(dim=0)
            torch.testing.assert_close(head(states_BLD, batch)[row], expected)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_windows_of_many_rows_are_joined_by_as_many_operations_as_those_of_few(how, make_batch):
    counts = []
    for rows in (2, 20):
        batch = make_batch(lengths=(9,) * rows, rows=(1,) * rows)
        owners_B = torch.arange(rows).repeat_interleave(2)
        with Operations() as operations:
            join_windows(
                torch.ones(2 * rows, 3), dataclasses.replace(batch, owners_B=owners_B), how
            )
        counts.append(operations.counts.total())
    assert counts[0] == counts[1] > 0


def test_texts_apart_are_concatenated_or_compared():
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 4.0]])
    assert combine(u, v, "concat").tolist() == [[1, -2, 3, 4]]
    assert combine(u, v, "compare").tolist() == [[1, -2, 3, 4, 2, 6, 3, -8]]


def test_the_siamese_head_tells_premise_from_hypothesis(make_batch):
    batch = several_sequences(make_batch, SIAMESE)
    states_BLD, head = random_states(batch), Head(SIAMESE, WIDTH, CLASSES).eval()
    expected = torch.cat([states_BLD[0::2, 0], states_BLD[1::2, 0]], dim=1)
    assert torch.equal(head.pool(states_BLD, batch), expected)
    swapped = head(states_BLD[[1, 0, 3, 2, 5, 4]], batch)
    assert not torch.allclose(head(states_BLD, batch), swapped)


def test_the_last_token_is_the_last_that_is_not_padding(make_batch):
    batch = make_batch(rows=(1, 1, 1), padding=4)
    states_BLD = random_states(batch)
    pooled_BD = Head(LAST, WIDTH, CLASSES).pool(states_BLD, batch)
    for place, length in enumerate((9, 14, 11)):
        assert torch.equal(pooled_BD[place], states_BLD[place, length - 1])


def from_conf(name):
    path = conf_dir() / "head" / f"{name}.yaml"
    return HeadConfig(**yaml.safe_load(path.read_text(encoding="utf-8")))


def shape(classifier):
    """Describe a stack of layers: name, and width or probability."""
    described = []
    for layer in classifier:
        if isinstance(layer, nn.Linear):
            described.append(f"Linear {layer.in_features}-{layer.out_features}")
        elif isinstance(layer, nn.LayerNorm):
            described.append(f"LayerNorm {layer.normalized_shape[0]}")
        elif isinstance(layer, nn.Dropout):
            described.append(f"Dropout {layer.p}")
        else:
            described.append(type(layer).__name__)
    return described


# Section 3.1: "Each hidden layer includes ReLU activation and layer normalization"; dropout stands
# in its first alone. The released code (`MLPClassifier`) drops after the second as well.
@pytest.mark.parametrize(
    ("changes", "after_second"),
    [({}, []), ({"dropout_at": "first_two"}, ["Dropout 0.3"])],
    ids=["paper and fixed", "released code"],
)
def test_mlp3_is_the_three_layer_head_of_lchaim(changes, after_second):
    head = Head(dataclasses.replace(from_conf("mlp3"), **changes), 768, 3)
    assert shape(head.classifier) == [
        *("Linear 768-300", "ReLU", "LayerNorm 300", "Dropout 0.3"),
        *("Linear 300-100", "ReLU", "LayerNorm 100", *after_second),
        *("Linear 100-50", "ReLU", "LayerNorm 50"),
        "Linear 50-3",
    ]
    assert (head.config.input, head.config.pooling) == ("pair", "cls")


def test_siamese_cls_is_the_head_of_ronlis_code():
    head = Head(from_conf("siamese_cls"), 768, 4)
    assert shape(head.classifier) == ["Linear 1536-256", "ReLU", "Dropout 0.3", "Linear 256-4"]
    assert (head.config.input, head.config.combine) == ("separate", "concat")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Dropout 0.3,Linear 8-5,ReLU,Dropout 0.3,Linear 5-4,ReLU,Dropout 0.3,Linear 4-3"),
        (
            {"dropout_at": "hidden", "layer_norm": "all"},
            "Linear 8-5,ReLU,LayerNorm 5,Dropout 0.3,Linear 5-4,ReLU,LayerNorm 4,Dropout 0.3,"
            "Linear 4-3",
        ),
        (
            {"dropout_at": "first", "layer_norm": "first"},
            "Linear 8-5,ReLU,LayerNorm 5,Dropout 0.3,Linear 5-4,ReLU,Linear 4-3",
        ),
    ],
    ids=["all", "hidden", "first"],
)
def test_dropout_and_layer_norm_stand_where_they_are_asked_for(changes, expected):
    config = HeadConfig(classifier="mlp", hidden=[5, 4], dropout=0.3, **changes)
    assert shape(build_classifier(config, 8, 3)) == expected.split(",")
