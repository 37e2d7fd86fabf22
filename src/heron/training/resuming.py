"""Which checkpoint a killed run resumes from."""

import os
from pathlib import Path

import torch

from heron.base.run_folder import RunFolder
from heron.base.terminal import say
from heron.training.checkpointing import damage


def resume_from(folder: RunFolder) -> Path | None:
    """Find the checkpoint of a run that has `last.ckpt`; None to begin at the start.

    If it or the best one is damaged, or the best one is missing, both are renamed: starting over
    takes longer and gives the same result.
    """
    checkpoints = [path for path in (folder.last, folder.best) if path.is_file()]
    found = {path: what for path in checkpoints if (what := damage(path))}
    is_missing = not found and len(checkpoints) == 1 and _has_chosen(folder.last)
    if not found and not is_missing:
        return folder.last
    for path in checkpoints:
        aside = path.with_suffix(".corrupt" if path in found else ".aside")
        os.replace(path, aside)
        if path in found:
            say(f"{path} is damaged ({found[path]}); put aside as {aside.name}, starting over")
    if is_missing:
        say(f"{folder.best} is missing, though an epoch has been chosen; starting over")
    return None


def _has_chosen(last: Path) -> bool:
    """Tell whether a training had chosen a best epoch, and so written `best.ckpt`."""
    stored = torch.load(last, map_location="cpu", weights_only=True, mmap=True)["callbacks"]
    return any(state.get("best_model_path") for state in stored.values())
