"""`heron analyze` from the command line: what it prints, what it writes, what it refuses."""

import json

import pytest

from heron.base.files import read_json
from heron.base.tables import write_table
from heron.cli import main
from heron_tools.reproduction.targets import Estimate, Filled

PNG = b"\x89PNG"


@pytest.fixture(autouse=True)
def fast_figures(monkeypatch):
    """Replace the figure, which takes most of the time; it has a test of its own."""
    monkeypatch.setattr("heron_tools.analysis.figures.slices_figure", lambda *inputs: PNG)


def analyze(*words):
    """Run the command; returns its exit code."""
    return main(["analyze", *map(str, words)])


def rows_of(run, by, title):
    (table,) = [
        table
        for table in read_json(run / "analysis" / f"test-{by}.json")["tables"]
        if table["title"] == title
    ]
    return table["rows"]


def test_every_analysis_that_a_run_allows_leaves_a_table_and_a_figure(make_run, capsys):
    run = make_run()
    assert analyze(f"run={run}") == 0
    files = sorted(path.name for path in (run / "analysis").iterdir())
    names = ("length", "overlap", "ttr")
    assert files == sorted(f"test-{by}.{kind}" for by in names for kind in ("json", "png"))
    assert (run / "analysis" / "test-ttr.png").read_bytes() == PNG
    shown = capsys.readouterr().out
    assert "Accuracy by overlap" in shown
    assert "whole document (or premise)" in shown


def test_slices_count_every_labelled_row_and_its_accuracy(make_run):
    run = make_run()
    assert analyze(f"run={run}", "by=length", "bins=3") == 0
    rows = rows_of(run, "length", "Accuracy by words")
    assert sum(row["rows"] for row in rows) == 60
    hits = sum(row["rows"] * row["accuracy"]["value"] for row in rows)
    assert hits == pytest.approx(48)


def test_what_does_not_apply_is_named_and_all_else_is_shown(make_run, capsys):
    run = make_run()
    assert analyze(f"run={run}", "by=colour,length") == 0
    said = capsys.readouterr()
    assert "Accuracy by words" in said.out
    assert said.err.count("by=colour") == 1
    assert analyze(f"run={run}", "by=colour") == 2


def test_reasoning_types_come_from_a_side_column(make_run):
    run = make_run(side=("reasoning",))
    assert analyze(f"run={run}", "by=reasoning") == 0
    rows = rows_of(run, "reasoning", "Accuracy by reasoning")
    assert [(row["slice"], row["rows"]) for row in rows] == [
        ("temporal", 40),
        ("logical", 20),
        ("(none)", 20),
    ]


def test_reasoning_types_come_from_a_file(make_run, tmp_path):
    run = make_run()
    write_table(
        tmp_path / "types.csv", {"guid": ["p0", "p1"], "types": ["logical|causal", "causal"]}
    )
    assert analyze(f"run={run}", "by=reasoning", f"types={tmp_path / 'types.csv'}") == 0
    rows = rows_of(run, "reasoning", "Accuracy by reasoning")
    assert [(row["slice"], row["rows"]) for row in rows] == [
        ("causal", 2),
        ("logical", 1),
        ("(none)", 58),
    ]


def test_any_column_of_the_data_can_be_sliced_by_even_if_training_did_not_read_it(make_run):
    run = make_run()
    assert analyze(f"run={run}", "by=genre", "data.columns.side=[genre]") == 0
    assert {row["slice"] for row in rows_of(run, "genre", "Accuracy by genre")} == {
        "fiction",
        "travel",
    }


def test_a_ratio_travels_with_its_lemmatizer_and_is_never_without_length(make_run):
    run = make_run()
    assert analyze(f"run={run}", "by=ttr", "morphology=surface") == 0
    stored = read_json(run / "analysis" / "test-ttr.json")
    assert stored["morphology"] == "surface"
    assert stored["ttr"] == "type-token ratio of lemmas"
    assert all("Lemmas by surface." in table["note"] for table in stored["tables"])
    measures = rows_of(run, "ttr", "Diversity and correctness: Spearman's rank correlation")
    assert measures[0]["measure"] == "type-token ratio of lemmas"
    assert measures[0]["with length"]["value"] < -0.5
    assert set(measures[0]["with correctness, given length"]) == {"value", "low", "high"}


def test_overlap_is_shown_for_each_gold_class(make_run):
    run = make_run()
    assert analyze(f"run={run}", "by=overlap", "bins=2") == 0
    rows = rows_of(run, "overlap", "Accuracy by gold class and overlap")
    assert [(row["gold class"], row["rows"]) for row in rows] == [
        ("contradiction", 20),
        ("entailment", 20),
        ("neutral", 20),
    ]
    assert all(0 <= row["overlap"] <= 1 for row in rows)


