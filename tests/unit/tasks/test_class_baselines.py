"""The majority class, and the rows that baselines are fitted to."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.data.config import BatchingConfig
from heron.data.examples import Example
from heron.tasks.class_baselines import fit_majority, load_majority

LABELS = ["a", "b", "c", "d"]


def settings(**batching: Any) -> Any:
    data = SimpleNamespace(label_order=LABELS, name="own")
    return SimpleNamespace(data=data, batching=BatchingConfig(**batching))


def examples(labels: list[int]) -> list[Example]:
    return [Example(f"g{row}", "text", label=LABELS[label]) for row, label in enumerate(labels)]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_majority_gives_the_shares_of_the_classes(labels: list[int]) -> None:
    rows = examples(labels)
    probabilities_RC = fit_majority(settings(), rows).probabilities(rows[:1] * 2)
    shares_C = np.bincount(labels, minlength=4) / len(labels)
    np.testing.assert_allclose(probabilities_RC, [shares_C, shares_C], atol=1e-7)


def test_without_a_train_row_there_is_no_majority() -> None:
    with pytest.raises(ConfigError, match="data=own has no rows to train on"):
        fit_majority(settings(), [])


def test_oversampled_rows_count_as_often_as_in_training() -> None:
    rows = examples([0, 0, 1])
    config = settings(oversample="balanced")
    probabilities_RC = fit_majority(config, rows).probabilities(rows[:1])
    np.testing.assert_allclose(probabilities_RC, [[0.5, 0.5, 0, 0]], atol=1e-7)


def test_majority_survives_its_file(tmp_path: Path) -> None:
    rows = examples([1, 1, 0])
    fitted = fit_majority(settings(), rows)
    fitted.save(tmp_path)
    loaded = load_majority(settings(), tmp_path)
    probabilities = [each.probabilities(rows) for each in (fitted, loaded)]
    np.testing.assert_array_equal(*probabilities)
