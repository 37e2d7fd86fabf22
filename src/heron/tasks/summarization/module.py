"""Summarization: the next token of a summary, given the article and the tokens before it.

Shape suffixes: B sequences (articles), R rows (one for each), M tokens of the longest summary,
N known tokens of all summaries (in `chosen_N`: rows of a split), V vocabulary.
"""

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from heron.base import ranks
from heron.base.files import fingerprint, write_file
from heron.base.terminal import say
from heron.data.collate import IGNORED, Batch, known_places
from heron.data.config import VALIDATION
from heron.data.datamodule import DataModule
from heron.metrics.torch_metrics import RougeScores
from heron.tasks.base import Output, TaskModule, in_file_order, require_finite
from heron.tasks.summarization.config import SummarizationConfig
from heron.tasks.summarization.features import TARGET
from heron.tasks.summarization.predictions import (
    SummaryPredictions,
    Written,
    choose_rows,
    stored_extractive,
)
from heron.tasks.summarization.reader import as_given
from heron.tasks.summarization.seq2seq import Seq2Seq
from heron.tasks.token_loss import token_loss


class SummaryCache(pl.Callback):
    """Stores generated summaries batch by batch, so that an interrupted run can continue.

    <run>/generated/<key>/<rank>-<row>.safetensors   rows and token ids

    The key is a hash of weights, texts and settings.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def on_predict_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, *batch: Any, **named: Any
    ) -> None:
        """Store the summaries of one batch, atomically."""
        if len(outputs.rows_R):
            name = f"{ranks.rank()}-{int(outputs.rows_R[0]):08d}.safetensors"
            parts = {name: part.contiguous() for name, part in outputs._asdict().items()}
            write_file(self.folder / name, save(parts))

    def predict(
        self, trainer: pl.Trainer, module: pl.LightningModule, data: DataModule, split: str
    ) -> list[Any]:
        """Generate the missing summaries; returns the stored ones, too."""
        before = ranks.from_first(self.read() if ranks.is_first() else [])
        loader = data.evaluation_loader(split, [r for out in before for r in out.rows_R.tolist()])
        callbacks: list[pl.Callback] = trainer.callbacks
        callbacks.append(self)
        try:
            outputs: Any = trainer.predict(module, loader) if len(loader) else []
        finally:
            callbacks.remove(self)
        # Every process has the stored summaries; only the first one adds them.
        return [*(before if ranks.is_first() else []), *(outputs or [])]

    def read(self) -> list[Written]:
        """Read the stored summaries; unreadable files are deleted."""
        found = []
        for path in sorted(self.folder.glob("*.safetensors")):
            try:
                found.append(Written(**load_file(path)))
            except (OSError, SafetensorError, TypeError):
                path.unlink()
        if found:
            rows = sum(len(written.rows_R) for written in found)
            done = f"{rows} summaries were generated before the run was interrupted: continuing"
            say(done, of_result=False)
        return found

    def remove(self) -> None:
        """Delete the folder, and the one above it if it is empty."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # the parent has folders of another split or command
            self.folder.parent.rmdir()