def test_a_split_that_was_carved_is_found_in_the_file_that_it_came_from(make_run):
    run = make_run()
    carved = {"guid": ["p3", "p1"], "gold": ["contradiction", None], "prediction": ["neutral"] * 2}
    write_table(run / "predictions" / "validation.parquet", carved)
    (run.parent / "data" / "test.jsonl").unlink()
    assert analyze(f"run={run}", "split=validation", "by=length") == 0
    stored = read_json(run / "analysis" / "validation-length.json")
    assert (stored["rows"], stored["unlabelled"]) == (1, 1)


FURTHER = """\
name: further
language: ro
task: nli
format: pair_table
label_order: [contradiction, entailment, neutral]
columns: {text: premise, text_pair: hypothesis}
files: {test: {path: further.jsonl}}
"""


def test_a_further_data_set_is_read_by_its_own_configuration(make_run, tmp_path, monkeypatch):
    run = make_run()
    rows = {"guid": ["x", "y"], "premise": ["un om vine", "ei pleacă"]}
    rows |= {"hypothesis": ["vine", "nu vin"], "label": ["entailment", "neutral"]}
    write_table(tmp_path / "data" / "further.jsonl", rows)
    (tmp_path / "further.yaml").write_text(FURTHER)
    sets = {"further": tmp_path / "further.yaml"}
    monkeypatch.setattr("heron.base.folders.data_sets", lambda: sets)
    answers = {"guid": ["y", "x"], "gold": ["neutral", "entailment"], "prediction": ["neutral"] * 2}
    write_table(run / "predictions" / "further.test.parquet", answers)
    assert analyze(f"run={run}", "split=further.test", "by=length") == 0
    assert read_json(run / "analysis" / "further.test-length.json")["rows"] == 2


def test_moved_data_is_found_where_paths_data_says(make_run, tmp_path):
    run = make_run()
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    assert analyze(f"run={run}", "by=length") == 2
    assert analyze(f"run={run}", "by=length", f"paths.data={tmp_path / 'elsewhere'}") == 0


def test_predictions_of_other_data_are_named_by_guid(make_run, capsys):
    run = make_run()
    other = {"guid": ["p1", "q7"], "gold": ["neutral"] * 2, "prediction": ["neutral"] * 2}
    write_table(run / "predictions" / "test.parquet", other)
    assert analyze(f"run={run}", "by=length") == 2
    assert "q7: predicted, but not in pairs" in capsys.readouterr().err


def test_a_data_set_is_described_by_split_and_class(tmp_path, capsys):
    words = ["data=chronicle", "data.generator.size=100", f"paths.cache={tmp_path}"]
    assert analyze(*words, "morphology=surface", "split=test", f"out={tmp_path / 'out'}") == 0
    stored = json.loads((tmp_path / "out" / "statistics.json").read_text())
    assert stored["morphology"] == "surface"
    assert set(stored["splits"]) == {"train", "validation", "test"}
    assert sum(split["overall"]["rows"] for split in stored["splits"].values()) == 100
    assert "| class | rows | share | words | TTR of lemmas | MATTR 20 |" in (
        tmp_path / "out" / "statistics.md"
    ).read_text(encoding="utf-8")
    said = capsys.readouterr()
    assert "BEFORE" in said.out
    assert "split: no effect here" in said.err


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_data_set_of_a_paper_stands_beside_what_the_paper_printed(tmp_path, monkeypatch, capsys):
    def statistics(request):
        return Filled({"sizes": {("train", "rows"): Estimate(8), ("test", "rows"): Estimate(5)}})

    paper = tmp_path / "published.yaml"
    paper.write_text(
        "data: [chronicle_nli]\n"
        "tables: {sizes: {title: Sizes, columns: [rows], rows: {train: [8], test: [6]}}}"
    )
    for module in ("heron.results", "heron_tools.reproduction.results"):
        monkeypatch.setattr(f"{module}.STATISTICS", {"chronicle_nli": statistics})
    monkeypatch.setattr("heron_tools.reproduction.results.all_published", lambda: [paper])
    words = ["data=chronicle_nli", f"out={tmp_path / 'out'}", f"paths.cache={tmp_path / 'cache'}"]
    assert analyze(*words) == 0
    shown = capsys.readouterr().out
    assert "premise words" in shown
    rows = [line.split()[:4] for line in shown.splitlines()]
    assert ["train", "rows", "8", "8"] in rows
    assert ["test", "rows", "6", "5"] in rows
    assert "| differs |" in (tmp_path / "out" / "published.md").read_text("utf-8")
    # Other settings than the paper's are not compared with it.
    assert analyze(*words, "data.duplicates=drop") == 0
    assert "differs" not in capsys.readouterr().out
