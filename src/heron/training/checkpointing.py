"""`last.ckpt`: everything a killed run needs to go on as if nothing had happened."""

from __future__ import annotations

import os
import random
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint, ModelCheckpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import atomic_open
from heron.base.notices import say
from heron.base.run_folder import RunFolder
from heron.base.signals import Deferred, Terminated
from heron.config.schema import TrainerConfig
from heron.metrics.names import is_minimised
from heron.training.history import History
from heron.training.hooks import ended_early

LOG_EVERY = 10  # optimizer steps between rows of `metrics.csv`


class WholeFiles(TorchCheckpointIO):
    """Writes every checkpoint beside its place and moves it there: the one before stays until then.

    Lightning writes to the system's temporary folder and copies from there: where the disk is full,
    half of a checkpoint would be left, nothing of the one before, and no room for `status.json`.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        """Write a checkpoint.

        Raises:
            OSError: the disk is full, or another reason of the system's, with the path.
        """
        with atomic_open(path, "wb") as file:
            try:
                torch.save(checkpoint, file)
            except RuntimeError as error:
                # "unexpected pos": torch ends its archive although a write has failed.
                if isinstance(error.__context__, OSError):
                    raise error.__context__ from None
                raise


class LastCheckpoint(Checkpoint):
    """Saves at the end of every epoch, within one by the clock or by steps, and at SIGTERM.

    Lightning stores model, optimizer, schedule and loops; this adds the random states and the
    rows of `metrics.csv`. A kill during a save leaves the one before (`WholeFiles`). Of several
    processes, the random states of all are in it, and SIGTERM to any ends all.

    Args:
        folder: the run folder.
        config: `checkpoint_minutes` and `checkpoint_steps` say how often within an epoch.
        history: the rows of `metrics.csv`.
    """

    def __init__(self, folder: RunFolder, config: TrainerConfig, history: History):
        self.path = folder.last
        self.config = config
        self.history = history
        self._saved_at = time.monotonic()
        self._saved_step = 0
        self._random: dict[str, Any] | None = None
        self._sigterm = Deferred()

    def state_dict(self) -> dict[str, Any]:
        """Capture the random states and the history."""
        return {"random": ranks.gather(_random_state()), "history": self.history.rows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the history back now, the random states when the first batch starts."""
        self.history.rows = list(state_dict["history"])
        states = state_dict["random"]
        # A process more than there were before the cut begins with its own numbers (`OwnNumbers`).
        self._random = states[ranks.rank()] if ranks.rank() < len(states) else None

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Remember that training has stopped early, which Lightning forgets."""
        checkpoint["should_stop"] = trainer.should_stop

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """A run that had stopped early trains no further epoch."""
        trainer.should_stop = checkpoint["should_stop"]

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """From now on SIGTERM waits for a checkpoint."""
        self._sigterm.begin()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """End where SIGTERM has come: the epoch before is saved, and the search has heard of it."""
        if self._is_asked_to_end():
            raise Terminated

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """End where SIGTERM has come, unless the run is over with the training."""
        self._sigterm.end()
        if self._sigterm.asked and not ended_early(trainer):
            raise Terminated

    def on_exception(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException
    ) -> None:
        """Handle SIGTERM as before the training."""
        self._sigterm.end()

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Restore the random states as late as possible: setting up may have drawn numbers."""
        if self._random is not None:
            _restore_random_state(self._random)
            self._random = None

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Save within an epoch when it is time, at a whole optimizer step."""
        step = trainer.global_step
        last_batch = trainer.is_last_batch  # its checkpoint follows after validation
        whole_step = (batch_idx + 1) % trainer.accumulate_grad_batches == 0
        # Lightning logs a step after this hook: a checkpoint now would miss that row for good.
        logged_next = step % LOG_EVERY == 0
        if not whole_step or last_batch or logged_next:
            return
        ends = self._is_asked_to_end()
        if ends or self._is_due(step):
            self._save(trainer)
        if ends:
            raise Terminated

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save when the epoch, its validation and its best checkpoint are done."""
        self._save(trainer)

    def _is_asked_to_end(self) -> bool:
        """Tell whether SIGTERM has come, to this process or another one of the training."""
        return ranks.sum_over_ranks(torch.tensor(int(self._sigterm.asked))).item() > 0

    def _is_due(self, step: int) -> bool:
        if self.config.checkpoint_steps is not None:
            return step - self._saved_step >= self.config.checkpoint_steps
        if ranks.ranks() > 1 and step % LOG_EVERY != LOG_EVERY // 2:
            return False  # processes ask each other: not after every step
        due = time.monotonic() - self._saved_at >= 60 * self.config.checkpoint_minutes
        return ranks.from_first(due)

    def _save(self, trainer: pl.Trainer) -> None:
        self._sigterm.saving = True
        if ranks.is_first():
            self.history.write()
        trainer.save_checkpoint(self.path)
        self._sigterm.saving = False
        self._saved_at = time.monotonic()
        self._saved_step = trainer.global_step


