"""`Predictions.columns`: what a run writes of its predictions, and that every reader copes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heron.base.run_folder import RunFolder
from heron.base.tables import write_table
from heron.commands import score
from heron.data.examples import Example
from heron.data.readers import load
from heron.results.collect import collect
from heron.results.run_comparison import CompareOptions, compare_runs
from heron.tasks.predictions import ClassPredictions

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]


def columns_of(examples, config):
    """Lay out made-up predictions of these examples."""
    shares = np.eye(len(LABELS), dtype=np.float32)[np.arange(len(examples)) % len(LABELS)]
    return ClassPredictions.most_probable(examples, shares, config).columns(config)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["d1", "d1", "d2"], ["d1", "d1", "d2"]),
        (["d1", "", "d2"], ["d1", None, "d2"]),
        (["", "", ""], None),
        (["text 0", "text 1", "text 2"], None),
        (["text 0", "d1", "d1"], [None, "d1", "d1"]),
    ],
)
def test_a_rows_document_is_written_and_its_text_never_is_one(groups, expected, chronicle_config):
    examples = [
        Example(f"x{row}", f"text {row}", label="AFTER", group=group)
        for row, group in enumerate(groups)
    ]
    columns = columns_of(examples, chronicle_config())
    assert columns.get("group") == expected
    assert list(columns)[:3] == ["guid", "gold", "prediction"]


@pytest.mark.parametrize(("brier", "doubted"), [(0.4, False), (0.75, True), (1.2, True)])
def test_probabilities_that_constant_shares_reach_are_doubted(brier, doubted):
    """With four equally frequent classes, constant shares have a Brier score of .75."""
    labels = LABELS * 10
    examples = [Example(f"x{n}", "text", label=label) for n, label in enumerate(labels)]
    assert bool(ClassPredictions(examples, labels).doubts({"brier": brier})) is doubted
    assert ClassPredictions(examples, ["AFTER"] * 40).doubts({})
    assert not ClassPredictions(examples[:4], ["AFTER"] * 4).doubts({})


@pytest.fixture
def run(chronicle_config, tmp_path):
    """A run folder with made-up predictions of the built-in corpus, and its examples."""
    config = chronicle_config()
    examples = load(config.data, Path(config.paths.data), Path(config.paths.cache))["test"]
    folder = RunFolder(tmp_path / "sweep" / "head=ess,seed=0-00000000")
    write_table(folder.predictions("test"), columns_of(examples, config))
    return folder, config, examples


def test_score_reads_predictions_with_documents_and_can_draw_them(run, tmp_path, capsys):
    path = run[0].predictions("test")
    words = [f"gold={path}", f"predictions={path}", "task=relation", f"labels={','.join(LABELS)}"]
    assert score.run([*words, "group_column=group"]) == 0
    assert "groups (group)" in capsys.readouterr().out


def test_compare_draws_the_documents_even_where_the_data_is_gone(run, tmp_path):
    _, config, examples = run
    for head in ("ess", "emp"):
        made = RunFolder(tmp_path / "two" / head)
        made.path.mkdir(parents=True)
        text = f"data: {{label_order: {LABELS}}}\ntask: {{name: relation, resample: group}}\n"
        made.config.write_text(f"{text}head: {{name: {head}}}\n")
        made.update_status(state="done", overrides=[f"head={head}"])
        columns = columns_of(examples, config)
        if head == "ess":
            columns |= {"prediction": columns["gold"]}
        write_table(made.predictions("test"), columns)
    comparison = compare_runs(collect(tmp_path / "two"), options=CompareOptions(draws=50))
    assert comparison.groups == len({example.group for example in examples})
    assert not any("Rows are drawn" in note for note in comparison.notes)


def test_a_split_without_a_labelled_row_has_no_score_rather_than_0(chronicle_config):
    found = ClassPredictions([Example("a", "text")], ["AFTER"], np.eye(4)[:1])
    assert found.scores(chronicle_config()) == {}
