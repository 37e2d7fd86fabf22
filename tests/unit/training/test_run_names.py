"""Names of folders say what was chosen: what varies first, in any script, and no file's path."""

from __future__ import annotations

import re

import pytest

from heron.training.run_names import readable_name, run_path, sweep_name
from small_runs import compose


@pytest.mark.parametrize(
    ("words", "swept", "name"),
    [
        ("optim.lr=1 seed=3 head=ess", "", "head=ess,seed=3,optim.lr=1"),
        ("data=trc head=ess optim.lr=1", "optim.lr", "optim.lr=1,data=trc,head=ess"),
        ("seed=1 head=ess seed=2", "", "head=ess,seed=2"),  # the last value counts
        ("encoder.name=/home/me/מודל seed=0", "", "seed=0,encoder.name=מודל"),
        ("data.columns.text=ტექსტი", "", "data.columns.text=ტექსტი"),
        ("data.columns.text='पाठ'", "", "data.columns.text=पाठ"),  # letters with marks
        ("data.files.train.path=a/b.csv seed=0", "", "seed=0"),
        ("paths.runs=r run.job=j logger=wandb", "", ""),
        (f"seed=0 data.title={'a' * 60}", "", "seed=0"),  # whole words alone
        (f"seed=0 data.title={'a' * 60}", "data.title", f"data.title={'a' * 60}"),
    ],
)
def test_a_job_s_name_holds_whole_overrides_those_of_the_sweep_first(words, swept, name):
    assert readable_name(words.split(), swept.split()) == name


def test_a_sweep_s_name_tells_runs_apart_that_cannot_be_compared():
    assert sweep_name("trc-relation", ["optim.lr=1", "head=ess"]) == "trc-relation"
    assert sweep_name("trc-relation", ["data.sample.fraction=0.1"]) == (
        "trc-relation,data.sample.fraction=0.1"
    )
    mine, others = (
        sweep_name("own-nli", [f"data.files.train.path=/home/me/{each}.csv"]) for each in "ab"
    )
    assert mine != others
    assert max(len(mine), len(others)) <= 60
    assert "csv" not in mine


def test_a_job_s_name_does_not_repeat_its_sweep_s(tmp_path):
    given = ["data=chronicle_nli", "data.generator.size=100", "trainer.max_epochs=1", "seed=3"]
    config = compose(tmp_path, *given, "run.sweep=chronicle_nli-nli,data.generator.size=100-81ab")
    assert re.sub("-[0-9a-f]{8}$", "", run_path(config, given).name) == (
        "seed=3,trainer.max_epochs=1"
    )
    swept = run_path(config, given, ["data.generator.size"]).name
    assert swept.startswith("data.generator.size=100,seed=3,")
