"""Every command of the fork's README, in its order, in a folder with nothing but the fork."""

import re
import shlex

import pytest

from heron.base.folders import conf_dir
from heron.base.tables import read_table
from small_forks import commands_in

FORK = conf_dir().parent / "experiments" / "macedonian"
PAGE = (FORK / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"^```bash\n(.*?)^```$", PAGE, re.M | re.S)
    for line in block.splitlines()
]


@pytest.mark.real  # takes minutes
def test_every_command_of_the_tutorial_runs(tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "macedonian").symlink_to(FORK)
    with commands_in(tmp_path) as heron:
        for program, *words in COMMANDS:
            assert program == "heron"
            heron(*words)
    for sweep in ("macedonian-nli", "macedonian-qa"):  # two heads, two learning rates; two seeds
        assert len(list((tmp_path / "runs" / sweep).glob("*/scores.json"))) == 4
    assert (tmp_path / "experiments" / "village" / "conf" / "data" / "village_pairs.yaml").is_file()
    asked = (tmp_path / "runs").glob("macedonian_*/*/prompts.parquet")
    read = [row["parsed"] for path in asked for row in read_table(path).rows]
    assert len(read) == 18 + 18 + 12
    assert all(read)


def test_no_command_is_longer_than_the_page_says():
    assert {words[1] for words in COMMANDS} == {
        *("new", "data", "audit", "analyze", "train", "compare", "prompt", "predict", "score")
    }
