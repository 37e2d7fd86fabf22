"""`StepOutput` and `TaskModule`: what every task shares.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.optim import AdamW

from heron import ranks
from heron.data.collate import Batch
from heron.errors import HeronError
from heron.models.encoder import Encoder
from heron.models.heads import Head
from heron.models.optim import build_optimizer, build_schedule
from heron.schema import Config

# What every task observes of a training row; classification adds its logits.
OBSERVED = ("p_gold", "correct", "margin")


@dataclass(frozen=True, slots=True)
class StepOutput:
    """What one forward pass leaves for the recorder, the scores and the predictions.

    Args:
        loss: mean over the batch's rows, or None without labels. Of a divided batch, such that the
            mean over the processes is the whole batch's loss, and so with the gradients.
        logits_RC: float32.
        labels_R: class ids, or `UNLABELLED`, int64.
        rows_R: index of each row in its `Features`, int64; `Features.guids` names it.
    """

    loss: Tensor | None
    logits_RC: Tensor
    labels_R: Tensor
    rows_R: Tensor

    def to(self, device: torch.device | str) -> StepOutput:
        """Copy every tensor to a device, without gradients; Lightning calls this."""
        loss = None if self.loss is None else self.loss.detach().to(device)
        rest = (self.logits_RC.detach(), self.labels_R, self.rows_R)
        return StepOutput(loss, *(tensor.to(device) for tensor in rest))


class TaskModule(pl.LightningModule):
    """An encoder, a head and their optimizer; tasks add the loss and the scores.

    Args:
        config: the run's configuration.
        encoder: see `Encoder`.
        head: maps encoder states and batch to outputs.
        total_steps: optimizer steps of the whole run, for the schedule.
    """

    def __init__(self, config: Config, encoder: Encoder, head: Head, total_steps: int):
        super().__init__()
        self.config = config
        self.encoder = encoder
        self.head = head
        self.total_steps = total_steps
        self.latest: StepOutput | None = None
        # A strategy may cut parameters into flat parts, before the optimizer is built.
        self.matrices = frozenset(id(p) for p in self.parameters() if p.ndim > 1)

    def step(self, batch: Batch) -> StepOutput:
        """Run one batch forward."""
        raise NotImplementedError

    def observe(self, output: StepOutput) -> Tensor:
        """Tell what the recorder should keep of each row.

        Returns:
            float32 [R, 3 + K]: the gold label's probability (0 to 1), whether the prediction is
            right (0 or 1), the gold logit minus the largest other one (NaN where there is none),
            and K further values, for classification the logits.
        """
        raise NotImplementedError

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Train on one batch; the recorder reads `latest`.

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
        self.latest = output.to(output.loss.device)
        shared = ranks.ranks() > 1
        self.log(
            "train/loss",
            output.loss.detach(),
            prog_bar=True,
            batch_size=len(batch),
            sync_dist=shared,
        )
        return output.loss

    def predict_step(self, batch: Batch, batch_idx: int) -> StepOutput:
        """Predict one batch."""
        return self.step(batch)

    def on_train_start(self) -> None:
        """Set train mode and make sure that it holds; see `Encoder.train`."""
        self.train()
        self.encoder.assert_mode(training=True)

    def configure_optimizers(self) -> Any:
        """Build AdamW and its schedule, which moves once per optimizer step."""
        optimizer: AdamW = build_optimizer(
            self.encoder, self.head, self.config.optim, self.matrices
        )
        schedule = build_schedule(optimizer, self.config.optim, self.total_steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

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
