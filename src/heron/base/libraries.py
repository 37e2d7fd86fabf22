"""Processor, accelerators and warnings of torch, Lightning and transformers."""

import logging
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers.utils.logging import disable_progress_bar

from heron.base.ranks import threads


def processor(field: str = "model name") -> str:
    """Name this machine's processor, or its `vendor_id`."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if field in line)
    except (OSError, StopIteration):
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


@contextmanager
def own_threads(count: int | None) -> Iterator[None]:
    """Give the block `count` threads; by default torch's, at most those of the cores it may use."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or min(before, threads()))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def silence_libraries() -> None:
    """Silence warnings of libraries that do not apply to heron."""
    for library in ("pytorch_lightning", "transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)
    for asked in ("profilers", "callbacks.model_summary", "callbacks.timer"):
        logging.getLogger(f"pytorch_lightning.{asked}").setLevel(logging.INFO)
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
    ):
        warnings.filterwarnings("ignore", f".*{message}.*")
