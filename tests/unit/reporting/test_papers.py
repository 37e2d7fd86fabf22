import csv
from pathlib import Path

import pytest

from heron.errors import ConfigError
from heron.reporting.cells import Formatted
from heron.reporting.collect import collect
from heron.reporting.papers import find_published, paper_view

ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = ROOT / "experiments/trc/published.yaml"


def _row(table, *start):
    (row,) = [row for row in table.rows if row[: len(start)] == start]
    return row[len(start) :]


@pytest.fixture
def scores():
    return {
        "macro_f1": 0.5,
        "weighted_f1": 0.6,
        "relaxed_macro_f1": 0.7,
        "relaxed_weighted_f1": 0.8,
    }


def test_published_numbers_are_found_by_the_report_key():
    assert find_published("trc/table4", [ROOT]) == PUBLISHED
    assert find_published("nobody/table1", [ROOT]) is None


def test_published_tables_hold_all_24_numbers_each_as_printed():
    tables = paper_view("trc/table4", [], PUBLISHED).tables
    assert list(tables) == ["table4", "table5"]
    assert [len(table.rows) for table in tables.values()] == [12, 12]
    assert _row(tables["table4"], "mBERT", "seq_cls")[0] == Formatted(0.48, ".2f")
    assert _row(tables["table5"], "AlephBERTGimmel", "ess")[3] == Formatted(0.60, ".2f")


def test_our_mean_stands_beside_the_papers_number_with_the_difference(make_run, scores):
    for seed in range(2):
        ours = {**scores, "relaxed_macro_f1": 0.6 + 0.02 * seed}
        folder = make_run(f"{seed}", ("head=ess", f"seed={seed}"), ours)
    table = paper_view("trc/table4", collect(folder.parent), PUBLISHED).tables["table4"]
    printed, summary, change = _row(table, "AlephBERT", "ess")[:3]
    assert (printed.value, summary.n) == (0.67, 2)
    assert summary.mean == pytest.approx(0.61)
    assert change.value == pytest.approx(-0.06)


def test_an_encoder_the_paper_lacks_gets_a_row_of_its_own(make_run, scores):
    folder = make_run(scores=scores, config={"encoder.name": "../models/my-encoder/"})
    table = paper_view("trc/table4", collect(folder), PUBLISHED).tables["table5"]
    assert _row(table, "my-encoder", "ess")[0] is None
    assert _row(table, "my-encoder", "ess")[1].mean == 0.5
    assert len(table.rows) == 13


def test_both_ids_of_the_same_encoder_are_one_row(make_run, scores):
    name = "google-bert/bert-base-multilingual-cased"
    folder = make_run(scores=scores, config={"encoder.name": name})
    table = paper_view("trc/table4", collect(folder), PUBLISHED).tables["table5"]
    assert _row(table, "mBERT", "ess")[1].mean == 0.5
    assert len(table.rows) == 12


def test_runs_with_other_settings_are_never_averaged_together(make_run, scores):
    make_run("a", ("optim.lr=1e-4",), scores)
    folder = make_run("b", ("optim.lr=3e-5",), scores)
    table = paper_view("trc/table4", collect(folder.parent), PUBLISHED).tables["table4"]
    ours = [row[0] for row in table.rows if row[3] is not None]
    assert ours == ["AlephBERT optim.lr=3e-05", "AlephBERT optim.lr=0.0001"]


@pytest.mark.parametrize("other", [{"data.synthetic": True}, {"data.name": "matres"}])
def test_runs_on_other_data_never_enter_a_papers_table(make_run, scores, other):
    folder = make_run(scores=scores, config=other)
    table = paper_view("trc/table4", collect(folder), PUBLISHED).tables["table4"]
    assert all(row[3] is None for row in table.rows)
    assert "1 run on other data left out" in table.note


def test_failed_runs_do_not_count_beside_the_paper(make_run):
    folder = make_run(state="failed")
    table = paper_view("trc/table4", collect(folder), PUBLISHED).tables["table4"]
    assert all(row[3] is None for row in table.rows)


def test_figure_1_is_a_curve_over_shares_and_says_what_the_paper_does_not(make_run, scores):
    for share in (0.15, 1.0):
        for seed in range(3):
            words = (f"data.sample.fraction={share}", f"seed={seed}", f"data.sample.seed={seed}")
            folder = make_run(f"{share}-{seed}", words, {**scores, "macro_f1": share / 2})
    view = paper_view("trc/figure1", collect(folder.parent), PUBLISHED)
    relaxed, strict = view.curves
    assert [(share, mean.mean, mean.n) for share, mean in strict.points] == [
        (0.15, 0.075, 3),
        (1.0, 0.5, 3),
    ]
    assert relaxed.label == "relaxed_macro_f1"
    assert "its means are in no text" in view.note
    table = view.tables["figure1"]
    assert [row[0] for row in table.rows] == ["15%", "25%", "50%", "75%", "100%"]
    assert table.rows[0][1] == Formatted(0.02, ".2f")


def test_an_unknown_view_names_the_nearest_one():
    with pytest.raises(ConfigError, match=r"no view 'tabel4'.*Did you mean 'table4'"):
        paper_view("trc/tabel4", [], PUBLISHED)


def test_recomputed_differences_in_csv_are_numbers(make_run, scores, tmp_path):
    from heron.reporting.cells import to_csv

    table = paper_view("trc/table4", collect(make_run(scores=scores)), PUBLISHED).tables["table4"]
    header, *rows = csv.reader(to_csv(table).splitlines())
    (ours,) = [row for row in rows if row[3]]
    assert float(ours[header.index("Δ")]) == pytest.approx(0.7 - 0.67)
