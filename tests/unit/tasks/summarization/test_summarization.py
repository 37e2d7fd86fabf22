"""Summaries from the command line on: train, predict, evaluate, score."""

import json

import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, write_table
from heron.tasks.summarization.module import SummarizationModule
from small_exports import run_card
from small_runs import TINY, heron, in_folder

WORDS = (
    "data=chronicle_summaries",
    "data.generator.size=100",
    "data.generator.premise_sentences=[8,9]",
    "encoder.max_length=96",
    "batching.tokens=1500",
    "task.generation.max_new_tokens=10",
    "task.generation.num_beams=2",
    "task.validation_samples=4",
    "trainer.accumulate_grad_batches=2",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A tiny run."""
    folder = tmp_path_factory.mktemp("summaries")
    assert heron("train", *TINY, *in_folder(folder), *WORDS, "run.job=tiny") == 0
    return RunFolder(folder / "runs" / "chronicle_summaries-summarization" / "tiny")


def test_a_run_leaves_scores_summaries_dynamics_and_nothing_half_done(run):
    scores = read_json(run.scores)
    for split in ("validation", "test"):
        found = scores[split]
        assert found["rouge1_low"] <= found["rouge1"] <= found["rouge1_high"]
        assert 0 < found["lead3_rouge1"] <= found["oracle_rouge1"]
        assert {"rougeL_heron", "novel_2", "compression", "gold_length"} <= found.keys()
        rows = read_table(run.predictions(split)).rows
        assert all(row["gold"] and row["text"] for row in rows)
    assert len(rows) == 20  # of test
    for epoch in (0, 1):
        columns = read_table(run.dynamics(epoch)).columns
        assert {"guid", "p_gold", "correct", "margin"} <= set(columns)
    assert not run.generated.exists()  # texts of an unfinished split


def test_validation_is_scored_after_every_epoch(run):
    logged = [row["validation/rouge1"] for row in read_table(run.metrics).rows]
    assert len([value for value in logged if value]) == 2


def test_the_code_of_an_exported_runs_card_writes_what_the_run_wrote(run, tmp_path):
    assert heron("export", f"run={run.path}", f"out={tmp_path / 'plain'}") == 0
    for row in read_table(run.predictions("test")).rows[:2]:
        assert run_card(tmp_path / "plain", text=row["text"]) == row["prediction"]


def test_a_file_of_articles_and_one_text_are_summarized(run, tmp_path, capsys):
    rows = read_table(run.predictions("test")).rows[:3]
    articles = tmp_path / "articles.jsonl"
    lines = [json.dumps({"guid": row["guid"], "article": row["text"]}) for row in rows]
    articles.write_text("\n".join(lines), encoding="utf-8")
    assert heron("predict", f"run={run.path}", f"input={articles}") == 0
    written = read_table(tmp_path / "articles.predictions.csv").rows
    assert [row["guid"] for row in written] == [row["guid"] for row in rows]
    assert [row["summary"] for row in written] == [row["prediction"] for row in rows]
    capsys.readouterr()
    assert heron("predict", f"run={run.path}", f"text={rows[0]['text']}") == 0
    assert capsys.readouterr().out.strip() == rows[0]["prediction"]


def test_summaries_of_earlier_chunks_are_not_written_again_after_a_failure(
    run, tmp_path, monkeypatch, capsys
):
    rows = read_table(run.predictions("test")).rows[:3]
    articles = tmp_path / "articles.jsonl"
    lines = [json.dumps({"guid": row["guid"], "article": row["text"]}) for row in rows]
    articles.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr("heron.commands.predict.CHUNK", 1)
    write, allowed = SummarizationModule.write, [2]

    def write_few(module, batch):
        if not allowed[0]:
            raise RuntimeError("out of memory")
        allowed[0] -= 1
        return write(module, batch)

    monkeypatch.setattr(SummarizationModule, "write", write_few)
    with pytest.raises(RuntimeError, match="out of memory"):
        heron("predict", f"run={run.path}", f"input={articles}")
    assert not (tmp_path / "articles.predictions.csv").exists()
    allowed[0] = 1  # the third article alone
    assert heron("predict", f"run={run.path}", f"input={articles}") == 0
    found = read_table(tmp_path / "articles.predictions.csv").rows
    assert [row["summary"] for row in found] == [row["prediction"] for row in rows]
    assert not run.generated.exists()


def test_a_run_scores_the_same_when_it_is_evaluated(run, tmp_path):
    out = tmp_path / "scores.json"
    assert heron("evaluate", f"run={run.path}", f"out={out}") == 0
    assert read_json(out)["test"] == pytest.approx(read_json(run.scores)["test"])
    assert not run.generated.exists()


@pytest.fixture
def files(run, tmp_path):
    """The test split as a gold file of any user, and the run's predictions for it."""
    rows = read_table(run.predictions("test")).rows
    gold, mine = tmp_path / "gold.csv", tmp_path / "mine.csv"
    named = {"guid": "guid", "article": "text", "summary": "gold"}
    write_table(gold, {name: [row[column] for row in rows] for name, column in named.items()})
    write_table(mine, {name: [row[name] for row in rows[::-1]] for name in ("guid", "prediction")})
    return gold, mine


def test_any_system_s_summaries_score_as_a_run_s(run, files, tmp_path):
    gold, mine = files
    out = tmp_path / "scores.json"
    words = ("task=summarization", f"gold={gold}", f"predictions={mine}", f"out={out}")
    assert heron("score", *words, "resamples=20") == 0
    found, known = read_json(out)["mine"], read_json(run.scores)["test"]
    for name, value in found.items():
        assert value == pytest.approx(known[name]), name


def test_summaries_in_other_unicode_variants_change_rouge_but_not_rouge_heron(
    files, tmp_path, capsys
):
    gold, mine = files
    out, found = tmp_path / "scores.json", []
    words = ("task=summarization", f"gold={gold}", f"predictions={mine}", f"out={out}")
    rows = read_table(gold).rows
    # One letter with two points, in NFC's order and in the other.
    for points in ("\u05b8\u05c1", "\u05c1\u05b8"):
        texts = [f"ש{points}{row['summary']}" for row in rows]
        write_table(mine, {"guid": [row["guid"] for row in rows], "prediction": texts})
        if not found:
            columns = {name: [row[name] for row in rows] for name in ("guid", "article")}
            write_table(gold, {**columns, "summary": texts})
        assert heron("score", *words, "resamples=0") == 0
        found.append(read_json(out)["mine"])
    other = {name for name in found[0] if found[0][name] != found[1][name]}
    assert found[0]["rouge1"] == found[1]["rouge1_heron"] == 1
    assert found[1]["rouge1"] < 1
    assert other == {n for n in found[0] if n.endswith(("rouge1", "rouge2", "rougeL"))} - {
        n for n in found[0] if n.startswith(("lead3", "oracle"))
    }
    said = "in 0 articles, 0 gold summaries, 20 summaries"
    assert said in " ".join(capsys.readouterr().out.split())


def test_articles_without_a_summary_and_the_reverse_are_refused(files, tmp_path, capsys):
    gold, mine = files
    rows = read_table(mine).rows
    write_table(mine, {"guid": ["x", *(r["guid"] for r in rows[1:])], "prediction": ["x"] * 20})
    assert heron("score", "task=summarization", f"gold={gold}", f"predictions={mine}") != 0
    error = capsys.readouterr().err
    assert rows[0]["guid"] in error
    write_table(mine, {"prediction": ["x"] * 19})
    words = ("task=summarization", f"gold={gold}", f"predictions={mine}", "join=position")
    assert heron("score", *words) != 0


@pytest.mark.real  # takes long: only in `make test-real`
def test_a_second_stage_goes_on_with_encoder_and_decoder(tmp_path, monkeypatch):
    stages = "stages=[{data: chronicle_summaries, max_epochs: 1}, {data: chronicle_summaries}]"
    words = (
        *TINY,
        *in_folder(tmp_path),
        *WORDS,
        stages,
        "run.job=staged",
        "dynamics.mode=evaluation",
    )
    assert heron("train", *words) == 0
    run = RunFolder(tmp_path / "runs" / "chronicle_summaries-summarization" / "staged")
    first, second = (
        [float(row["validation/loss"]) for row in read_table(path).rows if row["validation/loss"]]
        for path in sorted(run.stages.glob("*/metrics.csv"))
    )
    assert second[-1] < first[-1]
    assert heron("predict", f"run={run.path}", "text=הממשלה התכנסה ביום שני.") == 0
