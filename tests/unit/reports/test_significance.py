"""Tests against a baseline in a sweep's report: which baseline, which systems, what is missing."""

import csv

import pyarrow.parquet as pq
import pytest

from heron.commands.report import write_report
from heron.reports import sweep
from heron.reports.sweep import significance_tables
from heron.results.collect import collect
from heron.results.run_comparison import CompareOptions, compare_runs

SKILL = {"none": 0.4, "e2l": 0.41, "cart_cl": 0.95}
ROWS = 120


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(sweep, "DRAWS", 200)


@pytest.fixture
def make_sweep(make_run):
    """Return a function that writes two seeds of each curriculum under further overrides."""

    def make(*words, curricula=SKILL, seeds=2, **options):
        for name in curricula:
            for seed in range(seeds):
                job = ",".join([f"curriculum={name}", *words, f"seed={seed}"]).replace("/", "_")
                every = (f"curriculum={name}", f"seed={seed}", *words)
                folder = make_run(job, every, rows=ROWS, skill=SKILL[name], **options)
        return folder.parent

    return make


def _systems(table):
    return [row[0] for row in table.rows]


def _row(table, system):
    (row,) = [row for row in table.rows if row[0] == system]
    return dict(zip(table.columns, row, strict=True))


def test_curricula_are_tested_against_the_runs_without_one(make_sweep):
    runs = collect(make_sweep())
    tables, missing = significance_tables(runs, "test")
    assert (list(tables), missing) == ([""], [])
    table = tables[""]
    assert table.title == "test: macro_f1 against curriculum=none, 120 rows"
    assert _row(table, "curriculum=none")["p (Holm)"] is None
    assert _row(table, "curriculum=cart_cl")["p (Holm)"].value < 0.05
    assert _row(table, "curriculum=e2l")["p (Holm)"].value > 0.05
    assert "Cochran's Q over the best runs of all systems" in table.note


def test_the_numbers_are_those_of_heron_compare(make_sweep):
    runs = collect(make_sweep())
    table = significance_tables(runs, "test")[0][""]
    expected = compare_runs(runs, against="curriculum=none", options=CompareOptions(draws=200))
    cart = next(system for system in expected.systems if system.label == "curriculum=cart_cl")
    row = _row(table, "curriculum=cart_cl")
    bootstrap = cart.against.bootstrap
    assert row["difference"] == (bootstrap.difference, bootstrap.low, bootstrap.high)
    assert row["p (Holm)"].value == cart.against.p_holm
    assert row["p (McNemar)"].value == cart.against.mcnemar.p
    assert f"= {expected.cochran_q.statistic:.1f}" in table.note


def test_a_second_factor_gets_a_table_for_each_of_its_values(make_sweep):
    make_sweep("encoder.freeze=all")
    runs = collect(make_sweep("encoder.freeze=4"))
    for against in (None, "curriculum=none"):
        tables, missing = significance_tables(runs, "test", against)
        assert (list(tables), missing) == (["encoder.freeze=4", "encoder.freeze=all"], [])
        for where, table in tables.items():
            assert table.title.endswith(f", where {where}")
            assert _systems(table) == [f"curriculum={name}" for name in sorted(SKILL)]


def test_any_sweep_can_be_tested_when_a_baseline_is_named(make_run):
    for head, skill in (("ess", 0.9), ("emp", 0.4)):
        folder = make_run(head, (f"head={head}",), rows=ROWS, skill=skill)
    runs = collect(folder.parent)
    assert significance_tables(runs, "test") == ({}, [])
    table = significance_tables(runs, "test", "head=emp")[0][""]
    assert _row(table, "head=ess")["difference"].value > 0.2


def test_what_curricula_learnt_from_is_not_their_baseline(make_sweep, make_run):
    config = {"batching.oversample": "multipliers", "batching.multipliers": {"EQUAL": 5}}
    make_sweep("experiment=ronli/curricula", config=config)
    first = ("curriculum=none", "batching.oversample=none", "seed=0")
    folder = make_run("first", first, config={"experiment": None}, rows=ROWS, skill=0.9)
    tables, missing = significance_tables(collect(folder.parent), "test")
    assert (list(tables), missing) == ([""], [])
    assert _systems(tables[""]) == [f"curriculum={name}" for name in sorted(SKILL)]
    assert _row(tables[""], "curriculum=none")["macro_f1"].n == 2


