"""A run folder has one run in MLflow, however often it is killed and resumed.

MLflow is not installed for the tests: its client is one that remembers what it is asked.
"""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from pytorch_lightning.loggers import mlflow as lightning

from heron.base.files import is_locked
from heron.training.mlflow_logger import MLFlowFolderLogger

RUNS = {}
LOCKED = []


class MissingRunError(Exception):
    """MLflow's error for a run that its server does not have."""

    error_code = "RESOURCE_DOES_NOT_EXIST"


class Client:
    """The part of MLflow's client that Lightning calls."""

    runs: Path

    def __init__(self, tracking_uri):
        pass

    def get_experiment_by_name(self, name):
        LOCKED.append([is_locked(path) for path in self.runs.glob("*mlflow*.lock")])
        return SimpleNamespace(experiment_id=name, lifecycle_stage="active")

    def create_run(self, experiment_id, tags):
        run_id = f"run {len(RUNS)}"
        RUNS[run_id] = {"name": tags["mlflow.runName"], "params": [], "status": "RUNNING"}
        return self.get_run(run_id)

    def get_run(self, run_id):
        if RUNS[run_id]["status"] == "gone":
            raise MissingRunError("not found")
        stage = "deleted" if RUNS[run_id]["status"] == "deleted" else "active"
        return SimpleNamespace(
            info=SimpleNamespace(run_id=run_id, experiment_id="heron", lifecycle_stage=stage)
        )

    def update_run(self, run_id, status):
        RUNS[run_id]["status"] = status

    def set_terminated(self, run_id, status):
        RUNS[run_id]["status"] = status

    def log_batch(self, run_id, params):
        RUNS[run_id]["params"] += params


@pytest.fixture(autouse=True)
def mlflow(monkeypatch, tmp_path):
    Client.runs = tmp_path
    RUNS.clear()
    LOCKED.clear()
    names = {
        "mlflow": {"set_tracking_uri": lambda uri: None},
        "mlflow.exceptions": {"MlflowException": MissingRunError},
        "mlflow.tracking": {"MlflowClient": Client},
        "mlflow.entities": {"Param": lambda key, value: (key, value)},
        "mlflow.utils": {},
        "mlflow.utils.mlflow_tags": {"MLFLOW_RUN_NAME": "mlflow.runName"},
    }
    for name, content in names.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(lightning, "_MLFLOW_AVAILABLE", True)
    monkeypatch.setattr(lightning, "_get_resolve_tags", lambda: lambda tags: tags)


def opened(folder, uri="", **settings):
    logger = MLFlowFolderLogger(str(folder), uri or f"sqlite:///{folder.parent}/mlflow.db")
    logger.log_hyperparams({"seed": 0, **settings})
    return logger


def test_a_resumed_run_continues_its_mlflow_run(tmp_path):
    first = opened(tmp_path / "sweep" / "job")
    first.finalize("failed")
    again = opened(tmp_path / "sweep" / "job", progress="other")
    assert RUNS == {"run 0": {"name": "sweep/job", "params": [("seed", "0")], "status": "RUNNING"}}
    again.finalize("success")
    assert RUNS["run 0"]["status"] == "FINISHED"


def test_other_folders_and_servers_have_runs_of_their_own(tmp_path):
    opened(tmp_path / "sweep" / "one")
    opened(tmp_path / "sweep" / "two")
    opened(tmp_path / "sweep" / "two", "https://me:hunter2hunter2@example.org")
    assert [run["name"] for run in RUNS.values()] == ["sweep/one", "sweep/two", "sweep/two"]
    written = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert "hunter2" not in "".join(written)


@pytest.mark.parametrize("status", ["deleted", "gone"])
def test_a_run_that_somebody_deleted_is_begun_anew(status, tmp_path):
    opened(tmp_path / "sweep" / "job")
    RUNS["run 0"]["status"] = status
    again = opened(tmp_path / "sweep" / "job")
    assert again.run_id == "run 1"
    assert RUNS["run 1"]["params"] == [("seed", "0")]


@pytest.mark.parametrize("uri", ["https://example.org", "sqlite:///{}/mlflow.db"])
def test_one_process_at_a_time_makes_the_database_and_the_experiment(uri, tmp_path):
    for folder in ("sweep/one", "other/two"):
        opened(tmp_path / folder, uri.format(tmp_path))
    assert LOCKED == [[True], [True]]
