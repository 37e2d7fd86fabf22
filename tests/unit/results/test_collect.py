import shutil

import pytest

from heron.base.files import locked
from heron.results.collect import collect
from heron.results.systems import without_first_runs


def test_a_run_folder_is_one_record(make_run):
    (record,) = collect(make_run(overrides=("head=emp", "seed=3")))
    assert (record.state, record.done) == ("done", True)
    assert record.overrides() == {"head": "emp", "seed": "3"}
    assert record.setting("optim.lr") == 3e-5
    assert record.setting("optim.nothing", "default") == "default"


def test_a_sweep_folder_gives_all_runs_with_their_state(make_run):
    make_run("a")
    make_run("b", state="failed")
    make_run("c", state="running")
    sweep = make_run("gone", state="running").parent
    (sweep / "notes").mkdir()
    with locked(sweep / "c" / ".lock"):
        records = collect(sweep)
    assert [(each.job, each.state) for each in records] == [
        ("a", "done"),
        ("b", "failed"),
        ("c", "running"),
        ("gone", "failed"),  # its process was killed, and could not say so
    ]
    assert "process is gone" in records[-1].status["error"]


@pytest.mark.parametrize("name", ["config.yaml", "status.json", "scores.json", "ledger.json"])
@pytest.mark.parametrize("content", ["{: [", "[]"])
def test_an_unreadable_file_makes_the_run_broken_and_is_named(make_run, name, content):
    folder = make_run("a")
    (folder / name).write_text(content)
    (record,) = collect(folder)
    assert record.state == "broken"
    assert name in record.status["error"]


def test_a_run_without_status_is_absent(make_run):
    folder = make_run()
    (folder / "status.json").unlink()
    assert collect(folder)[0].state == "absent"


def test_what_a_run_spent_is_read_and_empty_where_nothing_was_written(make_run, make_ledger):
    ledger = make_ledger(30, ("easy", "all"))
    assert collect(make_run("a", ledger=ledger))[0].ledger == ledger
    assert collect(make_run("b"))[0].ledger == {}


def test_only_runs_beside_an_experiments_curricula_are_what_those_learnt_from(make_run):
    def kept(sweep):
        return [run.job for run in without_first_runs(collect(sweep))]

    make_run("first", ("curriculum=none",), config={"experiment": None})
    folder = make_run("asked", ("curriculum=none", "experiment=ronli/siamese")).parent
    assert kept(folder) == ["asked", "first"]
    make_run("cart_cl", ("curriculum=cart_cl", "experiment=ronli/cart_cl"))
    assert kept(folder) == ["asked", "cart_cl"]
    own = make_run("own", ("curriculum=cart_cl",), config={"experiment": None})
    assert kept(folder) == ["asked", "cart_cl", "own"]
    for job in ("asked", "cart_cl"):
        shutil.rmtree(folder / job)
    assert kept(own.parent) == ["first", "own"]
