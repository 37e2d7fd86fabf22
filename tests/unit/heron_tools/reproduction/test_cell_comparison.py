"""Published numbers beside reproduced ones: matching, tests, marks, files."""

import json
import math
from pathlib import Path

import pytest
from scipy import stats

from heron.base.cells import Table, show
from heron.base.files import read_yaml
from heron.results.collect import collect
from heron_tools.reproduction.cell_comparison import (
    against_published,
    compare_runs,
    compare_values,
    comparison_table,
)
from heron_tools.reproduction.latex import to_latex
from heron_tools.reproduction.results import of_runs, write_paper_report, write_reproduction
from heron_tools.reproduction.targets import Estimate, read_targets

ROOT = Path(__file__).resolve().parents[4]
TRC = read_yaml(ROOT / "experiments/trc/published.yaml")
TABLE4 = TRC["tables"]["table4"]
GIMMEL = "imvladikon/alephbertgimmel-base-512"


@pytest.fixture
def sweep(make_run):
    """A function that writes runs of a head, one per score, and reads them."""

    def make(encoder, scores, data="trc", more=()):
        for seed, score in enumerate(scores):
            found = {"relaxed_macro_f1": score, "relaxed_weighted_f1": score + 0.1}
            found |= {"relaxed_macro_f1_low": score - 0.1, "relaxed_macro_f1_high": score + 0.1}
            settings = {"encoder.name": encoder, "head.name": "ess", "data.name": data}
            folder = make_run(f"{seed}", (f"seed={seed}", *more), found, settings)
        return collect(folder.parent)

    return make


def _of(rows, *names):
    (row,) = [row for row in rows if row.names[: len(names)] == names]
    return row


def test_three_seeds_have_a_t_interval_and_a_t_test(sweep):
    rows, headings = compare_runs(TRC, TABLE4, sweep(GIMMEL, [0.60, 0.62, 0.64]))
    assert headings == ["encoder", "head", "score"]
    row = _of(rows, "AlephBERTGimmel", "ess", "macro F1")
    half = stats.t.ppf(0.975, 2) * 0.02 / math.sqrt(3)
    assert row.published == 0.65
    assert (row.estimate.value, row.estimate.sd) == pytest.approx((0.62, 0.02))
    assert (row.estimate.low, row.estimate.high) == pytest.approx((0.62 - half, 0.62 + half))
    assert row.estimate.mark == ""
    p = stats.ttest_1samp([0.60, 0.62, 0.64], 0.65).pvalue
    assert against_published(0.65, row.estimate, 2) == f"inside, p = {p:.3f}".replace("0.", ".")


def test_one_run_has_its_stored_interval(sweep):
    rows, _ = compare_runs(TRC, TABLE4, sweep(GIMMEL, [0.50]))
    row = _of(rows, "AlephBERTGimmel", "ess", "macro F1")
    assert (row.estimate.low, row.estimate.high) == pytest.approx((0.4, 0.6))
    assert against_published(0.65, row.estimate, 2).startswith("outside, p = .00")
    assert _of(rows, "AlephBERTGimmel", "ess", "weighted F1").estimate.low is None


def test_a_substituted_encoder_stands_beside_every_encoder_of_its_head_marked(sweep):
    rows, headings = compare_runs(TRC, TABLE4, sweep("models/other", [0.50]))
    beside = [row for row in rows if row.estimate]
    assert [row.names[0] for row in beside if row.names[2] == "macro F1"] == [
        "AlephBERTGimmel", "HeBERT", "mBERT", "AlephBERT",
    ]  # fmt: skip
    assert {row.estimate.mark for row in beside} == {"other in place of the paper's encoder"}
    table = comparison_table("t", headings, rows, 2, "")
    cells = next(row for row in table.rows if row[:3] == ("mBERT", "ess", "macro F1"))
    assert all(str(cell).endswith("†") for cell in cells[4:])
    assert "† other in place of the paper's encoder." in table.note


