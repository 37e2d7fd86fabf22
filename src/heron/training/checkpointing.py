"""`last.ckpt`, from which a killed run resumes exactly, and `metrics.csv`, whose rows are in it."""

from __future__ import annotations

import csv
import os
import pickle
import shutil
import signal
import time
import zipfile
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint, ModelCheckpoint
from pytorch_lightning.loggers import Logger
from pytorch_lightning.plugins.io import TorchCheckpointIO
from pytorch_lightning.strategies import FSDPStrategy

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import atomic_open
from heron.base.run_folder import RunFolder, checkpoint_of
from heron.base.secrets import redacted
from heron.base.signals import Deferred, Terminated
from heron.base.terminal import say
from heron.data.config import VALIDATION
from heron.metrics.names import is_minimised
from heron.tasks.config import Config, TrainerConfig, read

_SAME = ("data", "encoder", "head", "dynamics")  # what must not change when a run is continued
LOG_EVERY = 10  # optimizer steps between rows of `metrics.csv`
# Seconds of training that a kill may cost. A head on stored vectors needs fewer for all its epochs;
# a save after each of them would take a tenth of its time.
_AT_LEAST = 2.0


class WholeFiles(TorchCheckpointIO):
    """Writes every checkpoint to a temporary file beside it, which then replaces the old one.

    Lightning writes it to the system's temporary folder and copies it over the old one. On a full
    disk, that would leave half a checkpoint, no old one, and no room for `status.json`.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        """Write a checkpoint; a failure to write raises an OSError that names the path."""
        with atomic_open(path, "wb") as file:
            try:
                torch.save(checkpoint, file)
            except RuntimeError as error:
                # "unexpected pos": torch ends its archive although a write has failed.
                if isinstance(error.__context__, OSError):
                    raise error.__context__ from None
                raise


class LastCheckpoint(Checkpoint):
    """Saves at the end of epochs, within an epoch after some minutes or steps, and at SIGTERM.

    Lightning stores model, optimizer, schedule and loops, the module the random states; this adds
    the rows of `metrics.csv`. A kill during a save leaves the last checkpoint whole (`WholeFiles`).
    SIGTERM to one of several processes ends all of them.

    Args:
        folder: of the run.
        config: keys of `trainer`.
        history: the rows of `metrics.csv`.
        every_epoch: whether to save every epoch, however short.
    """

    def __init__(
        self, folder: RunFolder, config: TrainerConfig, history: History, every_epoch: bool = False
    ):
        self.folder = folder
        self.config = config
        self.history = history
        self.every_epoch = every_epoch
        self._saved_at = time.monotonic()
        self._saved_step = 0
        self._sigterm = Deferred()

    def state_dict(self) -> dict[str, Any]:
        """Store the rows of `metrics.csv`."""
        return {"history": self.history.rows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the rows of `metrics.csv`."""
        self.history.rows = list(state_dict["history"])

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Store that training has stopped early, which Lightning does not."""
        checkpoint["should_stop"] = trainer.should_stop

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Restore early stopping, and let Lightning find the best checkpoint in this folder."""
        if Path(trainer.ckpt_path or "") == self.folder.last:
            trainer.should_stop = checkpoint["should_stop"]

        # Lightning compares whole paths: it would remove the best checkpoint under another one.
        best = self.folder.best.resolve()
        if not best.is_file():
            return

        for state in checkpoint["callbacks"].values():
            if state.get("best_model_path"):  # Lightning drops the score where the folder differs
                state["dirpath"] = str(best.parent)
                scores = state["best_k_models"].values()
                state["best_k_models"] = {str(best): score for score in scores}
                state["best_model_path"] = state["kth_best_model_path"] = str(best)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """From now on, let SIGTERM end the run only after a checkpoint."""
        self._sigterm.begin()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """End the run if SIGTERM has come: the last epoch is saved and reported to the search."""
        if self._is_asked_to_end():
            raise self._terminated()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """End the run if SIGTERM has come, unless the search has ended the training anyway."""
        self._sigterm.end()
        if self._sigterm.asked and not ended_early(trainer):
            raise self._terminated()

    def on_exception(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException
    ) -> None:
        """Handle SIGTERM at once again."""
        self._sigterm.end()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save within an epoch when it is time, at a whole optimizer step."""
        loop: Any = trainer.fit_loop
        # Resumed from here, a run would leave out the validation that follows.
        validates = loop.epoch_loop._should_check_val_fx(loop._data_fetcher)
        whole_step = (batch_idx + 1) % trainer.accumulate_grad_batches == 0
        if not whole_step or trainer.is_last_batch or trainer.should_stop or validates:
            return

        is_asked_to_end = self._is_asked_to_end()
        if is_asked_to_end or self._is_due(trainer.global_step):
            rows = list(self.history.rows)
            if trainer.global_step % trainer.log_every_n_steps == 0:
                # Lightning logs this row after `on_train_batch_end`; a resumed run does not.
                metrics = {}
                for name, value in trainer.logged_metrics.items():
                    if not name.startswith(VALIDATION):
                        metrics[name] = value

                metrics["epoch"] = trainer.current_epoch
                self.history.log_metrics(metrics, trainer.global_step - 1)

            self._save(trainer)
            self.history.rows = rows

        if is_asked_to_end:
            raise self._terminated()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save when the epoch, its validation and its best checkpoint are done."""
        seconds = time.monotonic() - self._saved_at
        is_due = self.every_epoch or ranks.from_first(seconds >= _AT_LEAST)
        if is_due or self._is_asked_to_end():
            self._save(trainer)

    def _is_asked_to_end(self) -> bool:
        """Tell whether SIGTERM has come, to this process or another one of the training."""
        is_asked = torch.tensor(int(self._sigterm.asked is not None))
        return ranks.sum_over_ranks(is_asked).item() > 0

    def _terminated(self) -> Terminated:
        """Make the error that ends the run; it names the signal that came to this process."""
        return Terminated(self._sigterm.asked or signal.SIGTERM)

    def _is_due(self, step: int) -> bool:
        """Tell whether the time or the steps between two checkpoints are over."""
        if self.config.checkpoint_steps is not None:
            return step - self._saved_step >= self.config.checkpoint_steps
        if ranks.ranks() > 1 and step % LOG_EVERY != LOG_EVERY // 2:
            return False  # processes have to communicate: not after every step
        seconds = time.monotonic() - self._saved_at
        return ranks.from_first(seconds >= 60 * self.config.checkpoint_minutes)

    def _save(self, trainer: pl.Trainer) -> None:
        """Save `last.ckpt` and `metrics.csv`; the time limit of SIGTERM does not end a save."""
        if trainer.fast_dev_run and not isinstance(trainer.strategy, FSDPStrategy):
            return  # under FSDP, predictions are made from the whole model, which is saved here

        self._sigterm.saving = True
        if ranks.is_first():
            self.history.write()

        trainer.save_checkpoint(self.folder.last)
        self._sigterm.saving = False
        self._saved_at = time.monotonic()
        self._saved_step = trainer.global_step


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


