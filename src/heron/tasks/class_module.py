"""The module of every task that gives each row one class.

Shape suffixes: B sequences, L tokens, D hidden, R rows, C classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heron.data import TASKS
from heron.data.collate import Batch
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.metrics.torch_metrics import ClassificationScores
from heron.models import LOSSES
from heron.models.encoder import Encoder
from heron.models.heads import Head, events_swapped
from heron.tasks.base import Output, TaskModule, in_file_order
from heron.tasks.config import Config
from heron.tasks.predictions import ClassPredictions


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutput(Output):
    """An `Output` with logits."""

    logits_RC: Tensor  # float32


class ClassificationModule(TaskModule):
    """Cross-entropy over `label_order`; validation scores of the whole split."""

    head: Head
    inverse_C: Tensor | None
    soft_RC: Tensor | None  # soft targets of the rows of train, in place of labels

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        head: nn.Module,
        weights_C: Tensor | None = None,
    ):
        super().__init__(config, encoder, head, weights_C)
        inverse_C = None
        if config.head.both_ways:
            labels = config.data.label_order
            inverse = config.data.inverse
            inverse_C = torch.tensor([labels.index(inverse.get(label, label)) for label in labels])
        self.register_buffer("inverse_C", inverse_C, persistent=False)
        self.register_buffer("soft_RC", None, persistent=False)

    def metric(self) -> ClassificationScores:
        """See `TaskModule.metric`."""
        name = self.config.task.name
        options = TASKS[name].score_options(self.config)
        return ClassificationScores(self.config.data.label_order, name, **options)

    def prepare_targets(self, data: DataModule) -> None:
        """See `TaskModule.prepare_targets`."""
        if self.config.optim.target_options():
            from heron.tasks.soft_targets import soft_targets

            self.soft_RC = soft_targets(self.config, data)

    def logits(self, batch: Batch) -> Tensor:
        """Compute logits_RC, float32."""
        return self.step(batch).logits_RC

    def output(self, logits: Tensor, batch: Batch) -> StepOutput:
        """See `TaskModule.output`."""
        loss, weight = self._loss(logits, batch)
        return _output(loss, weight, logits, batch)

    def step(self, batch: Batch) -> StepOutput:
        """Encode, classify, take the mean loss; unlike the base's, it does not call `logits`.

        Args:
            batch: of tokens, or of stored vectors of a frozen encoder.

        Returns:
            With `head.both_ways`, the mean over both directions: of the loss, and of log
            probabilities in place of logits.
        """
        if batch.pooled_XP is not None:
            logits_RC = self.head.classify(batch.pooled_XP, batch)
            loss, weight = self._loss(logits_RC, batch)
            return _output(loss, weight, logits_RC, batch)

        states_BLD = self.encoder(batch)
        logits_RC = self.head(states_BLD, batch)
        loss, weight = self._loss(logits_RC, batch)
        if self.inverse_C is None:
            return _output(loss, weight, logits_RC, batch)

        # Columns in the order of the inverse labels, so that the gold label stays the same.
        swapped_RC = self.head(states_BLD, events_swapped(batch))
        swapped_RC = swapped_RC[:, self.inverse_C]
        swapped_loss, _ = self._loss(swapped_RC, batch)
        loss = (loss + swapped_loss) / 2
        log_p_RC = logits_RC.log_softmax(dim=1)
        swapped_log_p_RC = swapped_RC.log_softmax(dim=1)
        logits_RC = (log_p_RC + swapped_log_p_RC) / 2
        return _output(loss, weight, logits_RC, batch)

    def observe(self, output: Output) -> Tensor:
        """List gold probability, correctness, margin and logits; see `TaskModule.observe`."""
        assert isinstance(output, StepOutput)
        logits_RC = output.logits_RC.float()
        gold_R1 = output.labels_R.clamp(min=0)[:, None]  # unlabelled rows are left out later
        other_R1 = logits_RC.scatter(1, gold_R1, -torch.inf).amax(dim=1, keepdim=True)
        margin_R1 = logits_RC.gather(1, gold_R1) - other_R1
        p_gold_R1 = logits_RC.softmax(dim=1).gather(1, gold_R1)
        correct_R1 = logits_RC.argmax(dim=1, keepdim=True) == gold_R1
        return torch.cat([p_gold_R1, correct_R1, margin_R1, logits_RC], dim=1)

    def observe_all(self, outputs: Sequence[Any]) -> Tensor:
        """See `TaskModule.observe_all`; the rows of all batches at once."""
        labels_R = torch.cat([output.labels_R for output in outputs])
        rows_R = torch.cat([output.rows_R for output in outputs])
        logits_RC = torch.cat([output.logits_RC for output in outputs])
        return self.observe(StepOutput(None, None, labels_R, rows_R, logits_RC=logits_RC))

    def _loss(self, logits_RC: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compute the mean loss over the labelled rows, 0 where there are none.

        Args:
            logits_RC: of all rows.
            batch: with their labels.

        Returns:
            The loss, in nats, and its weight: the number of labelled rows, each times the weight of
            its class.
        """
        optim = self.config.optim
        is_labelled_R = batch.labels_R != UNLABELLED
        labels_R = batch.labels_R.clamp(min=0)
        weights_R = is_labelled_R.float()
        if self.weights_C is not None:
            weights_R = self.weights_C[labels_R] * weights_R
        weight = weights_R.sum()

        soft_RC = self.soft_RC if self.training else None
        if soft_RC is not None:
            from heron.tasks.soft_targets import soft_loss

            smoothing = optim.label_smoothing
            loss_R = soft_loss(soft_RC, batch.rows_R, smoothing, logits_RC, self.weights_C)
            total = loss_R.masked_fill(~is_labelled_R, 0.0).sum()
        elif optim.loss != "cross_entropy":
            loss_R = LOSSES[optim.loss](logits_RC, labels_R, self.weights_C)
            total = loss_R.masked_fill(~is_labelled_R, 0.0).sum()
        else:
            total = F.cross_entropy(
                logits_RC,
                batch.labels_R,
                weight=self.weights_C,
                ignore_index=UNLABELLED,
                reduction="sum",
                label_smoothing=optim.label_smoothing,
            )
        return total / torch.where(weight > 0, weight, 1.0), weight

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Count the batch; scores are computed once, over the whole split."""
        output = self.step(batch)
        self.validation_scores.update(output.logits_RC, output.labels_R)
        self.log_validation_loss(output)

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> ClassPredictions:
        """See `TaskModule.collect`."""
        features = data.features[split]
        logits_RC = torch.zeros(len(features), len(data.config.data.label_order))
        for output in outputs:
            logits_RC[output.rows_R] = output.logits_RC.cpu()
        examples, order_R = in_file_order(data, split)
        probabilities_RC = logits_RC.softmax(dim=1).numpy()[order_R]
        return ClassPredictions.most_probable(examples, probabilities_RC, self.config)


def _output(loss: Tensor, weight: Tensor, logits_RC: Tensor, batch: Batch) -> StepOutput:
    """Make a batch's output; a placeholder batch has no rows.

    Args:
        loss: the mean over the labelled rows.
        weight: their number, or the sum of their weights.
        logits_RC: of all rows.
        batch: with their labels.
    """
    rows = 0 if batch.is_stand_in else len(batch)
    labels_R = batch.labels_R[:rows]
    rows_R = batch.rows_R[:rows]
    logits_RC = logits_RC[:rows]
    finite_R = logits_RC.isfinite().all(dim=1)
    return StepOutput(loss, weight, labels_R, rows_R, logits_RC=logits_RC, finite_R=finite_R)