def test_a_substituted_system_does_not_stand_beside_the_references(make_run):
    hesum = read_yaml(ROOT / "experiments/hesum/published.yaml")
    settings = {"data.name": "hesum", "encoder.name": "models/other"}
    folder = make_run("0", (), {"novel_1": 0.1}, settings)
    rows, _ = compare_runs(hesum, hesum["tables"]["table7"], collect(folder.parent))
    beside = [row.names[0] for row in rows if row.estimate]
    assert beside == ["GPT-4", "GPT-3.5", "mLongT5 large", "mLongT5 base"]


def test_a_substituted_data_set_and_changed_settings_are_marked(sweep):
    more = ("data.sample.fraction=0.1", "trainer.max_steps=3", "head=ess")
    runs = sweep(GIMMEL, [0.50], "chronicle", more)
    rows, _ = compare_runs(TRC, TABLE4, runs)
    mark = _of(rows, "AlephBERTGimmel", "ess", "macro F1").estimate.mark
    assert mark == "data set chronicle; data.sample.fraction=0.1, trainer.max_steps=3"


@pytest.mark.parametrize(
    ("encoder", "words", "mark"),
    [
        ("models/bert-base-cased", (), ""),
        ("google/x", ("optim.lr=1",), "encoder x; optim.lr=1"),  # no column shows the encoder
    ],
)
def test_what_the_paper_s_own_sweep_sets_is_not_marked(make_run, encoder, words, mark):
    ronli = read_yaml(ROOT / "experiments/ronli/published.yaml")
    settings = {"data.name": "scinli", "curriculum.name": "length_cl", "encoder.name": encoder}
    settings["experiment"] = "ronli/table6"
    folder = make_run("0", ("curriculum=length_cl", *words), {"micro_f1": 0.7}, settings)
    rows, _ = compare_runs(ronli, ronli["tables"]["table6"], collect(folder.parent))
    (row,) = [row for row in rows if row.estimate]
    assert row.names == ("Length-CL", "micro F1")
    assert row.estimate.mark == mark


@pytest.mark.parametrize(
    ("model", "mark"), [("gpt-3.5-turbo-16k-0613", ""), ("models/tiny", "model tiny")]
)
def test_a_substituted_model_is_marked_where_no_column_shows_it(make_run, model, mark):
    hesum = read_yaml(ROOT / "experiments/hesum/published.yaml")
    settings = {"data.name": "hesum", "prompting.model.name": model, "experiment": "hesum/table8"}
    settings |= {"baseline.name": "prompted", "prompting.prompt.name": "hesum"}
    settings |= {"prompting.translation.input": "en", "prompting.translation.output": "en"}
    folder = make_run("0", (), {}, settings)
    scores = {"validation": {"rouge1": 0.1}}
    (folder / "scores.json").write_text(json.dumps(scores))
    rows, _ = compare_runs(hesum, hesum["tables"]["table8"], collect(folder.parent))
    (row,) = [row for row in rows if row.estimate]
    assert (row.names, row.estimate.mark) == (("E", "E", "E", "ROUGE-1"), mark)


def test_a_trained_run_stands_in_the_row_without_an_instruction_of_a_table_of_prompts(make_run):
    hesum = read_yaml(ROOT / "experiments/hesum/published.yaml")
    folder = make_run("0", (), {}, {"data.name": "hesum", "encoder.name": "mlong"})
    (folder / "scores.json").write_text(json.dumps({"validation": {"rouge1": 0.1862}}))
    rows, _ = compare_runs(hesum, hesum["tables"]["table8"], collect(folder.parent))
    (row,) = [row for row in rows if row.estimate]
    assert row.names == ("none (mLongT5)", "H", "H", "ROUGE-1")
    assert row.published == row.estimate.value, "validation's, not the printed score of test"


