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
    problems = [Problem(f"a.csv:{line}", f"no label {line % 10}") for line in range(2, 32)]
    error = DataError(problems, limit=2)
    count, *lines, rest = str(error).splitlines()
    assert ("30" in count, len(lines), "24" in rest) == (True, 2, True)
    assert "a.csv:2 " in lines[0]  # with the rows of the same problem
    assert "12" in lines[0]
    assert error.problems == problems
