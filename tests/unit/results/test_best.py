"""Equal scores on validation are a tie that is said, and the simplest is named, everywhere."""

import json
from types import SimpleNamespace

import pytest

from heron.results.best import best_of, complexity
from heron.results.collect import collect
from heron.results.systems import group_runs
from heron.sweeps.sweep import JobOutcome, best_so_far
from heron_tools.dashboard.page import dashboard_data, write_dashboard
from heron_tools.reproduction.paper_tables import SelectionRule, choose, chosen_table

CURRICULA = ("cart_cl", "length_cl", "none")


@pytest.fixture
def tied(make_run):
    """Write runs of three curricula that score the same on validation; returns their folder."""
    for name in CURRICULA:
        config = {"curriculum": {"name": name}, "trainer": {"monitor": "macro_f1"}}
        folder = make_run(f"curriculum={name}", (f"curriculum={name}",), config=config)
        scores = {"validation": {"macro_f1": 0.903}, "test": {"macro_f1": len(name) / 10}}
        (folder / "scores.json").write_text(json.dumps(scores))
    return folder.parent


def test_of_equal_values_the_simplest_comes_first_and_rounding_is_no_difference():
    plain, curriculum = complexity("none", "none", 3), complexity("none", "cart_cl", 1)
    assert best_of([0.5, 0.1 + 0.2, 0.3, None], [plain] * 4) == [0]
    assert best_of([0.1 + 0.2, 0.3, 0.2], [curriculum, plain, plain]) == [1, 0]
    fewer = complexity("none", "none", 2)
    assert best_of([1.0, 1.0], [plain, fewer]) == [1, 0]
    assert best_of([1.0, 1.0], [fewer, complexity("majority", "none", 9)]) == [1, 0]
    assert best_of([None, -2.0, -2.0]) == [1, 2]
    assert best_of([None, None]) == []


def test_the_dashboard_names_the_system_without_a_curriculum_and_says_the_tie(tied):
    best = dashboard_data("grid", collect(tied), tied)["best"]
    assert best["label"] == "curriculum=none"
    assert "curriculum=none" in best["command"]
    page = write_dashboard(tied).read_text(encoding="utf-8")
    for text in (best["tie"], page.partition("<section")[2].partition("</section>")[0]):
        assert "A tie" in text
        assert "curriculum=length_cl" in text


def test_the_cell_chosen_on_validation_is_the_same_and_its_table_says_the_tie(tied):
    runs, rule = collect(tied), SelectionRule("macro_f1", ("curriculum",))
    (choice,) = choose(group_runs(runs), rule)
    assert choice.group.label == "curriculum=none"
    assert [cell.label for cell in choice.tied] == ["curriculum=cart_cl", "curriculum=length_cl"]
    assert "curriculum=length_cl" in chosen_table(runs, rule).note


def test_a_search_shows_the_simplest_of_its_best_trials_and_how_many_are_equal():
    outcomes = []
    for name in CURRICULA:
        config = SimpleNamespace(
            trainer=SimpleNamespace(monitor="macro_f1"),
            baseline=SimpleNamespace(name="none"),
            curriculum=SimpleNamespace(name=name),
        )
        job = SimpleNamespace(config=config, overrides=[f"curriculum={name}", "seed=0"])
        outcomes.append(JobOutcome(job, "done", score=0.903))
    assert "with curriculum=none (a tie with 2 more)" in best_so_far(outcomes)