def test_experiments_are_tested_against_the_one_with_the_same_oversampling(make_run):
    systems = {
        "cbow_svm": ({"baseline.name": "cbow_svm", "batching.oversample": "multipliers"}, 0.3),
        "siamese": ({"batching.oversample": "none"}, 0.5),
        "siamese_oversampled": ({"batching.oversample": "multipliers"}, 0.6),
        "e2l": ({"batching.oversample": "multipliers", "curriculum.name": "e2l"}, 0.4),
        "cart_cl": ({"batching.oversample": "multipliers", "curriculum.name": "cart_cl"}, 0.9),
    }
    for name, (config, skill) in systems.items():
        words = (f"experiment=ronli/{name}", "seed=0")
        folder = make_run(name, words, config=config, rows=ROWS, skill=skill)
    (table,) = significance_tables(collect(folder.parent), "test")[0].values()
    assert "against experiment=ronli/siamese_oversampled" in table.title
    assert len(table.rows) == 3


def test_several_runs_without_a_curriculum_are_no_baseline_until_one_is_named(make_run):
    for name, settings in (("none", "length"), ("none", "sts"), ("linear", "length")):
        words = (f"curriculum={name}", f"curriculum.difficulty={settings}")
        folder = make_run(f"{name}-{settings}", words, rows=ROWS)
    tables, (line,) = significance_tables(collect(folder.parent), "test")
    assert tables == {}
    assert "several groups have no curriculum" in line
    assert "against=" in line


def test_runs_that_cannot_be_compared_are_named_and_the_others_are(make_sweep):
    folder = make_sweep()
    (folder / "curriculum=e2l,seed=0/predictions/test.parquet").unlink()
    (tables, missing) = significance_tables(collect(folder), "test")
    assert missing == []
    assert "curriculum=e2l,seed=0 is left out: split=test" in tables[""].note
    assert _row(tables[""], "curriculum=e2l")["macro_f1"].n == 1


@pytest.mark.parametrize("damage", ["rows", "labels", "unreadable"])
def test_systems_on_other_rows_are_missing_and_never_stop_the_report(make_sweep, damage):
    folder = make_sweep(seeds=1)
    path = folder / "curriculum=e2l,seed=0/predictions/test.parquet"
    table = pq.read_table(path)
    if damage == "rows":
        pq.write_table(table.slice(0, 100), path)
    elif damage == "labels":
        pq.write_table(table.set_column(3, "prediction", [["?"] * ROWS]), path)
    else:
        path.write_bytes(b"not parquet")
    (line,) = [line for line in write_report(folder).missing if line.startswith("significance")]
    assert str(path) in line
    assert not (folder / "significance.csv").exists()


@pytest.mark.parametrize("absent", ["none", "others"])
def test_a_baseline_alone_or_none_at_all_is_missing(make_sweep, absent):
    folder = make_sweep(seeds=1)
    for run in folder.iterdir():
        if run.name.startswith("curriculum=none") == (absent == "none"):
            status = run / "status.json"
            status.write_text(status.read_text().replace('"done"', '"failed"'))
    tables, (line,) = significance_tables(collect(folder), "test")
    assert tables == {}
    assert line.startswith("significance against curriculum=none: ")


def test_a_report_writes_tests_and_budgets_beside_its_tables(make_sweep, make_ledger, capsys):
    make_sweep("encoder.freeze=all", ledger=make_ledger())
    folder = make_sweep("encoder.freeze=4", ledger=make_ledger())
    files = write_report(folder)
    names = [path.name for path in files.tables]
    assert names[2:] == [
        "significance_encoder.freeze=4.csv",
        "significance_encoder.freeze=all.csv",
        "spent.csv",
    ]
    header, *rows = csv.reader((folder / names[2]).read_text().splitlines())
    assert float(rows[0][header.index("p (Holm)")]) < 0.05
    for place in (files.html, folder / "table.md"):
        text = place.read_text(encoding="utf-8")
        assert "macro_f1 against curriculum=none, 120 rows, where encoder.freeze=4" in text
        assert "different examples" in text
    assert "p (Holm)" in capsys.readouterr().out
