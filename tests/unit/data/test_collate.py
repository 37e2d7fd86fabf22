"""A batch holds its sequences' own tokens and rows, padded on the right."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import ComposeConfig
from heron.data.batching import plan_epoch
from heron.data.collate import Batch, Collator, SharingCollator, share
from heron.data.config import BatchingConfig
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED, Column, Features, Units

PAD = 99


def made_up_features(lengths, rows_per_sequence, seed=0):
    """Every token tells its sequence and position: 1000 * sequence + position."""
    random = np.random.default_rng(seed)
    sequences_R = np.repeat(np.arange(len(lengths)), rows_per_sequence)
    rows = len(sequences_R)
    starts_R = np.cumsum([0, *range(rows)])  # row r has r words
    limit_R1 = np.asarray(lengths)[sequences_R][:, None]
    return Features(
        tokens_T=np.concatenate(
            [1000 * s + np.arange(length) for s, length in enumerate(lengths)]
        ).astype(np.int32),
        offsets_S=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        second_S=np.full(len(lengths), -1, np.int32),
        sequences_R=sequences_R.astype(np.int32),
        labels_R=random.integers(0, 4, rows).astype(np.int32),
        truncated_R=np.zeros(rows, bool),
        guids=[f"g{row}" for row in range(rows)],
        refused=[],
        columns={
            "places": Column(random.integers(0, limit_R1, (rows, 6)).astype(np.int32), "row"),
            "known": Column(random.random(rows) < 0.5, "row"),
            "share": Column(np.arange(len(lengths), dtype=np.float32), "sequence"),
            "number": Column(np.arange(len(lengths), dtype=np.int32), "unit"),
            "tags": Column(np.arange(sum(lengths), dtype=np.int16), "token", fill=-7),
            "words": Column(np.arange(starts_R[-1]), "row", offsets=starts_R),
        },
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
        places = features.columns["places"].array[row]
        found = batch.tokens_BL[batch.sequences_R[index], batch.columns["places"][index]]
        assert found.tolist() == [1000 * sequence + place for place in places]


@given(features_and_choice())
def test_columns_go_by_their_axis(case):
    features, chosen = case
    batch, lists = Collator(features, PAD)(chosen), features.columns["words"]
    assert batch.columns["share"].tolist() == batch.columns["number"].tolist() == chosen.tolist()
    for place, sequence in enumerate(chosen):
        tokens = range(*features.offsets_S[sequence : sequence + 2])
        padding = batch.tokens_BL.shape[1] - len(tokens)
        assert batch.columns["tags"][place].tolist() == [*tokens, *[-7] * padding]
    for place, row in enumerate(batch.rows_R.tolist()):
        found = [word for word in batch.columns["words"][place].tolist() if word != -1]
        assert found == lists.array[lists.offsets[row] : lists.offsets[row + 1]].tolist()
    stored = Collator(features, PAD, np.zeros((len(features), 3), np.float32))(chosen)
    assert stored.columns.keys() == batch.columns.keys() - {"tags"}


def tensors(batch):
    """The tensors of a batch by name; `pooled_XP` only where vectors are stored."""
    named = {name: getattr(batch, name) for name in Batch.__dataclass_fields__}
    named |= batch.columns
    return {name: value for name, value in named.items() if torch.is_tensor(value)}


def test_integers_are_int64_and_other_columns_keep_their_type():
    batch = Collator(made_up_features([3, 5], [1, 2]), PAD)(np.array([1, 0]))
    other = {"known": torch.bool, "share": torch.float32}
    assert {
        name: tensor.dtype for name, tensor in tensors(batch).items() if tensor.dtype != torch.int64
    } == other


def test_memory_mapped_features_can_be_collated(tmp_path):
    features = made_up_features([3, 5], [1, 2])
    np.save(tmp_path / "places.npy", features.columns["places"].array)
    mapped = np.load(tmp_path / "places.npy", mmap_mode="r")
    stored = dataclasses.replace(features, columns={"places": Column(mapped, "row")})
    whole, found = (Collator(each, PAD)(np.array([0, 1])) for each in (features, stored))
    assert torch.equal(found.columns["places"], whole.columns["places"])


@pytest.mark.parametrize("vectors", [None, np.ones((2, 4), np.float32)], ids=["tokens", "vectors"])
def test_moving_a_batch_moves_every_tensor(vectors):
    batch = Collator(made_up_features([3], [2]), PAD, vectors)(np.array([0]))
    moved = batch.to("meta")
    assert {tensor.device.type for tensor in tensors(moved).values()} == {"meta"}
    assert tensors(moved).keys() == tensors(batch).keys()


def test_a_batch_cannot_be_changed():
    batch = Collator(made_up_features([3], [2]), PAD)(np.array([0]))
    with pytest.raises(AttributeError):
        batch.rows_R = torch.zeros(1)


def several_per_row(sizes, seed=0):
    """Features whose row r has `sizes[r]` sequences, of 3 + s tokens each."""
    lengths = [3 + sequence % 7 for sequence in range(sum(sizes))]
    first_R = np.cumsum([0, *sizes[:-1]])
    features = made_up_features(lengths, 1, seed)
    rows = len(sizes)
    return dataclasses.replace(
        features,
        second_S=np.arange(sum(sizes), dtype=np.int32) - 1,
        sequences_R=first_R.astype(np.int32),
        columns={},
        labels_R=features.labels_R[:rows],
        truncated_R=features.truncated_R[:rows],
        guids=features.guids[:rows],
    )


@st.composite
def rows_of_several(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    chosen = draw(st.lists(st.sampled_from(range(len(sizes))), min_size=1))  # copies included
    return several_per_row(sizes), sizes, np.array(chosen)


@given(rows_of_several())
def test_a_row_comes_with_all_its_sequences_and_each_knows_its_row(case):
    features, sizes, chosen = case
    batch = Collator(features, PAD)(chosen)
    first_R = np.cumsum([0, *sizes])
    sequences = [s for row in chosen for s in range(first_R[row], first_R[row + 1])]
    assert batch.tokens_BL[:, 0].tolist() == [1000 * s for s in sequences]
    assert batch.mask_BL.sum(dim=1).tolist() == features.lengths_S[sequences].tolist()
    assert batch.rows_R.tolist() == chosen.tolist()
    assert (
        batch.owners_B.tolist()
        == np.repeat(np.arange(len(chosen)), np.array(sizes)[chosen]).tolist()
    )
    firsts = [batch.owners_B.tolist().index(row) for row in range(len(chosen))]
    assert batch.sequences_R.tolist() == firsts
    assert batch.second_B.tolist() == features.second_S[sequences].tolist()
    assert Collator(features, PAD).sequences(chosen).tolist() == sequences


@given(features_and_choice())
def test_a_sequence_of_several_rows_belongs_to_the_first_of_them(case):
    features, chosen = case
    batch = Collator(features, PAD)(chosen)
    sequence_R = batch.sequences_R.tolist()
    assert batch.owners_B.tolist() == [sequence_R.index(place) for place in range(len(chosen))]


@pytest.mark.parametrize("per", ["row", "sequence"])
@given(case=rows_of_several())
def test_stored_vectors_stand_in_for_tokens(case, per):
    features, sizes, chosen = case
    count = len(sizes) if per == "row" else sum(sizes)
    vectors_XP = np.arange(count, dtype=np.float32)[:, None] * np.ones((1, 3), np.float32)
    collator = Collator(features, PAD, vectors_XP)
    batch, whole = collator(chosen), Collator(features, PAD)(chosen)
    expected = chosen if per == "row" else collator.sequences(chosen)
    assert batch.pooled_XP.dtype == torch.float32
    assert batch.pooled_XP[:, 0].tolist() == expected.tolist()
    assert batch.tokens_BL.shape == batch.mask_BL.shape == (len(whole.tokens_BL), 0)
    for name in ("owners_B", "sequences_R", "labels_R", "rows_R"):
        assert torch.equal(getattr(batch, name), getattr(whole, name))


def test_memory_mapped_vectors_are_copied_out(tmp_path):
    np.save(tmp_path / "vectors.npy", np.ones((2, 3), np.float32))
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    batch = Collator(several_per_row([1, 2]), PAD, mapped)(np.array([1]))
    batch.pooled_XP[:] = 5
    assert (mapped == 1).all()


@given(lengths=st.lists(st.integers(1, 512), min_size=1, max_size=40), count=st.integers(1, 8))
def test_every_unit_is_in_one_share_and_no_share_is_much_longer(
    lengths: list[int], count: int
) -> None:
    lengths_U = np.array(lengths)
    batch_U = np.random.default_rng(0).permutation(len(lengths))
    shares = [share(batch_U, lengths_U[batch_U], rank, count) for rank in range(count)]
    assert sorted(np.concatenate(shares)) == sorted(batch_U)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    tokens = [lengths_U[each].sum() for each in shares]
    assert max(tokens) - min(tokens) <= lengths_U.max()


@pytest.mark.parametrize("count", [2, 8, 64])
def test_processes_compute_as_many_tokens_of_an_epoch(count: int) -> None:
    random = np.random.default_rng(2)
    units = Units.single(np.clip(random.lognormal(5, 0.5, 200 * count), 16, 384).astype(int))
    plan = plan_epoch(units, BatchingConfig(plan="bucket", tokens=4096 * count), 0, 0)
    shares = [[share(b, units.longest_U[b], r, count) for b in plan] for r in range(count)]
    tokens = [sum(units.longest_U[each].sum() for each in own) for own in shares]
    assert max(tokens) - min(tokens) <= 0.05 * np.mean(tokens)


@pytest.mark.parametrize("units", [1, 2, 5])
def test_a_process_without_a_unit_has_one_without_labels(
    chronicle_config: ComposeConfig, units: int
) -> None:
    data = DataModule(chronicle_config("head=window"))
    collate, batch_U = Collator(data.features["train"], 0), np.arange(units) + 2
    shares = [SharingCollator(collate, rank, 3)(batch_U) for rank in range(3)]
    assert [each.is_stand_in for each in shares] == [rank >= units for rank in range(3)]
    rows = [row for each in shares if not each.is_stand_in for row in each.rows_R.tolist()]
    assert sorted(rows) == sorted(collate(batch_U).rows_R.tolist())
    assert all((each.labels_R == UNLABELLED).all() for each in shares if each.is_stand_in)
