"""`heron options` says what every group, option and key is, from the types and files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from heron.base.folders import config_groups
from heron.config import describe
from heron.config.constraints import all_keys
from small_runs import heron


def test_every_key_says_what_it_means_and_what_it_may_be() -> None:
    groups = {name.rpartition(".")[0] for name in all_keys()}
    described = describe.keys()
    for key in described:
        assert key.meaning, key.name
        assert bool(key.kind) != (key.name in groups), key.name


def test_every_option_of_every_group_has_a_first_line() -> None:
    found = describe.groups()
    assert set(found) == config_groups() - {"deviations", "parts"}
    without = [
        f"{group}={n}" for group, each in found.items() for n, said in each.items() if not said
    ]
    assert without == []


def test_ranges_choices_and_defaults_are_those_of_the_types() -> None:
    found = {key.name: key for key in describe.keys("optim")}
    assert (found["optim.lr"].kind, found["optim.lr"].default) == ("number above 0", "5e-05")
    assert found["optim.head_lr"].kind == "number above 0, or null"
    assert found["optim.schedule"].kind == "constant | linear | cosine"
    assert found["optim.betas"].kind == "list of: number in [0, 1), 2 entries"
    (task,) = describe.keys("task.name")
    assert task.kind.split(" | ")[:2] == ["relation", "nli"]


@pytest.mark.parametrize(
    ("comment", "first"),
    [
        ("# @package _global_\n# One thing. Another.\n", "One thing."),
        ("# Span (Devlin et al. 2019). Then.\n", "Span (Devlin et al. 2019)."),
        ("# Two\n# lines\nname: x\n# below\n", "Two lines"),
        ("name: x\n", ""),
    ],
)
def test_the_first_sentence_of_a_file_describes_it(
    tmp_path: Path, comment: str, first: str
) -> None:
    (tmp_path / "a.yaml").write_text(comment)
    assert describe.first_comment(tmp_path / "a.yaml") == first


def test_an_option_of_a_fork_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = tmp_path / "experiments" / "mine" / "conf" / "head" / "odd.yaml"
    head.parent.mkdir(parents=True)
    head.write_text("# Reads every other token.\nname: odd\n")
    monkeypatch.setenv("HERON_FORKS", str(tmp_path / "experiments"))
    assert describe.options("head")["odd"] == "Reads every other token."


def test_the_command_prints_groups_options_and_keys(capsys: pytest.CaptureFixture[str]) -> None:
    for words, held in (
        ([], ["experiment demo, hesum/gpt", "optim The optimizer and its schedule."]),
        (["head"], ["ess ESS, Event Start State", "head.dropout number in [0, 1) 0.1 probability"]),
        (["task=qa"], ["task.n_best whole number", "task.bootstrap whole number"]),
        (["optim.lr"], ["optim.lr number above 0 5e-05 peak learning rate of the encoder."]),
    ):
        assert heron("options", *words) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert all(text in printed for text in held)
