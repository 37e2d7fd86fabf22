"""Workers take the jobs of a sweep from its folder: each is done once, and the command reports."""

from __future__ import annotations

import os
import pickle
import re
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heron.base.errors import ConfigError
from heron.base.files import locked, write_json
from heron.base.folders import conf_dir
from heron.base.run_folder import RunFolder
from heron.commands.train import run as train
from heron.config.schema import LauncherConfig
from heron.sweeps import launchers
from heron.sweeps.launchers.on_ray import _look_for
from heron.sweeps.launchers.slurm import make_executor, parameters
from heron.sweeps.launchers.worker import Worker
from heron.sweeps.study import _storage
from heron.training.status import heartbeat
from small_runs import TINY, in_folder
from small_sweeps import (
    jobs_of,
    meanwhile,
    states,
    statuses,
    sweep,
    trainings,
    wait_until,
    working,
)

LR = "optim.lr=tag(log,interval(1e-5,1e-1))"


class Inside:
    """Workers in this process, one after the other; each takes the jobs that are left for it.

    Args:
        after: called after each worker, with its number.
    """

    def __init__(self, after: Callable[[int], None] = lambda number: None):
        self.after = after
        self.ended: list[int] = []
        self.cancelled = False

    def start(self, worker: Worker, number: int, settings: LauncherConfig, place: Path) -> Inside:
        self.worker, self.number, self.place = worker, number, place
        assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE(place.parent.stat().st_mode)
        assert stat.S_IMODE(place.stat().st_mode) == 0o700, "pickles may hold secrets"
        (place / "0.pkl").write_bytes(b"")
        return self

    def working(self) -> bool:
        if len(self.ended) < self.number:
            self.ended.append(self.worker(len(self.ended)))
            self.after(len(self.ended) - 1)
        return len(self.ended) < self.number

    def errors(self) -> list[str]:
        return []

    def cancel(self) -> None:
        self.cancelled = True

    def names(self) -> list[str]:
        return [f"{self.number} workers"]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Train nothing; collects what would have been trained."""
    found: list[Any] = []

    def train(config: Any, folder: RunFolder, overrides: Any) -> dict[str, dict[str, float]]:
        found.append((config.seed, config.optim.lr))
        scores = {"validation": {config.trainer.monitor: config.optim.lr}}
        write_json(folder.scores, scores)
        return scores

    monkeypatch.setattr("heron.training.job._train_and_score", train)
    monkeypatch.setattr("heron.sweeps.sweep._LOOK", 0.01)
    monkeypatch.setattr("heron.sweeps.launchers._GRACE", 0.1)
    monkeypatch.setenv("SLURM_JOB_NAME", "bash")
    return found


def launch(
    monkeypatch: pytest.MonkeyPatch, folder: Path, engine: Inside, *words: str, n: int = 2
) -> int:
    """Run a sweep with workers inside this process."""
    monkeypatch.setattr("heron.sweeps.launchers.STARTERS", {"slurm": engine.start})
    monkeypatch.setattr("heron.sweeps.start.check_launcher", lambda settings: None)
    settings = ("launcher=slurm", "launcher.workers=2", "run.isolate=false")
    return sweep(folder, *settings, *words, n=n)


def test_every_job_is_done_once_and_the_same_command_skips_all(
    tmp_path: Path,
    ran: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = Inside()
    assert launch(monkeypatch, tmp_path, engine) == 0
    assert sorted(seed for seed, _ in ran) == [0, 1]
    assert states(tmp_path) == ["done"] * 2
    assert engine.ended == [2, 0]
    printed = capsys.readouterr().out
    assert "[2/2]" in printed
    assert "epoch" not in printed, "what workers print is in their logs"
    assert "worker 0: process" in (engine.place / "worker-0.log").read_text("utf-8")
    assert not list(engine.place.glob("*.pkl"))
    assert launch(monkeypatch, tmp_path, other := Inside()) == 0
    assert len(ran) == 2
    assert other.ended == []


def test_a_job_that_a_worker_leaves_cut_is_taken_up_by_the_next_worker(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(number: int) -> None:
        if number == 0:  # as if the first worker had been killed before its last job had ended
            jobs_of(tmp_path)[1].update_status(state="running")

    engine = Inside(cut)
    assert launch(monkeypatch, tmp_path, engine) == 0
    assert engine.ended == [2, 1]
    assert sorted(seed for seed, _ in ran) == [0, 1, 1]


def test_a_worker_that_is_started_again_waits_until_its_own_cut_job_counts_as_gone(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heron.base.run_folder.STALE", 0.3)

    def cut(number: int) -> None:
        if number == 0:  # it ran on another machine, which is gone
            beat = {**heartbeat(), "time": time.time(), "host": "elsewhere"}
            jobs_of(tmp_path)[1].update_status(state="running", heartbeat=beat)

    engine = Inside(cut)
    assert launch(monkeypatch, tmp_path, engine) == 0
    assert engine.ended == [2, 1]


def test_a_job_that_no_worker_ends_fails_the_command_and_goes_on_with_the_next(
    tmp_path: Path,
    ran: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def cut(number: int) -> None:
        jobs_of(tmp_path)[0].update_status(state="running")

    assert launch(monkeypatch, tmp_path, Inside(cut)) == 2
    assert "no worker has ended it (it is failed)" in capsys.readouterr().err
    assert launch(monkeypatch, tmp_path, Inside()) == 0
    assert states(tmp_path) == ["done"] * 2


def test_a_job_that_another_command_works_on_is_waited_for(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launch(monkeypatch, tmp_path, Inside()) == 0
    held = jobs_of(tmp_path)[0]
    held.update_status(state="running")
    began = threading.Event()

    def work() -> None:
        with locked(held.lock):
            began.set()
            time.sleep(0.3)
            held.update_status(state="done")

    monkeypatch.setattr("heron.sweeps.sweep.STALE", 0.0)  # the workers leave at once
    with meanwhile(work):
        began.wait(10)
        assert launch(monkeypatch, tmp_path, Inside()) == 0
    assert len(ran) == 2


def test_a_search_is_not_told_of_a_trial_that_nobody_has_ended(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("sweeper=optuna", LR, "sweeper.trials=2")

    def cut(number: int) -> None:
        jobs_of(tmp_path)[0].update_status(state="running")

    assert launch(monkeypatch, tmp_path, Inside(cut), *words, n=1) == 2
    storage = _storage(tmp_path / "runs" / "sweep")
    assert launch(monkeypatch, tmp_path, Inside(), *words, n=1) == 0
    (study,) = storage.get_all_studies()
    told = [trial.state.name for trial in storage.get_all_trials(study._study_id)]
    assert told == ["COMPLETE"] * 2, "none as failed"


def test_a_failure_is_not_tried_again_by_other_workers_but_by_the_next_command_when_asked(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []

    def train(config: Any, folder: RunFolder, overrides: Any) -> dict[str, Any]:
        attempts.append(config.seed)
        if config.seed == 1 and attempts.count(1) < 2:
            raise ValueError("a bug")
        folder.scores.write_text("{}")
        return {}

    monkeypatch.setattr("heron.training.job._train_and_score", train)
    assert launch(monkeypatch, tmp_path, Inside()) == 2
    assert sorted(attempts) == [0, 1]
    assert launch(monkeypatch, tmp_path, Inside()) == 2
    assert sorted(attempts) == [0, 1]
    assert launch(monkeypatch, tmp_path, Inside(), "run.retry=failed") == 0
    assert attempts[2:] == [1]


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_workers_share_a_search(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("sweeper=optuna", LR, "sweeper.trials=3")
    engine = Inside()
    assert launch(monkeypatch, tmp_path, engine, *words, n=1) == 0
    assert len({lr for _, lr in ran}) == 3
    assert engine.ended == [3, 0]
    assert (
        launch(monkeypatch, tmp_path, Inside(), "sweeper=optuna", LR, "sweeper.trials=4", n=1) == 0
    )
    assert len(ran) == 4


def test_no_file_of_workers_holds_a_secret_afterwards(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "hf_" + "a1B2" * 8

    def fail(config: Any, folder: RunFolder, overrides: Any) -> None:
        raise ValueError(f"no answer from {config.logger.project}")

    monkeypatch.setattr("heron.training.job._train_and_score", fail)
    engine = Inside(lambda number: (engine.place / "0.pkl").write_bytes(pickle.dumps(token)))
    assert launch(monkeypatch, tmp_path, engine, f"logger.project=https://me:{token}@a.org") == 2
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    logs = [path.read_text("utf-8") for path in files if path.name == "worker-0.log"]
    assert "no answer from https://***@a.org" in logs[0]
    assert [path for path in files if token.encode() in path.read_bytes()] == []


def test_ctrl_c_stops_the_workers(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(number: int) -> None:
        if not engine.worker.stop.exists():
            raise KeyboardInterrupt

    engine = Inside(press)
    assert launch(monkeypatch, tmp_path, engine) == 130
    assert engine.cancelled


def test_without_waiting_the_command_names_the_jobs_and_how_to_watch(
    tmp_path: Path,
    ran: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = Inside()
    assert launch(monkeypatch, tmp_path, engine, "launcher.wait=false") == 0
    assert f"heron sweep {tmp_path / 'runs' / 'sweep'} --watch" in capsys.readouterr().out
    assert states(tmp_path) == ["pending"] * 2
    assert engine.working()
    assert states(tmp_path) == ["done"] * 2


def test_the_last_worker_removes_what_was_pickled_and_one_that_is_queued_again_does_not(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Inside()
    assert launch(monkeypatch, tmp_path, engine, "launcher.wait=false") == 0
    with monkeypatch.context() as patch:
        patch.setattr("heron.sweeps.sweep.Sweep.take_part", lambda *_: sys.exit(-1))
        with pytest.raises(SystemExit):  # as submitit leaves a worker that is preempted
            engine.worker(1)
    assert engine.working()
    assert list(engine.place.glob("*.pkl")), "the worker that is queued again is read from it"
    assert not engine.working()
    assert not list(engine.place.glob("*.pkl"))


def test_the_next_command_removes_what_workers_have_left_pickled_once_they_are_over(
    tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, waiting = Inside(), Inside()
    assert launch(monkeypatch, tmp_path, gone, "launcher.wait=false") == 0
    while gone.working():
        pass
    result = gone.place / "1_0_result.pkl"  # written by the library after the worker's end
    result.write_bytes(b"")
    more = {"n": 3}
    assert launch(monkeypatch, tmp_path, waiting, "launcher.wait=false", **more) == 0
    assert not result.exists()
    assert launch(monkeypatch, tmp_path, Inside(), **more) == 0
    assert list(waiting.place.glob("*.pkl")), "nobody has said that its workers will not come"
    assert launch(monkeypatch, tmp_path, Inside(), **more) == 0
    assert not list(waiting.place.glob("*.pkl")), "there is nothing left for them to do"


@pytest.mark.parametrize("launcher", ["local", "joblib", "ray"])
def test_only_slurm_s_workers_outlive_the_command(
    launcher: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(tmp_path, f"launcher={launcher}", "launcher.wait=false") == 2
    assert "launcher.wait=false needs launcher=slurm" in capsys.readouterr().err


def test_joblib_is_another_name_for_jobs_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[bool, int]] = []

    def note(queue: Any, isolate: bool, n_jobs: int, retry: str) -> Any:
        asked.append((isolate, n_jobs))
        return SimpleNamespace(run=list)

    monkeypatch.setattr("heron.sweeps.start.Sweep", note)
    words = ("launcher=joblib", "launcher.workers=3", "run.n_jobs=2")
    assert sweep(tmp_path, *words, "run.isolate=null") == 0
    assert asked == [(True, 6)]
    assert sweep(tmp_path, "launcher=joblib", "run.isolate=false") == 2


@pytest.mark.parametrize("library", ["optuna", "ray", "submitit"])
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = conf_dir().parent
    known = (root / "requirements.txt").read_text() + (root / "pyproject.toml").read_text()
    (pin,) = set(re.findall(rf"\b{library}==[\d.]+", known))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=rf"needs {library}.*pip install {pin}"):
        launchers.require(library)


def test_slurm_is_asked_for_what_the_configuration_says(tmp_path: Path) -> None:
    submitit = pytest.importorskip("submitit")
    settings = LauncherConfig(
        partition="gpu", account="nlp", minutes=90, gpus=2, cpus=8, memory_gb=48,
        options={"constraint": "a100", "slurm_qos": "long", "setup": ["module load cuda"]},
    )  # fmt: skip
    executor = submitit.AutoExecutor(tmp_path, cluster="local")
    executor.update_parameters(**parameters(settings))  # known to submitit, all of them
    from submitit.slurm.slurm import SlurmExecutor, _make_sbatch_string

    words = {
        key.removeprefix("slurm_"): value
        for key, value in parameters(settings).items()
        if key.startswith("slurm_")
    }
    general = {key: v for key, v in parameters(settings).items() if not key.startswith("slurm_")}
    converted = SlurmExecutor._convert_parameters(SlurmExecutor.__new__(SlurmExecutor), general)
    script = _make_sbatch_string("command", tmp_path, **converted, **words, map_count=4)
    for line in (
        "--partition=gpu", "--account=nlp", "--time=90", "--gpus-per-node=2",
        "--cpus-per-task=8", "--mem=48GB", "--constraint=a100", "--qos=long", "--array=0-3%4",
    ):  # fmt: skip
        assert f"#SBATCH {line}\n" in script
    assert "module load cuda\n" in script


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (LauncherConfig(cluster="slurm"), "launcher.cluster=local tries it without SLURM"),
        (
            LauncherConfig(cluster="local", options={"constrain": "x"}),
            "launcher.options: .*constrain",
        ),
    ],
)
def test_what_slurm_cannot_do_is_refused(
    settings: LauncherConfig, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", str(tmp_path))  # no srun here
    with pytest.raises(ConfigError, match=message):
        make_executor(settings, tmp_path)


@pytest.mark.parametrize("sweeper", ["grid", "optuna"])
def test_what_cannot_be_started_leaves_the_earlier_results_that_were_to_be_cleared(
    sweeper: str,
    tmp_path: Path,
    ran: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for library in ("submitit", "ray"):
        pytest.importorskip(library)
    known = ("run.isolate=false", f"sweeper={sweeper}", "trainer.max_epochs=3")
    known += ("sweeper.trials=2",) if sweeper == "optuna" else ()
    assert sweep(tmp_path, *known) == 0
    files = [path for path in tmp_path.rglob("*.j*") if path.is_file()]
    before = [path.read_bytes() for path in files]
    monkeypatch.setenv("PATH", str(tmp_path))  # no srun here
    for words, message in (
        (("launcher=slurm", "launcher.cluster=slurm"), "launcher.cluster=local tries it without"),
        (("launcher=ray", "launcher.address=ray://127.0.0.1:9"), "no Ray answers"),
        (("trainer.devices=2",), "set run.isolate=null"),
        (("run.n_jobs=2",), "run.n_jobs above 1 needs processes"),
    ):
        assert sweep(tmp_path, *known, "run.resume=false", *words) == 2
        assert message in capsys.readouterr().err
    assert [path.read_bytes() for path in files] == before
    assert states(tmp_path) == ["done"] * 2


@pytest.mark.parametrize(
    "words",
    [("-m", "seed=0,1"), ("-m", "seed=0,1", "sweeper=optuna"), ("run.from=runs/sweep/job",)],
)
def test_under_torchrun_a_sweep_and_a_repetition_are_refused_before_anything_starts(
    words: tuple[str, ...], tmp_path: Path, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("TORCHELASTIC_RUN_ID", "x"), ("WORLD_SIZE", "2"), ("RANK", "0")):
        monkeypatch.setenv(name, value)
    settings = [*TINY, *in_folder(tmp_path)] if "-m" in words else []
    with pytest.raises(ConfigError, match="torchrun"):
        train([*settings, *words])
    assert not list(tmp_path.iterdir())


def test_a_ray_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match=r"ray://127\.0\.0\.1:9: no Ray answers"):
        _look_for("ray://127.0.0.1:9")
    for address in (None, "auto", "local"):
        _look_for(address)


REAL = ("run.isolate=true", "launcher.workers=2")
LAUNCHERS = {
    "slurm": ("launcher=slurm", "launcher.cluster=local", "launcher.gpus=0"),
    "ray": ("launcher=ray",),
}


@pytest.mark.slow
@pytest.mark.real  # whole commands, half a minute each: `make test-real` has the time
class TestRealWorkers:
    @pytest.mark.parametrize("name", LAUNCHERS)
    def test_four_jobs_are_trained_once_by_two_workers_and_skipped_afterwards(
        self, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip({"slurm": "submitit"}.get(name, name))
        words = (*LAUNCHERS[name], *REAL)
        assert sweep(tmp_path, *words, n=4) == 0
        assert states(tmp_path) == ["done"] * 4
        assert [trainings(job) for job in jobs_of(tmp_path)] == [1] * 4
        logs = [path.read_text("utf-8") for path in tmp_path.glob("runs/sweep/.launcher/*/*-?.log")]
        assert sum("epoch 1/" in log for log in logs) == 2, "both have worked"
        assert "has ended" not in capfd.readouterr().out
        assert sweep(tmp_path, *words, n=4) == 0
        assert [trainings(job) for job in jobs_of(tmp_path)] == [1] * 4

    @pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
    def test_a_worker_that_is_killed_costs_its_job_s_last_steps_only(
        self, sent: signal.Signals, tmp_path: Path
    ) -> None:
        words = (*LAUNCHERS["slurm"], *REAL, "trainer.checkpoint_steps=3")

        def kill() -> None:
            wait_until(lambda: working(tmp_path))
            (log,) = tmp_path.glob("runs/sweep/.launcher/*/worker-0.log")
            os.kill(int(log.read_text("utf-8").split()[3]), sent)

        with meanwhile(kill):
            assert sweep(tmp_path, *words, n=4) == 0, "the other worker does what is left"
        assert states(tmp_path) == ["done"] * 4

    def test_a_worker_that_is_preempted_is_queued_again_and_goes_on(self, tmp_path: Path) -> None:
        words = (*LAUNCHERS["slurm"], *REAL, "launcher.workers=1", "trainer.checkpoint_steps=3")

        def preempt() -> None:
            wait_until(lambda: working(tmp_path))
            (log,) = tmp_path.glob("runs/sweep/.launcher/*/worker-0.log")
            os.kill(int(log.read_text("utf-8").split()[3]), signal.SIGUSR2)

        with meanwhile(preempt):
            assert sweep(tmp_path, *words, n=2) == 0
        assert states(tmp_path) == ["done"] * 2
        (log,) = tmp_path.glob("runs/sweep/.launcher/*/worker-0.log")
        assert log.read_text("utf-8").count("worker 0: process") == 2
        assert all(status["retry"] is None for status in statuses(tmp_path))

    def test_a_search_is_shared_by_workers(self, tmp_path: Path) -> None:
        words = ("sweeper=optuna", LR, "sweeper.trials=4", *LAUNCHERS["slurm"], *REAL)
        assert sweep(tmp_path, *words, n=1) == 0
        assert states(tmp_path) == ["done"] * 4
        assert [trainings(job) for job in jobs_of(tmp_path)] == [1] * 4