def damage(path: Path) -> str | None:
    """Say how a checkpoint is damaged; None where it is intact.

    torch does not notice changed bytes; the file is a zip with a checksum for each part.
    """
    try:
        with zipfile.ZipFile(path) as file:
            part = file.testzip()
        if part is None:
            torch.load(path, map_location="meta", weights_only=True, mmap=True)["state_dict"]
    except (
        pickle.UnpicklingError,
        LookupError,
        TypeError,
    ):  # torch's message advises `weights_only=False`, which would run code from the file
        return "it holds something else than weights and plain values"
    except Exception as error:  # zipfile raises many kinds for what it cannot read
        return str(error) or type(error).__name__

    return f"{part} has another checksum" if part else None


def resume_from(folder: RunFolder, config: Config) -> Path | None:
    """Find the checkpoint to begin from: `last.ckpt`, or that of the run to continue, or None.

    If it or the best one is damaged, or the best one is missing, both are renamed: starting over
    takes longer and gives the same result.
    """
    last = folder.last
    best = folder.best
    if last.is_file():
        damages = {path: damage(path) for path in (last, best) if path.is_file()}
        if best not in damages and not damages[last]:
            states = _stored(last)["callbacks"].values()
            if any(state.get("best_model_path") for state in states):
                damages[best] = "it is missing, although last.ckpt names a best epoch"

        if not any(damages.values()):
            return last

        for path, reason in damages.items():
            if reason:
                say(f"{path} is damaged ({reason}); starting over", of_result=False)
            if path.is_file():
                os.replace(path, path.with_suffix(".corrupt"))

    return None if config.ckpt_path is None else _continue(folder, config)


def _stored(path: Path) -> Any:
    return torch.load(path, map_location="cpu", weights_only=True, mmap=True)


