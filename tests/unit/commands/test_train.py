"""`heron train`: sweeps, and the same command said again."""

from __future__ import annotations

import json
import os
import shlex
import warnings
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import pytest

from heron.base.errors import HeronError
from heron.base.run_folder import RunFolder
from heron.cli import main
from heron.commands import demo
from heron.data.config import FileConfig
from heron.sweeps.grid import compose_jobs
from heron.sweeps.launch import plan_jobs
from heron.training.compose import compose
from heron.training.job import run_job
from heron.training.run_names import run_path
from heron.training.stored import read_own
from small_runs import TINY, heron, in_folder, train


def jobs_of(folder: Path) -> list[RunFolder]:
    return [RunFolder(path.parent) for path in folder.glob("*/config.yaml")]


class TestSweep:
    def test_grid_makes_one_run_folder_each_and_one_table(self, tmp_path):
        grid = (
            "-m",
            "head=ess,emp,seq_cls",
            "seed=0,1",
            "run.sweep=grid",
            "data.generator.size=100",
        )
        assert heron("train", *TINY, *in_folder(tmp_path), "trainer.max_epochs=1", *grid) == 0
        jobs = jobs_of(tmp_path / "runs" / "grid")
        assert {job.state() for job in jobs} == {"done"}
        configs = [read_own(job.config) for job in jobs]
        assert sorted((config.head.name, config.seed) for config in configs) == [
            (head, seed) for head in ("emp", "ess", "seq_cls") for seed in (0, 1)
        ]
        assert (tmp_path / "runs" / "grid" / "report.html").is_file()

    def test_a_grid_over_experiments_reports_all_of_them_with_the_experiment_as_a_column(
        self, tmp_path, capsys
    ):
        conf = tmp_path / "conf" / "experiment"
        conf.mkdir(parents=True)
        for name, head in (("one", "window"), ("two", "seq_cls")):
            lines = ("# @package _global_", "defaults:", f"  - override /head: {head}")
            (conf / f"{name}.yaml").write_text("\n".join(lines))
        words = (*TINY, *in_folder(tmp_path), "trainer.max_epochs=1", "data.generator.size=100")
        grid = ("--config-dir", conf.parent, "-m", "experiment=one,two", "seed=0,1")
        assert heron("train", *words, *grid) == 0
        printed = capsys.readouterr().out
        table = printed[printed.index("test: scores") :]
        sweeps = sorted((tmp_path / "runs").iterdir())
        assert [len(jobs_of(sweep)) for sweep in sweeps] == [2, 2]
        for name in ("one", "two"):
            (row,) = [line for line in table.splitlines() if line.startswith(f"{name} ")][:1]
            assert "2 done" in row
        for sweep in sweeps:
            assert (sweep / "report.html").is_file()
            assert f"{sweep}/report.html" in printed
        assert "heron compare" in printed

    def test_failing_jobs_leave_the_others_alone_and_are_named(self, tmp_path, capsys, monkeypatch):
        import heron.training.job as job

        run_job = job.run_job

        def out_of_memory(config: Any, *rest: Any) -> Any:
            if config.head.name == "emp" or config.encoder.max_length == 256:
                raise RuntimeError("not enough memory")
            return run_job(config, *rest)

        monkeypatch.setattr(job, "run_job", out_of_memory)
        words = (*TINY, *in_folder(tmp_path), "trainer.max_epochs=1", "run.sweep=grid", "-m")
        assert heron("train", *words, "head=ess,emp", "encoder.max_length=128,256") == 2
        states = sorted(job.state() for job in jobs_of(tmp_path / "runs" / "grid"))
        assert states == ["done", "failed", "failed", "failed"]
        errors = capsys.readouterr().err
        assert "3 of 4 jobs failed" in errors
        listed = errors.partition("3 of 4 jobs failed")[2]
        assert "head=ess, encoder.max_length=256" in listed
        assert "head=emp, encoder.max_length=128" in listed
        assert "head=ess, encoder.max_length=128\n" not in listed


class TestMistakes:
    def test_leave_what_was_in_the_folder_before(self, chronicle_config):
        config = chronicle_config()
        config.data.generator, config.data.files = None, {"train": FileConfig("absent.csv")}
        folder = RunFolder(Path(config.paths.runs) / "sweep" / "job")
        folder.last.parent.mkdir(parents=True)
        folder.last.write_bytes(b"hours of work, without config.yaml and status.json")
        with pytest.raises(HeronError, match=r"absent\.csv"):
            run_job(config, folder)
        assert folder.last.is_file()


