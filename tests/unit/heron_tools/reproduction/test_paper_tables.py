import json
from pathlib import Path

import pytest

from heron.base.cells import Formatted, show
from heron.base.files import read_yaml
from heron.reports.run import score_table
from heron.reports.sweep import group_table
from heron.results.collect import collect
from heron.tasks import FORK_ANALYSES
from heron_tools.reproduction.paper_tables import paper_view
from heron_tools.reproduction.published import find_published

ROOT = Path(__file__).resolve().parents[4]
PUBLISHED = ROOT / "experiments/trc/published.yaml"
RONLI = ROOT / "experiments/ronli/published.yaml"
LCHAIM = ROOT / "experiments/lchaim/published.yaml"
ROBERT = "dumitrescustefan/bert-base-romanian-cased-v1"


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
    assert find_published("trc/table4") == PUBLISHED
    assert find_published("nobody/table1") is None


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


@pytest.mark.parametrize(
    ("name", "row", "rows"),
    [
        ("../models/my-encoder/", "my-encoder", 13),
        ("google-bert/bert-base-multilingual-cased", "mBERT", 12),
    ],
)
def test_an_encoder_is_a_row_of_the_papers_or_one_of_its_own(make_run, scores, name, row, rows):
    folder = make_run(scores=scores, config={"encoder.name": name})
    table = paper_view("trc/table4", collect(folder), PUBLISHED).tables["table5"]
    found = _row(table, row, "ess")
    assert (found[1].mean, len(table.rows)) == (0.5, rows)
    assert (found[0] is None) == (rows == 13)


@pytest.mark.parametrize("other", [{"data.synthetic": True}, {"data.name": "matres"}])
def test_runs_on_other_data_never_enter_a_papers_table(make_run, scores, other):
    folder = make_run(scores=scores, config=other)
    table = paper_view("trc/table4", collect(folder), PUBLISHED).tables["table4"]
    assert all(row[3] is None for row in table.rows)
    assert "1 run on other data left out" in table.note


def test_figure_1_is_a_curve_over_shares_and_says_what_the_paper_does_not(make_run, scores):
    for share in (0.15, 1.0):
        for seed in range(3):
            words = (f"data.sample.fraction={share}", f"seed={seed}", f"data.sample.seed={seed}")
            folder = make_run(f"{share}-{seed}", words, {**scores, "macro_f1": share / 2})
    view = paper_view("trc/figure1", collect(folder.parent), PUBLISHED)
    (relaxed, _), (_, strict) = view.curves.items()
    assert [(share, mean.mean, mean.n) for share, mean in strict.items()] == [
        (0.15, 0.075, 3),
        (1.0, 0.5, 3),
    ]
    assert relaxed == "relaxed_macro_f1"
    table = view.tables["figure1"]
    assert "its means are in no text" in table.note
    assert [row[0] for row in table.rows] == ["15%", "25%", "50%", "75%", "100%"]
    assert table.rows[0][1] == Formatted(0.02, ".2f")


@pytest.fixture
def make_system(make_run):
    """Return a function that writes a run of RoNLI's or LCHAIM's experiments."""

    def make(job, config, scores, splits=None):
        config = {"report": None, "encoder.name": ROBERT, **config}
        folder = make_run(job, (f"run.job={job}",), scores, config)
        if splits:
            (folder / "scores.json").write_text(json.dumps(splits))
        return folder.parent

    return make


def test_a_ronli_system_is_found_by_its_experiment(make_system):
    config = {"data.name": "ronli", "experiment": "ronli/siamese_oversampled"}
    ours = {"micro_f1": 0.74, "macro_f1": 0.5, "recall/contrastive": 0.6}
    folder = make_system("a", config, ours)
    tables = paper_view("ronli/table4", collect(folder), RONLI).tables
    assert [len(table.rows) for table in tables.values()] == [18 * 4, 19]
    micro = _row(tables["table5"], "Ro-BERT, oversampled")
    assert (micro[0].value, micro[1].mean) == (0.73, 0.74)
    assert micro[3].value == pytest.approx(0.01)
    recall = _row(tables["table4"], "Ro-BERT, oversampled", "contrastive")[4:7]
    assert (recall[0].value, recall[1].mean) == (0.80, 0.6)


