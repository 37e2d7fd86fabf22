"""What a command's errors say about a file, the command takes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from heron.base.files import read_json
from heron.base.tables import write_table
from heron.commands.run_settings import sort_words
from proposals import proposed
from small_baselines import train
from small_runs import heron


def test_keys_are_told_from_options_and_values():
    words = sort_words(["run=a.b/c=1", "paths.data=x", "encoder.stride=8", "data.verify=no"])
    assert words.options == ["run=a.b/c=1", "data=x"]
    assert words.settings == ["encoder.stride=8"]
    assert words.data == ["data.verify=no"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("home"), "baseline=majority")


def write(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
    return path


GOOD = ("Ana cântă acasă.", "Ana cântă acum.", "entailment")


def test_evaluate_takes_what_it_proposes_for_rows_without_a_class(run, tmp_path, capsys):
    values = {"label_aliases": "{folgt: entailment}", "label": "label"}
    takes = {"data.label_aliases={folgt: entailment}", "data.columns.label=label"}
    path = write(tmp_path / "mine.csv", GOOD, (*GOOD[:2], "folgt"))
    words = ["evaluate", f"run={run.path}", f"input={path}"]
    assert heron(*words) == 2
    said = proposed(capsys.readouterr().err, **values)
    assert takes <= set(said)
    assert heron(*words, *sorted(takes)) == 0


@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_columns_of_other_names_can_be_named_as_the_error_says(run, tmp_path, capsys, command):
    path = write(tmp_path / "mine.csv", GOOD)
    names = {"text": "first", "text_pair": "second", "label": "class"}
    header = path.read_text("utf-8").replace("premise,hypothesis,label", ",".join(names.values()))
    path.write_text(header, encoding="utf-8")
    words = [command, f"run={run.path}", f"input={path}"]
    assert heron(*words) == 2
    said = proposed(capsys.readouterr().err, **names)
    assert len(said) >= 2
    assert heron(*words, *said) == 0


def test_data_that_moved_are_found_by_the_key_that_the_error_names(tmp_path, capsys):
    write_to = tmp_path / "home"
    run = train(write_to, "baseline=majority")
    text = run.config.read_text().replace(f"{write_to}/", "")
    run.config.write_text(text.replace("data: data\n", f"data: {write_to}/gone\n"))
    words = ("evaluate", f"run={run.path}", f"out={tmp_path / 'scores.json'}")
    assert heron(*words) == 2
    said = proposed(capsys.readouterr().err, data=str(write_to))
    assert said == [f"paths.data={write_to}"]
    assert heron(*words, *said) == 0
    assert read_json(tmp_path / "scores.json")["test"] == read_json(run.scores)["test"]


def test_the_classes_of_a_run_cannot_be_changed(run, capsys):
    words = "data.label_order=[neutral,entailment,contradiction]"
    assert heron("evaluate", f"run={run.path}", words) == 2
    assert "data.label_order" in capsys.readouterr().err


@pytest.mark.parametrize("guids", [True, False], ids=["by guid", "by position"])
def test_score_takes_what_it_proposes_for_articles_without_a_summary(tmp_path, capsys, guids):
    article, summary = "Ana cântă acasă. Dan doarme.", "Ana cântă."
    names = {"guid": ["a", "b", "c"]} if guids else {}
    gold, mine = tmp_path / "gold.csv", tmp_path / "mine.csv"
    write_table(gold, {**names, "article": [article] * 3, "summary": [summary, None, summary]})
    write_table(mine, {**names, "prediction": [summary, "Dan.", summary]})
    words = ["score", "task=summarization", f"gold={gold}", f"predictions={mine}", "language=ro"]
    assert heron(*words, "resamples=0") == 2
    said = proposed(capsys.readouterr().err)
    assert "data.summaries.empty=drop" in said
    said = ["data.summaries.empty=drop"]
    assert heron(*words, "resamples=0", f"out={tmp_path / 'scores.json'}", *said) == 0
    assert "rows left out: 1" in capsys.readouterr().out
    assert read_json(tmp_path / "scores.json")["mine"]["rouge1"] == 1
