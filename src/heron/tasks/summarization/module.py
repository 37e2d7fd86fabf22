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
        """Generate the missing summaries; returns the stored ones, too.

        Args:
            trainer: gets this callback while it predicts.
            module: the model.
            data: with the split.
            split: its name.
        """
        stored = ranks.from_first(self.read() if ranks.is_first() else [])
        rows = [row for written in stored for row in written.rows_R.tolist()]
        loader = data.evaluation_loader(split, rows)
        callbacks: list[pl.Callback] = trainer.callbacks
        callbacks.append(self)
        outputs: Any = None
        try:
            if len(loader):
                outputs = trainer.predict(module, loader)
        finally:
            callbacks.remove(self)
        if not ranks.is_first():  # every process has the stored summaries; one returns them
            stored = []
        return [*stored, *(outputs or [])]

    def read(self) -> list[Written]:
        """Read the stored summaries; unreadable files are deleted."""
        stored = []
        for path in sorted(self.folder.glob("*.safetensors")):
            try:
                stored.append(Written(**load_file(path)))
            except (OSError, SafetensorError, TypeError):
                path.unlink()
        if stored:
            rows = sum(len(written.rows_R) for written in stored)
            done = f"{rows} summaries were generated before the run was interrupted: continuing"
            say(done, of_result=False)
        return stored

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
        target_RM = batch.columns[TARGET]
        known_N = known_places(TARGET, batch)
        is_known_RM = target_RM != IGNORED
        gold_N = target_RM.flatten()[known_N]
        rows = 0 if batch.is_stand_in else len(batch)

        dynamics = self.config.dynamics
        records = not self.training or (dynamics.enabled and dynamics.mode == "train")
        smoothing = self.config.optim.label_smoothing
        loss_N, observed_N3 = token_loss(logits, gold_N, smoothing, records)

        observed_R3 = None
        if records:  # log-probability, whether it is the top token, margin
            observed_RM3 = observed_N3.new_zeros(*is_known_RM.shape, 3)
            observed_RM3.flatten(0, 1)[known_N] = observed_N3
            # Means over each row's tokens; NaN in rows without any.
            mean_R3 = observed_RM3.sum(dim=1) / is_known_RM.sum(dim=1, keepdim=True)
            observed_R3 = torch.cat([mean_R3[:, :1].exp(), mean_R3[:, 1:]], dim=1)[:rows]

        is_finite_RM = torch.ones_like(is_known_RM)
        is_finite_RM.flatten()[known_N] = loss_N.isfinite()
        return Output(
            loss=loss_N.sum() / max(len(gold_N), 1),
            weight=is_known_RM[:rows].sum().float(),
            labels_R=batch.labels_R[:rows],
            rows_R=batch.rows_R[:rows],
            observed_R3=observed_R3,
            finite_R=is_finite_RM.all(dim=1)[:rows],
        )

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
        guids = data.features[VALIDATION].guids
        self.chosen_N = torch.from_numpy(choose_rows(guids, self.task.validation_samples))

        # Of each chosen row that has a reference, in the order of the file.
        self.articles: list[str] = []
        self.references: dict[int, str] = {}

        examples, order_R = in_file_order(data, VALIDATION)
        for row, example in zip(order_R.tolist(), examples, strict=True):
            article, gold = as_given(example)
            if self.chosen_N[row] and gold is not None:
                self.articles.append(article)
                self.references[row] = gold

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Compute the loss of the gold summaries; summarize the chosen rows and score them."""
        output = self.step(batch)
        self.log_validation_loss(output)

        data = self.data()
        is_chosen_R = self.chosen_N[batch.rows_R.cpu()].to(batch.rows_R.device)
        written = self.write(part_of(batch, is_chosen_R))
        require_finite(self, [written], data, VALIDATION)

        texts = []
        golds = []
        for row, text in texts_of(written, data).items():
            if row in self.references:
                texts.append(text)
                golds.append(self.references[row])

        self.validation_scores.update(texts, golds)

    def on_validation_epoch_end(self) -> None:
        """Log ROUGE of the chosen rows under `validation/`, and that of extractive baselines."""
        if not self.references:
            return
        super().on_validation_epoch_end()
        golds = list(self.references.values())
        copied = stored_extractive(self.articles, golds, self.config)
        self.log_dict({f"validation/{name}": value for name, value in copied.items()})

    def kept_parts(self, folder: Path, data: DataModule, split: str) -> SummaryCache:
        """Store finished batches, because generation is slow; see `TaskModule.kept_parts`."""
        weights = hashlib.sha256()
        for name, tensor in self.state_dict().items():
            values = tensor.detach().cpu().contiguous().flatten()
            weights.update(name.encode())
            weights.update(values.view(torch.uint8).numpy())
        generation = asdict(self.task.generation)
        precision = data.config.trainer.precision
        key = fingerprint(weights.hexdigest(), data.keys[split], split, generation, precision)
        return SummaryCache(folder / key[:32])

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> SummaryPredictions:
        """Decode the `Written` of some batches of a split; see `TaskModule.collect`."""
        by_row: dict[int, str] = {}
        for written in outputs:
            by_row |= texts_of(written, data)
        examples = []
        texts = []
        for example, row in zip(*in_file_order(data, split), strict=True):
            if row in by_row:
                examples.append(example)
                texts.append(by_row[row])
        return SummaryPredictions(examples, texts)


def texts_of(written: Written, data: DataModule) -> dict[int, str]:
    """Decode summaries, by row.

    Args:
        written: of some rows of a split.
        data: with the tokenizer.

    Returns:
        The texts by row, without special tokens.
    """
    decode = partial(
        data.tokenizer.decode, skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
    # batch_decode would return one empty text for an empty batch.
    texts = {}
    for row, ids in zip(written.rows_R.tolist(), written.written_RM.tolist(), strict=True):
        texts[row] = decode(ids).strip()
    return texts


def part_of(batch: Batch, kept_R: Tensor) -> Batch:
    """Select rows of a batch by a mask; targets are dropped unless all rows are kept.

    Args:
        batch: of any rows.
        kept_R: which of them to keep, bool.
    """
    if bool(kept_R.all()):
        return batch
    names = ("tokens_BL", "mask_BL", "second_B", "labels_R", "rows_R")
    kept: dict[str, Any] = {name: getattr(batch, name)[kept_R] for name in names}
    return replace(batch, **kept, columns={}, collated=None)
