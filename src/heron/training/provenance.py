"""What a number came from: code, versions, data, machine."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import heron
from heron.base.files import fingerprint
from heron.base.folders import conf_dir

_PACKAGES = ("torch", "pytorch-lightning", "transformers", "tokenizers", "hydra-core", "numpy")


def provenance() -> dict[str, Any]:
    """Describe the code and the machine, for `status.json`."""
    import torch  # not above: a sweep's parent process reads its peak memory and needs no torch

    from heron import __version__

    return {
        "heron": __version__,
        "git": git_state(),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),  # another number adds in another order
        "versions": {package: metadata.version(package) for package in _PACKAGES},
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gb": _memory_gb(),
            "gpus": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
            "system": platform.system(),
        },
    }


def git_state() -> dict[str, Any] | None:
    """Name heron's commit, and what differs from it; None outside its repository.

    Returns:
        `commit`; `dirty`: whether files differ; `diff`: fingerprint of how tracked ones do, so that
        two runs of the same uncommitted code can be told from others.
    """
    if conf_dir().parent == Path(heron.__file__).resolve().parent:
        return None  # installed; a repository around its environment is somebody else's
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


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
