"""Summaries beyond toys: a scratch model beats the first sentences, a long-text model trains."""

from __future__ import annotations

import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.training.job import run_job
from real_data import DATA, ENCODER
from small_runs import compose, heron, in_folder

pytestmark = [pytest.mark.real, pytest.mark.slow]

PAIRS, LONGT5 = DATA / "hesum_subset" / "pairs.jsonl", ENCODER.parent / "tiny-longt5-he-ro"


def test_a_model_from_scratch_beats_the_first_three_sentences_on_chronicle(tmp_path):
    config = compose(
        tmp_path,
        "data=chronicle_summaries",
        "data.generator.size=400",
        "data.generator.premise_sentences=[8,10]",
        "encoder.max_length=160",
        "encoder.scratch.hidden=64",
        "encoder.scratch.vocabulary=2000",
        "batching.tokens=2500",
        "task.generation.max_new_tokens=40",
        "task.generation.num_beams=1",
        "task.validation_samples=20",
        "trainer.max_epochs=5",
        "optim.lr=2e-3",
    )
    scores = run_job(config, RunFolder(tmp_path / "run"))["test"]
    # It wins by imitating how summaries are worded: so few rows do not teach a new decoder to read
    # the article.
    assert scores["rouge1_low"] > scores["lead3_rouge1"] + 0.05


@pytest.mark.skipif(not (PAIRS.is_file() and LONGT5.is_dir()), reason="no tiny-longt5-he-ro")
@pytest.mark.parametrize("experiment", ["hesum/mlongt5_base", "hesum/mlongt5_large"])
def test_the_papers_experiments_train_a_tiny_longt5_on_real_articles_and_write(
    tmp_path, monkeypatch, experiment
):
    words = (
        f"experiment={experiment}",
        "data=hesum_subset",
        f"paths.data={DATA}",
        f"encoder={LONGT5}",
        "encoder.max_length=512",
        "encoder.gradient_checkpointing=true",
        "optim.lr=1e-2",
        "batching.tokens=4096",
        "data.sample.fraction=0.3",
        "task.max_target_tokens=32",
        "task.generation.max_new_tokens=8",
        "task.generation.num_beams=2",
        "task.validation_samples=4",
        "task.bootstrap=20",
        f"task.bertscore.model={LONGT5}",
        "task.bertscore.layer=1",
        "trainer.max_epochs=2",
        "trainer.accelerator=cpu",
        "trainer.devices=1",
        "trainer.threads=1",
        "run.isolate=false",
        "run.sweep=tiny",
        "run.job=longt5",
    )
    assert heron("train", *in_folder(tmp_path), *words) == 0
    run = RunFolder(tmp_path / "runs" / "tiny" / "longt5")
    scores = read_json(run.scores)["test"]
    assert 0 < scores["lead3_rouge1"] < scores["oracle_rouge1"]
    losses = [row["validation/loss"] for row in read_table(run.metrics).rows]
    first, last = (float(loss) for loss in losses if loss)
    assert last < first
    splits = read_json(run.status)["data"]["splits"]
    assert splits["train"]["truncated"] > 0
    assert splits["train"]["targets_cut"] > 0
    assert splits["test"]["rows"] == 43
    assert heron("predict", f"run={run.path}", "text=הממשלה התכנסה ביום שני.") == 0
