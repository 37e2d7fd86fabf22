"""A batch holds its sequences' own tokens and rows, padded on the right."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heron.data.collate import Batch, Collator
from heron.data.features import Features

PAD = 99


def made_up_features(lengths, rows_per_sequence, seed=0):
    """Every token tells its sequence and position: 1000 * sequence + position."""
    random = np.random.default_rng(seed)
    sequences_R = np.repeat(np.arange(len(lengths)), rows_per_sequence)
    rows = len(sequences_R)
    limit_R1 = np.asarray(lengths)[sequences_R][:, None]
    return Features(
        tokens_T=np.concatenate(
            [1000 * s + np.arange(length) for s, length in enumerate(lengths)]
        ).astype(np.int32),
        offsets_S=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        second_S=np.full(len(lengths), -1, np.int32),
        sequences_R=sequences_R.astype(np.int32),
        spans_R4=np.sort(random.integers(0, limit_R1, (rows, 4)), axis=1).astype(np.int32),
        markers_R2=random.integers(0, limit_R1, (rows, 2)).astype(np.int32),
        labels_R=random.integers(0, 4, rows).astype(np.int32),
        truncated_R=np.zeros(rows, bool),
        guids=[f"g{row}" for row in range(rows)],
        refused=[],
    )


@st.composite
def features_and_choice(draw):
    lengths = draw(st.lists(st.integers(1, 30), min_size=1, max_size=12))
    rows = draw(st.lists(st.integers(1, 5), min_size=len(lengths), max_size=len(lengths)))
    chosen = draw(st.lists(st.sampled_from(range(len(lengths))), min_size=1, unique=True))
    return made_up_features(lengths, rows), np.array(chosen)


@given(features_and_choice())
def test_sequences_are_whole_and_padded_on_the_right(case):
    features, chosen = case
    batch = Collator(features, PAD)(chosen)
    lengths = features.lengths_S[chosen]
    assert batch.tokens_BL.shape == batch.mask_BL.shape == (len(chosen), max(lengths))
    for place, (sequence, length) in enumerate(zip(chosen, lengths, strict=True)):
        tokens, mask = batch.tokens_BL[place].tolist(), batch.mask_BL[place].tolist()
        padding = max(lengths) - length
        assert tokens == [*range(1000 * sequence, 1000 * sequence + length), *[PAD] * padding]
        assert mask == [1] * length + [0] * padding


@given(features_and_choice())
def test_all_rows_of_the_chosen_sequences_are_there_and_no_others(case):
    features, chosen = case
    batch = Collator(features, PAD)(chosen)
    expected = [row for s in chosen for row in np.flatnonzero(features.sequences_R == s)]
    assert batch.rows_R.tolist() == expected
    assert len(batch) == len(expected)
    assert batch.labels_R.tolist() == features.labels_R[expected].tolist()


@given(features_and_choice())
def test_rows_point_into_their_own_sequence(case):
    features, chosen = case
    batch = Collator(features, PAD)(chosen)
    for index, row in enumerate(batch.rows_R.tolist()):
        sequence = features.sequences_R[row]
        places = [*features.spans_R4[row], *features.markers_R2[row]]
        found = batch.tokens_BL[
            batch.sequences_R[index], torch.cat([batch.spans_R4[index], batch.markers_R2[index]])
        ]
        assert found.tolist() == [1000 * sequence + place for place in places]


def test_every_tensor_is_int64():
    batch = Collator(made_up_features([3, 5], [1, 2]), PAD)(np.array([1, 0]))
    for name in Batch.__dataclass_fields__:
        assert getattr(batch, name).dtype == torch.int64


def test_memory_mapped_features_can_be_collated(tmp_path):
    features = made_up_features([3, 5], [1, 2])
    np.save(tmp_path / "spans.npy", features.spans_R4)
    mapped = np.load(tmp_path / "spans.npy", mmap_mode="r")
    whole = Collator(features, PAD)(np.array([0, 1]))
    object.__setattr__(features, "spans_R4", mapped)
    assert torch.equal(Collator(features, PAD)(np.array([0, 1])).spans_R4, whole.spans_R4)


def test_moving_a_batch_moves_every_tensor():
    batch = Collator(made_up_features([3], [2]), PAD)(np.array([0]))
    moved = batch.to("meta")
    assert {getattr(moved, name).device.type for name in Batch.__dataclass_fields__} == {"meta"}


def test_a_batch_cannot_be_changed():
    batch = Collator(made_up_features([3], [2]), PAD)(np.array([0]))
    with pytest.raises(AttributeError):
        batch.rows_R = torch.zeros(1)
