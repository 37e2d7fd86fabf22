"""Versions, processor, accelerators, random generators and warnings of torch and others."""

import logging
import os
import platform
import random
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers.utils.logging import disable_progress_bar

from heron.base.files import fingerprint
from heron.base.folders import VERSION, conf_dir, package
from heron.base.ranks import threads

_PACKAGES = ("torch", "pytorch-lightning", "transformers", "tokenizers", "hydra-core", "numpy")


def processor(field: str = "model name") -> str:
    """Name this machine's processor, or its `vendor_id`."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if field in line:
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def has_accelerator(name: str) -> bool:
    """Tell whether this machine has `trainer.accelerator`; true for `auto` and `cpu`."""
    has_mps = torch.backends.mps.is_available()
    present = {
        "cuda": torch.cuda.is_available(),
        "gpu": torch.cuda.is_available() or has_mps,
        "mps": has_mps,
        "tpu": find_spec("torch_xla") is not None,
    }
    return present.get(name, True)


def provenance() -> dict[str, Any]:
    """Describe the code and the machine."""
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


@cache
def git_state() -> dict[str, Any] | None:
    """Name heron's commit, and what differs from it; None outside its repository.

    A process asks once, and a sweep's jobs do not: they have their server's code and its answer.

    Returns:
        `commit`; `dirty`: whether files differ; `diff`: fingerprint of the changes to tracked
        files, which tells runs of different uncommitted code apart.
    """
    if conf_dir().parent == package():
        # `conf` lies inside the package, so heron is installed: a git repository around the virtual
        # environment is not heron's.
        return None
    try:
        commit = _git("rev-parse", "HEAD").strip()
        changes = _git("status", "--porcelain").strip()
        diff = _git("diff", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None
    return {
        "commit": commit,
        "dirty": bool(changes),
        "diff": fingerprint(diff) if diff else None,
    }


def _git(*words: str) -> str:
    """Run git in heron's repository; returns what it prints."""
    return subprocess.check_output(
        ["git", *words], cwd=package(), text=True, stderr=subprocess.DEVNULL, timeout=10
    )


@contextmanager
def own_threads(count: int | None) -> Iterator[None]:
    """Run the block with `count` torch threads.

    None: as many as torch has now, at most `ranks.threads()`.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count or min(before, threads()))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def random_state() -> dict[str, Any]:
    """Capture every generator as tensors and plain values, so that no pickle is needed."""
    kind, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    keys_tensor = torch.from_numpy(np.asarray(keys, dtype=np.int64))
    version, internal, gauss_next = random.getstate()
    return {
        "torch": torch.get_rng_state(),
        # This process's own device only: another machine may have fewer, or none.
        "cuda": [torch.cuda.get_rng_state()] if torch.cuda.is_available() else [],
        "numpy": [kind, keys_tensor, position, has_gauss, gauss],
        "python": [version, list(internal), gauss_next],
    }


def restore_random_state(state: dict[str, Any]) -> None:
    """Set every generator to what `random_state` has captured."""
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"][0])
    kind, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), position, has_gauss, gauss))
    version, internal, gauss_next = state["python"]
    random.setstate((version, tuple(internal), gauss_next))


def silence_libraries() -> None:
    """Silence warnings of libraries that do not apply to heron."""
    for library in ("pytorch_lightning", "transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)
    for wanted in ("profilers", "callbacks.model_summary", "callbacks.timer"):
        logging.getLogger(f"pytorch_lightning.{wanted}").setLevel(logging.INFO)
    disable_progress_bar()  # of weights loading from local disk; training has its own
    for message in (
        "many workers",
        "eval mode",
        "logging interval",
        "LeafSpec",
        "dataloader is not resumable",  # `EpochPlan` is
        "Checkpoint directory",  # a resumed run's is not empty
        "Total length of `list`",  # a run without a validation split
        "sync_dist=True",  # scores are those of all processes already
        "`srun` command is available",  # heron starts its own processes
    ):
        warnings.filterwarnings("ignore", f".*{message}.*")