def test_the_best_run_on_validation_stands_beside_the_mean_as_in_ronlis_tables(make_system):
    """Section 5: of five runs the best on validation is evaluated on test."""
    for seed, (validation, test) in enumerate([(0.4, 0.9), (0.7, 0.5), (0.6, 0.8)]):
        splits = {
            split: {"micro_f1": score, "macro_f1": score, "recall/neutral": score / 2}
            for split, score in (("validation", validation), ("test", test))
        }
        config = {"data.name": "ronli", "experiment": "ronli/siamese", "seed": seed}
        folder = make_system(f"seed={seed}", config, {}, splits)
        (folder / f"seed={seed}" / "status.json").write_text(
            json.dumps({"state": "done", "overrides": [f"seed={seed}"]})
        )
    tables = paper_view("ronli/table4", collect(folder), RONLI).tables
    assert list(tables["table5"].columns[1:5]) == ["micro F1, paper", "heron", "best run", "Δ"]
    _, mean, best, change = _row(tables["table5"], "Ro-BERT")[:4]
    assert (mean.n, best) == (3, 0.5)
    assert mean.mean == pytest.approx(2.2 / 3)
    assert change.value == pytest.approx(mean.mean - 0.72)
    assert _row(tables["table4"], "Ro-BERT", "neutral")[6] == 0.25
    assert (
        "best run: the score of the run with the best macro_f1 on validation"
        in tables["table5"].note
    )


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ("train", "trained on the train split, not fastText's published cc.ro.300"),
        ("/data/cc.en.300.bin", "cc.en.300.bin, not fastText's published cc.ro.300"),
        ("/data/cc.ro.300.vec.gz", None),
    ],
)
def test_a_cbow_row_says_when_its_vectors_are_not_the_papers(make_system, vectors, said):
    config = {"data.name": "ronli", "data.language": "ro", "experiment": "ronli/cbow_svm"}
    config |= {"baseline.name": "cbow_svm", "baseline.vectors": vectors}
    runs = collect(make_system("a", config, {"micro_f1": 0.6, "macro_f1": 0.4}))
    table = paper_view("ronli/table4", runs, RONLI).tables["table5"]
    (row,) = [row for row in table.rows if row[2] is not None]
    assert row[0] == "CBOW + SVM"
    assert show(row[4]).endswith(" †") == bool(said)
    for note in (table.note, group_table(runs).note, score_table(runs[0]).note):
        assert (said in note) if said else ("word vectors" not in note)


@pytest.mark.parametrize(
    ("stages", "freeze", "row"),
    [
        (["hebnli", "lchaim"], "none", "HebNLI, then LCHAIM"),
        ([{"data": "lchaim", "lr": 1e-4}, "hebnli"], "none", "LCHAIM, then HebNLI"),
        (["hebnli", {"data": "lchaim", "freeze": "all"}], "none", "HebNLI"),
        ([], "none", "LCHAIM"),
        ([], "all", "nothing"),
    ],
)
def test_a_lchaim_system_is_found_by_its_encoder_and_what_trained_it(
    make_system, stages, freeze, row
):
    encoder = {"encoder.name": "HeNLP/LongHeRo", "encoder.freeze": freeze}
    config = {"data.name": "lchaim", "stages": stages, **encoder}
    splits = {"test": {"accuracy": 0.5}, "lchaim.test": {"accuracy": 0.5}}
    folder = make_system("a", config, {}, splits)
    table = paper_view("lchaim/table2", collect(folder), LCHAIM).tables["table2"]
    assert [r[:2] for r in table.rows if r[3] is not None] == [("LongHero", row)]


def test_a_table_about_one_test_set_never_shows_the_score_of_another(make_system):
    config = {"encoder.name": "onlplab/alephbert-base", "data.name": "lchaim", "stages": ["hebnli"]}
    splits = {"test": {"accuracy": 0.9}, "lchaim.test": {"accuracy": 0.3}}
    folder = make_system("a", config, {}, splits)
    runs = collect(folder)
    of_lchaim = paper_view("lchaim/table2", runs, LCHAIM).tables["table2"]
    of_hebnli = paper_view("lchaim/table4", runs, LCHAIM).tables["table4"]
    assert _row(of_lchaim, "AlephBERT", "HebNLI")[1].mean == 0.3
    assert _row(of_hebnli, "AlephBERT", "HebNLI")[1].mean == 0.9
    (folder / "a" / "scores.json").write_text(json.dumps({"test": {"accuracy": 0.9}}))
    of_lchaim = paper_view("lchaim/table2", collect(folder), LCHAIM).tables["table2"]
    assert _row(of_lchaim, "AlephBERT", "HebNLI")[1] is None


