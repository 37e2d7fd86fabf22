"""`heron score` gives a run's own scores from the predictions that the run has stored."""

import json

import pytest

from heron.base.files import read_json, write_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, write_table
from heron.tasks.config import Config
from heron.training.stored import read_stored
from small_runs import heron
from small_tasks import words_of
from tiers import quick

TASKS = ("relation", "nli", "classification", "qa", "summarization")


@pytest.fixture(params=quick(TASKS, 4))
def run(request, tmp_path, monkeypatch):
    """A finished run of each task, of one epoch."""
    monkeypatch.chdir(tmp_path)
    words = words_of(request.param, tmp_path, tmp_path)
    assert heron("train", *words, "trainer.max_epochs=1", "run.sweep=s", "run.job=j") == 0
    return RunFolder(tmp_path / "runs/s/j")


def write_gold(rows, config: Config, path):
    """Write the gold rows of a run as a file of anybody's."""
    names = {"guid": "guid", "label": "gold"}
    if config.task.name == "summarization":
        names = {"guid": "guid", "article": "text", "summary": "gold"}
    if config.task.name == "qa":
        articles = []
        for row in rows:
            answers = [{"text": text} for text in json.loads(row["golds"])]
            question = {"id": row["guid"], "question": row["text_pair"], "answers": answers}
            paragraph = {"context": row["text"], "qas": [question]}
            articles.append({"title": row.get("group") or row["text"], "paragraphs": [paragraph]})
        write_json(path, {"data": articles})
        return
    columns = {name: [row[column] for row in rows] for name, column in names.items()}
    columns["document"] = [row.get("group") or row["text"] for row in rows]
    write_table(path, columns)


@pytest.mark.slow
def test_the_scores_of_a_stored_run_are_those_of_the_run(run, tmp_path):
    config = read_stored(run.config)
    predictions = run.predictions("test")
    gold = tmp_path / ("gold.json" if config.task.name == "qa" else "gold.csv")
    write_gold(read_table(predictions).rows, config, gold)

    words = [f"task={config.task.name}", f"gold={gold}", f"predictions={predictions}"]
    words += [f"resamples={config.task.bootstrap}", "name=test", f"out={tmp_path}/scores.json"]
    words.append(f"language={config.data.language}")
    if config.task.name == "qa":
        words.append("group_column=title")
    elif config.task.name != "summarization":
        words += ["group_column=document", f"labels={','.join(config.data.label_order)}"]
    assert heron("score", *words) == 0
    scores = read_json(tmp_path / "scores.json")["test"]
    expected = read_json(run.scores)["test"]
    for name in ("threshold", "refused"):  # of the model, not of its answers
        expected.pop(name, None)
    assert scores == {name: expected[name] for name in scores}
    assert scores.keys() == expected.keys()
