"""Messages say what is wrong, where, and what was probably meant."""

import pytest

from heron.base.errors import DataError, Problem, nearest


@pytest.mark.parametrize(
    ("word", "choices", "hint"),
    [
        ("optm.lr", ["optim.lr", "seed"], " Did you mean 'optim.lr'?"),
        ("ess", ["seq_cls", "ess", "emp"], " Did you mean 'ess'?"),
        ("epochs", ["trainer.max_epochs", "seed"], " Did you mean 'trainer.max_epochs'?"),
        ("trainer.lr", ["trainer.x", "optim.lr"], " Did you mean 'optim.lr' or 'trainer.x'?"),
        ("xyz", ["b", "a"], " Allowed: a, b."),
        ("xyz", [str(number) for number in range(31)], ""),
        ("xyz", [], ""),
    ],
)
def test_nearest_names_close_choices_else_a_short_list_of_all(word, choices, hint):
    assert nearest(word, choices) == hint


def test_a_data_error_spells_out_problems_up_to_its_limit_and_keeps_all():
    problems = [Problem(f"a.csv:{line}", "no label") for line in range(2, 32)]
    error = DataError(problems, limit=3)
    assert str(error).splitlines() == [
        "30 problems in the data:",
        "a.csv:2: no label",
        "a.csv:3: no label",
        "a.csv:4: no label",
        "... and 27 more",
    ]
    assert error.problems == problems
