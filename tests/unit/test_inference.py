"""`TrainedRun`: a run's exported model gives what the run itself gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from heron.data.examples import Example, Span
from heron.inference import TrainedRun
from heron.runtime.run_folder import RunFolder
from small_runs import train

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return train(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def trained(run: RunFolder) -> TrainedRun:
    return TrainedRun(run)


def test_predicts_its_own_splits_with_equal_probabilities(
    trained: TrainedRun, run: RunFolder
) -> None:
    data = trained.data()
    for split in ("validation", "test"):
        table = pq.read_table(run.predictions(split))
        predictions = trained.predict(data, split)
        assert predictions.guids == table["guid"].to_pylist()
        expected_RC = np.column_stack([table[f"p/{label}"] for label in LABELS])
        np.testing.assert_allclose(predictions.probabilities_RC, expected_RC, atol=1e-6)


def test_predicting_leaves_the_model_without_dropout_and_unchanged(trained: TrainedRun) -> None:
    data = trained.data()
    first, second = (trained.predict(data, "test").probabilities_RC for _ in range(2))
    assert not trained.module.training
    np.testing.assert_array_equal(first, second)


def test_takes_examples_made_in_code(trained: TrainedRun) -> None:
    example = Example("mine", "השר הגיע ואחר כך עזב", spans=(Span(4, 8), Span(17, 20)))
    predictions = trained.predict(trained.data({"mine": [example]}), "mine")
    assert predictions.guids == ["mine"]
    assert predictions.probabilities_RC.sum() == pytest.approx(1)


def test_example_over_the_limit_is_refused_by_guid_and_the_rest_predicted(
    trained: TrainedRun,
) -> None:
    spans = Span(4, 8), Span(17, 20)
    text = "השר הגיע ואחר כך עזב"
    prefix = "מלה " * 500
    late = tuple(Span(start + len(prefix), end + len(prefix)) for start, end in spans)
    examples = [Example("short", text, spans=spans), Example("long", prefix + text, spans=late)]
    data = trained.data({"mine": examples})
    assert trained.predict(data, "mine").guids == ["short"]
    assert [problem.where for problem in data.features["mine"].refused] == ["long"]


def test_paths_of_the_run_may_be_replaced(run: RunFolder, tmp_path: Path) -> None:
    trained = TrainedRun(run, {"cache": str(tmp_path / "other")})
    trained.data()
    assert (tmp_path / "other" / "features").is_dir()
