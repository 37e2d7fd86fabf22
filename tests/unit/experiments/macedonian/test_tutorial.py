"""Every command of the fork's README, in its order, in a folder with nothing but the fork."""

import shlex

import pytest

import page_commands
from heron.base.folders import conf_dir
from heron.base.tables import read_table
from small_forks import commands_in

FORK = conf_dir().parent / "experiments" / "macedonian"
COMMANDS = page_commands.commands(FORK / "README.md")


@pytest.mark.real  # takes minutes
def test_every_command_of_the_tutorial_runs_and_prints_its_figures(tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "macedonian").symlink_to(FORK)
    with commands_in(tmp_path) as heron:
        said = {line: heron(*shlex.split(line)[1:]) for line in COMMANDS}
    assert page_commands.missing_figures(FORK / "README.md", said.__getitem__) == []
    for sweep in ("macedonian-nli", "macedonian-qa"):  # two heads, two learning rates; two seeds
        assert len(list((tmp_path / "runs" / sweep).glob("*/scores.json"))) == 4
    assert (tmp_path / "experiments" / "village" / "conf" / "data" / "village_pairs.yaml").is_file()
    asked = (tmp_path / "runs").glob("macedonian_*/*/prompts.parquet")
    read = [row["parsed"] for path in asked for row in read_table(path).rows]
    assert len(read) == 18 + 18 + 12
    assert all(read)


def test_no_command_is_longer_than_the_page_says():
    assert {tuple(line.split()[:2]) for line in COMMANDS} == {
        ("heron", name)
        for name in (
            "new",
            "data",
            "audit",
            "analyze",
            "train",
            "compare",
            "prompt",
            "predict",
            "score",
        )
    }