def _continue(folder: RunFolder, config: Config) -> Path:
    """Copy the records of the run to continue; returns its checkpoint.

    Raises:
        ConfigError: there is none, it is damaged or has only weights, the run had other data or
            another model, or it has no epoch left to train.
    """
    path = checkpoint_of(Path(config.ckpt_path or ""))
    epochs = 0
    reason = damage(path)
    model = path.parent.parent / "model"
    if model.is_dir() and not path.exists():
        reason = "a finished run keeps it under run.keep_checkpoints=true only; its weights alone: "
        reason += f"encoder.name={model} head.start={model}"
    if not reason:
        checkpoint = _stored(path)
        epochs = checkpoint["loops"]["fit_loop"]["epoch_progress"]["current"]["processed"]
        differing = _differing(checkpoint, config)
        if "optimizer_states" not in checkpoint:
            reason = "it has only weights; name the run or its last.ckpt"
        elif differing:
            reason = f"that run had another {', '.join(differing)}"
        elif config.trainer.max_steps is None and config.trainer.max_epochs <= epochs:
            reason = f"that run has trained {epochs} epochs; set trainer.max_epochs above it"

    if reason:
        raise ConfigError(f"ckpt_path={config.ckpt_path}: {path}: {reason}")

    run = RunFolder(path.parent.parent)
    records = []
    if path.name == run.last.name:  # another may be older than the best
        records.append(run.best)

    for epoch in range(epochs + 1):
        records += run.dynamics(0).parent.glob(f"epoch={epoch}[.,]*")

    for record in records:
        if record.is_file():
            target = folder.path / record.relative_to(run.path)
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(record, target)

    return path


def _differing(checkpoint: Mapping[str, Any], config: Config) -> list[str]:
    """List the keys of `_SAME` that differ from those that a checkpoint was trained with."""
    stored = checkpoint.get("hyper_parameters", {}).get("config")
    if not stored:
        return []

    before = read(stored).values()
    now = redacted(config.values())
    keys = []
    for part in _SAME:
        for key, value in now[part].items():
            if before[part][key] != value:
                keys.append(f"{part}.{key}")

    return keys


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint, tensors and plain values only.

    Raises:
        ConfigError: it is missing or damaged; the run then starts over when it is called again.
    """
    reason = damage(path)
    if reason:
        raise ConfigError(
            f"{path} is damaged ({reason}); given again, the same command starts over"
        )

    return dict(_stored(path))


def load_weights(module: pl.LightningModule, checkpoint: Mapping[str, Any]) -> None:
    """Load the weights of a checkpoint, as `read_checkpoint` returns it, into a module."""
    # A checkpoint has no weights of an encoder whose vectors are stored: the module keeps its own.
    weights = {}
    for name, tensor in module.state_dict().items():
        if name.startswith("encoder."):
            weights[name] = tensor
    module.load_state_dict(weights | checkpoint["state_dict"])


def ended_early(trainer: pl.Trainer) -> dict[str, Any] | None:
    """Return the epochs and the score at which a search ended the training; None if none has."""
    callbacks: list[Any] = trainer.callbacks
    for callback in callbacks:
        pruned = getattr(callback, "pruned", None)
        if pruned:
            return pruned
    return None


class History(Logger):
    """Collects logged metrics as rows and writes them as one CSV, atomically.

    The rows are stored in the checkpoint, so that a resumed run's file equals that of a run that
    was never stopped.
    """

    name = "metrics"
    version = ""  # the run folder names the run

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.rows: list[dict[str, float]] = []

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Add one row."""
        self.rows.append({"step": float(step or 0), **{k: float(v) for k, v in metrics.items()}})

    def values(self, metric: str) -> list[float]:
        """List what was logged under a name, in order."""
        return [row[metric] for row in self.rows if metric in row]

    def log_hyperparams(self, *args: Any) -> None:
        """Do nothing: `config.yaml` holds the configuration."""

    def finalize(self, status: str) -> None:
        """Write the file when training ends, however it ends."""
        if ranks.is_first():
            # An error while writing must not hide the error that has ended the training.
            with nullcontext() if status == "success" else suppress(OSError):
                self.write()

    def write(self) -> None:
        """Write all rows; columns in order of appearance, empty where a row has no value."""
        counts = ("epoch", "step")
        names = dict.fromkeys(name for row in self.rows for name in row)
        columns = [name for name in counts if name in names]
        columns += [name for name in names if name not in counts]

        with atomic_open(self.path) as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            for row in self.rows:
                cells = {name: int(v) if name in counts else v for name, v in row.items()}
                writer.writerow(cells)
