"""`heron compare`: stored predictions in, differences and tests out; a wrong file, one message."""

import csv
import json
import shutil
import statistics
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from compared import by_label, run, write_compared
from heron.base.errors import ConfigError, DataError
from heron.base.files import read_json, write_json
from heron.base.tables import write_table
from heron.metrics import METRICS, Metric
from heron.metrics.classification import score_task
from heron.metrics.significance import holm, mann_whitney
from heron.results.comparison import pair_runs
from heron.results.systems import System, match_systems

LABELS = ["BEFORE", "AFTER", "VAGUE"]
N = 120
GUIDS = [f"d{row // 4}.{row}" for row in range(N)]
GOLD = np.random.default_rng(0).choice(LABELS, N, p=[0.5, 0.3, 0.2])
HEADS = {"cls": 0.3, "emp": 0.31, "ess": 0.8}  # how many rows each has right besides luck


def number(head, seed):
    """Give each run random numbers of its own."""
    return 10 * seed + list(HEADS).index(head)


def predict(right, seed):
    """Predict a share of the rows right, the others at random."""
    random = np.random.default_rng(seed)
    return np.where(random.random(N) < right, GOLD, random.choice(LABELS, N))


@pytest.fixture
def make_run(tmp_path, monkeypatch):
    """Return a function that writes one run of `runs/sweep`; the tests run beside `runs`."""
    monkeypatch.chdir(tmp_path)

    def make(head, seed, right, state="done", validation=0.5, rows=N, sweep="sweep", **task):
        config = {"data": {"label_order": LABELS}, "trainer": {"monitor": "macro_f1"}}
        config["task"] = {"name": "relation", "relaxed": "recode", "resample": "row", **task}
        predicted = predictions(predict(right, number(head, seed)), rows)
        columns = predicted if state == "done" else None
        files = {"scores": {"validation": {"macro_f1": validation}}, "state": state}
        return write_compared(tmp_path, f"head={head}", seed, config, columns, sweep=sweep, **files)

    return make


def predictions(predicted, rows=N, **more):
    return {
        "guid": GUIDS[:rows],
        "gold": GOLD[:rows].tolist(),
        "prediction": list(predicted)[:rows],
        **more,
    }


def write_predictions(path, predicted, rows=N, **more):
    write_table(path, predictions(predicted, rows, **more))


@pytest.fixture
def sweep(make_run):
    """A sweep of three heads, three seeds each; `ess` is far better than `cls`."""
    for head, right in HEADS.items():
        for seed in range(3):
            make_run(head, seed, right, validation=[0.5, 0.7, 0.6][seed])
    return "runs/sweep"


def score(head, seed, right, metric="macro_f1"):
    predicted = predict(right, number(head, seed))
    return score_task("relation", GOLD, predicted, LABELS)[metric]


def test_a_sweep_is_compared_setting_by_setting(sweep, capsys):
    written = run(sweep, "against=head=cls")
    systems = by_label(written)
    assert list(systems) == ["head=cls", "head=emp", "head=ess"]
    scores = {
        head: [score(head, seed, right) for seed in range(3)] for head, right in HEADS.items()
    }
    ess = systems["head=ess"]
    assert ess["scores"] == pytest.approx(scores["ess"])
    assert (ess["mean"], ess["sd"], ess["n"]) == pytest.approx(
        (statistics.fmean(scores["ess"]), statistics.stdev(scores["ess"]), 3)
    )
    difference = ess["against"]["bootstrap"]
    assert difference["difference"] == pytest.approx(ess["mean"] - systems["head=cls"]["mean"])
    assert 0 < difference["low"] < difference["difference"] < difference["high"]
    assert ess["against"]["significant"]
    assert not systems["head=emp"]["against"]["significant"]
    assert systems["head=cls"]["against"] is None
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert "head=emp is not significantly" in first
    assert f"head=ess is better than head=cls: macro_f1 {difference['difference']:+.3f}" in second


def test_the_best_run_is_chosen_on_validation(sweep):
    written = run(sweep)
    assert {system["best"] for system in written["systems"]} == {1}
    assert {system["validation"] for system in written["systems"]} == {0.7}
    right = [predict(HEADS[head], number(head, 1)) == GOLD for head in ("cls", "ess")]
    found = by_label(written)["head=ess"]["against"]["mcnemar"]
    assert found["only_first"] == int((right[1] & ~right[0]).sum())
    assert written["cochran_q"]["n"] == N
    assert written["cochran_q"]["degrees"] == 2


