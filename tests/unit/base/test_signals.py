"""SIGTERM: a training saves, says that it was interrupted, and leaves with 143."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from heron.base import signals
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.signals import Deferred, Terminated, hold_sigterm, terminable
from heron.cli import main
from heron.sweeps.launch import run_planned
from heron.sweeps.sweep import Sweep
from heron.tasks.class_module import ClassificationModule
from heron.tasks.config import Config
from heron.training.run import Run
from small_runs import TINY, heron, in_folder

WORDS = ("run.job=tiny", "trainer.enable_progress_bar=false")
DONE = ("scores.json", "metrics.csv", "ledger.json", "model/model.safetensors")


def terminate(*_: object) -> None:
    signal.raise_signal(signal.SIGTERM)


def train(folder: Path) -> tuple[int, RunFolder]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heron.commands.train.report", lambda folder: None)
        code = heron("train", *TINY, *in_folder(folder), *WORDS)
    return code, RunFolder(folder / "runs" / "chronicle-relation" / "tiny")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    code, run = train(tmp_path_factory.mktemp("unbroken"))
    assert code == 0
    return run


def at_call(number: int) -> Callable[..., None]:
    """Make a hook that sends SIGTERM at its call of this number, and at the two after it."""
    calls = [0]

    def hook(*_: object) -> None:
        calls[0] += 1
        if number <= calls[0] <= number + 2:  # what is sent to a group comes more than once
            terminate()

    return hook


# An epoch has 8 steps; the tenth is not saved (its row is not written yet).
@pytest.mark.parametrize(
    ("hook", "call", "steps"),
    [
        pytest.param("on_train_batch_start", 1, 1, marks=pytest.mark.real),
        ("on_train_batch_start", 10, 10),
        ("on_validation_epoch_start", 1, 8),
        pytest.param("on_predict_epoch_start", 1, 16, marks=pytest.mark.real),
    ],
)
def test_sigterm_saves_says_interrupted_exits_143_and_the_same_command_goes_on(
    hook: str,
    call: int,
    steps: int,
    unbroken: RunFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(ClassificationModule, hook, at_call(call))
        code, run = train(tmp_path)
    assert code == 143
    assert signal.getsignal(signal.SIGTERM) is handler
    assert "interrupted; the same command resumes" in capsys.readouterr().err
    status = read_json(run.status)
    assert (status["state"], status["retry"]) == ("interrupted", True)
    assert torch.load(run.last, weights_only=True)["global_step"] == steps
    assert train(tmp_path)[0] == 0
    files = [*DONE, *(str(p.relative_to(unbroken.path)) for p in unbroken.path.glob("*/*.parquet"))]
    assert [
        name
        for name in files
        if (run.path / name).read_bytes() != (unbroken.path / name).read_bytes()
    ] == []


def test_a_training_that_cannot_save_in_time_ends_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signals, "_TO_SAVE", 0.05)
    sigterm = Deferred()
    sigterm.begin()
    try:
        terminate()
        assert sigterm.asked
        with pytest.raises(Terminated):
            signal.sigtimedwait([], 10)
    finally:
        sigterm.end()


def test_predict_stopped_by_sigterm_exits_143_and_keeps_what_was_there(
    unbroken: RunFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    rows.write_text("guid,text\na,[א1] ירד [/א1] ואז [א2] נפל [/א2].\n", "utf-8")
    out.write_text("before", "utf-8")
    monkeypatch.setattr(ClassificationModule, "on_predict_epoch_start", terminate)
    assert heron("predict", f"run={unbroken.path}", f"input={rows}", f"out={out}") == 143
    assert out.read_text("utf-8") == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "rows.csv"]
    assert "heron predict: interrupted; the same command begins again" in capsys.readouterr().err


def test_sigterm_to_a_group_is_raised_once_and_other_forks_die_of_it() -> None:
    with terminable():
        with pytest.raises(Terminated):
            terminate()
        terminate()  # its neighbours have passed it on
        child = os.fork()
        if not child:
            terminate()
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM


def test_sigterm_that_is_held_back_comes_afterwards() -> None:
    seen = []

    def work() -> None:
        with hold_sigterm():
            terminate()
            seen.append("whole")

    with terminable(), pytest.raises(Terminated):
        work()
    assert seen == ["whole"]


@pytest.mark.parametrize("name", ["evaluate", "report"])
def test_every_command_leaves_with_143(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        run = staticmethod(terminate)

    monkeypatch.setattr("importlib.import_module", lambda name: Module)
    assert main([name]) == 143


@pytest.fixture
def job(tmp_path: Path, chronicle_config: Callable[..., Config]) -> Run:
    folder = RunFolder(tmp_path / "sweep" / "job")
    folder.path.mkdir(parents=True)
    return Run(chronicle_config(), folder, ["seed=0"])


def test_an_interrupted_job_of_a_sweep_is_no_done_one_and_the_command_leaves_with_143(
    job: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(job: Run, *_: Any) -> int:
        job.folder.update_status(state="interrupted", error="Terminated: by SIGTERM", retry=True)
        return signals.INTERRUPTED

    reports: list[Any] = []
    monkeypatch.setattr(Run, "attempt", interrupted)
    job.config.run.isolate = False
    assert run_planned([job], [], reports.append) == 143
    assert reports == []
    printed = capsys.readouterr()
    assert "1 of 1 jobs interrupted; the same command resumes them" in printed.err
    assert Sweep().plan([job]) == [job], "the next command runs it"
