"""`Output`, `Predictions` and `TaskModule`: what every task shares.

Shape suffixes: R rows, K recorded values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.optim.lr_scheduler import LambdaLR

from heron.base import ranks
from heron.base.errors import ConfigError, HeronError
from heron.base.registry import on_demand
from heron.config.schema import Config
from heron.data.collate import Batch
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.metrics.intervals import score_intervals
from heron.models.encoder import Encoder
from heron.models.optim import build_optimizer, build_schedule

# Training builds on tasks; a module only names the function that opens a finished run.
_load_checkpoint = on_demand("heron.training.inference:load_checkpoint")
# What every task observes of a training row; classification adds its logits.
OBSERVED = ("p_gold", "correct", "margin")


class Output(Protocol):
    """What one forward pass leaves for the recorder, the scores and the predictions."""

    @property
    def loss(self) -> Tensor | None:
        """Mean over the batch, or None without labels.

        Of a divided batch, such that the mean over the processes is the whole batch's loss, and so
        with the gradients.
        """

    @property
    def labels_R(self) -> Tensor:
        """Class ids, or `UNLABELLED`, int64."""

    @property
    def rows_R(self) -> Tensor:
        """Index of each row in its `Features`, int64; `Features.guids` names it."""

    def to(self, device: torch.device | str) -> Output:
        """Copy to a device, without gradients; Lightning calls this."""


class Predictions(Protocol):
    """A split's predictions, in the order of its file; refused rows are absent."""

    @property
    def guids(self) -> list[str]:
        """One per row."""

    def scores(self, config: Config) -> dict[str, float]:
        """Score the labelled rows: `{"<metric>": fraction}`, intervals as configured."""

    def columns(self, examples: Sequence[Example], config: Config) -> dict[str, Any]:
        """Lay out `predictions/<split>.parquet`; `examples` hold the texts."""

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """Lay out the columns that `heron predict` writes for a file."""

    def lines(self, config: Config) -> list[str]:
        """Show the prediction of one example, as `heron predict text=...` prints it."""


class KeptParts(Protocol):
    """What a module has predicted of a split, kept until the split is done."""

    @property
    def callback(self) -> pl.Callback:
        """Keeps the outputs of each batch."""

    def read(self) -> list[Any]:
        """Read the outputs that earlier processes have left."""

    def rows(self, outputs: Sequence[Any]) -> np.ndarray:
        """List the rows that some outputs are of, int64."""

    def remove(self) -> None:
        """Remove what is kept."""


class Baseline(Protocol):
    """A system without a trained encoder."""

    @property
    def notes(self) -> dict[str, Any]:
        """What is to be known about the fit, JSON; lines to print under `warnings`."""

    def predict(self, examples: Sequence[Example], config: Config) -> Predictions:
        """Predict every example, in the given order."""

    def save(self, folder: Path) -> None:
        """Write what is needed to predict again into a run's `model/`."""


def intervals_of_means(
    values: Mapping[str, np.ndarray], groups: Sequence[str], config: Config
) -> dict[str, float]:
    """Draw the bootstrap intervals that `task.bootstrap` and `task.resample` ask for.

    Args:
        values: each item's scores, float64 [N] by name.
        groups: the document of each item, N.
        config: the run's.
    """
    if not config.task.bootstrap:
        return {}
    by_group = groups if config.task.resample == "group" else None
    return score_intervals(values, by_group, resamples=config.task.bootstrap)


