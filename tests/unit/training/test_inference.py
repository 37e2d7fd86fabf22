"""`open_trained`: a run's exported model gives what the run itself gave, whatever its kind."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from heron.base.run_folder import RunFolder
from heron.data.examples import Example, Span
from heron.training.inference import Trained, open_trained, predict_each, read_splits
from heron.training.trainer import prediction_trainer
from small_baselines import train as train_baseline
from small_runs import train

SPANS = Span(4, 8), Span(17, 20)
TEXT = "השר הגיע ואחר כך עזב"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def trained(run):
    return open_trained(run)


@pytest.fixture(
    scope="module",
    params=[
        ["baseline=majority"],
        ["baseline=cbow_svm", "baseline.scale=standard"],
        ["baseline=cbow_svm", "baseline.kernel=rbf"],
        ["baseline=cbow_softmax", "baseline.input=hypothesis"],
    ],
    ids=lambda words: words[-1],
)
def baseline_run(request, tmp_path_factory):
    return train_baseline(tmp_path_factory.mktemp("baseline"), *request.param)


def test_a_run_trained_on_a_gpu_predicts_where_there_is_none(
    chronicle_config, monkeypatch, tmp_path
):
    monkeypatch.setattr(
        "heron.training.trainer.has_accelerator", lambda name: name in ("auto", "cpu")
    )
    trainer = prediction_trainer(chronicle_config("trainer.accelerator=cuda"), tmp_path)
    assert trainer.strategy.root_device.type in ("cpu", "cuda")  # no complaint


def check_same(run: RunFolder, trained: Trained) -> None:
    """Compare what an opened run predicts on its own splits with what the run has written."""
    splits = read_splits(trained)
    for split in ("validation", "test"):
        table = pq.read_table(run.predictions(split))
        predictions, refused = trained.predict(splits[split])
        assert predictions.guids == table["guid"].to_pylist()
        names = [name for name in table.column_names if name.startswith("p/")]
        expected_RC = np.column_stack([table[name] for name in names])
        np.testing.assert_allclose(predictions.probabilities_RC, expected_RC, atol=1e-6)
        assert refused == []


def test_predicts_its_own_splits_with_equal_probabilities(run, trained):
    check_same(run, trained)


def test_baseline_predicts_its_own_splits_with_equal_probabilities(baseline_run, tmp_path):
    check_same(baseline_run, open_trained(baseline_run))
    check_same(baseline_run, open_trained(baseline_run, {"cache": str(tmp_path)}))


def test_a_baseline_takes_several_settings(baseline_run):
    trained = open_trained(baseline_run)
    systems = [trained.with_settings({"batching.tokens": tokens}) for tokens in (100, 200)]
    found = predict_each(systems, read_splits(trained)["test"])
    first, second = (predictions.probabilities_RC for predictions, _ in found)
    np.testing.assert_array_equal(first, second)


def test_no_examples_no_predictions(baseline_run):
    predictions, refused = open_trained(baseline_run).predict([])
    assert (predictions.guids, refused) == ([], [])


def test_example_over_the_limit_is_refused_by_guid_and_the_rest_predicted(trained):
    prefix = "מלה " * 500
    late = tuple(Span(start + len(prefix), end + len(prefix)) for start, end in SPANS)
    examples = [Example("short", TEXT, spans=SPANS), Example("long", prefix + TEXT, spans=late)]
    predictions, refused = trained.predict(examples)
    assert predictions.guids == ["short"]
    assert [problem.where for problem in refused] == ["long"]


def test_paths_of_the_run_may_be_replaced(run, tmp_path):
    trained = open_trained(run, {"cache": str(tmp_path / "other")})
    trained.predict([Example("mine", TEXT, spans=SPANS)])
    assert (tmp_path / "other" / "features").is_dir()
