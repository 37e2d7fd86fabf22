"""Budgets: what the groups of a sweep spent, where it matters, and one run stage by stage."""

import csv

import pytest

from heron.base.cells import show, to_csv
from heron.reports.run import stage_table
from heron.reports.sweep import spent_table
from heron.results.collect import collect


@pytest.fixture
def make_curricula(make_run, make_ledger):
    """Return a function that writes two seeds of each curriculum, with these ledgers."""

    def make(**budgets):
        for name, counts in budgets.items():
            for seed in range(2):
                words = (f"curriculum={name}", f"seed={seed}")
                folder = make_run(f"{name}-{seed}", words, ledger=make_ledger(**counts))
        return collect(folder.parent)

    return make


def _shown(table):
    names = table.columns
    return [dict(zip(names, map(show, row), strict=True)) for row in table.rows]


def test_a_curriculum_is_set_beside_its_baseline_with_the_same_steps(make_curricula):
    runs = make_curricula(none={"unique": 80, "tokens": 5000}, e2l={"unique": 26})
    table = spent_table(runs)
    e2l, none = _shown(table)
    assert e2l == {
        "curriculum": "e2l",
        "runs": "2",
        "steps": "100",
        "planned": "100",
        "batches": "100",
        "samples": "320",
        "tokens (M)": "0.004",
        "padding": "50.0%",
        "different examples": "26",
    }
    assert (none["padding"], none["different examples"]) == ("37.5%", "80")
    assert "Not equal" not in table.note


def test_seeds_that_stopped_at_different_steps_are_averaged(make_run, make_ledger):
    for seed, steps in enumerate((100, 101)):
        ledger = make_ledger(steps) | {"planned_steps": 200}
        folder = make_run(f"{seed}", ("curriculum=e2l", f"seed={seed}"), ledger=ledger)
    table = spent_table(collect(folder.parent))
    (row,) = _shown(table)
    assert (row["steps"], row["planned"], row["samples"]) == ("100.5", "200", "320")
    header, values = csv.reader(to_csv(table).splitlines())
    assert float(values[header.index("steps")]) == 100.5


def test_equal_budgets_without_a_curriculum_are_nothing_to_see(make_run, make_ledger):
    for head in ("ess", "emp"):
        folder = make_run(head, (f"head={head}",), ledger=make_ledger())
    assert spent_table(collect(folder.parent)) is None


def test_unequal_budgets_are_shown_without_a_curriculum_too(make_run, make_ledger):
    for epochs in (2, 4):
        words = (f"trainer.max_epochs={epochs}",)
        folder = make_run(f"{epochs}", words, ledger=make_ledger(50 * epochs))
    table = spent_table(collect(folder.parent))
    assert [row["steps"] for row in _shown(table)] == ["100", "200"]
    assert "Not equal budgets" in table.note


def test_runs_without_a_ledger_and_failed_ones_are_not_counted(make_run, make_ledger):
    make_run("old", ("curriculum=none",))
    failed = make_run("failed", ("curriculum=a",), ledger=make_ledger(7))
    status = failed / "status.json"
    status.write_text(status.read_text().replace('"done"', '"failed"'))
    folder = make_run("new", ("curriculum=e2l",), ledger=make_ledger())
    assert [row["curriculum"] for row in _shown(spent_table(collect(folder.parent)))] == ["e2l"]


def test_what_curricula_learnt_from_is_shown_last_and_is_no_unequal_budget(make_run, make_ledger):
    first = ("curriculum=none", "batching.oversample=none", "seed=0")
    make_run("first", first, config={"experiment": None}, ledger=make_ledger(90))
    for name in ("none", "e2l"):
        words = (f"curriculum={name}", "experiment=ronli/curricula", "seed=0")
        config = {"batching.oversample": "multipliers"}
        folder = make_run(name, words, config=config, ledger=make_ledger(140))
    table = spent_table(collect(folder.parent))
    steps = [(row["curriculum"], row["steps"]) for row in _shown(table)]
    assert steps == [("e2l", "140"), ("none", "140"), ("learnt from", "90")]
    assert "Not equal" not in table.note
    assert "once per seed" in table.note


def test_one_run_is_shown_stage_by_stage_with_its_total(make_run, make_ledger):
    (run,) = collect(make_run(ledger=make_ledger(120, ("easy", "easy+ambiguous", "all of them"))))
    rows = _shown(stage_table(run))
    names = [(row["stage"], row["steps"], row["different examples"]) for row in rows]
    assert names == [
        ("easy", "40", "80"),
        ("easy+ambiguous", "40", "80"),
        ("all of them", "40", "80"),
        ("all", "120", "80"),
    ]
    assert "120 optimizer steps were planned" in stage_table(run).note


@pytest.mark.parametrize("ledger", [None, {"total": {"steps": 3}, "stages": [{"stage": "a"}]}])
def test_a_ledger_that_is_absent_or_incomplete_gives_no_rows(make_run, ledger):
    (run,) = collect(make_run(overrides=("curriculum=e2l",), ledger=ledger))
    assert not stage_table(run).rows
    assert spent_table([run]) is None
