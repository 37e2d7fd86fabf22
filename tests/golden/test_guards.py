"""What heron refuses, or says aloud, rather than return a wrong number."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from heron.base.files import sha256_file
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, write_table
from heron.data.config import ValidationConfig
from heron.data.examples import Example
from heron.data.splits import carve
from heron.training.run_names import run_path
from small_runs import TINY, compose, heron, in_folder, train


@pytest.fixture
def table(tmp_path):
    """Write a table of marked pairs, 5 documents of 8 rows."""
    labels = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
    texts = [
        f"The {word} number {row} [E1] ended [/E1] before talks [E2] began [/E2] ."
        for row, word in enumerate(["strike", "flood", "trial", "fair"] * 10)
    ]
    columns = {"text": texts, "label": labels * 10, "group": [f"d{r // 8}" for r in range(40)]}
    write_table(tmp_path / "train.csv", columns)
    write_table(tmp_path / "test.csv", {**columns, "text": [f"Now: {text}" for text in texts]})
    return tmp_path / "train.csv"


def words(table: Path, *more: str) -> list[str]:
    """Say the overrides for one run on `table`."""
    return [
        *(word for word in TINY if not word.startswith("data.generator")),
        *in_folder(table.parent),
        "data=own_relation",
        "data.language=en",
        "data.columns.group=group",
        f"data.files.train.path={table}",
        f"data.files.test.path={table.with_name('test.csv')}",
        "trainer.max_epochs=1",
        "run.job=own",
        *more,
    ]


def test_changed_data_never_passes_for_the_run_that_is_there_and_absent_data_changes_nothing(
    table, capsys
):
    assert heron("train", *words(table)) == 0
    status = RunFolder(table.parent / "runs" / "own_relation-relation" / "own").status
    sources = json.loads(status.read_text())["sources"]
    assert sources == {n: sha256_file(table.with_name(f"{n}.csv")) for n in ("train", "test")}
    columns = read_table(table)
    turned = [{"BEFORE": "AFTER"}.get(label, label) for label in columns.values("label")]
    others = {name: columns.values(name) for name in ("text", "group")}
    write_table(table, {**others, "label": turned})
    assert heron("train", *words(table)) == 2
    assert "train" in capsys.readouterr().err
    assert heron("train", *words(table, "run.resume=false")) == 0
    table.unlink()
    assert heron("train", *words(table)) == 0


def test_examples_in_two_splits_are_counted_and_said(table, capsys):
    shutil.copy(table, table.with_name("test.csv"))
    assert heron("train", *words(table)) == 0
    assert "32 examples are in both test and train" in capsys.readouterr().err  # 8 validate
    status = RunFolder(table.parent / "runs" / "own_relation-relation" / "own").status
    shared = json.loads(status.read_text())["data"]["shared"]
    assert shared == {"validation and train": 0, "test and train": 32, "test and validation": 8}


def test_diverged_training_fails_with_what_to_do(tmp_path, capsys):
    words = (
        "optim.lr=1e30",
        "trainer.gradient_clip_val=0",
        "optim.warmup=0",
        "head=window",
        "run.job=nan",
    )
    assert heron("train", *TINY, *in_folder(tmp_path), *words) == 2
    error = capsys.readouterr().err
    assert "training diverged" in error
    assert "Traceback" not in error
    assert RunFolder(tmp_path / "runs" / "chronicle-relation" / "nan").state() == "failed"


def test_a_run_that_stopped_early_and_was_killed_while_scoring_trains_no_further(tmp_path):
    # A learning rate of almost nothing: no epoch is better than the first.
    words = ("trainer.patience=1", "trainer.max_epochs=6", "optim.lr=1e-12")
    run = train(tmp_path, *words)
    epochs = sorted(path.name for path in run.dynamics(0).parent.iterdir())
    scores = run.scores.read_text()
    assert len(epochs) < 6
    run.update_status(state="running")
    assert sorted(p.name for p in train(tmp_path, *words).dynamics(0).parent.iterdir()) == epochs
    assert run.scores.read_text() == scores


def test_a_default_spelled_out_names_the_same_run_folder(tmp_path):
    first = run_path(compose(tmp_path, "head=window"), ["head=window"])
    first.mkdir(parents=True)
    config = compose(tmp_path, "head=window", "seed=0")
    assert run_path(config, ["head=window", "seed=0"]) == first


def test_an_option_that_is_left_out_is_another_configuration(tmp_path, capsys):
    words = [*TINY, *in_folder(tmp_path), "run.job=a"]
    assert heron("train", *words) == 0
    config = RunFolder(next((tmp_path / "runs").glob("*/a"))).config
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("    predictions: []", "    predictions: [teachers]"), "utf-8")
    assert heron("train", *words) == 2
    assert "optim.soft.predictions was ['teachers']" in capsys.readouterr().err


def test_a_path_that_cannot_be_written_is_no_traceback(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert heron("train", *TINY, f"paths.runs={tmp_path / 'file'}") == 2
    error = capsys.readouterr().err
    assert "Not a directory" in error
    assert "Traceback" not in error


def test_one_huge_document_does_not_become_the_validation_split():
    groups = ["huge"] * 50 + [f"small{n}" for n in range(10)]
    examples = [Example(str(n), f"t{n}", group=group) for n, group in enumerate(groups)]
    for seed in range(20):
        _, validation = carve(examples, ValidationConfig(fraction=0.1, seed=seed))
        assert Counter(e.group for e in validation)["huge"] == 0
        assert len(validation) == 6
