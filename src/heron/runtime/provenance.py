"""What a number came from: code, versions, data, machine."""

from __future__ import annotations

import platform
import resource
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("torch", "pytorch-lightning", "transformers", "tokenizers", "hydra-core", "numpy")


def provenance() -> dict[str, Any]:
    """Describe the code and the machine, for `status.json`."""
    from heron import __version__

    return {
        "heron": __version__,
        "git": git_state(),
        "python": platform.python_version(),
        "versions": {package: metadata.version(package) for package in _PACKAGES},
        "machine": {"processor": _processor(), "system": platform.system()},
    }


def git_state() -> dict[str, Any] | None:
    """Name the commit and whether files differ from it; None outside a repository."""
    folder = Path(__file__).parent
    try:
        commit, changes = (
            subprocess.run(
                ["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=10
            ).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain"])
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": bool(changes)}


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
