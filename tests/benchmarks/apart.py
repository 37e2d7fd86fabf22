"""Processes of their own: heron's commands, and functions of benchmarks; what these need."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from heron.base.errors import HeronError

ROOT = Path(__file__).parents[2]


class AbsentError(HeronError):
    """What a benchmark needs is not there: it is skipped, which is no failure."""


def folder(variable: str, file: str) -> Path | None:
    """Take the folder that an environment variable names, if it holds a file."""
    found = Path(os.environ.get(variable) or "/nowhere").resolve()
    return found if (found / file).exists() else None


def needed(**files: str) -> list[Path]:
    """Take the folders that environment variables name.

    Raises:
        AbsentError: what is missing, and how to say where it is.
    """
    found = {variable: folder(variable, file) for variable, file in files.items()}
    absent = [f"set {each} to the folder of {files[each]}" for each in files if not found[each]]
    if absent:
        raise AbsentError("\n  ".join(absent))
    return [place for place in found.values() if place]


def call(module: str, *words: object, threads: int = 1) -> str:
    """Run `python -m module` in a fresh process, without a network; returns what it printed.

    Raises:
        HeronError: it failed; with the end of what it said.
    """
    paths = (
        str(ROOT),
        str(ROOT / "tests"),
        str(ROOT / "tests" / "helpers"),
        os.environ.get("PYTHONPATH", ""),
    )
    own = {
        "OMP_NUM_THREADS": str(threads),
        # A thread that spins while another is preempted burns the time it is measured by.
        "GOMP_SPINCOUNT": "1000",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    command = [sys.executable, "-m", module, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True)
    if done.returncode:
        raise HeronError(f"{' '.join(command[2:])} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def apart(work: Callable[..., Any], *given: Any, threads: int = 1) -> Any:
    """Call a function of a module in a fresh process; what it is given and returns is JSON."""
    words = (work.__module__, work.__name__, json.dumps(given, default=str))
    return json.loads(call("tests.benchmarks.apart", *words, threads=threads).splitlines()[-1])


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has ended, as a sweep's server; Linux."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def processor_seconds() -> float:
    """Read the processor time of all descendants so far, after waiting for their end."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    found = getattr(import_module(sys.argv[1]), sys.argv[2])(*json.loads(sys.argv[3]))
    print(json.dumps(found))
