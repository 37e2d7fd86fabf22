"""What `heron train` leaves behind, that it can be repeated bit for bit, and that it learns."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.data.readers import load
from heron.metrics.classification import score_task
from heron.tasks.base import TaskModule
from heron.tasks.class_module import ClassificationModule
from heron.tasks.qa.module import ExtractionModule
from heron.training.stored import read_own
from small_runs import TINY, heron, in_folder, train
from stopping import assert_same_run

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
EPOCHS = 2


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def run(home):
    """Train once, exactly as a user does, report and figures included."""
    assert heron("train", *TINY, *in_folder(home), "seed=7") == 0
    (folder,) = (home / "runs").glob("chronicle-relation,*/*/")
    return RunFolder(folder)


DYNAMICS = ("guid", "gold", "p_gold", "correct", "margin", "count")


def rows_of(split: str, home: Path) -> dict[str, dict[str, str]]:
    """Read the generated split as it lies on disk: guid to row."""
    (path,) = (home / "cache" / "chronicle").glob(f"*/{split}.jsonl")
    return {row["guid"]: row for row in map(json.loads, path.read_text("utf-8").splitlines())}


class TestRunFolder:
    def test_holds_every_file_of_the_contract(self, run):
        files = [
            run.config,
            run.status,
            run.scores,
            run.metrics,
            run.best,
            run.last,
            run.predictions("validation"),
            run.predictions("test"),
            *(run.dynamics(epoch) for epoch in range(EPOCHS)),
            run.model / "config.json",
            run.model / "model.safetensors",
            run.model / "tokenizer.json",
            run.model / "head.safetensors",
        ]
        assert [str(file) for file in files if not file.stat().st_size] == []
        assert not run.dynamics(EPOCHS).exists()
        assert (run.path / "report.html").is_file()

    def test_is_named_by_its_overrides_and_a_hash_without_a_time(self, run):
        assert run.path.name.startswith("seed=7,batching.tokens=900,")
        assert len(run.path.name.rpartition("-")[2]) == 8

    def test_status_says_done_how_long_and_from_what(self, run):
        status = json.loads(run.status.read_text())
        assert status["state"] == "done"
        assert status["seed"] == 7
        assert status["error"] is None
        assert 0 < status["seconds"] < 600
        assert 100 < status["peak_rss_mb"] < 100_000
        assert status["versions"]["torch"] == torch.__version__
        assert set(status["data"]["splits"]) == {"train", "validation", "test"}
        assert status["data"]["splits"]["test"] == {
            "rows": 32,
            "sequences": 32,
            "refused": 0,
            "truncated": 0,
        }
        assert "seed=7" in status["overrides"]

    def test_config_is_complete_and_reads_back(self, run):
        config = read_own(run.config)
        assert config.seed == 7
        assert config.data.label_order == LABELS
        assert config.trainer.max_epochs == EPOCHS

    @pytest.mark.parametrize("split", ["validation", "test"])
    def test_predictions_hold_each_row_of_the_split_once(self, run, home, split):
        table = pq.read_table(run.predictions(split))
        rows = rows_of(split, home)
        columns = ["guid", "gold", "prediction", *(f"p/{label}" for label in LABELS)]
        assert table.column_names == [*columns, "text", "group"]
        assert table["guid"].to_pylist() == list(rows)
        assert table["gold"].to_pylist() == [row["label"] for row in rows.values()]
        assert table["text"].to_pylist() == [row["text"] for row in rows.values()]
        assert table["group"].to_pylist() == [row["document"] for row in rows.values()]

    def test_probabilities_sum_to_one_and_choose_the_prediction(self, run):
        table = pq.read_table(run.predictions("test"))
        probabilities_RC = np.column_stack([table[f"p/{label}"] for label in LABELS])
        np.testing.assert_allclose(probabilities_RC.sum(axis=1), 1, atol=1e-6)
        chosen = [LABELS[index] for index in probabilities_RC.argmax(axis=1)]
        assert table["prediction"].to_pylist() == chosen

    @pytest.mark.parametrize("split", ["validation", "test"])
    def test_scores_follow_from_the_predictions_alone(self, run, split):
        table = pq.read_table(run.predictions(split))
        gold, prediction = (table[name].to_pylist() for name in ("gold", "prediction"))
        scores = json.loads(run.scores.read_text())[split]
        again = score_task("relation", gold, prediction, LABELS)
        assert {name: scores[name] for name in again} == again

    def test_scores_are_fractions_never_percent(self, run):
        for split, scores in json.loads(run.scores.read_text()).items():
            fractions = {k: v for k, v in scores.items() if not k.startswith(("support", "refuse"))}
            assert 0 <= fractions.pop("brier") <= 2  # a sum over classes, not a fraction
            assert all(0 <= value <= 1 for value in fractions.values())
            assert sum(scores[f"support/{label}"] for label in LABELS) in (16, 32)
            if split == "test":  # the rows of validation are of one document
                assert scores["macro_f1_low"] <= scores["macro_f1"] <= scores["macro_f1_high"]

    @pytest.mark.parametrize("epoch", range(EPOCHS))
    def test_dynamics_hold_each_training_row_once(self, run, home, epoch):
        table = pq.read_table(run.dynamics(epoch))
        rows = rows_of("train", home)
        assert table.column_names == [*DYNAMICS, "logits"]
        assert table["guid"].to_pylist() == list(rows)
        assert table["gold"].to_pylist() == [LABELS.index(row["label"]) for row in rows.values()]
        logits_RC = np.array(table["logits"].to_pylist())
        powers_RC = np.exp(logits_RC - logits_RC.max(axis=1, keepdims=True))
        gold = np.array(table["gold"])
        p_gold = (powers_RC / powers_RC.sum(axis=1, keepdims=True))[np.arange(len(gold)), gold]
        np.testing.assert_allclose(table["p_gold"], p_gold, atol=1e-6)
        assert table["correct"].to_pylist() == (logits_RC.argmax(axis=1) == gold).tolist()

    def test_metrics_hold_losses_by_step_and_validation_by_epoch(self, run):
        rows = list(csv.DictReader(run.metrics.open()))
        assert any(row["train/loss_step"] for row in rows)
        losses = [row for row in rows if row["train/loss"]]
        validations = [row for row in rows if row["validation/macro_f1"]]
        assert [row["epoch"] for row in losses] == ["0", "1"]
        assert [row["epoch"] for row in validations] == ["0", "1"]
        best = max(float(row["validation/macro_f1"]) for row in validations)
        scores = json.loads(run.scores.read_text())["validation"]
        assert scores["macro_f1"] == pytest.approx(best, abs=1e-6)

    def test_metrics_hold_the_learning_rate_of_encoder_and_head(self, run):
        rows = [row for row in csv.DictReader(run.metrics.open()) if row["lr/head"]]
        steps = json.loads(run.ledger.read_text())["planned_steps"]
        for row in rows:
            step = int(row["step"])
            warmup = math.ceil(0.1 * steps)
            expected = step / warmup if step < warmup else (steps - step) / (steps - warmup)
            for name in ("lr/encoder", "lr/head"):
                assert float(row[name]) == pytest.approx(1e-3 * expected)

    @pytest.mark.parametrize("kind", [TaskModule, ClassificationModule])
    def test_a_checkpoint_loads_as_lightning_loads_one(self, kind, run):
        module = kind.load_from_checkpoint(run.best)
        assert isinstance(module, ClassificationModule)
        assert not module.training
        stored = torch.load(run.best, weights_only=True)["state_dict"]
        assert stored.keys() == module.state_dict().keys()
        assert all(torch.equal(value, stored[key]) for key, value in module.state_dict().items())

    def test_a_checkpoint_of_another_task_or_from_nowhere_is_refused(self, run, tmp_path):
        with pytest.raises(ConfigError, match="of ClassificationModule, not of Extraction"):
            ExtractionModule.load_from_checkpoint(run.best)
        with pytest.raises(ConfigError, match=r"best\.ckpt"):
            TaskModule.load_from_checkpoint(tmp_path / "checkpoints" / "best.ckpt")

    def test_the_readmes_analysis_of_a_run_works(self, run):
        for command in commands_of_the_readme("analyze", run):
            assert heron(*command.split()) == 0, command

    @pytest.mark.real  # figures take their time
    def test_the_readmes_other_commands_on_a_run_work(self, run):
        for command in commands_of_the_readme("map|noise|report|dashboard", run):
            assert heron(*command.split()) == 0, command


def commands_of_the_readme(names: str, run: RunFolder) -> list[str]:
    """Find what the README says to do with any run, and put this run in."""
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    found = re.findall(rf"heron ((?:{names}) latest[^`#\n]*)", text)
    assert found
    return [command.replace("latest", str(run.path)) for command in found]


class TestRepeatability:
    def test_same_seed_gives_identical_bytes(self, run, tmp_path):
        # Another cache as well: corpus and tokenizer are made anew.
        again = train(tmp_path, "seed=7")
        assert_same_run(again, run)

    def test_another_seed_gives_other_losses(self, run, home):
        other = train(home, "seed=8", job="other")
        assert other.metrics.read_bytes() != run.metrics.read_bytes()

    def test_recording_and_exporting_leave_scores_alone(self, run, home):
        plain = train(home, "seed=7", "dynamics.enabled=false", "run.export=false", job="plain")
        assert plain.scores.read_bytes() == run.scores.read_bytes()
        assert not plain.model.exists()
        assert not plain.dynamics(0).exists()


@pytest.mark.slow
class TestLearning:
    @pytest.mark.real  # seconds; with every change a run of classification beats the majority
    def test_validation_score_is_far_above_the_majority_class(self, tmp_path):
        run = train(
            tmp_path,
            "data.generator.size=1500",
            "encoder.scratch.vocabulary=2000",
            "encoder.scratch.hidden=64",
            "encoder.scratch.layers=2",
            "encoder.scratch.intermediate=128",
            "encoder.dropout=0.0",
            "batching.tokens=1500",
            "optim.lr=3e-3",
            "trainer.max_epochs=6",
        )
        gold = pq.read_table(run.predictions("validation"))["gold"].to_pylist()
        majority = max(LABELS, key=gold.count)
        baseline = score_task("relation", gold, [majority] * len(gold), LABELS)["macro_f1"]
        scores = json.loads(run.scores.read_text())["validation"]
        assert scores["macro_f1"] > 1.7 * baseline
        rows = [row for row in csv.DictReader(run.metrics.open()) if row["train/loss"]]
        losses = [float(row["train/loss"]) for row in rows]
        assert losses[-1] < 0.6 * losses[0]

    @pytest.mark.real  # takes too long for every change
    def test_sentence_pairs_read_apart_are_learnt_far_above_the_majority_class(self, tmp_path):
        words = ("data=chronicle_ronli", "head=siamese_cls", "data.generator.size=2000")
        shape = ("encoder.scratch.vocabulary=2000", "encoder.scratch.hidden=64")
        learning = ("optim.lr=3e-3", "trainer.max_epochs=4", "batching.tokens=1500")
        where = (*in_folder(tmp_path), "run.sweep=s", "run.job=j", "encoder.dropout=0.0")
        assert heron("train", *TINY, *words, *shape, *learning, *where) == 0
        run = RunFolder(tmp_path / "runs" / "s" / "j")
        gold = pq.read_table(run.predictions("validation"))["gold"].to_pylist()
        majority = max(map(gold.count, set(gold))) / len(gold)
        scores = json.loads(run.scores.read_text())["validation"]
        assert scores["accuracy"] > majority + 0.15


def test_predictions_stand_in_the_order_of_their_file(tmp_path):
    """Windows regroup the rows inside heron; what it writes can be joined by position."""
    run = train(tmp_path, "head=window")
    config = read_own(run.config)
    examples = load(config.data, Path(config.paths.data), Path(config.paths.cache))["test"]
    guids = read_table(run.predictions("test")).values("guid")
    assert guids == [example.guid for example in examples]
