"""`folds=N` sweeps over the folds of a cross-validation, for every task."""

import json

import pytest

import small_runs
from heron.results.frame import predictions_file, read_frame

TASKS = {
    "relation": ("data=chronicle",),
    "nli": ("data=chronicle_nli", "head=cross"),
    "qa": ("data=chronicle_qa", "head=span", "trainer.monitor=f1"),
}


@pytest.mark.parametrize(
    "task", ["relation", *(pytest.param(task, marks=pytest.mark.real) for task in ("nli", "qa"))]
)
def test_each_fold_is_validation_once_and_test_is_not_read(task, tmp_path, capsys):
    words = [*small_runs.TINY, *small_runs.in_folder(tmp_path), *TASKS[task], f"task={task}"]
    words += ["run.sweep=folds", "trainer.max_epochs=1"]
    assert small_runs.heron("train", "-m", *words, "folds=3") == 0, capsys.readouterr().err
    runs = sorted(path.parent for path in (tmp_path / "runs/folds").glob("*/scores.json"))
    assert len(runs) == 3
    rows = [read_frame(predictions_file(run, "validation"))["guid"] for run in runs]
    train = [json.loads((run / "status.json").read_text())["data"] for run in runs]
    assert len({guid for guids in rows for guid in guids}) == sum(map(len, rows))
    for run, status in zip(runs, train, strict=True):
        assert "test" not in json.loads((run / "scores.json").read_text())
        assert [path.stem for path in (run / "predictions").glob("*.parquet")] == ["validation"]
        assert status


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_compare_joins_the_folds_of_a_system_into_one_set_of_rows(tmp_path, capsys):
    words = [*small_runs.TINY, *small_runs.in_folder(tmp_path), "run.sweep=folds"]
    words += ["trainer.max_epochs=1", "head=ess,emp"]
    assert small_runs.heron("train", "-m", *words, "folds=2", "seed=0,1") == 0
    folder = tmp_path / "runs/folds"
    rows = {g for f in folder.glob("*/predictions/validation.*") for g in read_frame(f)["guid"]}
    capsys.readouterr()
    assert small_runs.heron("compare", folder, "split=validation", "draws=100") == 0
    said = capsys.readouterr().out
    assert f"{len(rows)} rows" in said
    gone = next(folder.glob("*head=ess*fold=1*"), None) or next(folder.glob("*ess*"))
    (gone / "status.json").unlink()
    small_runs.heron("compare", folder, "split=validation", "draws=100", "rows=shared")
    assert "of its 2 folds" in " ".join(capsys.readouterr().out.split())