def test_other_word_vectors_are_marked_and_a_published_best_run_is_told_from_the_mean(make_run):
    settings = {"data.name": "ronli", "experiment": "cbow_svm"}
    settings |= {"baseline.name": "cbow_svm", "baseline.vectors": "train", "report": "ronli/table5"}
    runs = [make_run(f"{n}", (f"seed={n}",), {"macro_f1": 0.4}, settings) for n in (0, 1)]
    (table,) = of_runs(read_targets()["ronli:T5"], collect(runs[0].parent)).tables
    assert "† word vectors: trained on the train split" in table.note
    assert "Reproduced: the mean of all runs" in table.note


@pytest.mark.parametrize(
    ("encoder", "words", "mark"),
    [
        ("models/other", ("trainer.max_epochs=1",), "encoder other; trainer.max_epochs=1"),
        (GIMMEL, (), ""),  # the paper's settings
    ],
)
def test_a_substitute_is_marked_at_every_point_of_a_figure(make_run, encoder, words, mark):
    for seed in (0, 1):
        drawn = ("data.sample.fraction=0.5", f"data.sample.seed={seed}")
        settings = {"data.name": "trc", "encoder.name": encoder, "experiment": "trc/figure1"}
        settings["data.sample.fraction"] = 0.5
        folder = make_run(f"{seed}", (*drawn, *words), {"macro_f1": 0.4 + seed / 10}, settings)
    (table,) = of_runs(read_targets()["trc:F1"], collect(folder.parent)).tables
    assert show(table.rows[2][2]) == "0.450 ± 0.071 (2)" + " †" * bool(mark)
    assert table.rows[0][2:] == (None,)
    assert table.note.endswith(f"† {mark}.") == bool(mark)


def test_a_substitute_for_the_data_set_that_a_table_tests_on_is_shown_marked(make_run):
    lchaim = read_yaml(ROOT / "experiments/lchaim/published.yaml")
    settings = {
        "data.name": "control_dev",
        "baseline.name": "prompted",
        "prompting.model.name": "models/tiny",
        "prompting.pool": "hebnli_dev",
        "prompting.shots": 2,
    }
    folder = make_run("0", (), {"accuracy": 0.4}, settings)
    rows, _ = compare_runs(lchaim, lchaim["tables"]["table3"], collect(folder.parent))
    beside = [row for row in rows if row.estimate]
    assert len(beside) == 6, "three models, two pools, two examples"
    assert {row.names[2] for row in beside} == {"2"}
    (mark,) = {row.estimate.mark for row in beside}
    assert mark == (
        "tiny in place of the paper's model; hebnli_dev in place of the paper's examples from; "
        "data set control_dev"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.6151, "equal to the printed digits"), (0.6149, "differs"), (0.6251, "differs")],
)
def test_numbers_without_an_interval_are_compared_by_their_printed_digits(value, said):
    assert against_published(0.62, Estimate(value), 2) == said


def test_values_are_matched_by_row_and_column_and_others_added():
    table = {"columns": ["a", "b"], "rows": {"x": [1, {"printed": 2, "corrected": 3}]}}
    rows, depth = compare_values(table, {("x", "b"): Estimate(3), ("y", "a"): Estimate(5)})
    assert depth == 1
    assert [(row.names, row.published, row.printed) for row in rows] == [
        (("x", "a"), 1, ""),
        (("x", "b"), 3, "printed 2"),
        (("y", "a"), None, ""),
    ]
    assert [row.estimate and row.estimate.value for row in rows] == [None, 3, 5]


