"""Messages say what is wrong, where, and what was probably meant."""

import pytest

from heron.base.errors import (
    ConfigError,
    DataError,
    HeronError,
    Problem,
    first_line,
    nearest,
    os_error_text,
)


@pytest.mark.parametrize(
    ("word", "choices", "hint"),
    [
        ("optm.lr", ["optim.lr", "seed"], " Did you mean 'optim.lr'?"),
        ("ess", ["seq_cls", "ess", "emp"], " Did you mean 'ess'?"),
        (
            "lr",
            ["optim.lr", "optim.head_lr", "seed"],
            " Did you mean 'optim.lr' or 'optim.head_lr'?",
        ),
        ("epochs", ["trainer.max_epochs", "seed"], " Did you mean 'trainer.max_epochs'?"),
        ("trainer.lr", ["trainer.x", "optim.lr"], " Did you mean 'optim.lr' or 'trainer.x'?"),
        (
            "encodr.name",
            ["data.name", "encoder.name"],
            " Did you mean 'encoder.name' or 'data.name'?",
        ),
        ("xyz", ["b", "a"], " Allowed: a, b."),
        ("xyz", [str(number) for number in range(31)], ""),
        ("xyz", [], ""),
    ],
)
def test_nearest_names_close_choices_else_a_short_list_of_all(word, choices, hint):
    assert nearest(word, choices) == hint


def test_nearest_lists_all_where_asked():
    assert nearest("rogue1", ["rouge1", "f1"], listed=True) == (
        " Did you mean 'rouge1'? Allowed: f1, rouge1."
    )
    assert nearest("xyz", map(str, range(31)), listed=True).count(",") == 30


def test_what_the_system_refuses_names_the_word_that_set_the_place(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "sub"
    with pytest.raises(NotADirectoryError) as told:
        path.mkdir()
    words = ["seed=1", f"out={tmp_path / 'file'}"]
    assert os_error_text(told.value, words) == f"{words[1]}: Not a directory ({path})"
    assert os_error_text(told.value, []) == f"{path}: Not a directory"
    assert os_error_text(OSError("gone"), words) == "gone"


def test_nearest_names_at_most_three_choices():
    assert nearest("abcd", [f"abcd{letter}" for letter in "efghi"]).count("'") == 2 * 3


def test_a_problem_reads_as_one_line_with_place_and_fix():
    assert str(Problem("train.csv:17", "label='BEFOR' is unknown", "allowed: BEFORE")) == (
        "train.csv:17: label='BEFOR' is unknown (allowed: BEFORE)"
    )
    assert str(Problem("guid-3", "no text")) == "guid-3: no text"


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


def test_the_first_line_of_several_problems_names_the_first_one():
    problems = [Problem("a.csv", "missing"), Problem("b.csv", "missing")]
    assert first_line(DataError(problems)) == "2 problems in the data: a.csv: missing"
    assert first_line("out of memory\nat step 3") == "out of memory"


def test_a_single_problem_stands_alone():
    assert str(DataError(Problem("a.csv:2", "no label"))) == "a.csv:2: no label"


def test_all_of_a_users_mistakes_are_heron_errors():
    assert issubclass(ConfigError, HeronError)
    assert issubclass(DataError, HeronError)