def test_a_corrected_number_is_compared_and_the_printed_one_named():
    table = paper_view("lchaim/table2", [], LCHAIM).tables["table2_classes"]
    assert _row(table, "AlephBERT", "LCHAIM", "neutral")[3].value == 0.0127
    assert "AlephBERT LCHAIM neutral R 0.0127 (printed 0.01)" in table.note
    doubtful = paper_view("ronli/table5", [], RONLI).tables["table5"]
    assert _row(doubtful, "RoGPT2")[4].value == 0.30
    assert "In conflict with the paper's other numbers: RoGPT2 macro F1;" in doubtful.note


CURRICULA = {
    "e2l": "Ro-BERT + E2L",
    "a": "Ro-BERT + A",
    "h2l": "Ro-BERT + H2L",
    "e2l_a": "Ro-BERT + E2L + A",
    "length_cl": "Ro-BERT + Length-CL",
    "sts_cl": "Ro-BERT + STS-CL",
    "cart_cl": "Ro-BERT + Cart-CL",
    "cart_clpp": "Ro-BERT + Cart-CL++",
    "cart_stra": "Ro-BERT + Cart-Stra-CL++",
}


@pytest.fixture
def table4_runs(make_run):
    """Two seeds of every curriculum of RoNLI's table 4, and the runs that they learnt from."""
    config = {"data.name": "ronli", "report": "ronli/table4", "batching.oversample": "multipliers"}
    config["encoder.name"] = ROBERT
    for seed in range(2):
        for number, name in enumerate(CURRICULA):
            f1 = 0.3 + number / 100 + seed / 1000
            options = yaml_of("curriculum", "cart_stra_clpp" if name == "cart_stra" else name)
            make_run(
                f"{name}-{seed}",
                (f"experiment=ronli/{name}", f"seed={seed}"),
                {"macro_f1": f1, "micro_f1": 0.7, "f1/contrastive": f1 / 2},
                {**config, "curriculum": options},
                epochs=1,
            )
        words = ("curriculum=none", "batching.oversample=none", f"seed={seed}")
        first = {"data.name": "ronli", "report": "ronli/table4", "experiment": None}
        folder = make_run(f"first-{seed}", words, {"macro_f1": 0.99}, first, epochs=1)
    return collect(folder.parent)


def yaml_of(group, name):
    """Read an option of conf/."""
    return read_yaml(ROOT / "conf" / group / f"{name}.yaml")


def test_ronlis_curricula_stand_beside_the_papers_under_its_names(table4_runs):
    tables = paper_view("ronli/table4", table4_runs, RONLI).tables
    overall, classes = tables["table5"], tables["table4"]
    for number, row in enumerate(CURRICULA.values()):
        printed, ours, best, change = _row(overall, row)[4:]
        assert best is None  # none of these has a score on validation
        assert printed.value > 0.1
        assert (ours.mean, ours.n) == (pytest.approx(0.3005 + number / 100), 2)
        assert change.value == pytest.approx(ours.mean - printed.value)
        assert _row(classes, row, "contrastive")[9].mean == pytest.approx(ours.mean / 2)
    # Every row is one that the paper has: none is added for runs that curricula learnt from.
    assert [row[0] for row in overall.rows if row[2] is not None] == list(CURRICULA.values())
    assert len(overall.rows) == 19


def test_the_groups_of_a_data_map_are_as_large_as_ronli_printed():
    published_groups = FORK_ANALYSES["published_groups"]
    title, groups = published_groups("ronli")
    assert title.startswith("Table 3")
    sizes = {name: sum(counts.values()) for name, counts in groups.items()}
    assert sizes == {"easy": 19_289, "ambiguous": 19_290, "hard": int(0.3319 * 58_114) + 1}
    assert groups["easy"]["neutral"] == 17_082
    assert published_groups("trc") is None
    assert published_groups("nobody") is None


def test_each_encoder_has_a_curve_of_its_own(make_run, scores):
    for encoder, score in (("avichr/heBERT", 0.4), ("onlplab/alephbert-base", 0.7)):
        words = (f"encoder.name={encoder}", "data.sample.fraction=0.5")
        folder = make_run(encoder.partition("/")[0], words, {**scores, "macro_f1": score})
    curves = paper_view("trc/figure1", collect(folder.parent), PUBLISHED).curves
    found = {label: points[0.5].mean for label, points in curves.items() if "relaxed" not in label}
    assert found == {"macro_f1 encoder=AlephBERT": 0.7, "macro_f1 encoder=HeBERT": 0.4}
