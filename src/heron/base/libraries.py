"""Precision, accelerators and warnings of torch, Lightning and transformers."""

import logging
import warnings
from importlib.util import find_spec

import torch
from transformers.utils.logging import disable_progress_bar


def precision(name: str) -> str:
    """Resolve `auto`: bf16 autocast where the processor computes in it, else full precision."""
    if name != "auto":
        return name
    if torch.cuda.is_available():
        return "bf16-mixed" if torch.cuda.is_bf16_supported() else "16-mixed"
    has_bf16 = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return "bf16-mixed" if has_bf16 else "32-true"


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


def silence_libraries() -> None:
    """Silence warnings of libraries that do not apply to heron."""
    for library in ("pytorch_lightning", "transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)
    disable_progress_bar()  # of weights loading from local disk; training has its own
    for message in (
        "many workers",
        "eval mode",
        "logging interval",
        "LeafSpec",
        "dataloader is not resumable",  # `RestOfPlan` is
        "Checkpoint directory",  # a resumed run's is not empty
        "Total length of `list`",  # a run without a validation split
        "sync_dist=True",  # scores are those of all processes already
    ):
        warnings.filterwarnings("ignore", f".*{message}.*")
