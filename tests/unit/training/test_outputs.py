"""Training a finished run again, and collecting it, name output files that have changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from heron.base import terminal
from heron.base.files import read_json, write_json
from heron.base.run_folder import RunFolder
from heron.results.collect import collect
from small_runs import heron, in_folder


def _fit(folder: Path, *words: str) -> int:
    terminal.begin()  # each is a command of its own
    words = (
        "data.generator.size=160",
        "task.bootstrap=20",
        "run.isolate=false",
        "task.resample=row",
        *words,
    )
    return heron("train", *in_folder(folder), "baseline=majority", "run.sweep=s", *words)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def _better(path: Path) -> None:
    scores = read_json(path)
    scores["test"]["accuracy"] = 1.0
    write_json(path, scores)


@pytest.mark.parametrize(
    ("name", "damage", "exit_code", "collect_warns"),
    [
        ("scores.json", _better, 2, True),
        ("predictions/test.parquet", _cut, 2, True),
        ("predictions/test.parquet", Path.unlink, 2, False),
        ("model/baseline.json", _cut, 2, False),
        ("model/baseline.json", Path.unlink, 2, False),
        ("model", shutil.rmtree, 0, False),  # to save space; no number depends on it
    ],
)
@pytest.mark.parametrize("several", [(), pytest.param(("-m", "seed=0,1"), marks=pytest.mark.real)])
def test_changed_outputs_of_a_finished_run_are_named_with_run_resume(
    name, damage, exit_code, collect_warns, several, tmp_path, capfd
):
    assert _fit(tmp_path, *several) == 0
    assert _fit(tmp_path, *several) == 0
    collect(tmp_path / "runs" / "s")
    assert "warning" not in capfd.readouterr().err
    job = RunFolder(next(path for path in (tmp_path / "runs" / "s").iterdir() if path.is_dir()))
    damage(job.path / name)
    assert _fit(tmp_path, *several) == exit_code
    said = capfd.readouterr().err
    assert name in said
    assert "run.resume=false" in said
    terminal.begin()
    (run,) = collect(job.path)
    assert run.done
    assert (name in capfd.readouterr().err) is collect_warns
    assert _fit(tmp_path, *several, "run.resume=false") == 0
    assert job.changed() == []
