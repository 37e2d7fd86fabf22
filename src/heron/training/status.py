"""What `status.json` holds: a run's provenance, its heartbeat, and why it failed."""

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
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from heron.base.files import fingerprint, sha256_file
from heron.base.folders import VERSION, conf_dir, package
from heron.base.run_folder import HEAD, RunFolder
from heron.data.readers import every_set
from heron.data.sources import locate
from heron.models.config import EncoderConfig
from heron.tasks import BASELINES
from heron.tasks.config import Config

BEAT = 5.0  # seconds between heartbeats

_PACKAGES = ("torch", "pytorch-lightning", "transformers", "tokenizers", "hydra-core", "numpy")
_MACHINE_ERROR = re.compile(
    "memory|bad_alloc|new thread|no space left|file too large|quota exceeded|PytorchStreamWriter",
    re.IGNORECASE,
)


class Clock:
    """Seconds of work on a run, after those `spent` before; no setting of the system's counts."""

    def __init__(self, spent: float = 0.0):
        self.spent, self._started = spent, time.monotonic()

    def seconds(self) -> float:
        """Read the clock."""
        return round(self.spent + time.monotonic() - self._started, 1)


def source_hashes(config: Config) -> dict[str, str]:
    """Hash the files that a run is made from: data, and those of a local encoder or head.

    Returns:
        Hexadecimal SHA-256 by name, for `status.json`: `<split>` of the run's own data set,
        `<data set>.<split>` of its stages' and of those it is only tested on, `encoder`, `head`,
        `bertscore`, its `bertscore.baseline`, and keys that name runs or tables, such as
        `curriculum.dynamics`.
    """
    data_dir, cache_dir = Path(config.paths.data), Path(config.paths.cache)
    paths = locate(config.data, data_dir, cache_dir)
    for name, other in sorted(every_set(config).items()):
        found = {} if other is config.data else locate(other, data_dir, cache_dir)
        paths |= {f"{name}.{split}": path for split, path in found.items()}
    models = {"bertscore": EncoderConfig(config.task.bertscore.model or "")}
    if config.baseline.name != "none":
        paths |= BASELINES[config.baseline.name].sources(config)
    else:
        models["encoder"] = config.encoder
    if config.task.bertscore.baseline:
        paths["bertscore.baseline"] = Path(config.task.bertscore.baseline)
    if config.ckpt_path:
        paths["ckpt_path"] = checkpoint_to_train_on(config)
    if config.head.start:
        paths["head"] = Path(config.head.start) / HEAD
    hashes = {name: sha256_file(path) for name, path in paths.items() if path.is_file()}
    # What follows takes time to import.
    models = {name: each for name, each in models.items() if each.name and Path(each.name).is_dir()}
    if models:
        from heron.data.hub import identity

        hashes |= {name: fingerprint(identity(each)) for name, each in models.items()}
    if config.curriculum.dynamics is not None or config.curriculum.scores is not None:
        from heron.training.curriculum import dynamics_sources

        hashes |= dynamics_sources(config)
    if config.optim.soft.predictions or config.optim.suspects.dynamics:
        from heron.tasks.soft_targets import target_sources

        hashes |= target_sources(config)
    return hashes


def checkpoint_to_train_on(config: Config) -> Path:
    """Name the checkpoint that `ckpt_path` means, a file or a run folder's last one."""
    named = Path(config.ckpt_path or "")
    return RunFolder(named).last if named.is_dir() else named


def provenance() -> dict[str, Any]:
    """Describe the code and the machine."""
    import torch  # start-up time: a sweep's parent process does without

    from heron.base.libraries import processor

    return {
        "heron": VERSION,
        "git": git_state(),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "versions": {package: metadata.version(package) for package in _PACKAGES},
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
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
    if conf_dir().parent == package():
        return None  # installed; a repository around its environment is not heron's
    quiet: dict[str, Any] = {"text": True, "stderr": subprocess.DEVNULL, "timeout": 10}
    git: Any = partial(subprocess.check_output, cwd=package(), **quiet)
    questions = ("rev-parse HEAD", "status --porcelain", "diff HEAD")
    try:
        commit, changes, diff = (git(["git", *words.split()]) for words in questions)
    except (OSError, subprocess.SubprocessError):
        return None
    diff = fingerprint(diff) if diff else None
    return {"commit": commit.strip(), "dirty": bool(changes.strip()), "diff": diff}


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


def peak_rss_mb() -> float:
    """Read this process's largest resident memory so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 if sys.platform != "darwin" else 1024**2), 1)


def is_machine_error(error: BaseException | None) -> bool:
    """Tell whether memory, disk or network failed, so that the same command may succeed next time.

    Libraries wrap such errors in others, so all causes are looked at.
    """
    if error is None:
        return False
    if isinstance(error, OSError | MemoryError) or _MACHINE_ERROR.search(str(error)):
        return True
    return is_machine_error(error.__cause__ or error.__context__)
