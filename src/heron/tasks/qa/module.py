"""Extraction: the answer to a question is a span of the text.

Shape suffixes: B sequences (windows), L tokens, R rows (questions), W widths of spans, K answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from heron.base.terminal import say
from heron.data.collate import Batch
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.metrics.torch_metrics import SpanScores
from heron.models.heads import windows_of_rows
from heron.tasks.base import Output, TaskModule, in_file_order
from heron.tasks.qa import QaConfig
from heron.tasks.qa.features import Answers
from heron.tasks.qa.head import (
    NEVER,
    Candidates,
    SpanHead,
    SpanLogits,
    best_spans,
    borders,
    mean_logits,
)
from heron.tasks.qa.predictions import SpanPredictions, answers_of, collect_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanOutput(Output):
    """An `Output` of questions, whose loss is the mean over windows.

    `observed_R3`: probability of the answer's two borders ("not here" in windows without it),
    averaged over the windows; whether the best span of all windows ("not here" included where there
    is no answer) is the target; and the score of the target minus the best other score.
    """

    owners_B: Tensor  # the row of each window, int64 from 0 to R - 1
    candidates: Candidates | None  # of each window; None in training, and without rows


class ExtractionModule(TaskModule):
    """Cross-entropy of the answer's first and last token in every window; scores of whole splits.

    The target of a window without the answer is token 0, "not here". With `optim.soft.answers` the
    loss of a window is the mean over its answers.

    Source: Devlin et al. 2019, sections 4.2 and 4.3; ParaShoot section 4.
    """

    head: SpanHead

    def metric(self) -> SpanScores:
        """See `TaskModule.metric`."""
        return SpanScores(self.config.data.language, self.predicts_none)

    @property
    def task(self) -> QaConfig:
        """The task's part of the configuration."""
        return QaConfig.of(self.config)

    def logits(self, batch: Batch) -> SpanLogits:
        """Encode and score every window."""
        return self.head(self.encoder(batch), batch)

    def mean(self, several: Sequence[SpanLogits]) -> SpanLogits:
        """Average the scores of starts, ends and pairs."""
        return mean_logits(several)

    def output(self, logits: SpanLogits, batch: Batch) -> SpanOutput:
        """Compute the loss, the mean over the windows; in evaluation, find the candidates."""
        rows, windows = (0, 0) if batch.is_stand_in else (len(batch), len(batch.owners_B))
        loss, weight, observed_R3, candidates, finite_R = None, None, None, None, None
        if bool((Answers.of(batch.host).first_B2 >= 0).all()):
            log_p_B, loss_B = self._likelihood(logits, batch)
            loss, weight = loss_B.mean(), torch.full_like(loss_B[0], windows)
            with torch.no_grad():
                observed_R3 = self._observed(logits, log_p_B, batch)[:rows]
        if not self.training and rows:
            task = self.task
            candidates = best_spans(logits, task.max_answer_tokens, task.n_best)
            finite_B = candidates.total_B.isfinite() & candidates.none_B.isfinite()
            finite_R = torch.ones_like(batch.rows_R, dtype=torch.bool)
            finite_R[batch.owners_B[~finite_B]] = False
        labels_R, rows_R = batch.labels_R[:rows], batch.rows_R[:rows]
        owners_B = batch.owners_B[:windows]
        more: Any = {"owners_B": owners_B, "candidates": candidates, "finite_R": finite_R}
        return SpanOutput(loss, weight, labels_R, rows_R, observed_R3, **more)

    def _likelihood(self, logits: SpanLogits, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compute the log probability of each window's answer, and its loss; [B] both."""
        answers_BK2 = Answers.of(batch).spans_BK2
        if not (self.training and self.config.optim.soft.answers):
            answers_BK2 = answers_BK2[:, :1]
        spans_BK2 = answers_BK2.clamp(min=0)
        first_BK, last_BK = spans_BK2.unbind(dim=2)
        smoothing = self.config.optim.label_smoothing
        if logits.pair_start_BLH is None:
            start_BL, end_BL = logits.start_BL.log_softmax(1), logits.end_BL.log_softmax(1)
            log_p_BK = start_BL.gather(1, first_BK) + end_BL.gather(1, last_BK)
            # Over the tokens where an answer can begin or end.
            allowed_BL = borders(batch)
            means_B = [
                side_BL.masked_fill(~allowed_BL, 0.0).sum(dim=1) / allowed_BL.sum(dim=1)
                for side_BL in (start_BL, end_BL)
            ]
            spread_B, choices = (means_B[0] + means_B[1]) / 2, 2
        else:  # a softmax over all pairs of a start and an end, and "not here"
            first, last = Answers.of(batch.host).spans_BK2[:, : first_BK.shape[1]].unbind(dim=2)
            longest = int((last - first).max()) + 1
            flat_BX = logits.band_BLW(max(longest, self.task.max_answer_tokens)).flatten(1)
            all_BX = torch.cat([logits.none_B[:, None], flat_BX], dim=1)
            each_BK = torch.stack([logits.span_B(each_B2) for each_B2 in spans_BK2.unbind(1)], 1)
            gold_BK = torch.where(first_BK == 0, logits.none_B[:, None], each_BK)
            total_B1 = all_BX.logsumexp(dim=1, keepdim=True)
            log_p_BK = gold_BK - total_B1
            real_BX = all_BX > NEVER / 2
            log_all_BX = (all_BX - total_B1).masked_fill(~real_BX, 0.0)
            spread_B, choices = log_all_BX.sum(dim=1) / real_BX.sum(dim=1), 1
        given_BK = answers_BK2[:, :, 0] >= 0
        taught_B = (log_p_BK * given_BK).sum(dim=1) / given_BK.sum(dim=1)
        return log_p_BK[:, 0], -(1 - smoothing) * taught_B / choices - smoothing * spread_B

    def _observed(self, logits: SpanLogits, log_p_B: Tensor, batch: Batch) -> Tensor:
        """Compute `SpanOutput.observed_R3`."""
        answers_B2 = Answers.of(batch).first_B2
        first_B, last_B = answers_B2.unbind(dim=1)
        band_BLW = logits.band_BLW(self.task.max_answer_tokens)
        here_B, width_B = first_B > 0, last_B - first_B
        can_be_given_B = here_B & (width_B < band_BLW.shape[2])
        gold_B = logits.span_B(answers_B2).masked_fill(~here_B, -torch.inf)
        flat_BX = band_BLW.flatten(1)
        place_B1 = (first_B * band_BLW.shape[2] + width_B)[:, None]
        place_B1 = place_B1.masked_fill(~can_be_given_B[:, None], 0)  # token 0: no answer
        other_B = flat_BX.scatter(1, place_B1, 2 * NEVER).amax(dim=1)
        counts_R = windows_of_rows(batch)

        def over_windows(reduce: Callable[[Tensor], Tensor], values_B: Tensor) -> Tensor:
            return torch.stack([reduce(part) for part in values_B.split(counts_R)])

        p_R = over_windows(torch.mean, log_p_B.exp())
        gold_R, other_R = over_windows(torch.amax, gold_B), over_windows(torch.amax, other_B)
        none_R = over_windows(torch.amin, logits.none_B)
        can_R = over_windows(torch.any, can_be_given_B)
        answerable_R = torch.isfinite(gold_R)
        if self.predicts_none:
            other_R = torch.where(answerable_R, torch.maximum(other_R, none_R), other_R)
        margin_R = torch.where(answerable_R, gold_R, none_R) - other_R
        # An answer that is longer than `max_answer_tokens` is never predicted.
        correct_R = (margin_R > 0) & (can_R | ~answerable_R)
        return torch.stack([p_R, correct_R.float(), margin_R], dim=1)

    @property
    def predicts_none(self) -> bool:
        """Whether "no answer" is one of the data set's classes."""
        return len(self.config.data.label_order) > 1

    def on_train_start(self) -> None:
        """Warn of soft answers without effect; see `TaskModule.on_train_start`."""
        super().on_train_start()
        answers: Any = self.data().features[TRAIN].columns["answers"]
        if self.config.optim.soft.answers and len(answers.array) < len(answers.offsets):
            say("optim.soft.answers has no effect: no question of train has several answers")

    def on_validation_epoch_start(self) -> None:
        """Look up the questions, which `validation_step` needs by row."""
        examples, order_R = in_file_order(self.data(), VALIDATION)
        self.questions = dict(zip(order_R.tolist(), examples, strict=True))

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Score the batch's answers; a threshold is chosen once, over the whole split."""
        data, output = self.data(), self.step(batch)
        self.log_validation_loss(output)
        found = answers_of(
            *(output, data.features[VALIDATION], self.questions, self.predicts_none),
            *(data.config, self.task.decoding),
        )
        found = [
            each
            for each, label in zip(found, output.labels_R.tolist(), strict=True)
            if label != UNLABELLED
        ]
        self.validation_scores.update(
            [answers[0].text if answers else "" for _, answers, _ in found],
            [self.questions[row].side.get("answers") or () for row, _, _ in found],
            [none for *_, none in found],
        )

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> SpanPredictions:
        """See `TaskModule.collect`."""
        threshold = float(self.head.threshold) if self.predicts_none else None
        return collect_spans(outputs, data, split, threshold, self.task.decoding)

    def tune(self, predictions: Any) -> SpanPredictions:
        """Tune the threshold of "no answer" on validation; see `TaskModule.tune`."""
        tuned: SpanPredictions = predictions.tuned()
        if tuned.threshold is not None:
            self.head.threshold.fill_(tuned.threshold)
        return tuned
