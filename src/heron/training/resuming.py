"""Which checkpoint a training begins from: its own after a kill, or that of a run to train on."""

import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.base.secrets import redacted
from heron.base.terminal import say
from heron.config.resolve import read
from heron.config.schema import Config
from heron.training.checkpointing import damage
from heron.training.claim import checkpoint_to_train_on

_SAME = ("data", "encoder", "head")  # what a run that is trained on must have as before


def resume_from(folder: RunFolder, config: Config) -> Path | None:
    """Find the checkpoint to begin from: `last.ckpt`, or that of the run to train on, or None.

    If it or the best one is damaged, or the best one is missing, both are renamed: starting over
    takes longer and gives the same result.
    """
    checkpoints = [path for path in (folder.last, folder.best) if path.is_file()]
    found = {path: what for path in checkpoints if (what := damage(path))}
    has_last = folder.last.is_file()
    is_missing = has_last and not found and len(checkpoints) == 1 and _has_chosen(folder.last)
    if has_last and not found and not is_missing:
        return folder.last
    for path in checkpoints:
        aside = path.with_suffix(".corrupt" if path in found else ".aside")
        os.replace(path, aside)
        if path in found:
            say(f"{path} is damaged ({found[path]}); put aside as {aside.name}, starting over")
    if is_missing:
        say(f"{folder.best} is missing, though an epoch has been chosen; starting over")
    return None if config.ckpt_path is None else _train_on(folder, config)


def _has_chosen(last: Path) -> bool:
    """Tell whether a training had chosen a best epoch, and so written `best.ckpt`."""
    states = _stored(last)["callbacks"].values()
    return any(state.get("best_model_path") for state in states)


def _stored(path: Path) -> Any:
    return torch.load(path, map_location="cpu", weights_only=True, mmap=True)


def _train_on(folder: RunFolder, config: Config) -> Path:
    """Copy what the run to train on has recorded; returns its checkpoint.

    Raises:
        ConfigError: there is none, it is damaged or has weights alone, the run had other data or
            another model, or it has no epoch left to train.
    """
    path, word = checkpoint_to_train_on(config), f"ckpt_path={config.ckpt_path}"
    if what := damage(path) if path.is_file() else "there is no such file":
        raise ConfigError(f"{word}: {path} cannot be read: {what}")
    stored = _stored(path)
    if "optimizer_states" not in stored:
        raise ConfigError(
            f"{word}: it has weights alone; name the run or its last.ckpt. "
            "encoder=RUN/model begins a new training with its weights"
        )
    now = redacted(asdict(config))
    known = stored.get("hyper_parameters", {}).get("config")
    before = asdict(read(known)) if known else now
    if differing := [f"{p}.{k}" for p in _SAME for k in now[p] if before[p][k] != now[p][k]]:
        raise ConfigError(f"{word}: that run had another {', '.join(differing)}")
    epochs = stored["loops"]["fit_loop"]["epoch_progress"]["current"]["processed"]
    if config.trainer.max_steps is None and config.trainer.max_epochs <= epochs:
        raise ConfigError(
            f"{word}: that run has trained {epochs} epochs; set trainer.max_epochs "
            "above it to train on"
        )
    run = RunFolder(path.parent.parent)
    wanted = [run.best] if path.name == run.last.name else []  # another may be older than the best
    for epoch in range(epochs + 1):
        wanted += run.dynamics(0).parent.glob(f"epoch={epoch}[.,]*")
    for source in filter(Path.is_file, wanted):
        target = folder.path / source.relative_to(run.path)
        target.parent.mkdir(exist_ok=True)
        shutil.copy2(source, target)
    return path
