"""No table, page or figure shows a summarizer's ROUGE without what copying sentences reaches."""

import json
import re

import pytest
from matplotlib.figure import Figure

from heron.base.files import dump_yaml
from heron.cli import main
from heron.metrics.names import is_copied, with_copied
from heron.reports import figures
from heron.reports.artefacts import read_artefacts
from heron.reports.figures import run_figure, sweep_figure
from heron.reports.run import score_table
from heron.reports.sweep import group_table, runs_table
from heron.results.collect import collect, headline_metrics
from heron.results.systems import copied_scores
from heron_tools.dashboard.page import dashboard_data, write_dashboard
from heron_tools.reproduction.paper_tables import paper_view

SCORES = {
    "rouge1": 0.25,
    "rouge1_low": 0.2,
    "rouge1_high": 0.3,
    "rouge2": 0.11,
    "rougeL": 0.22,
    "rouge1_heron": 0.26,
    "novel_2": 0.4,
    "summary_length": 31.5,
    "lead3_rouge1": 0.128,
    "lead3_rouge2": 0.06,
    "lead3_rougeL": 0.1,
    "lead3_rouge1_heron": 0.13,
    "oracle_rouge1": 0.234,
    "oracle_rouge2": 0.17,
    "oracle_rougeL": 0.21,
    "oracle_rouge1_heron": 0.24,
}
CONFIG = {"task.name": "summarization", "trainer.monitor": "rouge1", "data.label_order": ["s"]}
HEADLINE = [
    *("rouge1", "lead3_rouge1", "oracle_rouge1"),
    *("rouge2", "lead3_rouge2", "oracle_rouge2"),
    *("rougeL", "lead3_rougeL", "oracle_rougeL"),
]


@pytest.fixture
def sweep(make_run):
    """Two heads, two seeds each, scored alike on both splits."""
    for head in ("seq2seq", "warm_start"):
        for seed in range(2):
            words = (f"head={head}", f"seed={seed}")
            folder = make_run(f"{head}-{seed}", words, SCORES, CONFIG)
            scores = {"validation": SCORES, "test": {**SCORES, "rouge1": 0.25 + 0.01 * seed}}
            (folder / "scores.json").write_text(json.dumps(scores))
            _write_curves(folder)
    return folder.parent


def _write_curves(folder):
    names = ["validation/rouge1", "validation/lead3_rouge1", "validation/oracle_rouge1"]
    lines = [",".join(["epoch", "step", *names])]
    lines += [f"{epoch},{9 * epoch},{0.1 + 0.05 * epoch},0.128,0.234" for epoch in range(3)]
    (folder / "metrics.csv").write_text("\n".join(lines) + "\n")


def test_what_copying_reaches_stands_behind_each_rouge_and_nowhere_else():
    assert with_copied(["rouge2", "macro_f1"], SCORES) == [
        "rouge2",
        "lead3_rouge2",
        "oracle_rouge2",
        "macro_f1",
    ]
    assert with_copied(["rouge2"], ["rouge2"]) == ["rouge2"]
    assert [name for name in SCORES if is_copied(name)] == list(SCORES)[8:]


def test_tables_of_a_sweep_and_of_a_run_have_both_beside(sweep):
    runs = collect(sweep)
    assert headline_metrics(runs) == HEADLINE
    for table in (group_table(runs), group_table(runs, "validation"), runs_table(runs)):
        assert list(table.columns[-9:]) == HEADLINE
    assert "first three sentences" in group_table(runs).note
    assert group_table(runs).rows[0][3:5] == (0.128, 0.234)
    one = score_table(runs[0])
    assert one.columns[-2:] == ("lead3", "oracle")
    own = ["rouge1", "rouge2", "rougeL", "rouge1_heron", "novel_2", "summary_length"]
    assert [row[0] for row in one.rows] == own
    assert one.rows[0][-2:] == (0.128, 0.234)
    assert one.rows[-1][-2:] == (None, None)
    assert "first three sentences" in one.note


