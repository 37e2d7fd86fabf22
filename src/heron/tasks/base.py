"""The base classes of all tasks: `TaskModule`, `ModelParts`, `Output`, `Baseline`.

Shape suffixes: R rows, K recorded values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pytorch_lightning as pl
import torch
from lightning_fabric.utilities import move_data_to_device
from torch import Tensor, nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.optim.lr_scheduler import LambdaLR
from torchmetrics import Metric

from heron.base.errors import ConfigError, HeronError, first_few
from heron.base.libraries import random_state, restore_random_state
from heron.base.secrets import redacted
from heron.data.collate import Batch
from heron.data.config import VALIDATION
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.data.readers import of_split
from heron.models.config import HeadConfig
from heron.models.encoder import Encoder, build_encoder
from heron.models.heads import new_head
from heron.models.optim import build_optimizer, build_schedule
from heron.tasks import load_checkpoint
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions

if TYPE_CHECKING:
    from heron.tasks.exported_heads import HeadWeights


class FittedBaseline(Protocol):
    """A system without a trained encoder."""

    @property
    def notes(self) -> dict[str, Any]:
        """Facts about the fit for JSON; lines to print are under `warnings`."""

    def predict(self, examples: Sequence[Example], config: Config) -> Predictions:
        """Predict every example, in the given order."""

    def save(self, folder: Path) -> None:
        """Write what `heron.tasks.Baseline.load` needs into a run's `model/`."""


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What a task builds its model from."""

    # Builds the task's module; see `TaskModule`.
    module: Callable[[Config, Encoder, nn.Module, Tensor | None], TaskModule]
    # Loads the encoder for a tokenizer; without a tokenizer, as a run exported it.
    encoder: Callable[[Config, Any], Encoder] = build_encoder
    # Builds a new head for an encoder's width and a number of outputs.
    head: Callable[[HeadConfig, int, int], nn.Module] = new_head
    # How many numbers the head gives for each row or token.
    outputs: Callable[[Config, Encoder], int] = lambda config, encoder: len(config.data.label_order)
    # The head's weights, renamed for a model class of transformers; None where none fits.
    in_transformers: Callable[[nn.Module, Encoder, Any, Config], HeadWeights | None] = (
        lambda head, encoder, tokenizer, config: None
    )


def copied(output: Any, device: torch.device | str) -> Any:
    """Copy a dataclass of tensors to a device, without gradients."""
    moved = {}
    for field in fields(output):
        part = getattr(output, field.name)
        if isinstance(part, Tensor):
            moved[field.name] = part.detach().to(device)
        elif part is not None:
            moved[field.name] = part.to(device)
    return replace(output, **moved)


@dataclass(frozen=True, slots=True)
class Output:
    """The result of one forward pass, for the recorder, the scores and the predictions.

    Tasks add what their predictions need.
    """

    # Mean over the batch (of several processes: over this one's share); None without gold.
    loss: Tensor | None
    # Number of labelled rows (or sum of their class weights) or of tokens that the loss is a mean
    # over; 0 where there are none, as in a placeholder batch. It weights means over several batches
    # and processes.
    weight: Tensor | None
    labels_R: Tensor  # class ids, or `UNLABELLED`, int64
    rows_R: Tensor  # index of each row in `Features.guids`, int64
    observed_R3: Tensor | None = None  # see `TaskModule.observe`; None where it is not needed
    # Whether all logits of a row are finite; None where only the loss shows it.
    finite_R: Tensor | None = None

    to = copied


_WIDEST = 1e4  # a trained model's weights are far smaller
_CALMER = "Lower optim.lr, raise optim.warmup, or set trainer.gradient_clip_val"


def require_finite(module: nn.Module, outputs: Sequence[Any], data: DataModule, split: str) -> None:
    """Refuse outputs with logits that are not finite: such rows have no best class and no score.

    Raises:
        HeronError: names the rows and the cause.
    """
    rows = []
    for output in outputs:
        rows += rows_not_finite(output)
    if not rows:
        return

    guids = data.features[split].guids
    named = first_few([guids[row] for row in rows])
    largest = max_weight(module)
    if largest < _WIDEST:
        cause = "Its weights are not large, the precision is too narrow: trainer.precision=32-true"
    else:
        cause = f"The largest weight is {largest:.3g}: training diverged. {_CALMER}"
    count = f"{len(rows)} of {len(guids)}"
    raise HeronError(f"{split}: the logits of {count} rows are not finite ({named}). {cause}")


def rows_not_finite(output: Any) -> list[int]:
    """List the rows of a batch whose logits are not finite."""
    if output.finite_R is not None:
        return output.rows_R[~output.finite_R].tolist()
    is_finite = output.loss is None or bool(output.loss.isfinite())
    return [] if is_finite else output.rows_R.tolist()


def max_weight(module: nn.Module) -> float:
    """Find the largest absolute weight; NaN if there is a NaN."""
    largest = []
    for weight in module.parameters():
        if weight.numel():
            largest.append(weight.detach().abs().max().float().cpu())
    return float(torch.stack(largest).max())


def in_file_order(data: DataModule, split: str) -> tuple[list[Example], np.ndarray]:
    """List the examples of a split that have a row, and the row of each, int64.

    Features are sorted by sequence; predictions are in the order of the file.
    """
    rows = {guid: row for row, guid in enumerate(data.features[split].guids)}
    examples = [example for example in data.examples[split] if example.guid in rows]
    return examples, np.asarray([rows[example.guid] for example in examples], dtype=np.int64)


class TaskModule(pl.LightningModule):
    """An encoder, a head and their optimizer.

    Tasks add `logits`, `output` and `collect`; `mean` where logits are no tensor, `observe` where
    their outputs have no `observed_R3`, and for large splits `metric`, with a `validation_step`
    that updates `validation_scores`.
    """

    averages = True  # whether the logits of several runs can be averaged
    weights_C: Tensor | None
    validation_scores: Any  # made by `metric`
    _first: Tensor  # weight of the first batch of an optimizer step, in all processes
    _total: Tensor  # weight of all batches of the step so far

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        head: nn.Module,
        weights_C: Tensor | None = None,
    ):
        super().__init__()
        self.save_hyperparameters(
            {"config": redacted(config.values()), "encoder": encoder.description()}
        )
        self.register_buffer("weights_C", weights_C, persistent=False)
        self.config = config
        self.encoder = encoder
        self.head = head
        self.validation_scores = self.metric()
        self.schedule: LambdaLR | None = None
        self._kept: dict[int, list[Any]] = {}  # outputs by loader
        self._random: dict[str, Any] | None = None  # random states to restore
        # Steps, losses and weights that stay on their GPU until they are checked.
        self._losses: list[tuple[int, Tensor, Tensor]] = []
        # Of the epoch's checked ones in this process: losses times weights, and weights, added up.
        self._loss_sums = [0.0, 0.0]
        # Collected here because FSDP flattens parameters before the optimizer is built.
        self.matrices = frozenset(id(p) for p in self.parameters() if p.ndim > 1)
        if config.optim.layer_decay != 1:
            _ = encoder.levels  # computed here, for the same reason

    @property
    def lr(self) -> float:
        """`optim.lr`, by the name that Lightning's learning-rate finder looks for."""
        return self.config.optim.lr

    @lr.setter
    def lr(self, rate: float) -> None:
        self.config.optim.lr = rate

    def prepare_targets(self, data: DataModule) -> None:
        """Prepare soft targets and weights of train rows (`optim.soft`, `optim.suspects`)."""

    def metric(self) -> Metric | None:
        """Make the metric of validation; None: all outputs are kept and collected."""
        return None

    def logits(self, batch: Batch) -> Any:
        """Compute logits in the task's own form."""
        raise NotImplementedError

    def mean(self, several: Sequence[Any]) -> Any:
        """Average the logits of several modules on one batch."""
        return torch.stack(list(several)).mean(dim=0)

    def output(self, logits: Any, batch: Batch) -> Output:
        """Compute a batch's output, with its loss, from logits."""
        raise NotImplementedError

    def forward(self, batch: Batch) -> Any:
        """Compute logits in the task's own form."""
        return self.logits(batch)

    def step(self, batch: Batch) -> Output:
        """Run one batch forward, with its loss."""
        return self.output(self.logits(batch), batch)

    def observe(self, output: Output) -> Tensor:
        """List what the recorder stores for each row.

        Returns:
            float32 [R, 3 + K]: the probability of the gold label (0 to 1), whether the prediction
            is right (0 or 1), the gold logit minus the largest other one (NaN where there is none),
            and K further values, for classification the logits.
        """
        assert output.observed_R3 is not None
        return output.observed_R3

    def observe_all(self, outputs: Sequence[Any]) -> Tensor:
        """Call `observe` for several batches, in order."""
        return torch.cat([self.observe(output) for output in outputs])

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> Predictions:
        """Join the outputs of all batches of a split, rows in the order of the file."""
        raise NotImplementedError

    def kept_parts(self, folder: Path, data: DataModule, split: str) -> Any:
        """Make a store of outputs while a split is predicted; None for fast tasks.

        The store has `predict(trainer, module, data, split)`, which returns stored and new outputs,
        and `remove()`.
        """
        return None

    def tune(self, predictions: Predictions) -> Predictions:
        """Tune a threshold on the chosen epoch's validation predictions; returns them tuned."""
        return predictions

    def training_step(self, batch: Batch, batch_idx: int) -> dict[str, Any]:
        """Train on one batch; returns `loss`, and `output` without gradients for callbacks.

        The gradient of an optimizer step is that of the mean over the rows (or tokens) of all its
        batches in all processes. Here a batch's loss is multiplied by its weight, divided by the
        first one's; `on_before_optimizer_step` divides by the weight of all batches.

        Args:
            batch: with at least one labelled row in any process.
            batch_idx: its number in the epoch.
        """
        output = self.step(batch)
        assert output.loss is not None
        assert output.weight is not None
        self._losses.append((self.global_step, output.loss.detach(), output.weight))
        if output.loss.device.type == "cpu" or self._is_shown():  # else it waits for the GPU
            self._check_losses()

        processes = self.trainer.world_size
        total: Any = self.trainer.strategy.reduce(output.weight.clone(), reduce_op="sum")
        divisor = torch.where(total > 0, total, 1.0)
        if batch_idx % self.trainer.accumulate_grad_batches == 0:
            self._first = divisor
            self._total = torch.zeros_like(total)
        self._total += total

        weight = output.weight * processes  # DDP averages their gradients
        if self._is_shown():
            loss = output.loss.detach() * (weight / divisor)
            rows = len(batch)
            is_synced = processes > 1
            self.log("train/loss_step", loss, True, batch_size=rows, sync_dist=is_synced)
            for name, rate in self.learning_rates().items():
                self.log(f"lr/{name}", rate, batch_size=rows)

        loss = output.loss * (weight / self._first)
        return {"loss": loss, "output": output.to(loss.device)}

    def _check_losses(self) -> None:
        """Add up the losses since the last check; a HeronError if one is not finite."""
        if not self._losses:
            return
        steps, losses, weights = zip(*self._losses, strict=True)
        self._losses = []
        # One transfer from the device for all of them.
        loss_values = torch.stack(losses).tolist()
        weight_values = torch.stack(weights).tolist()
        for step, loss, weight in zip(steps, loss_values, weight_values, strict=True):
            if not math.isfinite(loss):
                raise HeronError(f"the loss is {loss} at step {step}: training diverged. {_CALMER}")
            self._loss_sums[0] += loss * weight
            self._loss_sums[1] += weight

    def epoch_loss(self) -> float:
        """Average the training loss over the epoch's rows (or tokens) so far, of all processes."""
        self._check_losses()
        sums = torch.tensor(self._loss_sums, device=self.device)
        whole: Any = self.trainer.strategy.reduce(sums, reduce_op="sum")
        return float(whole[0] / whole[1])

    def on_train_epoch_end(self) -> None:
        """Check the epoch's last losses, and log their mean as `train/loss`."""
        loss = self.epoch_loss()
        self._loss_sums = [0.0, 0.0]
        self.log("train/loss", loss, logger=False, sync_dist=True)
        # Lightning would give it to the loggers after the epoch's checkpoint, which holds their
        # rows: a resumed run would lack this one.
        row = {"train/loss": loss, "epoch": self.current_epoch}
        for logger in self.loggers:
            logger.log_metrics(row, self.global_step - 1)

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide gradients by the step's weight: Lightning divided by the number of batches."""
        batches = self.trainer.accumulate_grad_batches
        if batches == 1:
            return
        factor = torch.where(self._total > 0, batches * self._first / self._total, 1.0)
        gradients = [p.grad for p in self.parameters() if p.grad is not None]
        torch._foreach_mul_(gradients, factor)

    def log_validation_loss(self, output: Output) -> None:
        """Log the loss of a validation batch: the mean over the split, and over processes.

        Raises:
            HeronError: logits that are not finite.
        """
        if rows_not_finite(output):
            require_finite(self, [output], self.data(), VALIDATION)
        if output.loss is not None and output.weight is not None:
            size: Any = float(output.weight)  # the mean of integers would be rounded
            self.log("validation/loss", output.loss, prog_bar=True, batch_size=size, sync_dist=True)

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Keep a batch's output; scores are computed once, over the whole split."""
        output = self.step(batch)
        self.log_validation_loss(output)
        self._keep(output, 0)

    def on_validation_epoch_end(self) -> None:
        """Log every score of the split, of all processes, under `validation/`."""
        if self.validation_scores is None:
            without_intervals = replace(self.config.task, bootstrap=0)
            config = replace(self.config, task=without_intervals)
            outputs = self._of_all(self._kept.pop(0, []))
            scores = self.collect(outputs, self.data(), VALIDATION).scores(config)
        else:
            scores = self.validation_scores.compute()
            self.validation_scores.reset()
        self.log_dict({f"validation/{name}": value for name, value in scores.items()})

    def _is_shown(self) -> bool:
        """Tell whether a logger or the progress bar shows this step: logging takes half a ms."""
        trainer: Any = self.trainer
        every = trainer.log_every_n_steps
        is_row = every and (self.global_step + 1) % every == 0
        return bool(is_row) or trainer.progress_bar_callback is not None

    def learning_rates(self) -> dict[str, float]:
        """Return the learning rates of the next optimizer step; empty before training.

        `encoder` is that of its last layer; a frozen encoder has none.
        """
        if self.schedule is None:
            return {}
        factor = self.schedule.lr_lambdas[0](self.schedule.last_epoch)
        optim = self.config.optim
        rates = {}
        if any(parameter.requires_grad for parameter in self.encoder.parameters()):
            rates["encoder"] = optim.lr * factor
        head_lr = optim.lr if optim.head_lr is None else optim.head_lr
        rates["head"] = head_lr * factor
        return rates

    @classmethod
    def load_from_checkpoint(
        cls, checkpoint_path: str | Path, map_location: torch.device | str = "cpu"
    ) -> TaskModule:
        """Load a module, in evaluation mode, from any checkpoint of heron's or Lightning's.

        The checkpoint has all that the module is made from, so that it may lie anywhere. Heads on
        stored vectors and `mlm` are read from the run folder around it.

        Raises:
            ConfigError: the checkpoint is damaged, lacks what it is made from, or belongs to
                another task than this class.
        """
        path = Path(checkpoint_path).absolute()
        module = load_checkpoint(path)
        if not isinstance(module, cls):
            raise ConfigError(
                f"{path} is a checkpoint of {type(module).__name__}, not of {cls.__name__}; "
                "TaskModule.load_from_checkpoint loads any"
            )
        return module.to(map_location)

    def predict_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> Output:
        """Predict one batch."""
        return self.step(batch)

    def test_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Predict one batch; scores are computed once, over the whole split."""
        self._keep(self.predict_step(batch, batch_idx), dataloader_idx)

    def _keep(self, output: Any, loader: int) -> None:
        on_cpu = move_data_to_device(output, torch.device("cpu"))
        self._kept.setdefault(loader, []).append(on_cpu)

    def on_test_epoch_end(self) -> None:
        """Log every score of each of `DataModule.tests` under its name, as in `scores.json`."""
        data = self.data()
        tested = self._kept
        self._kept = {}
        for number, split in enumerate(data.tests):
            outputs = self._of_all(tested.get(number, []))
            require_finite(self, outputs, data, split)
            scores = self.collect(outputs, data, split).scores(of_split(self.config, split))
            self.log_scores(split, scores)

    def log_scores(self, split: str, scores: Mapping[str, float]) -> None:
        """Log scores of a whole split as `<split>/<score>`, in float64."""
        for name, value in scores.items():
            self.log(f"{split}/{name}", torch.tensor(value, dtype=torch.float64))

    def data(self) -> DataModule:
        """The DataModule of the training or the test."""
        data = self.trainer.datamodule
        if not isinstance(data, DataModule):
            raise ConfigError("scores need the texts: pass heron's DataModule, not its loaders")
        return data

    def _of_all(self, values: list[Any]) -> list[Any]:
        """Join the lists of all processes."""
        processes = self.trainer.world_size
        if processes == 1:
            return values
        lists: list[Any] = [None] * processes
        torch.distributed.all_gather_object(lists, values)
        return [value for of_process in lists for value in of_process]

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Store random state and losses of every process, so that training resumes exactly."""
        self._check_losses()
        checkpoint["random"] = self._of_all([random_state()])
        checkpoint["loss_sums"] = self._of_all([self._loss_sums])

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore random state and losses; a process without stored ones keeps its own."""
        states = checkpoint.get("random", [])
        if self._trainer is None:
            return
        rank = self.trainer.global_rank
        if rank < len(states):
            self._random = states[rank]
            self._loss_sums = checkpoint["loss_sums"][rank]

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Restore the random state as late as possible: setting up may have drawn numbers."""
        if self._random is not None:
            restore_random_state(self._random)
            self._random = None

    def on_train_start(self) -> None:
        """Set and verify train mode, see `Encoder.train`; processes differ in dropout."""
        rank = self.trainer.global_rank
        if rank:  # a resumed run takes its stored numbers later
            words = np.random.SeedSequence([self.config.seed, rank]).generate_state(2)
            torch.manual_seed(int(words[0]) << 16 | int(words[1]) & 0xFFFF)
        self.train()
        self.encoder.assert_mode(training=True)

    def configure_optimizers(self) -> Any:
        """Build the optimizer, and a schedule that advances once per optimizer step."""
        optim = self.config.optim
        is_scaled = getattr(self.trainer.precision_plugin, "scaler", None) is not None
        optimizer = build_optimizer(self.encoder, self.head, optim, self.matrices, is_scaled)
        self.schedule = build_schedule(optimizer, optim, self.total_steps())
        per_step = {"scheduler": self.schedule, "interval": "step"}
        return {"optimizer": optimizer, "lr_scheduler": per_step}

    def total_steps(self) -> float:
        """Count the optimizer steps of the whole training.

        Lightning's estimate, unless epochs of a heron DataModule are trained, whose plans may
        differ in length.
        """
        trainer: Any = self.trainer
        data = trainer.datamodule
        if isinstance(data, DataModule) and trainer.max_steps == -1 != trainer.max_epochs:
            return sum(data.steps_per_epoch())
        return trainer.estimated_stepping_batches

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: int | float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip. Lightning's own clipping by norm refuses fused AdamW under bf16's autocast."""
        if not gradient_clip_val:
            return
        whole = self.trainer.strategy.model
        if isinstance(whole, FullyShardedDataParallel):  # no process has all gradients
            whole.clip_grad_norm_(gradient_clip_val)
        elif gradient_clip_algorithm == "value":
            torch.nn.utils.clip_grad_value_(self.parameters(), gradient_clip_val)
        else:
            torch.nn.utils.clip_grad_norm_(self.parameters(), gradient_clip_val)
