"""Poolings gather what the papers say, row by row, and padding never leaks in."""

import pytest
import torch

from heron.models import POOLINGS

WIDTH = 8


def random_states(batch, seed=0, dtype=torch.float32):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(*batch.tokens_BL.shape, WIDTH, generator=random).to(dtype)


def pool_rows(name, states_BLD, batch):
    """Pool, and where that gives a vector per sequence, look it up for each row."""
    pooled = POOLINGS[name].pool(states_BLD, batch)
    return pooled if POOLINGS[name].of_rows else pooled[batch.sequences_R]


def row_by_row(name, states_BLD, batch):
    """Say each pooling again, slowly: one row at a time, from its positions."""
    pooled = []
    for row, sequence in enumerate(batch.sequences_R.tolist()):
        states_LD = states_BLD[sequence]
        first_1, last_1, first_2, last_2 = batch.columns["spans"][row].tolist()
        if name == "cls":
            parts = [states_LD[0]]
        elif name in ("last_token", "mean"):
            real_LD = states_LD[batch.mask_BL[sequence] == 1]
            parts = [real_LD[-1] if name == "last_token" else real_LD.mean(dim=0)]
        elif name == "event_start":
            parts = [states_LD[opening] for opening in batch.columns["markers"][row].tolist()]
        elif name == "mention_pool":
            mentions = range(first_1, last_1 + 1), range(first_2, last_2 + 1)
            parts = [torch.stack([states_LD[i] for i in one]).max(dim=0).values for one in mentions]
        else:
            a = torch.cat([states_LD[first_1], states_LD[last_1]])
            b = torch.cat([states_LD[first_2], states_LD[last_2]])
            parts = [a, b, a * b, a - b]
        pooled.append(torch.cat(parts))
    return torch.stack(pooled)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", POOLINGS)
def test_each_pooling_is_its_row_by_row_definition(name, seed, make_batch):
    batch = make_batch(seed=seed)
    states_BLD = random_states(batch, seed)
    pooled_RP = pool_rows(name, states_BLD, batch)
    assert pooled_RP.shape == (len(batch), POOLINGS[name].width * WIDTH)
    torch.testing.assert_close(pooled_RP, row_by_row(name, states_BLD, batch))


@pytest.mark.parametrize("name", POOLINGS)
def test_what_stands_in_padding_or_in_other_sequences_changes_nothing(name, make_batch):
    batch, padded = make_batch(), make_batch(padding=6)
    states_BLD, wide_BLD = random_states(batch), torch.full((3, 20, WIDTH), 1e9)
    wide_BLD[:, : states_BLD.shape[1]] = states_BLD
    wide_BLD[padded.mask_BL == 0] = 1e9
    whole_RP = pool_rows(name, states_BLD, batch)
    torch.testing.assert_close(pool_rows(name, wide_BLD, padded), whole_RP)
    disturbed_BLD = states_BLD.clone()
    disturbed_BLD[1] = 1e9
    others = batch.sequences_R != 1
    assert torch.equal(pool_rows(name, disturbed_BLD, batch)[others], whole_RP[others])


@pytest.mark.parametrize("name", POOLINGS)
def test_half_precision_stays_finite(name, make_batch):
    batch = make_batch()
    for dtype in (torch.bfloat16, torch.float16):
        pooled_RP = POOLINGS[name].pool(random_states(batch, dtype=dtype), batch)
        assert pooled_RP.dtype == dtype
        assert pooled_RP.isfinite().all()


def test_mention_pooling_finds_the_maximum_of_negative_states(make_batch):
    batch = make_batch()
    states_BLD = -1 - random_states(batch).abs()
    assert torch.equal(
        POOLINGS["mention_pool"].pool(states_BLD, batch),
        row_by_row("mention_pool", states_BLD, batch),
    )
