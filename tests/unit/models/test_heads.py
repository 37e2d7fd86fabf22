"""Heads: the classifiers of the papers, with their parameter counts, and per-row logits."""

import dataclasses

import pytest
import torch

from heron.models.heads import Head, PerEvent, build_classifier, distance_bucket
from heron.schema import HeadConfig

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


def single_row(batch, row):
    """The batch that holds one row alone, its sequence unpadded."""
    sequence = int(batch.sequences_R[row])
    length = int(batch.mask_BL[sequence].sum())
    return (
        sequence,
        length,
        dataclasses.replace(
            batch,
            tokens_BL=batch.tokens_BL[sequence : sequence + 1, :length],
            mask_BL=batch.mask_BL[sequence : sequence + 1, :length],
            sequences_R=torch.zeros(1, dtype=torch.int64),
            spans_R4=batch.spans_R4[row : row + 1],
            markers_R2=batch.markers_R2[row : row + 1],
            labels_R=batch.labels_R[row : row + 1],
            rows_R=batch.rows_R[row : row + 1],
        ),
    )


@pytest.mark.parametrize("config", ALL.values(), ids=ALL)
def test_a_row_in_a_batch_has_the_logits_it_has_alone(config, make_batch):
    batch = make_batch(padding=5)
    states_BLD = random_states(batch)
    head = Head(config, WIDTH, CLASSES).eval()
    logits_RC = head(states_BLD, batch)
    assert logits_RC.shape == (len(batch), CLASSES)
    for row in range(len(batch)):
        sequence, length, alone = single_row(batch, row)
        expected = head(states_BLD[sequence : sequence + 1, :length], alone)
        torch.testing.assert_close(logits_RC[row : row + 1], expected)


@pytest.mark.parametrize("config", ALL.values(), ids=ALL)
def test_logits_are_float32_under_autocast(config, make_batch):
    batch, head = make_batch(), Head(config, WIDTH, CLASSES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert head(random_states(batch), batch).dtype == torch.float32


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


def test_an_mlp_has_its_hidden_layers_with_relu_and_dropout_between():
    layers = build_classifier(HeadConfig(classifier="mlp", hidden=[7, 5], dropout=0.3), 16, 4)
    shapes = [(m.in_features, m.out_features) for m in layers if isinstance(m, torch.nn.Linear)]
    assert shapes == [(16, 7), (7, 5), (5, 4)]
    assert sum(isinstance(m, torch.nn.ReLU) for m in layers) == 2
    assert {m.p for m in layers if isinstance(m, torch.nn.Dropout)} == {0.3}


def test_the_linear_classifier_is_one_matrix_product():
    classifier = build_classifier(HeadConfig(classifier="linear"), 6, 3).eval()
    weight, bias = classifier.state_dict().values()
    pooled_RP = torch.randn(5, 6)
    torch.testing.assert_close(classifier(pooled_RP), pooled_RP @ weight.T + bias)


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
    batch = dataclasses.replace(make_batch(), spans_R4=torch.tensor(spans))
    assert set(distance_bucket(batch).tolist()) == {bucket}
    backwards = {bucket + 9 if apart else bucket for apart in distances}
    assert set(distance_bucket(batch.turned()).tolist()) == backwards


def test_every_distance_bucket_has_an_embedding():
    assert Head(WINDOW, WIDTH, CLASSES).distance.num_embeddings == 18
    assert Head(ESS, WIDTH, CLASSES).distance is None