@pytest.mark.parametrize(
    ("counts", "mark", "has_difference"),
    [
        ((20, 50), "data set x", False),  # of another size: the difference says nothing
        ((61, 39), "encoder x", True),  # the same rows, in other groups
        ((20, 50), "", True),
    ],
)
def test_a_count_of_a_substitute_of_another_size_has_no_difference(counts, mark, has_difference):
    table = {"columns": ["n"], "rows": {"easy": [60], "hard": [40], "share": [0.5]}}
    found = dict(zip(("easy", "hard", "share"), (*counts, 0.51), strict=True))
    values = {(name, "n"): Estimate(value, mark=mark) for name, value in found.items()}
    shown = comparison_table("t", ["row", "n"], compare_values(table, values)[0], {"n": 0}, "")
    easy, hard, share = ((row[4], row[6]) for row in shown.rows)
    assert all(easy) is all(hard) is has_difference
    assert all(share)
    assert ("70 here, 100 in the paper" in shown.note) is not has_difference


def test_a_number_that_ends_in_zeros_is_compared_by_the_digits_of_its_column():
    table = {"columns": ["words", "pairs"], "rows": {"x": [25.0, 30], "y": [24.5, 31]}}
    rows, _ = compare_values(table, {("x", "words"): Estimate(25.4), ("x", "pairs"): Estimate(30)})
    shown = comparison_table("t", ["row", "number"], rows, None, "").rows
    assert [row[:3] for row in shown] == [
        ("x", "words", "25.0"), ("x", "pairs", "30"), ("y", "words", "24.5"), ("y", "pairs", "31"),
    ]  # fmt: skip
    assert [row[-1] for row in shown] == ["differs", "equal to the printed digits", None, None]


@pytest.mark.parametrize(
    ("paper", "name", "printed"),
    [
        ("lchaim", "table1", {"fluency": "4.127", "fluency, error": "0.0495", "label": "4.890"}),
        ("lchaim", "table1", {"fluency, error": "0.031"}),
        ("hesum", "table3", {"ROUGE-2": "0.0370", "BERTScore": "0.770"}),
    ],
)
def test_a_number_is_shown_with_the_digits_that_its_paper_prints(paper, name, printed):
    table = read_yaml(ROOT / f"experiments/{paper}/published.yaml")["tables"][name]
    rows, _ = compare_values(table, {})
    shown = comparison_table("t", ["row", "score"], rows, table["decimals"], "").rows
    assert {*printed.items()} <= {row[1:3] for row in shown}


def test_latex_escapes_what_latex_would_read_as_commands():
    text = to_latex(Table("50 % of a_b", ("x", "n"), (("a & b", 1), ("שלום", 2)), "$5 ± 1"))
    assert r"\caption{50 \% of a\_b}" in text
    assert r"a \& b & 1 \\" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"\$5 $\pm$ 1" in text
    assert "שלום" in text


@pytest.fixture
def written(sweep, tmp_path):
    target = read_targets()["trc:T4"]
    found = of_runs(target, sweep("models/other", [0.50, 0.52]))
    return target, write_reproduction(found, tmp_path / "out", ["trc:T4", "only=ess"])


def test_markdown_latex_html_and_json_hold_the_same_numbers(written):
    _, paths = written
    texts = {path.suffix: path.read_text("utf-8") for path in paths}
    assert set(texts) == {".md", ".tex", ".json", ".html"}
    rows = json.loads(texts[".json"])["tables"][0]["rows"]
    (cells,) = [row for row in rows if row[:3] == ["mBERT", "ess", "macro F1"]]
    assert cells[3:5] == ["0.61", "0.510 ± 0.014 (2 seeds) †"]
    for cell in cells[3:5]:
        assert cell in texts[".md"]
        assert cell in texts[".html"]
    assert r"0.510 $\pm$ 0.014 (2 seeds) \dag{}" in texts[".tex"]
    assert "heron reproduce trc:T4 only=ess" in texts[".html"]


def test_a_papers_report_lists_what_is_not_reproduced(written, tmp_path):
    targets = [each for each in read_targets().values() if each.paper == "trc"]
    page = write_paper_report("trc", targets, tmp_path / "out", []).read_text("utf-8")
    assert "mBERT" in page
    assert "Not reproduced here" in page
    assert "trc:T3" in page
