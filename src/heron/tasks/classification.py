"""Classification of rows: temporal relations now, sentence pairs later.

Shape suffixes: B sequences, L tokens, D hidden, R rows, C classes.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heron.config import Config
from heron.data.collate import Batch
from heron.data.features import UNLABELLED
from heron.metrics import score_task
from heron.models.encoder import Encoder
from heron.tasks.base import StepOutput, TaskModule


class ClassificationModule(TaskModule):
    """Cross-entropy over `label_order`; validation scores over the whole split.

    Args:
        config: the run's configuration.
        encoder: see `Encoder`.
        head: encoder states and batch to logits_RC.
        total_steps: optimizer steps of the whole run.
        weights_C: class weights in the loss, or None.
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
        super().__init__(config, encoder, head, total_steps)
        self.register_buffer("weights_C", weights_C, persistent=False)
        self._evaluated: list[StepOutput] = []

    def step(self, batch: Batch) -> StepOutput:
        """Encode, classify, and take the mean loss over the labelled rows."""
        states_BLD = self.encoder(batch)
        logits_RC = self.head(states_BLD, batch)
        loss = None
        if bool((batch.labels_R != UNLABELLED).any()):
            loss = F.cross_entropy(
                logits_RC,
                batch.labels_R,
                weight=self.weights_C,
                ignore_index=UNLABELLED,
                label_smoothing=self.config.optim.label_smoothing,
            )
        return StepOutput(loss, logits_RC, batch.labels_R, batch.rows_R)

    def on_validation_epoch_start(self) -> None:
        """Forget the last pass."""
        self._evaluated = []

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Keep the outputs; scores are computed once, over all of them."""
        self._evaluated.append(self.step(batch))

    def on_validation_epoch_end(self) -> None:
        """Score the whole split and log every metric under `validation/`."""
        logits_RC, labels_R = (
            torch.cat([getattr(output, name) for output in self._evaluated]).float().cpu()
            for name in ("logits_RC", "labels_R")
        )
        labels = self.config.data.label_order
        names = np.asarray(labels, dtype=object)
        scores = score_task(
            self.config.task.name,
            names[labels_R.long().numpy()],
            names[logits_RC.argmax(dim=1).numpy()],
            labels,
            relaxed=self.config.task.relaxed,
        )
        loss = F.cross_entropy(logits_RC, labels_R.long())
        self.log("validation/loss", loss, prog_bar=True)
        self.log_dict({f"validation/{name}": value for name, value in scores.items()})
