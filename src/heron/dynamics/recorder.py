"""Recorder: training dynamics of every example, epoch by epoch.

It works for every task: a module's `observe` returns what to record of a batch's rows.
Shape suffixes: R rows of a batch, N rows of the train split, K observed values.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytorch_lightning as pl
import torch
from torch import Tensor

from heron.base import ranks
from heron.base.run_folder import RunFolder
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.dynamics.files import Meta, dynamics_table, write_dynamics

# What every task records of a training row; classification adds its logits.
OBSERVED = ("p_gold", "correct", "margin")
_TOGETHER = 32  # batches that are observed at once: a few small operations for each would be slow
_LEAST = float(np.finfo(np.float32).tiny)  # smallest p(gold) in a loss, so that the log is finite


class Recorder(pl.Callback):
    """Writes `dynamics/epoch=<n>.parquet`, one file per record.

    A record is an epoch; with `dynamics.every` below 1 it is a part of one, and its file is
    `epoch=<n>,part=<k>.parquet`.

    Under `dynamics.mode=train` the values are those of the training passes, before the update and
    with dropout on, as published for dataset cartography; under `evaluation`, those of a pass of
    its own at the end of the record. Rows that a record sees more than once (oversampling) are
    averaged, and their visits counted. Every process of a training records its share of the rows;
    these are added up, and the first writes the means.

    Args:
        folder: a run folder, or any other; the records are in its `dynamics/`. Those of an earlier
            training are removed where the Trainer begins at step 0.

    Source: Swayamdipta et al. 2020; `heron.dynamics.files` describes the columns.
    """

    data: DataModule
    config: Any  # the run's
    gold_N: np.ndarray
    visits_N: Tensor

    def __init__(self, folder: RunFolder | Path | str):
        self.folder = folder if isinstance(folder, RunFolder) else RunFolder(Path(folder))
        self.sums_NK: Tensor | None = None
        self.waiting: list[tuple[Any, Any]] = []  # modules and outputs not yet observed

    def setup(self, trainer: pl.Trainer, pl_module: Any, stage: str) -> None:
        """Take the rows of the train split; the trainer must have heron's DataModule."""
        if stage != "fit":
            return

        self.data = pl_module.data()
        self.config = pl_module.config
        features = self.data.features[TRAIN]
        self.guids = pa.array([*features.guids], pa.string())
        self.gold_N = np.asarray(features.labels_R)
        self.parts = round(1 / self.config.dynamics.every)
        self.visits_N = torch.zeros(len(features), dtype=torch.int32)

    def on_train_start(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Remove the records of an earlier training that this one does not continue."""
        if trainer.is_global_zero and trainer.global_step == 0:
            for record in self.folder.dynamics(0).parent.glob("epoch=*.parquet"):
                record.unlink()

    def state_dict(self) -> dict[str, Any]:
        """Store the record so far, for an exact resume."""
        self._observe()

        losses = None
        curriculum = self.data.curriculum
        if curriculum is not None and curriculum.losses_U is not None:
            losses = torch.from_numpy(curriculum.losses_U)

        sums_NK = None if self.sums_NK is None else self.sums_NK.cpu().clone()
        record = sums_NK, self.visits_N.cpu().clone()
        # Of all processes: rank 0 alone writes the checkpoint.
        return {"records": ranks.gather(record), "losses": losses}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue the record, perhaps in fewer or more processes than before."""
        records = state_dict["records"]
        for sums_NK, visits_N in records[ranks.rank() :: ranks.ranks()]:
            self.visits_N = self.visits_N + visits_N
            if self.sums_NK is None:
                self.sums_NK = sums_NK
            elif sums_NK is not None:
                self.sums_NK = self.sums_NK + sums_NK

        losses = state_dict["losses"]
        if self.data.curriculum is not None and losses is not None:
            self.data.curriculum.losses_U = losses.numpy()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Add the batch's rows; close the record where a part of the epoch ends."""
        if self.config.dynamics.mode == "train":
            self.add(pl_module, outputs["output"])

        batches = int(trainer.num_training_batches)
        finished_before = batch_idx * self.parts // batches  # parts of the epoch
        finished = (batch_idx + 1) * self.parts // batches
        if finished_before < finished < self.parts:
            self._close(trainer, pl_module, finished - 1)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Close the epoch's (last) record."""
        self._close(trainer, pl_module, self.parts - 1)

    def add(self, module: Any, output: Any) -> None:
        """Add a batch's rows to the record."""
        self.waiting.append((module, output))
        if len(self.waiting) == _TOGETHER:
            self._observe()

    def _observe(self) -> None:
        """Add the rows of the batches that wait."""
        if not self.waiting:
            return

        module, _ = self.waiting[-1]
        outputs = [output for _, output in self.waiting]
        self.waiting = []

        rows_R = torch.cat([output.rows_R for output in outputs])
        observed_RK = module.observe_all(outputs)
        if self.sums_NK is None:
            self.sums_NK = torch.zeros(len(self.visits_N), observed_RK.shape[1])

        # Summed on the device of the outputs, so that no batch waits for a copy to the CPU.
        self.sums_NK = self.sums_NK.to(rows_R.device, non_blocking=True)
        self.sums_NK.index_add_(0, rows_R, observed_RK)

        ones_R = torch.ones_like(rows_R, dtype=torch.int32)
        self.visits_N = self.visits_N.to(rows_R.device, non_blocking=True)
        self.visits_N.index_add_(0, rows_R, ones_R)

    def _close(self, trainer: pl.Trainer, module: Any, part: int) -> None:
        """Write the record and begin the next one empty."""
        if self.config.dynamics.mode == "evaluation":
            self._evaluate(trainer, module)
        self._observe()
        if self.sums_NK is None:
            return

        sums_NK = ranks.sum_over_ranks(self.sums_NK.cpu())
        visits_N = ranks.sum_over_ranks(self.visits_N.cpu())
        means_NK = (sums_NK / visits_N[:, None]).numpy()  # NaN where not visited
        if trainer.is_global_zero:
            self._write(means_NK, visits_N.numpy(), trainer.current_epoch, part)

        is_last = part == self.parts - 1
        if self.data.curriculum is not None and is_last:
            p_gold_N = means_NK[:, 0]
            losses_N = -np.log(np.maximum(p_gold_N, _LEAST))
            losses_N[self.gold_N == UNLABELLED] = np.nan
            self.data.curriculum.observe(losses_N)

        self.sums_NK.zero_()
        self.visits_N.zero_()

    def _evaluate(self, trainer: pl.Trainer, module: Any) -> None:
        """Record every row without dropout, in order of length."""
        module.eval()
        with torch.no_grad():
            for batch in self.data.evaluation_loader(TRAIN):
                # Through the strategy, because no process has the whole of a sharded model.
                output = trainer.strategy.predict_step(batch.to(module.device), 0)
                self.add(module, output)
        module.train()

    def _write(self, means_NK: np.ndarray, visits_N: np.ndarray, epoch: int, part: int) -> None:
        """Write the rows that were visited and have a gold label."""
        seen_N = (visits_N > 0) & (self.gold_N != UNLABELLED)
        p_gold_N, correct_N, margin_N = means_NK[seen_N, : len(OBSERVED)].T
        logits_NC = means_NK[seen_N, len(OBSERVED) :]
        meta = Meta(
            epoch=epoch + (part + 1) / self.parts,
            mode=self.config.dynamics.mode,
            task=self.config.task.name,
            labels=tuple(self.config.data.label_order),
        )
        table = dynamics_table(
            self.guids.filter(pa.array(seen_N)),
            self.gold_N[seen_N],
            p_gold_N,
            correct_N,
            margin_N,
            visits_N[seen_N],
            logits_NC if logits_NC.shape[1] else None,
            meta,
        )

        path = self.folder.dynamics(epoch, part if self.parts > 1 else None)
        write_dynamics(path, table)