def test_runs_on_different_articles_have_no_common_figure(sweep):
    runs = collect(sweep)
    assert copied_scores(runs, "test", "rouge1") == {"lead3_rouge1": 0.128, "oracle_rouge1": 0.234}
    path = runs[0].path / "scores.json"
    path.write_text(path.read_text().replace("0.128", "0.5"))
    assert copied_scores(collect(sweep), "test", "rouge1") == {}


@pytest.mark.parametrize(
    ("command", "job"), [("report", ""), ("sweep", ""), ("report", "seq2seq-0")]
)
def test_every_command_that_prints_rouge_prints_both(sweep, capsys, command, job):
    assert main([command, str(sweep / job)]) == 0
    shown = re.sub(r"\s", "", capsys.readouterr().out)
    for part in ("rouge1", "lead3", "oracle", "0.128", "0.234"):
        assert part in shown
    if job:
        page = (sweep / job / "report.html").read_text("utf-8")
        # Summaries are not right or wrong, so they are not listed as if they were.
        assert all(part in page for part in ("lead3 rouge1", "0.234", "40 of 40 examples."))
        assert 'name="right"' not in page


def test_the_dashboard_has_both_in_its_table_and_beside_the_best(sweep):
    data = dashboard_data("sweep", collect(sweep), sweep)
    assert data["metrics"] == HEADLINE
    assert data["copied"]["rougeL"] == ["lead3_rougeL", "oracle_rougeL"]
    assert set(data["copied"]) == {"rouge1", "rouge2", "rougeL"}
    assert "validation/lead3_rouge1" in data["runs"][0]["curves"]
    page = write_dashboard(sweep).read_text("utf-8")
    said = re.search("Copied sentences reach: (.*?)</p>", page, re.DOTALL)
    assert said
    assert "lead3_rouge1 0.128 on validation" in said[1]
    assert "oracle_rouge1 0.234 on test." in said[1]


def test_a_score_that_is_no_headline_has_both_when_it_is_watched(sweep):
    for run in collect(sweep):
        path = run.path / "config.yaml"
        path.write_text(path.read_text().replace("monitor: rouge1", "monitor: rouge1_heron"))
    data = dashboard_data("sweep", collect(sweep), sweep)
    assert data["metrics"][:3] == ["rouge1_heron", "lead3_rouge1_heron", "oracle_rouge1_heron"]


@pytest.fixture
def drawn(monkeypatch):
    """Keep figures instead of their bytes."""
    kept: list[Figure] = []
    monkeypatch.setattr(figures, "png", lambda figure: kept.append(figure) or b"")
    return kept


def test_figures_have_a_line_for_each(sweep, drawn):
    runs = collect(sweep)
    sweep_figure(runs)
    panels = drawn[0].axes
    assert [axes.get_title("left") for axes in panels] == ["rouge1", "rouge2", "rougeL"]
    at = {line.get_xdata()[0] for line in panels[0].lines if line.get_linestyle() in ("--", ":")}
    assert sorted(at) == pytest.approx([0.128, 0.234])
    run_figure(runs[0], read_artefacts(runs[0]))
    (scores,) = [axes for axes in drawn[1].axes if axes.get_title("left") == "Validation rouge1"]
    assert {text.get_text() for text in scores.texts} >= {
        "lead3_rouge1 0.128",
        "oracle_rouge1 0.234",
    }


def test_a_papers_table_names_both_of_the_same_articles(sweep, tmp_path):
    published = {
        "data": ["trc"],
        "row_names": [{"column": "model", "setting": "head.name"}],
        "views": {"table3": ["table3"]},
        "tables": {
            "table3": {
                "title": "Table 3",
                "scores": {"R1": "rouge1", "R2": "rouge2"},
                "rows": {"seq2seq": [0.175, 0.076]},
            }
        },
    }
    path = tmp_path / "published.yaml"
    path.write_text(dump_yaml(published), "utf-8")
    table = paper_view("hesum/table3", collect(sweep), path).tables["table3"]
    expected = "lead3_rouge1 0.128, oracle_rouge1 0.234, lead3_rouge2 0.060, oracle_rouge2 0.170."
    assert f"Extractive baselines on the same articles: {expected}" in table.note