class OwnNumbers(pl.Callback):
    """Gives every process its own random numbers, or all would drop the same units.

    The first keeps those of a training in one process. A resumed run takes its stored ones.

    Args:
        seed: the run's.
    """

    def __init__(self, seed: int):
        self.seed = seed

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Seed all processes but the first; models are built, with equal weights."""
        if ranks.rank():
            words = np.random.SeedSequence([self.seed, ranks.rank()]).generate_state(2)
            torch.manual_seed(int(words[0]) << 16 | int(words[1]) & 0xFFFF)


def best_checkpoint(folder: RunFolder, config: TrainerConfig) -> ModelCheckpoint:
    """Keep the weights of the epoch with the best `config.monitor` on validation."""
    return ModelCheckpoint(
        dirpath=folder.best.parent,
        filename=folder.best.stem,
        monitor=f"validation/{config.monitor}",
        mode="min" if is_minimised(config.monitor) else "max",
        save_weights_only=True,
        save_on_train_epoch_end=False,
        enable_version_counter=False,
    )


def resume_from(folder: RunFolder) -> Path | None:
    """Find the checkpoint to go on from; None to begin at the start.

    Where it or the best one is damaged, or the best one is missing, those that there are are put
    aside: a run without them takes longer and ends the same.
    """
    if not folder.last.is_file():
        return None
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


def damage(path: Path) -> str | None:
    """Say what is wrong with a checkpoint; None where it is whole.

    torch reads changed bytes without a word; the file is a zip with a checksum for each part.
    """
    try:
        with zipfile.ZipFile(path) as file:
            part = file.testzip()
    except Exception as error:  # zipfile raises many kinds for what it cannot read
        return str(error) or type(error).__name__
    return f"{part} has another checksum" if part else None


def load_weights(module: pl.LightningModule, path: Path) -> None:
    """Load a checkpoint's weights, tensors only.

    Raises:
        ConfigError: it is missing or damaged; the run then starts over when asked again.
    """
    what = damage(path)
    if what:
        raise ConfigError(
            f"{path} is damaged ({what}): nothing was scored. Give the same command again; the run "
            "starts over (run.resume=false does so in any case)"
        )
    stored = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
    # Of an encoder that was computed once, the checkpoint has no weights: it is as it was loaded.
    own = {k: v for k, v in module.state_dict().items() if k.startswith("encoder.")}
    has_encoder = any(key.startswith("encoder.") for key in stored)
    module.load_state_dict(stored if has_encoder else {**own, **stored})


def _random_state() -> dict[str, Any]:
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


def _restore_random_state(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"][0])
    kind, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), position, has_gauss, gauss))
    version, internal, gauss_next = state["python"]
    random.setstate((version, tuple(internal), gauss_next))
