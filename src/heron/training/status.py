"""What `status.json` says of a run: its state, what it came from, and why it failed.

`pending` (planned by a sweep) -> `running` (with a heartbeat) -> `done`, `pruned`, `failed` or
`interrupted`. Where it says `running` while nobody holds the folder's lock, the process is gone,
and `RunFolder.state` says `failed`.
"""

import os
import platform
import re
import resource
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import heron
from heron.base.files import fingerprint
from heron.base.folders import conf_dir
from heron.base.run_folder import RunFolder
from heron.tasks.config import Config

BEAT = 5.0  # seconds between heartbeats

_MACHINE_ERROR = re.compile(
    "memory|bad_alloc|new thread|no space left|file too large|quota exceeded|PytorchStreamWriter",
    re.IGNORECASE,
)
_PACKAGES = ("torch", "pytorch-lightning", "transformers", "tokenizers", "hydra-core", "numpy")


class Clock:
    """Seconds of work on a run, over all its processes; setting the system's clock has no effect.

    `spent` are the seconds of earlier processes.
    """

    def __init__(self, spent: float = 0.0):
        self.spent = spent
        self._started = time.monotonic()

    def seconds(self) -> float:
        """Read the clock."""
        return round(self.spent + time.monotonic() - self._started, 1)


@contextmanager
def keep_heartbeat(folder: RunFolder, clock: Clock) -> Iterator[None]:
    """Update `heartbeat` and `seconds` in `status.json` every few seconds, from a thread."""
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


def is_finished(config: Config, status: Mapping[str, Any]) -> bool:
    """Tell whether a job is finished, by its `status.json`.

    A training that a search has ended early is finished for that search, and only while it prunes;
    for anybody else it was cut.
    """
    state, search = status.get("state"), config.sweeper
    if state != "pruned":
        return state in ("done", "failed")
    is_trial = search.trial is not None and search.pruner != "none"
    return is_trial and status.get("pruned_by") == search.study


def provenance() -> dict[str, Any]:
    """Describe the code and the machine."""
    import torch  # start-up time: a sweep's parent process does without

    from heron.base.libraries import processor

    return {
        "heron": heron.__version__,
        "git": git_state(),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "versions": {package: metadata.version(package) for package in _PACKAGES},
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "memory_gb": _memory_gb(),
            "gpus": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
            "system": platform.system(),
        },
    }


def git_state() -> dict[str, Any] | None:
    """Name heron's commit, and what differs from it; None outside its repository.

    Returns:
        `commit`; `dirty`: whether files differ; `diff`: fingerprint of the changes to tracked
        files, which tells runs of different uncommitted code apart.
    """
    if conf_dir().parent == Path(heron.__file__).resolve().parent:
        return None  # installed; a repository around its environment is not heron's
    try:
        commit, changes, diff = map(_git, ("rev-parse HEAD", "status --porcelain", "diff HEAD"))
    except (OSError, subprocess.SubprocessError):
        return None
    return {
        "commit": commit.strip(),
        "dirty": bool(changes.strip()),
        "diff": fingerprint(diff) if diff else None,
    }


def _git(words: str) -> str:
    folder = Path(__file__).parent
    return subprocess.run(
        ["git", *words.split()], cwd=folder, capture_output=True, text=True, check=True, timeout=10
    ).stdout


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3, 1)
    except (OSError, ValueError):
        return None


def peak_rss_mb() -> float:
    """Read this process's largest resident memory so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 if sys.platform != "darwin" else 1024**2), 1)


def failure(error: BaseException, seconds: float) -> dict[str, Any]:
    """Describe how a run ended, for `status.json`.

    Returns:
        `state`, `error` (class and message), `traceback` (its last 20 lines), `retry` (whether the
        same command tries again by itself), `seconds`, `peak_rss_mb`.
    """
    return {
        "state": "failed" if isinstance(error, Exception) else "interrupted",
        "seconds": seconds,
        "error": f"{type(error).__name__}: {error}",
        "traceback": "".join(traceback.format_exception(error)).splitlines()[-20:],
        "retry": not isinstance(error, Exception) or is_machine_error(error),
        "peak_rss_mb": peak_rss_mb(),
    }


def note_failure(folder: RunFolder, error: BaseException, clock: Clock) -> None:
    """Write the error that ended a sweep's job, unless its training has written it."""
    status = folder.read_status()
    text = f"{type(error).__name__}: {error}"
    if status.get("state") not in ("done", "pruned") and status.get("error") != text:
        try_update(folder, **failure(error, clock.seconds()))


def is_machine_error(error: BaseException | None) -> bool:
    """Tell whether memory, disk or network failed, so that the same command may succeed next time.

    Libraries wrap such errors in others, so all causes are looked at.
    """
    if error is None:
        return False
    if isinstance(error, OSError | MemoryError) or _MACHINE_ERROR.search(str(error)):
        return True
    return is_machine_error(error.__cause__ or error.__context__)
