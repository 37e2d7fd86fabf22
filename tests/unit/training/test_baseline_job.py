"""`train_baseline`: a baseline leaves the run folder of any other system, the same every time."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import small_runs
from heron.base.run_folder import RunFolder
from heron.tasks import BASELINES
from heron.tasks.config import Config
from heron.training.run import source_hashes
from small_baselines import LABELS, compose, overrides, save_nli_model, train
from small_runs import heron

PROBABILITIES = [f"p/{label}" for label in LABELS]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def run(home):
    return train(home, "baseline=cbow_svm", job="svm")


def scores(run: RunFolder, split: str = "test") -> dict[str, float]:
    found: dict[str, float] = json.loads(run.scores.read_text())[split]
    return found


def read(run: RunFolder, split: str = "test") -> list[dict[str, object]]:
    rows: list[dict[str, object]] = pq.read_table(run.predictions(split)).to_pylist()
    return rows


def test_run_folder_holds_what_every_run_folder_holds(run):
    assert set(json.loads(run.scores.read_text())) == {"validation", "test"}
    rows = read(run)
    assert len(rows) == 30
    assert {"guid", "gold", "prediction", *PROBABILITIES, "text", "text_pair"} <= set(rows[0])
    assert {"accuracy", "macro_f1", "macro_f1_low", "refused"} <= set(scores(run))
    status = json.loads(run.status.read_text())
    assert status["data"]["splits"]["train"] == {"rows": 96}
    assert status["baseline"]["train_words"]["without_vector"] == 0
    (warning,) = status["baseline"]["warnings"]
    assert "trained on the train split, not fastText's published cc.ro.300" in warning
    assert {"scikit-learn", "gensim"} == set(status["baseline"]["versions"])


def test_predictions_are_the_most_probable_class_in_file_order(run):
    rows = read(run)
    assert [row["guid"] for row in rows] == [f"test-{index}" for index in range(30)]
    probabilities_RC = np.array([[row[name] for name in PROBABILITIES] for row in rows])
    np.testing.assert_allclose(probabilities_RC.sum(axis=1), 1, atol=1e-6)
    assert [LABELS[p] for p in probabilities_RC.argmax(axis=1)] == [r["prediction"] for r in rows]


@pytest.mark.parametrize(
    "words",
    [
        ["baseline=cbow_svm", "baseline.C=10000"],
        ["baseline=cbow_svm", "baseline.kernel=rbf", "baseline.C=10", "baseline.scale=standard"],
        ["baseline=cbow_svm", "baseline.scale=standard"],
        ["baseline=cbow_softmax", "baseline.C=100", "baseline.scale=minmax"],
    ],
)
def test_shallow_systems_learn_what_the_words_give_away(words, home):
    assert scores(train(home, *words, job="learns"))["accuracy"] > 0.9


def test_premise_alone_cannot_be_learnt_and_the_hypothesis_can(home):
    words = "baseline=cbow_svm", "baseline.scale=standard"
    premise = train(home, *words, "baseline.input=premise", job="premise")
    hypothesis = train(home, *words, "baseline.input=hypothesis", job="hypothesis")
    assert scores(premise)["accuracy"] < 0.7 < 0.9 < scores(hypothesis)["accuracy"]


def test_majority_predicts_one_class_for_every_row(home):
    run = train(home, "baseline=majority", job="majority")
    (prediction,) = {row["prediction"] for row in read(run)}
    assert scores(run)["accuracy"] == pytest.approx(1 / 3)
    assert prediction in LABELS


def test_rare_classes_may_count_more_than_once(home):
    words = "batching.oversample=multipliers", "+batching.multipliers={neutral: 50}"
    run = train(home, "baseline=majority", *words, job="oversampled")
    assert {row["prediction"] for row in read(run)} == {"neutral"}
    assert {round(float(str(row["p/neutral"])), 2) for row in read(run)} == {0.96}


def test_same_seed_same_predictions_even_without_the_cache(run, home):
    again = train(home, "baseline=cbow_svm", f"paths.cache={home / 'other_cache'}", job="svm_again")
    assert read(again) == read(run)
    other = train(home, "baseline=cbow_svm", "seed=1", job="svm_seed_1")
    assert [r["p/neutral"] for r in read(other)] != [r["p/neutral"] for r in read(run)]


def test_test_file_has_no_say_in_what_is_learnt(run, home):
    with (home / "test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    path = home / "changed.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "premise": "Altceva.", "label": "neutral"} for row in rows)
    other = train(
        home,
        "baseline=cbow_svm",
        f"data.files.test.path={path}",
        f"paths.cache={home / 'third_cache'}",
        job="changed",
    )
    weights = "classifier.safetensors", "vectors.npy", "ngrams.npy", "words.json"
    for name in weights:
        assert (other.model / name).read_bytes() == (run.model / name).read_bytes(), name


def test_grid_trains_vectors_and_features_once(run, home, monkeypatch):
    monkeypatch.setattr("heron_forks.ronli.word_vectors.TrainedVectors._train", None)  # would fail
    monkeypatch.setattr("heron_forks.ronli.word_vectors.mean_vectors", None)
    for strength in (0.1, 1, 10):
        train(home, "baseline=cbow_svm", f"baseline.C={strength}", job="grid")


def test_kept_vectors_take_no_room_where_links_can_be_made(run):
    assert (run.model / "vectors.npy").stat().st_nlink > 1


def test_run_export_false_leaves_no_model(home):
    run = train(home, "baseline=cbow_svm", "run.export=false", job="unexported")
    assert not run.model.exists()
    assert run.scores.is_file()


def test_stopping_early_is_a_warning_and_in_the_status(home, capsys):
    words = "baseline.max_iter=1", "baseline.scale=standard", "baseline.C=1000"
    run = train(home, "baseline=cbow_softmax", *words, job="hasty")
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "stopped" in line]
    assert "LogisticRegression was stopped after 1 iterations" in line
    assert json.loads(run.status.read_text())["baseline"]["warnings"]


def sources(config: Config) -> dict[str, Path]:
    return BASELINES[config.baseline.name].sources(config)


def test_zero_shot_scores_without_looking_at_train(home, tiny_encoder, tmp_path):
    model = save_nli_model(tmp_path, tiny_encoder, LABELS)
    words = f"baseline.model={model}", "baseline.zero_shot=direct"
    run = train(home, "baseline=zero_shot", *words, job="zero_shot")
    assert len(read(run)) == 30
    assert json.loads(run.status.read_text())["baseline"]["model"] == str(model)
    assert sources(compose(home, "baseline=zero_shot", *words)) == {
        "model": model / "model.safetensors"
    }


def test_a_table_that_rescales_bertscore_is_among_the_sources(tmp_path):
    table = tmp_path / "rescale.csv"
    words = ["data=chronicle_summaries", "baseline=lead", "task.bertscore.model=own"]
    words += ["task.bertscore.layer=1", f"task.bertscore.baseline={table}"]
    hashes = []
    for content in ("LAYER,P,R,F\n", "LAYER,P,R,F\n1,0,0,0\n"):
        table.write_text(content, encoding="utf-8")
        config = small_runs.compose(tmp_path, *words)
        hashes.append(source_hashes(config)["bertscore.baseline"])
    assert hashes[0] != hashes[1]


def test_sources_name_a_file_of_vectors(home):
    config = compose(home, "baseline=cbow_svm", "baseline.vectors=some.vec")
    assert sources(config) == {"vectors": Path("some.vec")}
    assert sources(compose(home, "baseline=cbow_svm")) == {}


@pytest.mark.slow
@pytest.mark.real  # takes too long for every change
def test_grid_is_one_command_that_skips_what_is_done_and_notices_changed_vectors(
    tmp_path, capsys, monkeypatch
):
    path = tmp_path / "mine.vec"
    path.write_text("1 2\nAna 0 1\n", encoding="utf-8")
    words = *overrides(tmp_path), "baseline=cbow_svm", f"baseline.vectors={path}"
    assert heron("train", "-m", *words, "baseline.C=0.1,10") == 0
    assert "Traceback" not in capsys.readouterr().err
    assert len(list((tmp_path / "runs").glob("own_nli-nli,*/*/scores.json"))) == 2

    assert heron("train", *words, "baseline.C=10") == 0
    assert capsys.readouterr().out.count("done already") == 1

    path.write_text("1 2\nAna 1 1\n", encoding="utf-8")
    assert heron("train", *words, "baseline.C=10") == 2
    assert "changed since this run began: vectors" in capsys.readouterr().err