def test_runs_that_are_equal_on_validation_are_a_tie_of_which_the_first_counts(sweep):
    for folder in Path("runs/sweep").iterdir():
        write_json(folder / "scores.json", {"validation": {"macro_f1": 0.9}})
    written = run(sweep)
    for system in written["systems"]:
        assert (system["best"], system["tied"]) == (0, [1, 2])
        assert any("tie" in note and system["label"] in note for note in written["notes"])


def test_the_best_run_of_a_monitored_loss_is_the_lowest(sweep):
    for folder in Path("runs/sweep").iterdir():
        stored = read_json(folder / "scores.json")["validation"]["macro_f1"]
        write_json(folder / "scores.json", {"validation": {"loss": stored}})
        config = (folder / "config.yaml").read_text()
        (folder / "config.yaml").write_text(config.replace("macro_f1", "loss"))
    systems = run(sweep)["systems"]
    assert {(system["best"], system["validation"]) for system in systems} == {(0, 0.5)}


def test_every_test_says_what_went_in(sweep):
    written = run(sweep)
    systems = by_label(written)
    found = systems["head=ess"]["against"]
    ranks = mann_whitney(systems["head=ess"]["scores"], systems["head=cls"]["scores"])
    assert (found["mann_whitney"]["p"], found["mann_whitney"]["n_first"]) == (ranks.p, 3)
    randomized = [systems[f"head={h}"]["against"]["randomization"]["p"] for h in ("emp", "ess")]
    corrected = [systems[f"head={h}"]["against"]["p_holm"] for h in ("emp", "ess")]
    assert corrected == pytest.approx(holm(randomized))
    assert [pair["seed"] for pair in found["per_seed"]] == ["0", "1", "2"]


def test_the_table_is_written_for_people_and_for_programs(sweep):
    run(sweep)
    markdown = Path("out/compare.md").read_text()
    assert markdown.count("### ") == 3
    rows = list(csv.DictReader(Path("out/compare.csv").read_text().splitlines()))
    assert [row["system"] for row in rows] == ["head=cls", "head=emp", "head=ess"]
    written = by_label(read_json("out/compare.json"))["head=ess"]
    assert float(rows[2]["macro_f1 mean"]) == written["mean"]
    low = written["against"]["bootstrap"]["low"]
    assert float(rows[2]["difference low"]) == low
    assert json.dumps(written)


@pytest.mark.parametrize(
    "words",
    [
        ["runs/sweep/head=cls*", "runs/sweep/head=ess*"],
        ["runs/sweep/head=cls", "runs/sweep/head=ess"],
        [f"runs/sweep/head={h},seed={s}-0000000{s}" for s in (2, 0, 1) for h in ("cls", "ess")],
    ],
)
def test_globs_beginnings_and_single_runs_name_the_same_systems(sweep, words):
    expected = by_label(run(sweep))["head=ess"]
    written = run(*words)
    assert [system["n"] for system in written["systems"]] == [3, 3]
    assert written["systems"][1]["scores"] == expected["scores"]
    assert written["systems"][1]["against"]["bootstrap"] == expected["against"]["bootstrap"]


def test_two_sweeps_of_the_same_settings_stay_apart(make_run):
    for seed in (0, 1):
        make_run("ess", seed, 0.5, sweep="old")
        make_run("ess", seed, 0.5, sweep="new")
    assert [system["label"] for system in run("runs/old", "runs/new")["systems"]] == ["old", "new"]
    one = "head=ess,seed=0-00000000"
    written = run(f"runs/old/{one}", f"runs/new/{one}")
    assert [system["label"] for system in written["systems"]] == [f"old/{one}", f"new/{one}"]


@pytest.mark.parametrize(
    "against", ["head=ess", "head=ess,seed=1-00000001", "runs/sweep/head=ess,seed=1-00000001"]
)
def test_the_baseline_is_named_by_setting_run_or_path(sweep, against):
    assert run(sweep, f"against={against}")["baseline"] == "head=ess"