class SummarizationModule(TaskModule):
    """Trains by cross-entropy of each target token; writes summaries and scores them by ROUGE.

    During training, only a sample of the validation split is summarized.

    Source: HeSum, section 4 and appendix B.
    """

    averages = False
    encoder: Seq2Seq

    def metric(self) -> RougeScores:
        """See `TaskModule.metric`."""
        return RougeScores(self.config.data.language)

    def logits(self, batch: Batch) -> Tensor:
        """Score every known token of the targets, row by row; logits_NV."""
        return self.encoder(batch)

    def output(self, logits: Tensor, batch: Batch) -> Output:
        """Compute the loss, the mean over the target tokens, and what the recorder stores.

        Recorded over a summary's tokens: the geometric mean of their probabilities, the share that
        are the most probable ones, and the mean margin.
        """
        target_RM, known_N = batch.columns[TARGET], known_places(TARGET, batch)
        known_RM = target_RM != IGNORED
        dynamics = self.config.dynamics
        records = not self.training or (dynamics.enabled and dynamics.mode == "train")
        gold_N = target_RM.flatten()[known_N]
        loss_N, observed_N3 = token_loss(logits, gold_N, self.config.optim.label_smoothing, records)
        rows = 0 if batch.is_stand_in else len(batch)
        observed_R3, weight = None, known_RM[:rows].sum().float()
        loss = loss_N.sum() / max(len(gold_N), 1)
        if records:  # log-probability, whether it is the top token, margin
            # Means over each row's tokens; NaN in rows without any.
            observed_RM3 = observed_N3.new_zeros(*known_RM.shape, 3)
            observed_RM3.flatten(0, 1)[known_N] = observed_N3
            mean_R3 = (observed_RM3.sum(dim=1) / known_RM.sum(dim=1, keepdim=True))[:rows]
            observed_R3 = torch.cat([mean_R3[:, :1].exp(), mean_R3[:, 1:]], dim=1)
        finite_RM = torch.ones_like(known_RM)
        finite_RM.flatten()[known_N] = loss_N.isfinite()
        finite_R = finite_RM.all(dim=1)[:rows]
        labels_R, rows_R = batch.labels_R[:rows], batch.rows_R[:rows]
        return Output(loss, weight, labels_R, rows_R, observed_R3, finite_R)

    def step(self, batch: Batch) -> Output:
        """Run one batch forward; a batch without targets is not computed."""
        if TARGET not in batch.columns or not batch.columns[TARGET].shape[1]:
            return Output(None, None, batch.labels_R, batch.rows_R)
        return self.output(self.logits(batch), batch)

    def predict_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> Any:
        """Summarize one batch; during training, compute the output for the recorder."""
        if self._trainer is not None and self._trainer.state.fn == "fit":
            return self.step(batch)
        return self.write(batch)

    @property
    def task(self) -> SummarizationConfig:
        """The task's part of the configuration."""
        return SummarizationConfig.of(self.config)

    def write(self, batch: Batch) -> Written:
        """Summarize a batch; a placeholder batch has no rows."""
        if batch.is_stand_in or not len(batch):
            nothing_RM = torch.zeros(0, 0, dtype=torch.int64)
            return Written(batch.rows_R[:0].cpu(), nothing_RM, torch.zeros(0, dtype=torch.bool))
        written_RM, finite_R = self.encoder.write(batch, self.task.generation)
        return Written(batch.rows_R.cpu(), written_RM.cpu(), finite_R.cpu())

    def on_validation_epoch_start(self) -> None:
        """Choose the rows to summarize."""
        data = self.data()
        examples, order_R = in_file_order(data, VALIDATION)
        guids = data.features[VALIDATION].guids
        self.chosen_N = torch.from_numpy(choose_rows(guids, self.task.validation_samples))
        given = {row: as_given(e) for row, e in zip(order_R.tolist(), examples, strict=True)}
        # Article and reference of each chosen row that has one, in the order of the file.
        self.references = {
            row: (article, gold)
            for row, (article, gold) in given.items()
            if self.chosen_N[row] and gold is not None
        }

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Compute the loss of the gold summaries; summarize the chosen rows and score them."""
        output = self.step(batch)
        self.log_validation_loss(output)
        chosen_R = self.chosen_N[batch.rows_R.cpu()].to(batch.rows_R.device)
        written = self.write(part_of(batch, chosen_R))
        require_finite(self, [written], self.data(), VALIDATION)
        texts = texts_of(written, self.data())
        known = [row for row in texts if row in self.references]
        golds = [self.references[row][1] for row in known]
        self.validation_scores.update([texts[row] for row in known], golds)

    def on_validation_epoch_end(self) -> None:
        """Log ROUGE of the chosen rows under `validation/`, and that of extractive baselines."""
        if self.references:
            super().on_validation_epoch_end()
            articles, golds = zip(*self.references.values(), strict=True)
            copied = stored_extractive(articles, golds, self.config)
            self.log_dict({f"validation/{name}": value for name, value in copied.items()})

    def kept_parts(self, place: Path, data: DataModule, split: str) -> SummaryCache:
        """Store finished batches, because generation is slow; see `TaskModule.kept_parts`."""
        weights = hashlib.sha256()
        for name, tensor in self.state_dict().items():
            weights.update(name.encode())
            weights.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
        config = data.config
        generation, precision = asdict(self.task.generation), config.trainer.precision
        key = fingerprint(weights.hexdigest(), data.keys[split], split, generation, precision)
        return SummaryCache(place / key[:32])

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> SummaryPredictions:
        """Decode the `Written` of some batches of a split; see `TaskModule.collect`."""
        texts = {row: text for each in outputs for row, text in texts_of(each, data).items()}
        pairs = zip(*in_file_order(data, split), strict=True)
        written = [(example, texts[row]) for example, row in pairs if row in texts]
        return SummaryPredictions([e for e, _ in written], [text for _, text in written])


def texts_of(written: Written, data: DataModule) -> dict[int, str]:
    """Decode summaries, by row."""
    read = partial(
        data.tokenizer.decode, skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
    # batch_decode would return one empty text for an empty batch.
    pairs = zip(written.rows_R.tolist(), written.written_RM.tolist(), strict=True)
    return {row: read(ids).strip() for row, ids in pairs}


def part_of(batch: Batch, kept_R: Tensor) -> Batch:
    """Select rows of a batch by a mask; targets are dropped unless all rows are kept."""
    if bool(kept_R.all()):
        return batch
    names = ("tokens_BL", "mask_BL", "second_B", "labels_R", "rows_R")
    kept: dict[str, Any] = {name: getattr(batch, name)[kept_R] for name in names}
    return replace(batch, **kept, columns={}, collated=None)
