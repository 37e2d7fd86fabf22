"""Weights & Biases without an account: one W&B run per job, no secret, no harm to a training."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import wandb
from wandb.wandb_agent import Agent

from heron.base import terminal
from heron.base.files import dump_yaml, read_json, write_json
from heron.base.run_folder import RunFolder
from heron.training import wandb_logger
from heron.training.checkpointing import History
from heron.training.wandb_logger import identity
from small_runs import TINY, compose, heron, in_folder
from wandb_files import Recorded, recorded_runs

SECRET = "0123456789abcdef" * 2 + "01234567"
PASSWORD = "hunter2hunter2"
ADDRESS = f"https://dana:{PASSWORD}@example.org"


@pytest.fixture(autouse=True)
def _user_with_a_key(monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_API_KEY", SECRET)
    monkeypatch.setenv("HF_TOKEN", SECRET[::-1])
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "wandb-data"))
    terminal.begin()
    wandb.teardown()  # W&B keeps the address of the test before


def train(folder: Path, *overrides: str) -> int:
    """Train with W&B beside `metrics.csv`; returns the exit code."""
    words = (*TINY, *in_folder(folder), "trainer.max_epochs=1", "logger=wandb", "run.sweep=grid")
    # More than ten steps: every tenth is logged.
    return heron("train", *words, "batching.tokens=400", *overrides)


def fast_job(folder: Path, *overrides: str) -> int:
    """Fit a baseline with W&B; takes a second."""
    words = (*in_folder(folder), "data.generator.size=160", "task.bootstrap=20", "run.sweep=grid")
    words += ("run.isolate=false",)  # what tests set would not reach a process of its own
    return heron("train", *words, "baseline=majority", "logger=wandb", *overrides)


@pytest.mark.slow
@pytest.mark.real  # takes too long for every change
def test_each_job_of_a_sweep_has_a_wandb_run_with_its_names_scores_and_files(
    tmp_path, monkeypatch, capfd
):
    for words in (["init", "-q"], ["remote", "add", "origin", f"{ADDRESS}/repo.git"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    planted = f"data.homepage='{ADDRESS}/?token={SECRET[::-1]}'"
    monkeypatch.setattr(sys, "argv", ["heron", "train", planted])
    assert train(tmp_path, "-m", "seed=0,1", planted, "logger.wandb.artifacts=true") == 0
    runs = recorded_runs(tmp_path / "runs")
    assert len({run.id for run in runs}) == len(runs) == 2
    for run in runs:
        (folder,) = (tmp_path / "runs" / "grid").glob(f"{run.name},*")
        assert run.name == f"seed={run.config['seed']}"  # what varies, nothing else
        _check_run(run, RunFolder(folder))
    secrets = (SECRET, SECRET[::-1], PASSWORD)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and ".git" not in path.parts]
    found = [p for p in files for s in secrets if s.encode() in p.read_bytes() or s in str(p)]
    assert found == []
    said = capfd.readouterr()
    assert not any(secret in said.out + said.err for secret in secrets)
    # The same command again: masked on disk and whole on the command line is the same run.
    assert train(tmp_path, "-m", "seed=0,1", planted, "logger.wandb.artifacts=true") == 0
    assert len(recorded_runs(tmp_path / "runs")) == 2


def _check_run(run: Recorded, folder: RunFolder) -> None:
    assert (run.project, run.group, run.kind, run.exit_code) == ("heron", "grid", "train", 0)
    tags = {"task:relation", "language:he", "encoder:scratch", "head:ess", "curriculum:none"}
    assert tags <= set(run.tags)
    assert read_json(folder.last.parent / "wandb.json")["id"] == run.id
    status, scores = read_json(folder.status), read_json(folder.scores)
    assert run.config["optim"]["lr"] == 1e-3
    assert run.config["provenance"]["git"] == status["git"]
    assert run.config["provenance"]["sources"] == status["sources"]
    logged = [row["validation/macro_f1"] for row in run.rows if "validation/macro_f1" in row]
    assert run.summary["validation/macro_f1"] == logged[-1]
    assert run.summary["validation/macro_f1/best"] == max(logged)
    assert run.summary["scores/test/macro_f1"] == scores["test"]["macro_f1"]
    assert run.summary["scores/validation/accuracy"] == scores["validation"]["accuracy"]
    assert run.summary["ledger/steps"] == read_json(folder.ledger)["total"]["steps"]
    assert any("train/loss" in row for row in run.rows)
    assert run.artifacts == {
        f"predictions-{run.id}": ["test.table.json", "validation.table.json"],
        f"data-map-{run.id}": ["map.png"],
    }


@pytest.mark.slow
@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_failed_job_closes_its_wandb_run_as_failed_and_the_next_command_goes_on_in_it(
    tmp_path, monkeypatch
):
    def fail(*_: Any) -> None:
        raise RuntimeError("a full disk")

    with monkeypatch.context() as patch:
        patch.setattr("heron.training.job.write_table", fail)
        assert train(tmp_path) == 2
    assert wandb.run is None
    assert train(tmp_path) == 0
    failed, done = recorded_runs(tmp_path / "runs")
    assert (failed.exit_code, done.exit_code) == (1, 0)
    assert failed.id == done.id
    assert "scores/test/macro_f1" in done.summary


@pytest.fixture(params=["refuses", pytest.param("answers 500", marks=pytest.mark.real)])
def endpoint(request):
    """Run a W&B server that is of no use; gives its address."""
    if request.param == "refuses":
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        yield f"http://127.0.0.1:{port}"
        return
    with HTTPServer(("127.0.0.1", 0), _Broken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Broken(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_error(500)

    do_GET = do_POST

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@pytest.mark.slow
def test_jobs_are_done_and_recorded_on_disk_where_the_server_is_of_no_use(
    endpoint, tmp_path, monkeypatch, capfd
):
    monkeypatch.setenv("WANDB_BASE_URL", endpoint)
    monkeypatch.setattr(wandb_logger, "INIT_SECONDS", 2.0)
    init, modes = wandb.init, list[str]()

    def note(*, mode: str, **words: Any) -> Any:
        modes.append(mode)
        return init(mode=mode, **words)  # type: ignore[arg-type]

    monkeypatch.setattr(wandb, "init", note)
    # In one process: what is replaced here would not reach others.
    assert fast_job(tmp_path, "logger.wandb.mode=online", "-m", "seed=0,1") == 0
    assert modes == ["online", "offline", "offline"], "the second job does not try again"
    said = capfd.readouterr().err
    assert said.count("W&B cannot be reached") == 1
    assert "wandb sync" in said
    assert SECRET not in said
    runs = recorded_runs(tmp_path / "runs")
    assert [run.kind for run in runs] == ["baseline", "baseline"]
    for run in runs:
        folder = RunFolder(next((tmp_path / "runs" / "grid").glob(f"{run.name}*")))
        assert folder.state() == "done"
        scores = read_json(folder.scores)
        assert run.summary["scores/test/macro_f1"] == scores["test"]["macro_f1"]
        assert "baseline:majority" in run.tags


def test_a_wandb_that_breaks_later_stops_nothing_and_is_said_once(tmp_path, monkeypatch, capsys):
    def broken(*_: Any, **__: Any) -> None:
        raise BrokenPipeError("the service has ended")

    config, folder = compose(tmp_path, "logger=wandb"), RunFolder(tmp_path / "runs" / "a" / "b")
    finish = wandb.finish
    with wandb_logger.wandb_run(config, folder):
        (logger,) = wandb_logger.wandb_logger(config, folder)
        logger.log_metrics({"train/loss": 1.0}, 1)
        monkeypatch.setattr(logger.experiment, "log", broken)
        monkeypatch.setattr(wandb, "finish", broken)
        logger.log_metrics({"train/loss": 1.0}, 2)
        logger.log_metrics({"train/loss": 1.0}, 3)
    finish()
    lines = capsys.readouterr().err.splitlines()
    assert len([line for line in lines if "W&B lacks some metrics" in line]) == 1
    assert len([line for line in lines if "W&B lacks what is not uploaded" in line]) == 1


def test_a_command_says_once_how_to_upload_what_is_on_disk(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert fast_job(tmp_path) == 0
    (said,) = re.findall("W&B: wandb sync (.*)", capsys.readouterr().out)
    (path,) = shlex.split(said)
    assert list(Path(path).glob("*.wandb"))
    assert fast_job(tmp_path, "-m", "run.sweep=several", "seed=1,2") == 0
    (said,) = re.findall("W&B: wandb sync (.*)", capsys.readouterr().out)
    assert len(list(Path().glob(os.path.relpath(said)))) == 2


def test_the_summary_has_the_last_and_the_best_of_each_score(tmp_path):
    config, folder = compose(tmp_path, "logger=wandb"), RunFolder(tmp_path / "runs" / "a" / "b")
    rows = [{"validation/loss": loss, "validation/accuracy": loss} for loss in (0.9, 0.5, 0.7)]
    with wandb_logger.wandb_run(config, folder):
        loggers = [History(folder.metrics), *wandb_logger.wandb_logger(config, folder)]
        for step, row in enumerate(rows):
            for logger in loggers:
                logger.log_metrics(row, step)
        loggers[0].write()
    (run,) = recorded_runs(tmp_path / "runs")
    assert run.summary["validation/loss"] == run.summary["validation/accuracy"] == 0.7
    assert run.summary["validation/loss/best"] == 0.5
    assert run.summary["validation/accuracy/best"] == 0.9


@pytest.mark.parametrize(("was_written", "rows"), [(False, [0, 1, 2]), (True, [2])])
def test_a_resumed_run_records_again_what_a_killed_process_had_not_written(
    tmp_path, was_written, rows
):
    config, folder = compose(tmp_path, "logger=wandb"), RunFolder(tmp_path / "runs" / "a" / "b")
    history = History(folder.metrics)
    with wandb_logger.wandb_run(config, folder):
        (logger,) = wandb_logger.wandb_logger(config, folder)
        for step in (0, 1):
            for one in (logger, history):
                one.log_metrics({"train/loss": float(step)}, step)
    history.write()
    (killed,) = folder.path.rglob("*.wandb")
    if not was_written:
        killed.write_bytes(killed.read_bytes()[:7])
    resumed = killed.parent.with_name(f"offline-run-20010101_000000-{killed.stem[4:]}")
    killed.parent.rename(resumed)

    with wandb_logger.wandb_run(config, folder):
        (logger,) = wandb_logger.wandb_logger(config, folder)
        logger.log_metrics({"train/loss": 2.0}, 2)
    run = recorded_runs(tmp_path / "runs")[-1]
    assert [row["train/loss"] for row in run.rows] == rows


def test_starting_over_or_in_another_project_is_another_wandb_run(tmp_path):
    config, folder = compose(tmp_path, "logger=wandb"), RunFolder(tmp_path / "runs" / "a" / "b")
    first, again, other = (wandb_logger._run_id(config, folder, name) for name in ("a", "a", "b"))
    folder.clear()
    assert first == again
    assert len({first, other, wandb_logger._run_id(config, folder, "b")}) == 3


def test_runs_are_named_by_what_they_are_for(tmp_path):
    job = tmp_path / "grid" / "head=ess"
    plain = compose(tmp_path)
    assert identity(plain, RunFolder(job))["job_type"] == "train"
    stage = identity(plain, RunFolder(job / "stages" / "1-chronicle"))
    assert (stage["group"], stage["name"], stage["job_type"]) == (
        "grid",
        "head=ess/1-chronicle",
        "stage",
    )


def test_a_job_of_a_sweep_is_named_by_what_varies_and_has_it_flat(tmp_path):
    config = compose(tmp_path, "logger=wandb", "optim.lr=0.5", "head=emp")
    folder = RunFolder(tmp_path / "runs" / "grid" / "head=emp,optim.lr=0.5,seed=3-1234")
    swept = {"hydra": {"sweeper": {"swept": ["optim.lr", "head"]}}}
    folder.path.mkdir(parents=True)
    (folder.path.parent / "multirun.yaml").write_text(dump_yaml(swept), "utf-8")
    folder.update_status(overrides=["seed=3", "optim.lr=0.5", "head=emp"])
    with wandb_logger.wandb_run(config, folder):
        pass
    (run,) = recorded_runs(tmp_path / "runs")
    assert (run.group, run.name) == ("grid", "head=emp,optim.lr=0.5")
    assert run.config["optim.lr"] == run.config["optim"]["lr"] == 0.5
    assert run.config["head"]["name"] == "emp"


def test_the_run_that_a_curriculum_learns_from_is_told_apart(tmp_path, monkeypatch):
    config = compose(tmp_path, "logger=wandb")
    outer, inner = (RunFolder(tmp_path / "runs" / "grid" / name) for name in ("cart", "first"))
    for folder in (outer, inner):
        write_json(folder.scores, {"test": {"macro_f1": 0.5}})
    with wandb_logger.wandb_run(config, outer), wandb_logger.wandb_run(config, inner):
        pass
    kinds = {run.name: run.kind for run in recorded_runs(tmp_path / "runs")}
    assert kinds == {"cart": "train", "first": "first-run"}


# Key of `logger`: variable of W&B's environment, what a recorded run calls it.
NAMED = {
    "project": ("WANDB_PROJECT", "project"),
    "entity": ("WANDB_ENTITY", "entity"),
    "group": ("WANDB_RUN_GROUP", "group"),
    "name": ("WANDB_NAME", "name"),
    "job_type": ("WANDB_JOB_TYPE", "kind"),
    "notes": ("WANDB_NOTES", "notes"),
    "tags": ("WANDB_TAGS", "tags"),
}


@pytest.mark.parametrize("said", ["nothing", "environment", "command line"])
def test_the_environment_names_a_wandb_run_and_the_command_line_wins_over_it(
    said, tmp_path, monkeypatch
):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    words, expected = ["logger=wandb"], {"project": "heron", "group": "grid", "name": "job"}
    for key, (variable, recorded) in NAMED.items() if said != "nothing" else ():
        monkeypatch.setenv(variable, f"env-{key},b" if key == "tags" else f"env-{key}")
        expected[recorded] = f"env-{key}"
        if said == "command line":
            words.append(
                f"logger.wandb.{key}=[own-tags,b]"
                if key == "tags"
                else f"logger.wandb.{key}=own-{key}"
            )
            expected[recorded] = f"own-{key}"
    config, folder = compose(tmp_path, *words), RunFolder(tmp_path / "runs" / "grid" / "job")
    with wandb_logger.wandb_run(config, folder):
        pass
    (run,) = recorded_runs(tmp_path / "runs")  # offline, unless something says otherwise
    tags = expected.pop("tags", None)
    assert {name: getattr(run, name) for name in expected} == expected
    assert run.tags == ([tags, "b"] if tags else identity(config, folder)["tags"])


def test_wandb_mode_of_the_environment_wins_over_offline(tmp_path, monkeypatch):
    job = RunFolder(tmp_path / "grid" / "job")
    monkeypatch.delenv("WANDB_MODE", raising=False)
    config = compose(tmp_path, "logger=wandb")
    assert identity(config, job)["mode"] == "offline"
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert identity(config, job)["mode"] == "disabled"
    config.logger["wandb"]["mode"] = "online"
    assert identity(config, job)["mode"] == "online"


def test_a_run_of_a_few_batches_leaves_no_wandb_run(tmp_path):
    assert train(tmp_path, "trainer.fast_dev_run=true") == 0
    assert wandb.run is None
    assert recorded_runs(tmp_path) == []


@pytest.fixture
def agent(monkeypatch, tmp_path):
    """Call what W&B's agent would call for a point, with the variables that it sets."""
    for name in ("WANDB_DIR", "WANDB_RUN_ID", "WANDB_SWEEP_PARAM_PATH"):
        monkeypatch.setenv(name, "")  # as before, after the test
        monkeypatch.delenv(name)
    monkeypatch.setenv("WANDB_SWEEP_ID", "sweep123")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    called: list[list[str]] = []

    def note(command: list[str], **_: Any) -> Any:
        called.append(command)
        return SimpleNamespace()

    monkeypatch.setattr("wandb.wandb_agent.AgentProcess", note)

    def point(run_id: str, form: str = "${args_no_hyphens}", **more: Any) -> int:
        agent = Agent(None, None)
        fixed = [*in_folder(tmp_path), "data.generator.size=160", "task.bootstrap=0"]
        fixed += ["run.isolate=false", "run.sweep=grid"]
        agent._sweep_command = ["${env}", "heron", "train", *fixed, form]
        values = {key.replace("__", "."): {"value": value} for key, value in more.items()}
        agent._command_run({"run_id": run_id, "program": "heron", "args": values})
        wandb.teardown()  # each point is a process
        _, program, *words = called[-1]
        assert program == "heron"
        return heron(*words)

    return point


