"""All ways to train the same encoder on the same event pairs: their plans, and what trains.

AdamW (fused), the same learning rate, gradient norms clipped at 1.

Shape suffixes: S sequences, R rows, U units of a plan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import RandomSampler, Sampler
from transformers.trainer_pt_utils import LengthGroupedSampler

from heron.data.config import TRAIN
from heron.tasks.config import Config

from .epoch import ChosenBatches, train_heron
from .hf_rows import is_windowed
from .hf_trainer import train_trainer

BATCH = 32  # sequences per batch, as in the released TRC code


class Rival(NamedTuple):
    """One way to train: title, framework (`trainer` or `heron`), `trainer.precision`, ...

    `grouped` by length (the Trainer's), heron's `head` (`ess` computes the same as the Trainer's),
    and whether the encoder is `compiled`, by `torch.compile`.
    """

    title: str
    framework: str
    precision: str
    grouped: bool = False
    head: str = "ess"
    compiled: bool = False


RIVALS = {
    "trainer": Rival("Trainer, dynamic padding, fp32", "trainer", "32-true"),
    "trainer_bf16": Rival("Trainer, dynamic padding, bf16", "trainer", "bf16-mixed"),
    "trainer_grouped": Rival("Trainer, group_by_length, fp32", "trainer", "32-true", True),
    "trainer_grouped_bf16": Rival("Trainer, group_by_length, bf16", "trainer", "bf16-mixed", True),
    "heron_fp32": Rival("heron, buckets, fp32", "heron", "32-true"),
    "heron_bf16": Rival("heron, buckets, bf16", "heron", "bf16-mixed"),
    "heron": Rival("heron, buckets, default precision", "heron", "auto"),
    "heron_window": Rival("heron, window head, default precision", "heron", "auto", head="window"),
}


def plan_rival(
    rival: Rival, config: Config, data: ChosenBatches, batch: int = BATCH
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Plan a rival's epoch, in batches of `batch` sequences or as many tokens.

    Returns:
        The batches, of heron's units or the Trainer's rows (of questions: windows), and the tokens
        of the longest sequence and the number of samples of each of those.
    """
    features, units = data.features[TRAIN], data.units[TRAIN]
    if rival.framework == "heron":
        config.batching.tokens = equal_tokens(features.lengths_S, batch)
        samples_U = np.maximum(np.diff(units.rows_V), units.sizes_U)
        return data.plan(epoch=0), units.longest_U, samples_U
    lengths_R = features.lengths_S
    if not is_windowed(features):
        lengths_R = lengths_R[features.sequences_R]
    plan = plan_trainer_epoch(lengths_R, rival.grouped, config.seed, batch)
    return plan, lengths_R, np.ones_like(lengths_R)


def equal_tokens(lengths_S: np.ndarray, batch: int = BATCH) -> int:
    """Set heron's tokens per batch so that an epoch has as many steps as in batches of `batch`."""
    return round(batch * float(lengths_S.mean()))


def plan_trainer_epoch(
    lengths_R: np.ndarray, grouped: bool, seed: int, batch: int = BATCH
) -> list[np.ndarray]:
    """Plan an epoch with the samplers that the Hugging Face Trainer uses.

    Returns:
        Full batches; the rest of the epoch, less than one batch, is left out.
    """
    generator = torch.Generator().manual_seed(seed)
    sampler: Sampler[int] = (
        LengthGroupedSampler(batch, lengths=lengths_R.tolist(), generator=generator)
        if grouped
        else RandomSampler(lengths_R, generator=generator)
    )
    order = np.fromiter(sampler, dtype=np.int64)
    size = min(batch, len(order))
    return [order[i : i + size] for i in range(0, len(order) - size + 1, size)]


def train(rival: Rival, config: Config, data: ChosenBatches, watch: Any) -> None:
    """Train one rival on the chosen batches."""
    way = train_heron if rival.framework == "heron" else train_trainer
    way(config, data, watch, rival.compiled)