class TestSameCommandAgain:
    def test_done_run_is_not_trained_again(self, tmp_path, monkeypatch):
        run = train(tmp_path, "trainer.max_epochs=1")
        scores, changed = run.scores.read_bytes(), run.best.stat().st_mtime_ns
        monkeypatch.setattr("heron.training.job._train_and_score", pytest.fail)
        train(tmp_path, "trainer.max_epochs=1")
        assert run.scores.read_bytes() == scores
        assert run.best.stat().st_mtime_ns == changed

    def test_resume_false_starts_over_and_spares_files_of_others(self, tmp_path):
        run = train(tmp_path)
        scores, notes = run.scores.read_bytes(), run.path / "notes.md"
        notes.write_text("mine")
        changed = run.best.stat().st_mtime_ns
        train(tmp_path, "run.resume=false", "trainer.max_epochs=1")
        assert run.best.stat().st_mtime_ns > changed
        assert run.scores.read_bytes() != scores
        assert not run.dynamics(1).exists(), "a file of the run before is still there"
        assert notes.read_text() == "mine"

    def test_interrupted_run_says_how_to_go_on_and_exits_130(self, tmp_path, monkeypatch):
        import signal

        from heron.tasks.class_module import ClassificationModule

        def press_ctrl_c(*_: object) -> None:
            signal.raise_signal(signal.SIGINT)

        # A suite that runs in the background is started with Ctrl+C ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        handler = signal.getsignal(signal.SIGINT)
        monkeypatch.setattr(ClassificationModule, "on_validation_epoch_start", press_ctrl_c)
        words = (*TINY, *in_folder(tmp_path), "run.job=tiny")
        assert heron("train", *words) == 130
        assert signal.getsignal(signal.SIGINT) is handler
        signal.signal(signal.SIGINT, before)
        status = json.loads(
            (tmp_path / "runs" / "chronicle-relation" / "tiny" / "status.json").read_text()
        )
        assert status["state"] == "interrupted"


def test_a_killed_worker_of_joblib_is_said_in_one_line(tmp_path, monkeypatch, capsys):
    def broken(*_: Any) -> None:
        raise BrokenExecutor("A worker process managed by the executor was terminated")

    monkeypatch.setattr("heron.commands.train.run_application", broken)
    assert main(["train", "-m", "hydra/launcher=joblib", "seed=0,1"]) == 2
    said = capsys.readouterr().err
    assert "worker was killed" in said
    assert "Traceback" not in said


def test_one_job_name_for_several_jobs_is_refused(tmp_path):
    found = compose_jobs(["-m", "seed=0,0,1", "run.job=x", *in_folder(tmp_path)])
    plan = plan_jobs(found)
    assert [job.config.seed for job in plan.jobs] == [0]
    assert len(plan.refused) == 1


def test_the_demo_names_commands_that_can_be_pasted_and_its_page_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words: list[str] = []
    monkeypatch.setattr("heron.commands.train.run", lambda given: words.extend(given) or 0)
    assert demo.run(["out=a b"]) == 0
    *_, page = lines = capsys.readouterr().out.splitlines()
    folder = str(run_path(compose(words), words))
    assert f"{folder}/report.html" in page
    typed = [shlex.split(line, comments=True) for line in lines if line.startswith("  heron")]
    assert [command for _, command, *_ in typed] == ["map", "noise", "train"]
    assert f"run={folder}" in typed[0]
    assert [*words, "head=window,ess,emp"] == typed[2][3:]


def test_a_user_is_told_of_a_cache_elsewhere_and_of_intervals_that_cannot_be(
    tmp_path, monkeypatch, capsys
):
    may, own = os.access, tmp_path / "own"
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HERON_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    monkeypatch.setattr("os.access", lambda path, how: path != "." and may(path, how))
    small = ("data.generator.size=100", "trainer.max_epochs=1")
    assert heron("train", *TINY, *small, f"paths.runs={tmp_path / 'runs'}") == 0
    assert (own / "heron" / "chronicle").is_dir()
    assert not Path("cache").exists()
    said = capsys.readouterr().err
    assert said.count(str(own)) == 1
    assert said.count("one document; see task.resample=row") == 2  # validation, test


def test_a_data_set_without_classes_is_refused_before_anything_is_computed(tmp_path, capsys):
    words = ("data=chronicle_nli", "data.label_order=[]", "data.label_aliases={}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert main(["train", *words, "encoder=scratch", f"paths.runs={tmp_path}"]) == 2
    assert "data.label_order" in capsys.readouterr().err
