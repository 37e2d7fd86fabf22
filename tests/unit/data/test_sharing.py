"""A divided batch: its shares make it up, and a process without one gets what counts nowhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ComposeConfig
from heron.data.collate import Collator
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.data.sharing import SharingCollator, share


@given(units=st.integers(1, 40), count=st.integers(1, 8))
def test_every_unit_is_in_one_share(units: int, count: int) -> None:
    batch_U = np.random.default_rng(0).permutation(100)[:units]
    shares = [share(batch_U, rank, count) for rank in range(count)]
    assert sorted(np.concatenate(shares)) == sorted(batch_U)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


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