@pytest.mark.parametrize("form", ["${args_no_hyphens}", "${args}"])
def test_each_point_of_wandbs_agent_is_its_run_even_a_repeated_one(form, agent, tmp_path):
    swept = {"task__max_answer_tokens": 20, "seed": 3, "baseline": "majority", "report": None}
    for run_id in ("first111", "again222", "again222"):
        assert agent(run_id, form, **swept) == 0
    again, first = sorted(
        recorded_runs(tmp_path / "wandb"), key=attrgetter("id")
    )  # where the agent says
    assert (first.id, again.id, first.sweep, again.sweep) == (
        *("first111", "again222"),
        *("sweep123", "sweep123"),
    )
    for run in (first, again):
        assert (run.group, run.name) == (
            "grid",
            "baseline=majority,seed=3,task.max_answer_tokens=20",
        )
        assert {"seed": 3, "task.max_answer_tokens": 20}.items() <= run.config.items()
        assert run.config["optim"]["lr"] > 0
        assert run.exit_code == 0
    scores = [{k: v for k, v in run.summary.items() if k[0] != "_"} for run in (first, again)]
    assert scores[0] == scores[1]
    assert 0 <= first.summary["scores/validation/macro_f1"] <= 1


@pytest.mark.slow
def test_a_repeated_point_has_the_curves_that_the_sweep_looks_at(agent, tmp_path):
    tiny = dict(word.replace(".", "__").split("=") for word in TINY if "isolate" not in word)
    swept = {**tiny, "trainer__monitor": "validation/macro_f1", "curriculum": "cart_cl"}
    for run_id in ("first111", "again222"):
        assert agent(run_id, **swept) == 0
    again, first = sorted(
        recorded_runs(tmp_path / "wandb"), key=attrgetter("id")
    )  # none of the run that it learns from
    assert read_json(next(tmp_path.glob("runs/grid/*/checkpoints/wandb.json")))["id"] == again.id
    name = "validation/macro_f1"
    curves = [[row[name] for row in run.rows if name in row] for run in (first, again)]
    assert curves[0] == pytest.approx(curves[1])
    assert len(curves[0]) == 2
    assert first.summary[name] == pytest.approx(curves[0][-1]) == again.summary[name]