class TaskModule(pl.LightningModule):
    """An encoder, a head and their optimizer; tasks add the loss and the scores.

    Args:
        config: the run's configuration.
        encoder: see `Encoder`.
        head: maps encoder states and batch to outputs.
        total_steps: optimizer steps of the whole run, for the schedule.
        weights_C: class weights in the loss, for tasks with classes, or None.
    """

    weights_C: Tensor | None

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        head: nn.Module,
        total_steps: int,
        weights_C: Tensor | None = None,
    ):
        super().__init__()
        self.register_buffer("weights_C", weights_C, persistent=False)
        self.config = config
        self.encoder = encoder
        self.head = head
        self.total_steps = total_steps
        self.schedule: LambdaLR | None = None
        # A strategy may cut parameters into flat parts, before the optimizer is built.
        self.matrices = frozenset(id(p) for p in self.parameters() if p.ndim > 1)

    def logits(self, batch: Batch) -> Any:
        """Score what can be predicted, in the task's own form; means of several are logits too."""
        raise NotImplementedError

    def mean(self, several: Sequence[Any]) -> Any:
        """Average the logits of several modules on one batch."""
        raise NotImplementedError

    def output(self, logits: Any, batch: Batch) -> Output:
        """Make of logits what predictions are collected from."""
        raise NotImplementedError

    def step(self, batch: Batch) -> Output:
        """Run one batch forward."""
        return self.output(self.logits(batch), batch)

    def observe(self, output: Output) -> Tensor:
        """Tell what the recorder should keep of each row.

        Returns:
            float32 [R, 3 + K]: the gold label's probability (0 to 1), whether the prediction is
            right (0 or 1), the gold logit minus the largest other one (NaN where there is none),
            and K further values, for classification the logits.
        """
        raise NotImplementedError

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> Predictions:
        """Join the outputs of all batches of a split, and put the rows back in order."""
        raise NotImplementedError

    def kept_parts(self, place: Path, data: DataModule, split: str) -> KeptParts | None:
        """Keep outputs in a folder while a split is predicted; None for tasks that are fast."""
        return None

    def settle(self, predictions: Any) -> Predictions:
        """Set what is tuned on the validation split after training; most tasks have nothing.

        Args:
            predictions: of the chosen epoch, on validation.

        Returns:
            The predictions as they are with that set.
        """
        settled: Predictions = predictions
        return settled

    def training_step(self, batch: Batch, batch_idx: int) -> dict[str, Any]:
        """Train on one batch.

        Returns:
            `loss`, and without gradients `output`, which Lightning gives the callbacks.

        Raises:
            HeronError: the loss is not finite.
        """
        output = self.step(batch)
        assert output.loss is not None
        if not torch.isfinite(output.loss):
            raise HeronError(
                f"the loss is {output.loss.item()} at step {self.global_step}: training diverged. "
                "Lower optim.lr, raise optim.warmup, or set optim.clip"
            )
        shared = ranks.ranks() > 1
        self.log(
            "train/loss",
            output.loss.detach(),
            prog_bar=True,
            batch_size=len(batch),
            sync_dist=shared,
        )
        for name, rate in self.learning_rates().items():
            self.log(f"lr/{name}", rate, batch_size=len(batch))
        return {"loss": output.loss, "output": output.to(output.loss.device)}

    def learning_rates(self) -> dict[str, float]:
        """Give the learning rates of the next optimizer step.

        Returns:
            `encoder` (its layer next to the head, where `optim.layer_decay` is not 1; absent where
            nothing of it learns) and `head`; nothing before training.
        """
        if self.schedule is None:
            return {}
        factor = self.schedule.lr_lambdas[0](self.schedule.last_epoch)
        optim = self.config.optim
        head = optim.lr if optim.head_lr is None else optim.head_lr
        learns = any(p.requires_grad for p in self.encoder.parameters())
        return ({"encoder": optim.lr * factor} if learns else {}) | {"head": head * factor}

    @classmethod
    def load_from_checkpoint(  # type: ignore[override]  # what it takes besides is in the folder
        cls, checkpoint_path: str | Path, map_location: torch.device | str = "cpu"
    ) -> TaskModule:
        """Load a finished run's module, with the weights of one of its checkpoints.

        Args:
            checkpoint_path: `best.ckpt` or `last.ckpt` in a run folder's `checkpoints`. It holds
                weights; configuration, tokenizer and shape are read from the run folder.
            map_location: the device.

        Returns:
            The module of the run's task, in evaluation mode.

        Raises:
            ConfigError: the checkpoint lies in no run folder with a model, is damaged, or is of
                another task than this class.
        """
        path = Path(checkpoint_path).absolute()
        module = _load_checkpoint(path)
        if not isinstance(module, cls):
            raise ConfigError(
                f"{path} is of a {type(module).__name__}, not of a {cls.__name__}; "
                "TaskModule.load_from_checkpoint takes any"
            )
        return module.to(map_location)

    def predict_step(self, batch: Batch, batch_idx: int) -> Output:
        """Predict one batch."""
        return self.step(batch)

    def on_train_start(self) -> None:
        """Set train mode and make sure that it holds; see `Encoder.train`."""
        self.train()
        self.encoder.assert_mode(training=True)

    def configure_optimizers(self) -> Any:
        """Build the optimizer and its schedule, which moves once per optimizer step."""
        optimizer = build_optimizer(self.encoder, self.head, self.config.optim, self.matrices)
        self.schedule = build_schedule(optimizer, self.config.optim, self.total_steps)
        moved = {"scheduler": self.schedule, "interval": "step"}
        return {"optimizer": optimizer, "lr_scheduler": moved}

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: int | float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip by norm; Lightning refuses fused AdamW under autocast, but bf16 needs no scaler."""
        if not gradient_clip_val:
            return
        whole = self.trainer.strategy.model
        if isinstance(whole, FullyShardedDataParallel):  # no process has all gradients
            whole.clip_grad_norm_(gradient_clip_val)
        else:
            torch.nn.utils.clip_grad_norm_(self.parameters(), gradient_clip_val)
