"""The cell of a grid that counts is the best on validation, whatever test says."""

import json
from itertools import product
from pathlib import Path

import pytest

from heron.results.collect import collect
from heron.results.systems import group_runs
from heron_tools.reproduction.paper_tables import SelectionRule, choose, chosen_table, paper_view

RULE = SelectionRule("f1", ("optim.lr", "batching.size"))
PUBLISHED = Path(__file__).resolve().parents[4] / "experiments/parashoot/published.yaml"


@pytest.fixture
def make_cell(make_run):
    """Return a function that writes a run with scores on both splits; gives the sweep's folder."""

    def make(words, validation=None, test=None, **more):
        words = words.split()
        folder = make_run(",".join(words), tuple(words), **more)
        if validation is not None:
            scores = {
                "validation": {"f1": validation, "exact_match": validation / 2},
                "test": {"f1": test, "exact_match": test / 2},
            }
            (folder / "scores.json").write_text(json.dumps(scores))
        return folder.parent

    return make


def settings(choices):
    return [dict(choice.group.settings) for choice in choices]


def test_validation_decides_and_test_does_not(make_cell):
    make_cell("optim.lr=1e-5 batching.size=16", 0.5, 0.9)
    make_cell("optim.lr=1e-5 batching.size=32", 0.6, 0.1)
    sweep = make_cell("optim.lr=3e-5 batching.size=16", 0.4, 0.8)
    (choice,) = choose(group_runs(collect(sweep)), RULE)
    assert settings([choice]) == [{"optim.lr": "1e-05", "batching.size": "32"}]
    assert (choice.cells, choice.scored) == (3, 3)


def test_a_rule_by_the_loss_chooses_the_lowest(make_cell):
    for rate, loss in (("1e-5", 0.9), ("3e-5", 0.4), ("5e-5", 0.6)):
        folder = make_cell(f"optim.lr={rate}") / f"optim.lr={rate}"
        (folder / "scores.json").write_text(json.dumps({"validation": {"loss": loss}}))
    rule = SelectionRule("loss", ("optim.lr",))
    runs = collect(folder.parent)
    assert settings(choose(group_runs(runs), rule)) == [{"optim.lr": "3e-05"}]
    assert "the one with the lowest loss on validation" in chosen_table(runs, rule).note


def test_seeds_are_averaged_before_anything_is_chosen(make_cell):
    for seed, score in enumerate([0.9, 0.1, 0.2]):
        make_cell(f"optim.lr=1e-5 seed={seed}", score, 0.0)
    for seed, score in enumerate([0.5, 0.5, 0.5]):
        sweep = make_cell(f"optim.lr=3e-5 seed={seed}", score, 0.0)
    (choice,) = choose(group_runs(collect(sweep)), RULE)
    assert settings([choice]) == [{"optim.lr": "3e-05"}]
    assert len(choice.group.runs) == 3


def test_only_cells_of_the_grid_compete(make_cell):
    for head, lr in product(("span", "biaffine"), ("1e-5", "3e-5")):
        score = 0.1 * (head == "span") + 0.2 * (lr == "3e-5")
        sweep = make_cell(f"head={head} optim.lr={lr}", score, 0.5)
    chosen = settings(choose(group_runs(collect(sweep)), RULE))
    assert chosen == [
        {"head": "biaffine", "optim.lr": "3e-05"},
        {"head": "span", "optim.lr": "3e-05"},
    ]


def test_what_has_not_finished_is_counted_and_never_chosen(make_cell):
    make_cell("optim.lr=1e-5", 0.2, 0.3)
    make_cell("optim.lr=2e-5", state="failed")
    sweep = make_cell("optim.lr=3e-5", state="running")
    table = chosen_table(collect(sweep), RULE)
    assert table.rows[0][:2] == ("1e-05", "1 of 3 finished")
    assert [cell.mean for cell in table.rows[0][2:]] == [0.2, 0.3, 0.15]
    assert "on validation" in table.note


def test_a_choice_that_has_to_wait_is_shown_beside_one_that_is_made(make_cell):
    for head, lr in product(("span", "biaffine"), ("1e-5", "3e-5")):
        made = {"validation": 0.5, "test": 0.25} if head == "span" else {"state": "running"}
        sweep = make_cell(f"head={head} optim.lr={lr}", **made)
    waits, made = chosen_table(collect(sweep), RULE).rows
    assert waits == ("biaffine", None, "0 of 2 finished", None, None, None)
    assert made[:3] == ("span", "1e-05", "2 of 2 finished")
    assert [cell.mean for cell in made[3:]] == [0.5, 0.25, 0.125]


def test_a_published_row_stays_without_ours_while_its_choice_has_to_wait(make_cell):
    name = "onlplab/alephbert-base"
    config = {"data.name": "parashoot", "data.task": "qa", "report": "parashoot/table4"}
    for lr in ("3e-5", "5e-5"):
        words = f"encoder.name={name.replace('/', '%')} optim.lr={lr}"
        sweep = make_cell(words, state="running", config={**config, "encoder.name": name})
    view = paper_view("parashoot/table4", collect(sweep), PUBLISHED)
    assert all(row[2] is None for row in view.tables["table4"].rows)
    assert [row[-2] for row in view.tables["table4 chosen"].rows] == ["0 of 2 finished"]


def test_of_equals_the_first_counts_and_one_cell_is_no_choice(make_cell):
    make_cell("optim.lr=3e-5", 0.5, 0.9)
    sweep = make_cell("optim.lr=1e-5", 0.5, 0.1)
    assert settings(choose(group_runs(collect(sweep)), RULE)) == [{"optim.lr": "1e-05"}]
    assert chosen_table(collect(sweep)[:1], RULE) is None


@pytest.mark.parametrize("data", ["parashoot", "parashoot_dev"])
def test_parashoots_table_4_has_the_chosen_cell_of_each_encoder(make_cell, data):
    config = {"data.name": data, "data.task": "qa", "report": "parashoot/table4"}
    names = ("avichr/heBERT", "onlplab/alephbert-base")
    for name, lr, size in product(names, ("3e-5", "5e-5"), (16, 32)):
        words = f"encoder.name={name.replace('/', '%')} optim.lr={lr} batching.size={size}"
        best = (lr, size) == (("3e-5", 32) if "heBERT" in name else ("5e-5", 16))
        score = 0.6 if best else 0.1
        sweep = make_cell(words, score, 1 - score, config={**config, "encoder.name": name})
    view = paper_view("parashoot/table4", collect(sweep), PUBLISHED)
    ours = [row for row in view.tables["table4"].rows if row[2] is not None]
    chosen = view.tables["table4 chosen"]
    assert [row[3] for row in chosen.rows] == ["4 of 4 finished"] * 2
    assert [row[4].mean for row in chosen.rows] == [0.6, 0.6]
    if data == "parashoot":
        assert [row[0].split()[0] for row in ours] == ["HeBERT", "AlephBERT"]
        assert "optim.lr=3e-05, batching.size=32" in ours[0][0]
        assert ours[0][2].mean == pytest.approx(0.4)
    else:
        assert ours == []
        assert "8 runs on other data left out" in view.tables["table4"].note
