"""Generated summaries are stored batch by batch, so that an interrupted run can continue.

<run>/generated/<key>/<rank>-<row>.parquet   row, tokens

The key is a hash of weights, texts and settings. The folder is deleted when the split is complete.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from heron.base import ranks
from heron.base.files import atomic_open, fingerprint
from heron.base.terminal import say
from heron.data.datamodule import DataModule
from heron.tasks.summarization.predictions import Written


class Kept(pl.Callback):
    """Stores generated summaries, one file for each batch; see `heron.tasks.base.KeptParts`."""

    def __init__(self, folder: Path, pad_id: int):
        self.folder, self.pad_id = folder, pad_id

    def on_predict_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,
        outputs: Written,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Store the summaries of one batch, atomically."""
        if not len(outputs.rows_R):
            return
        table = pa.table(
            {
                "row": pa.array(outputs.rows_R.tolist(), pa.int64()),
                "tokens": pa.array(outputs.written_RM.tolist(), pa.list_(pa.int32())),
            }
        )
        name = f"{ranks.rank()}-{int(outputs.rows_R[0]):08d}.parquet"
        with atomic_open(self.folder / name, "wb") as file:
            pq.write_table(table, file)

    def read(self) -> list[Written]:
        """Read the stored summaries; unreadable files are deleted."""
        found = []
        for path in sorted(self.folder.glob("*.parquet")):
            try:
                table = pq.read_table(path)
            except (OSError, pa.ArrowInvalid):
                path.unlink()
                continue
            tokens = [torch.tensor(ids, dtype=torch.int64) for ids in table["tokens"].to_pylist()]
            written_RM = pad_sequence(tokens, batch_first=True, padding_value=self.pad_id)
            found.append(Written(torch.tensor(table["row"].to_pylist()), written_RM))
        if found:
            rows = sum(len(written.rows_R) for written in found)
            say(f"{rows} summaries were generated before the run was interrupted: continuing")
        return found

    @property
    def callback(self) -> pl.Callback:
        """See `KeptParts`."""
        return self

    def rows(self, outputs: Sequence[Written]) -> np.ndarray:
        """See `KeptParts`."""
        rows = [written.rows_R.numpy() for written in outputs]
        return np.concatenate([np.empty(0, dtype=np.int64), *rows])

    def remove(self) -> None:
        """Delete the folder, and the one above it if it is empty."""
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.folder.parent.rmdir()
        except OSError:
            return  # it has folders of another split or command


def kept_parts(place: Path, module: nn.Module, data: DataModule, split: str) -> Kept:
    """Choose the folder of a split's summaries; see `TaskModule.kept_parts`."""
    weights = hashlib.sha256()
    for name, tensor in module.state_dict().items():
        weights.update(name.encode())
        weights.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    config = data.config
    generation = asdict(config.task.generation)
    precision = config.trainer.precision
    key = fingerprint(weights.hexdigest(), data.keys[split], split, generation, precision)
    return Kept(place / key[:32], data.tokenizer.pad_token_id)