def test_any_systems_files_are_compared_with_runs(sweep):
    for suffix in (".csv", ".jsonl", ".parquet"):
        write_predictions(f"mine{suffix}", predict(0.9, 99))
    found = [
        by_label(run(sweep, f"mine{suffix}", "against=head=ess"))["mine"]
        for suffix in (".csv", ".jsonl", ".parquet")
    ]
    assert found[0]["scores"] == found[1]["scores"] == found[2]["scores"]
    assert found[0]["against"] == found[2]["against"]
    # A file is one run: it stands beside each seed of the other, and no spread can be tested.
    assert len(found[0]["against"]["per_seed"]) == 3
    assert found[0]["against"]["mann_whitney"] is None


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, right in (("old", 0.5), ("new", 0.9)):
        write_predictions(f"{folder}/test.csv", predict(right, 1))
    written = run("old/test.csv", "new/test.csv", "against=new/test.csv")
    assert list(by_label(written)) == ["old: test", "new: test"]
    assert written["baseline"] == "new: test"
    with pytest.raises(ConfigError, match="against=test fits several systems: old: test; new: "):
        run("old/test.csv", "new/test.csv", "against=test")


def test_systems_on_different_rows_are_refused_or_compared_on_what_they_share(sweep):
    write_predictions("mine.csv", predict(0.9, 99), rows=100)
    with pytest.raises(DataError, match=r"mine.csv: lacks 20 of 120 labelled guids: 'd25.100'"):
        run(sweep, "mine.csv")
    written = run(sweep, "mine.csv", "rows=shared")
    assert written["rows"] == 100
    assert any("20 of 120 rows are left out" in note for note in written["notes"])


def test_rows_without_a_gold_label_are_not_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, right in (("a", 0.5), ("b", 0.9)):
        gold = [None if row < 20 else label for row, label in enumerate(GOLD.tolist())]
        columns = {"guid": GUIDS, "gold": gold, "prediction": predict(right, len(name)).tolist()}
        write_table(f"{name}.parquet", columns)
    written = run("a.parquet", "b.parquet", "metric=micro_f1")  # no run is needed
    assert written["rows"] == 100
    accuracy = (predict(0.9, 1) == GOLD)[20:].mean()
    assert by_label(written)["b"]["mean"] == pytest.approx(accuracy)


def test_unfinished_runs_are_left_out_and_named(sweep, make_run):
    make_run("ess", 3, 0.9, state="failed")
    written = run(sweep)
    assert by_label(written)["head=ess"]["n"] == 3
    assert any("seed=3-00000003 is left out: failed" in note for note in written["notes"])


def test_whole_documents_are_drawn_where_asked(sweep):
    documents = [guid.partition(".")[0] for guid in GUIDS]
    write_table("groups.csv", {"guid": GUIDS, "group": documents})
    write_predictions("mine.parquet", predict(0.9, 99), group=documents)
    by_rows = run(sweep)
    by_documents = run(sweep, "groups=groups.csv")
    assert (by_rows["groups"], by_documents["groups"]) == (None, 30)
    assert by_documents["systems"] != by_rows["systems"]
    # Documents of one row are rows.
    write_table("alone.csv", {"guid": GUIDS, "group": GUIDS})
    assert run(sweep, "groups=alone.csv") == by_rows
    write_table("blank.csv", {"guid": GUIDS, "group": ["a", "a", *[""] * (len(GUIDS) - 2)]})
    assert run(sweep, "groups=blank.csv")["groups"] == len(GUIDS) - 1, "each stands alone"
    write_table("twice.csv", {"guid": [GUIDS[0], *GUIDS], "group": ["a", *GUIDS]})
    with pytest.raises(ConfigError, match=r"twice.csv:3: guid .* is already on line 2"):
        run(sweep, "groups=twice.csv")
    # A column of the predictions says the same.
    assert run(sweep, "mine.parquet", "resample=group")["groups"] == 30
    write_table("groups.csv", {"guid": GUIDS[:5], "group": documents[:5]})
    with pytest.raises(ConfigError, match=r"115 rows have no group in groups.csv"):
        run(sweep, "groups=groups.csv")


def test_one_document_allows_no_interval_and_no_test(sweep, capsys):
    write_table("groups.csv", {"guid": GUIDS, "group": ["a"] * len(GUIDS)})
    written = run(sweep, "groups=groups.csv")
    assert "of one document" in " ".join(written["notes"])
    said = capsys.readouterr().out.splitlines()[0]
    assert ("cannot be tested" in said, "[" in said) == (True, False)


def test_documents_are_drawn_if_one_of_the_runs_draws_them(make_run):
    documents = [guid.partition(".")[0] for guid in GUIDS]
    for head, resample in (("cls", "row"), ("ess", "group")):
        folder = make_run(head, 0, 0.5, resample=resample)
        write_predictions(folder / "predictions/test.parquet", predict(0.5, 1), group=documents)
    assert run("runs/sweep")["groups"] == 30


