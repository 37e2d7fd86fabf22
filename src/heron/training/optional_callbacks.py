"""Callbacks that few trainings need: early stopping, means of weights."""

from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import EarlyStopping
from torch import Tensor

from heron.base.errors import ConfigError
from heron.data.datamodule import DataModule
from heron.metrics.names import is_minimised


class StopEarly(EarlyStopping):
    """Early stopping that begins to count when a curriculum has unlocked all that it will.

    A model that has seen easy examples only gets no better on all of them; that is no reason to
    never show it the others. `patience` is in validations, so in epochs unless there are others.

    Deviates: RoNLI's code, where every stage is a training with a patience of its own.
    """

    def __init__(self, monitor: str, patience: int, data: DataModule):
        mode = "min" if is_minimised(monitor) else "max"
        super().__init__(f"validation/{monitor}", mode=mode, patience=patience)
        self.data = data

    def _run_early_stopping_check(self, trainer: pl.Trainer) -> None:
        """Count the validation, unless stages are still to come."""
        curriculum = self.data.curriculum
        if curriculum is None or curriculum.has_unlocked_all(trainer.current_epoch):
            super()._run_early_stopping_check(trainer)


class MeanOfEpochs(pl.Callback):
    """Adds up the trained weights after each of the last `epochs` epochs.

    Source: the averages of stochastic weight averaging (Izmailov et al., 2018), without its
    learning rate: the run's own schedule goes on.
    """

    def __init__(self, epochs: int):
        self.epochs = epochs
        self.added = 0
        self.sums: dict[str, Tensor] = {}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Forget the mean of a run that is trained on; refuse to mix both."""
        assert trainer.max_epochs is not None
        wanted = max(0, trainer.current_epoch - max(0, trainer.max_epochs - self.epochs))
        if not wanted:
            self.added, self.sums = 0, {}
        elif self.added != wanted:
            raise ConfigError(
                f"trainer.mean_of={self.epochs}: the mean of the run to train on has other epochs; "
                f"set trainer.mean_of to at most {trainer.max_epochs - trainer.current_epoch}"
            )

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Add the epoch's weights if it is one of the last."""
        assert trainer.max_epochs is not None
        if trainer.current_epoch < trainer.max_epochs - self.epochs:
            return
        for name, weights in pl_module.named_parameters():
            if weights.requires_grad:
                now = weights.detach()
                self.sums[name] = self.sums[name] + now if self.added else now.clone()
        self.added += 1

    def state_dict(self) -> dict[str, Any]:
        """Keep the sums in checkpoints: a resumed run ends with the same weights."""
        return {"added": self.added, "sums": self.sums}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.added, self.sums = state_dict["added"], state_dict["sums"]

    def load_into(self, module: pl.LightningModule) -> None:
        """Replace a module's trained weights by the mean."""
        mean = {name: weights / self.added for name, weights in self.sums.items()}
        module.load_state_dict(mean, strict=False)
