"""What `status.json` says while a run waits, works, ends, fails or is cut.

`pending` (planned by a sweep) -> `running` (with a heartbeat) -> `done`, `failed` or `interrupted`.
A folder that says `running` while nobody holds its lock was cut: its process is gone.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from heron.base.errors import HeronError
from heron.base.run_folder import RunFolder
from heron.config.schema import Config
from heron.training.provenance import peak_rss_mb

BEAT = 5.0  # seconds between heartbeats
STALE = 60.0  # seconds without one after which a process on another machine counts as gone

_OF_THE_MACHINE = re.compile(
    "memory|bad_alloc|new thread|no space left|file too large|quota exceeded|PytorchStreamWriter",
    re.IGNORECASE,
)

_OUT_OF_MEMORY = re.compile(r"out of memory|(can't|cannot) allocate|bad_alloc", re.IGNORECASE)


class Clock:
    """Seconds of work on a run, over all its processes; a clock set back does not shorten them.

    Args:
        spent: what earlier processes have spent on it.
    """

    def __init__(self, spent: float = 0.0):
        self.spent = spent
        self._started = time.monotonic()

    def seconds(self) -> float:
        """Read the clock."""
        return round(self.spent + time.monotonic() - self._started, 1)


class OutOfMemoryError(HeronError):
    """Memory, of the machine or of a device, was not enough for a run."""


@contextmanager
def naming_memory(config: Config, training: bool = True) -> Iterator[None]:
    """Say which keys make a run take less memory where it runs out; a baseline has none.

    Args:
        config: the run's.
        training: whether it trains; a trained run that predicts takes fewer keys.

    Raises:
        OutOfMemoryError: instead of what torch says.
    """
    try:
        yield
    except Exception as error:
        if not _is_out_of_memory(error):
            raise
        from heron.base.libraries import (
            precision,  # imports torch, which a sweep's parent does without
        )
        from heron.data.batching import budget

        text = str(error).strip().partition("\n")[0] or type(error).__name__
        if config.baseline.name != "none":
            raise OutOfMemoryError(f"out of memory ({text})") from error
        batching, settings = config.batching, config.trainer
        key = "size" if training and batching.plan == "shuffle" else "tokens"
        now = batching.size if key == "size" else budget(batching)
        also = "; twice optim.accumulate keeps a step" if training else ""
        less = [f"batching.{key}={max(1, now // 2)} (it is {now}{also})"]
        if key == "size":
            less.append(f"in evaluation batching.tokens (it is {budget(batching)})")
        if training and "16" not in precision(settings.precision):
            less.append("trainer.precision=bf16-mixed")
        if training and not config.encoder.gradient_checkpointing:
            less.append("encoder.gradient_checkpointing=true")
        fix = f"To use less, set: {'; '.join(less)}"
        raise OutOfMemoryError(f"out of memory ({text}). {fix}") from error


def _is_out_of_memory(error: Exception) -> bool:
    is_torch_s = isinstance(error, RuntimeError) and _OUT_OF_MEMORY.search(str(error))
    return isinstance(error, MemoryError) or bool(is_torch_s)


@contextmanager
def beating(folder: RunFolder, clock: Clock) -> Iterator[None]:
    """Keep `heartbeat` {time, pid, host} and `seconds` in `status.json` fresh, from a thread."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(BEAT):
            try_update(folder, heartbeat=heartbeat(), seconds=clock.seconds())

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def heartbeat() -> dict[str, Any]:
    """Sign of life: Unix time in seconds, process id, machine."""
    return {"time": round(time.time(), 1), "pid": os.getpid(), "host": socket.gethostname()}


def try_update(folder: RunFolder, **fields: Any) -> None:
    """Write to `status.json`; a full disk must not hide the error that is being reported."""
    try:
        folder.update_status(**fields)
    except OSError as error:
        print(f"heron train: {folder.status}: {error}", file=sys.stderr, flush=True)


def failure(error: BaseException, seconds: float) -> dict[str, Any]:
    """Describe how a run ended, for `status.json`.

    Returns:
        `state`, `error` (class and message), `traceback` (its last 20 lines), `retry` (whether the
        same command tries again unasked), `seconds`, `peak_rss_mb`.
    """
    return {
        "state": "failed" if isinstance(error, Exception) else "interrupted",
        "seconds": seconds,
        "error": f"{type(error).__name__}: {error}",
        "traceback": "".join(traceback.format_exception(error)).splitlines()[-20:],
        "retry": not isinstance(error, Exception) or is_of_the_machine(error),
        "peak_rss_mb": peak_rss_mb(),
    }


def note_failure(folder: RunFolder, error: BaseException, clock: Clock) -> None:
    """Write down what ended a sweep's job; a training that fails has written it itself."""
    status = folder.read_status()
    text = f"{type(error).__name__}: {error}"
    if status.get("state") not in ("done", "pruned") and status.get("error") != text:
        try_update(folder, **failure(error, clock.seconds()))


def killed(code: int) -> str:
    """Say for `error` how a process ended that could not; a negative exit code is a signal's."""
    if code >= 0:
        return f"Killed: exit code {code}"
    memory = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
    return f"Killed: by {signal.Signals(-code).name}{memory}"


def is_settled(config: Config, status: Mapping[str, Any]) -> bool:
    """Tell whether a job needs nobody any more, going by `status.json`.

    A training that a search has ended early is settled for that search, and only while it prunes;
    for anybody else it was cut.
    """
    state, search = status.get("state"), config.sweeper
    if state != "pruned":
        return state in ("done", "failed")
    is_trial = search.trial is not None and search.pruner != "none"
    return is_trial and status.get("pruned_by") == search.study


def is_of_the_machine(error: BaseException) -> bool:
    """Tell whether memory, disk or network failed, and the same command may do better next time.

    Libraries hide such errors in others: the whole chain is looked at.
    """
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, OSError | MemoryError) or _OF_THE_MACHINE.search(str(link)):
            return True
        link = link.__cause__ or link.__context__
    return False


def is_elsewhere(status: Mapping[str, Any]) -> bool:
    """Tell whether another machine works on a run, going by its heartbeat.

    Locks are released when a process dies, but not every network file system passes them on.
    """
    beat = status.get("heartbeat") or {}
    if status.get("state") != "running" or beat.get("host") in (None, socket.gethostname()):
        return False
    return abs(time.time() - float(beat.get("time", 0.0))) < STALE