@pytest.mark.usefixtures("sweep")
def test_files_alone_are_drawn_by_document_where_all_have_the_column(tmp_path):
    documents = [guid.split(".")[0] for guid in GUIDS]
    write_predictions("one.parquet", predict(0.9, 1), group=documents)
    write_predictions("two.parquet", predict(0.5, 2), group=[None, *documents[1:]])
    write_predictions("three.parquet", predict(0.5, 3))
    assert run("one.parquet", "two.parquet")["groups"] == 30
    assert run("one.parquet", "two.parquet", "resample=row")["groups"] is None
    assert run("one.parquet", "three.parquet")["groups"] is None
    write_predictions("one.parquet", predict(0.9, 1), group=[None, *documents[1:]])
    assert run("one.parquet", "two.parquet")["groups"] == 31, "one stands alone"


def test_a_note_says_that_the_best_run_is_chosen_on_the_compared_rows(sweep):
    for folder in Path(sweep).iterdir():
        shutil.copy(folder / "predictions/test.parquet", folder / "predictions/validation.parquet")
    chosen = "chosen on the compared rows"
    assert any(chosen in note for note in run(sweep, "split=validation")["notes"])
    assert not any(chosen in note for note in run(sweep)["notes"])


def test_absent_folds_are_noted_and_no_run_without_a_score_is_called_chosen(sweep):
    for folder in Path(sweep).iterdir():
        shutil.copy(folder / "predictions/test.parquet", folder / "predictions/validation.parquet")
        config = OmegaConf.load(folder / "config.yaml")
        config.data.folds = {"count": 3, "fold": 1}
        OmegaConf.save(config, folder / "config.yaml")
        write_json(folder / "scores.json", {})
    notes = run(sweep, "split=validation")["notes"]
    absent = [note for note in notes if "of its 3 folds, 0, 2" in note]
    assert len(absent) == 3 * len(HEADS)
    assert not any("chosen on the compared rows" in note for note in notes)
    assert any("no validation scores are stored" in note for note in notes)


def test_a_forks_metric_reads_any_column_and_an_absent_one_is_named(make_run, monkeypatch):
    monkeypatch.setattr(METRICS, "_entries", dict(METRICS._entries))
    METRICS.register("sure", Metric(of_rows=lambda columns: columns["p/BEFORE"]))
    for head, seed in (("cls", 0), ("ess", 0)):
        folder = make_run(head, seed, 0.5)
        path = folder / "predictions/test.parquet"
        shares = np.linspace(0, HEADS[head], N)
        write_predictions(path, predict(0.5, 1), **{"p/BEFORE": shares.tolist()})
    written = run("runs/sweep", "metric=sure")
    found = {label: system["mean"] for label, system in by_label(written).items()}
    assert found == pytest.approx({"head=cls": 0.15, "head=ess": 0.4})
    write_predictions(path, predict(0.5, 1))
    with pytest.raises(ConfigError, match=r"metric=sure: no column 'p/BEFORE'; there are .*gold"):
        run("runs/sweep", "metric=sure")


def test_a_note_says_when_the_runs_documents_cannot_be_found(make_run):
    for head in ("cls", "ess"):
        make_run(head, 0, 0.5, resample="group")
    written = run("runs/sweep")
    assert written["groups"] is None
    assert any("intervals are too narrow" in note for note in written["notes"])


def test_runs_are_paired_by_seed():
    assert pair_runs(["0", "1", "2"], ["2", "1"]) == [(1, 1), (2, 0)]
    assert pair_runs(["0", "1"], ["7", "8", "9"]) == [(0, 0), (1, 1)]
    assert pair_runs([""], ["7", "8"]) == [(0, 0), (0, 1)]
    assert pair_runs(["0", "0", "1"], ["0", "0", "1"]) == [(0, 0), (1, 1), (2, 2)], "by fold"


@pytest.mark.parametrize(
    ("against", "found"),
    [("a.decay=1", 0), ("a.decay=0.850", 1), ("a.seen=true", 0), ("a.seen=False", 1)],
)
def test_a_setting_is_found_however_its_value_is_written(against, found):
    settings = {"a.decay": "1.0", "a.seen": "True"}, {"a.decay": "0.85", "a.seen": "False"}
    systems = [System(each, ()) for each in settings]
    assert match_systems(against, systems) == [found]
    with pytest.raises(ConfigError, match="no such system"):
        match_systems("a.decay", systems)
