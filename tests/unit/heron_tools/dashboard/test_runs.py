"""`heron runs` lists every sweep and run; `heron runs clean` removes only what is not needed."""

from __future__ import annotations

import json
import os

import pytest

from heron.base.files import dump_yaml, read_yaml
from heron.base.run_folder import HEAD, RunFolder
from made_up_runs import make_sweep
from small_runs import heron


@pytest.fixture
def runs(tmp_path):
    """Write a sweep within a folder of sweeps; its runs have checkpoints and most a model."""
    sweep = make_sweep(tmp_path / "runs" / "inner")
    for job in sweep.iterdir():
        run = RunFolder(job)
        for path in (run.last, run.best, run.model / HEAD):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(bytes(1000))
    return tmp_path / "runs"


def results(capsys, *words):
    capsys.readouterr()
    assert heron(*words, "json=true") == 0
    return json.loads(capsys.readouterr().out)


def test_every_run_and_sweep_is_listed_with_state_score_size_and_age(runs, capsys):
    of_runs, of_sweeps = (table["rows"] for table in results(capsys, "runs", runs)["tables"])
    jobs = {job.name: job for job in (runs / "inner" / "grid").iterdir()}
    assert {os.path.basename(row["run"]) for row in of_runs} == set(jobs)
    assert {row["state"] for row in of_runs} == {"done", "failed"}
    best = max(row["validation"] for row in of_runs if row["validation"])
    (sweep,) = of_sweeps
    assert sweep["validation"] == best
    files = [path for path in runs.rglob("*") if path.is_file()]
    assert sweep["MB"] == pytest.approx(sum(path.stat().st_size for path in files) / 1e6)
    assert heron("sweep", runs) == 2
    assert str(runs / "inner" / "grid") in capsys.readouterr().err


def test_cleaning_is_dry_by_default_and_spares_what_may_go_on(runs, capsys):
    done, keeps, without_model = list((runs / "inner" / "grid").glob("job 00[012]*"))
    config = read_yaml(keeps / "config.yaml")
    (keeps / "config.yaml").write_text(dump_yaml({**config, "run": {"keep_checkpoints": True}}))
    (RunFolder(without_model).model / HEAD).unlink()
    before = {path for path in runs.rglob("*") if path.is_file()}
    (table,) = results(capsys, "runs", "clean", runs)["tables"]
    assert {path for path in runs.rglob("*") if path.is_file()} == before

    assert heron("runs", "clean", runs, "dry=false") == 0
    removed = before - {path for path in runs.rglob("*") if path.is_file()}
    assert {str(path) for path in removed} == {row["file"] for row in table["rows"]}
    assert {RunFolder(done).last, RunFolder(done).best, RunFolder(without_model).last} <= removed
    kept = [RunFolder(without_model).best, RunFolder(keeps).last]
    for job in (runs / "inner" / "grid").iterdir():
        if RunFolder(job).state() == "failed":
            kept.append(RunFolder(job).last)
    assert removed.isdisjoint(kept)
    assert len(kept) == 4
