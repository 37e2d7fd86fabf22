"""The module of masked language modelling: a loss over masked tokens only.

Shape suffixes: B sequences, which are the rows R, L tokens, N masked tokens, D hidden,
V vocabulary, T texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heron.data.collate import Batch, known_places
from heron.data.config import VALIDATION
from heron.data.datamodule import DataModule
from heron.metrics.torch_metrics import RowScores
from heron.tasks.base import ModelParts, Output, TaskModule, require_finite
from heron.tasks.token_loss import token_loss
from heron_tools.mlm.head import (
    MaskedEncoder,
    MaskedHead,
    build_masked,
    head_in_transformers,
    new_head,
    outputs,
)
from heron_tools.mlm.masking import mask_tokens, texts_of_rows
from heron_tools.mlm.predictions import MaskedPredictions, score_sums
from heron_tools.mlm.task import MlmConfig

MASKED = "masked"  # the column of targets; `IGNORED` for other tokens


@dataclass(frozen=True, slots=True)
class MaskedOutput(Output):
    """An `Output` with a loss over masked tokens; in training, gold and best are None."""

    # For each row, over its masked tokens: their number, and the sums of log probabilities, of
    # right predictions and of margins.
    sums_R4: Tensor | None = None
    gold_N: Tensor | None = None  # ids of the masked tokens, row by row
    best_N: Tensor | None = None  # the most probable token for each


class MaskedScores(RowScores):
    """`score_sums` of the masked tokens of all sequences."""

    higher_is_better = None

    def __init__(self, only: str | None = None):
        super().__init__(("tokens", "log_p", "right"), only=only)

    def update(self, sums_R4: Tensor) -> None:
        """Add sequences, as in `MaskedOutput`."""
        self.keep(sums_R4[:, :3].T.double().cpu().numpy())

    def scores(self) -> dict[str, float]:
        """See `Scores`."""
        return score_sums(np.sort([*self.columns().values()]).sum(axis=1))


class MaskedModule(TaskModule):
    """Masks batches, with new masks in each epoch and fixed masks in evaluation.

    The masks of a sequence depend on the run's seed, the epoch and its row only, so they are equal
    in a resumed run and on several devices.

    Source: Devlin et al. 2019, section 3.1.
    """

    averages = False
    encoder: MaskedEncoder
    head: MaskedHead

    def metric(self) -> MaskedScores:
        """See `TaskModule.metric`."""
        return MaskedScores()

    def masked(self, batch: Batch) -> Batch:
        """Mask the batch unless it is masked; the column `MASKED` has the targets, [B, L]."""
        if MASKED in batch.columns:
            return batch
        task = MlmConfig.of(self.config)
        host = batch.host
        # Evaluation does not depend on the seed: runs with different seeds can be compared.
        seed = (self.config.seed, self.current_epoch + 1) if self.training else (0, 0)
        arrays = mask_tokens(
            host.tokens_BL.numpy(),
            host.mask_BL.numpy(),
            [(*seed, row) for row in host.rows_R.tolist()],
            self.encoder.vocabulary,
            task.mask_share,
            task.whole_words,
        )
        inputs_BL, gold_BL = map(torch.from_numpy, arrays)
        masked = replace(host, tokens_BL=inputs_BL).with_columns(**{MASKED: gold_BL})
        return masked.to(batch.tokens_BL.device)

    def logits(self, batch: Batch) -> Tensor:
        """Score the vocabulary at each masked token; logits_NV."""
        batch = self.masked(batch)
        states_BLD = self.encoder(batch)
        states_ND = states_BLD.flatten(0, 1)[known_places(MASKED, batch)]
        return self.head(states_ND, self.encoder.embeddings_VD)

    def output(self, logits: Tensor, batch: Batch) -> MaskedOutput:
        """Compute the loss, and the sums for predictions and the recorder.

        Args:
            logits: logits_NV of the masked tokens.
            batch: masked or not.
        """
        batch = self.masked(batch)
        targets_BL = batch.columns[MASKED]
        places_N = known_places(MASKED, batch)
        gold_N = targets_BL.flatten()[places_N]
        dynamics = self.config.dynamics
        is_recorded = dynamics.enabled and dynamics.mode == "train"
        needs_sums = is_recorded or not self.training
        smoothing = self.config.optim.label_smoothing
        loss_N, seen_N3 = token_loss(logits, gold_N, smoothing, needs_sums)

        rows = len(batch)
        tokens = len(gold_N)
        sum_of_losses = loss_N.sum()
        loss = sum_of_losses / max(tokens, 1)
        if batch.is_stand_in:  # it counts for nothing
            rows = tokens = 0
        weight = torch.full_like(sum_of_losses, tokens)
        output = MaskedOutput(loss, weight, batch.labels_R[:rows], batch.rows_R[:rows])
        if not needs_sums:
            return output

        # Each sequence's number of masked tokens, and the sums over them.
        ones_N1 = torch.ones_like(seen_N3[:, :1])
        seen_BL4 = seen_N3.new_zeros(*targets_BL.shape, 4)
        seen_BL4.flatten(0, 1)[places_N] = torch.cat([ones_N1, seen_N3], dim=1)
        sums_R4 = seen_BL4.sum(dim=1)[:rows]
        output = replace(output, sums_R4=sums_R4)
        if self.training:
            return output
        finite_R = sums_R4.isfinite().all(dim=1)
        best_N = logits.argmax(1)[:tokens]
        return replace(output, gold_N=gold_N[:tokens], best_N=best_N, finite_R=finite_R)

    def step(self, batch: Batch) -> MaskedOutput:
        """Mask the batch unless it is masked, and compute its output."""
        batch = self.masked(batch)
        return self.output(self.logits(batch), batch)

    def observe(self, output: Output) -> Tensor:
        """Compute the recorder's values for each sequence; see `TaskModule.observe`.

        Over its masked tokens: the geometric mean of their probabilities, the accuracy, and the
        mean margin; NaN without masked tokens.
        """
        assert isinstance(output, MaskedOutput)
        assert output.sums_R4 is not None
        counts_R1 = output.sums_R4[:, :1]
        sums_R3 = output.sums_R4[:, 1:]
        means_R3 = sums_R3 / counts_R1
        return torch.cat([means_R3[:, :1].exp(), means_R3[:, 1:]], dim=1)

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Add the batch to the scores, which are computed once over the whole split."""
        output = self.step(batch)
        require_finite(self, [output], self.data(), VALIDATION)
        assert output.sums_R4 is not None
        self.validation_scores.update(output.sums_R4)

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> MaskedPredictions:
        """Join the sequences of each text; see `TaskModule.collect`."""
        features = data.features[split]
        refused = {problem.where for problem in features.refused}
        examples = [example for example in data.examples[split] if example.guid not in refused]
        guids_T = [example.guid for example in examples]
        texts_R = texts_of_rows(features.guids, guids_T)

        # By row: the sums, and the gold and predicted ids of the masked tokens.
        sums_R4 = np.zeros((len(features), 4))
        ids_R: dict[int, Tensor] = {}
        for output in outputs:
            rows = output.rows_R.tolist()
            sums_R4[rows] = output.sums_R4.cpu()
            counts = output.sums_R4[:, 0].int().tolist()
            ids_2N = torch.stack([output.gold_N, output.best_N])
            ids_R |= zip(rows, ids_2N.split(counts, dim=1), strict=True)

        # By text: those of all its sequences.
        sums_T4 = np.zeros((len(examples), 4))
        np.add.at(sums_T4, texts_R, sums_R4)
        ids_T: list[list[Tensor]] = [[] for _ in examples]
        for row, text in enumerate(texts_R):
            if row in ids_R:
                ids_T[text].append(ids_R[row])

        gold = []
        best = []
        to_tokens = data.tokenizer.convert_ids_to_tokens
        for parts in ids_T:
            gold_ids, best_ids = torch.cat(parts, dim=1).tolist() if parts else ([], [])
            gold.append(" ".join(to_tokens(gold_ids)))
            best.append(" ".join(to_tokens(best_ids)))
        return MaskedPredictions(examples, best, gold, sums_T4)


def model() -> ModelParts:
    """See `Task.model`."""
    return ModelParts(MaskedModule, build_masked, new_head, outputs, head_in_transformers)
