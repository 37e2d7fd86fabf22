"""Extraction: the answer to a question is a span of the text.

Shape suffixes: B sequences (windows), L tokens, R rows (questions), W widths of spans, K answers.
"""

from collections.abc import Sequence
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
from heron.models.heads import join_windows
from heron.tasks.base import Output, TaskModule, in_file_order
from heron.tasks.qa.config import QaConfig
from heron.tasks.qa.features import AnswerColumns
from heron.tasks.qa.head import (
    NEVER,
    Candidates,
    SpanHead,
    SpanLogits,
    best_spans,
    borders,
    mean_logits,
)
from heron.tasks.qa.predictions import SpanPredictions, answers_of, collect_spans, gold_answers


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
        rows = len(batch)
        windows = len(batch.owners_B)
        if batch.is_stand_in:
            rows = 0
            windows = 0

        loss = None
        weight = None
        observed_R3 = None
        is_labelled_B = AnswerColumns.of(batch.host).first_B2 >= 0
        if bool(is_labelled_B.all()):
            log_p_B, loss_B = self._likelihood(logits, batch)
            loss = loss_B.mean()
            weight = torch.full_like(loss_B[0], windows)
            with torch.no_grad():
                observed_R3 = self._observed(logits, log_p_B, batch)[:rows]

        candidates = None
        finite_R = None
        if not self.training and rows:
            candidates = best_spans(logits, self.task.max_answer_tokens, self.task.n_best)
            finite_B = candidates.total_B.isfinite() & candidates.none_B.isfinite()
            finite_R = torch.ones_like(batch.rows_R, dtype=torch.bool)
            finite_R[batch.owners_B[~finite_B]] = False

        return SpanOutput(
            loss,
            weight,
            batch.labels_R[:rows],
            batch.rows_R[:rows],
            observed_R3,
            finite_R,
            owners_B=batch.owners_B[:windows],
            candidates=candidates,
        )

    def _likelihood(self, logits: SpanLogits, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compute the log probability of each window's answer, and its loss; [B] both.

        Args:
            logits: of all windows.
            batch: with the column `answers`, all of whose windows are labelled.

        Returns:
            log_p_B of each window's first answer, 0 at most, and loss_B, in nats; float32.
        """
        answers_BK2 = AnswerColumns.of(batch).spans_BK2
        if not (self.training and self.config.optim.soft.answers):
            answers_BK2 = answers_BK2[:, :1]
        spans_BK2 = answers_BK2.clamp(min=0)

        if logits.pair_start_BLH is None:
            log_p_BK, mean_B = _by_borders(logits, spans_BK2, borders(batch))
            choices = 2  # start and end
        else:
            log_p_BK, mean_B = self._by_pairs(logits, spans_BK2, batch)
            choices = 1

        is_answer_BK = answers_BK2[:, :, 0] >= 0
        gold_B = (log_p_BK * is_answer_BK).sum(dim=1) / is_answer_BK.sum(dim=1)

        smoothing = self.config.optim.label_smoothing
        loss_B = -(1 - smoothing) * gold_B / choices - smoothing * mean_B
        return log_p_BK[:, 0], loss_B

    def _by_pairs(
        self, logits: SpanLogits, spans_BK2: Tensor, batch: Batch
    ) -> tuple[Tensor, Tensor]:
        """Compute a softmax over all pairs of a start and an end, and "not here".

        Args:
            logits: of a biaffine head.
            spans_BK2: first and last token of each answer; of a missing one, token 0.
            batch: whose answers on the host tell which span is the longest.

        Returns:
            The log probability of each answer, [B, K], and its mean over all possible pairs, [B].
        """
        on_host_BK2 = AnswerColumns.of(batch.host).spans_BK2[
            :, : spans_BK2.shape[1]
        ]  # no wait for a GPU
        longest_gold = int((on_host_BK2[:, :, 1] - on_host_BK2[:, :, 0]).max()) + 1
        band_BLW = logits.band_BLW(max(longest_gold, self.task.max_answer_tokens))

        none_B1 = logits.none_B[:, None]
        scores_BX = torch.cat([none_B1, band_BLW.flatten(1)], dim=1)
        total_B1 = scores_BX.logsumexp(dim=1, keepdim=True)

        gold_BK = torch.stack([logits.span_B(span_B2) for span_B2 in spans_BK2.unbind(1)], dim=1)
        gold_BK = torch.where(spans_BK2[:, :, 0] == 0, none_B1, gold_BK)

        is_possible_BX = scores_BX > NEVER / 2
        log_p_BX = (scores_BX - total_B1).masked_fill(~is_possible_BX, 0.0)
        mean_B = log_p_BX.sum(dim=1) / is_possible_BX.sum(dim=1)
        return gold_BK - total_B1, mean_B

    def _observed(self, logits: SpanLogits, log_p_B: Tensor, batch: Batch) -> Tensor:
        """Compute `SpanOutput.observed_R3`.

        Args:
            logits: of all windows.
            log_p_B: log probability of each window's first answer.
            batch: with the column `answers`.

        Returns:
            float32 [R, 3].
        """
        answers_B2 = AnswerColumns.of(batch).first_B2
        first_B, last_B = answers_B2.unbind(dim=1)
        band_BLW = logits.band_BLW(self.task.max_answer_tokens)
        widest = band_BLW.shape[2]

        here_B = first_B > 0
        width_B = last_B - first_B
        can_be_given_B = here_B & (width_B < widest)
        gold_B = logits.span_B(answers_B2).masked_fill(~here_B, -torch.inf)

        # The best score of another span than the answer.
        index_B = first_B * widest + width_B
        index_B = index_B.masked_fill(~can_be_given_B, 0)  # token 0: no answer
        others_BX = band_BLW.flatten(1).scatter(1, index_B[:, None], 2 * NEVER)
        other_B = others_BX.amax(dim=1)

        p_R = join_windows(log_p_B.exp()[:, None], batch, "mean")[:, 0]
        # The lowest of several scores is the highest of the negative ones.
        scores_B4 = torch.stack([gold_B, other_B, -logits.none_B, can_be_given_B.float()], dim=1)
        highest_R4 = join_windows(scores_B4, batch, "max")
        gold_R, other_R, negative_R, given_R = highest_R4.unbind(dim=1)
        none_R = -negative_R
        can_be_given_R = given_R > 0

        answerable_R = torch.isfinite(gold_R)
        if self.predicts_none:
            other_R = torch.where(answerable_R, torch.maximum(other_R, none_R), other_R)
        margin_R = torch.where(answerable_R, gold_R, none_R) - other_R

        # An answer that is longer than `max_answer_tokens` is never predicted.
        correct_R = (margin_R > 0) & (can_be_given_R | ~answerable_R)
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
        data = self.data()
        output = self.step(batch)
        self.log_validation_loss(output)
        answered = answers_of(
            output,
            data.features[VALIDATION],
            self.questions,
            self.predicts_none,
            data.config,
            self.task.decoding,
        )

        texts = []
        golds = []
        none_scores = []
        labels = output.labels_R.tolist()
        for (row, answers, none_score), label in zip(answered, labels, strict=True):
            if label == UNLABELLED:
                continue
            texts.append(answers[0].text if answers else "")
            golds.append(gold_answers(self.questions[row]))
            none_scores.append(none_score)
        self.validation_scores.update(texts, golds, none_scores)

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


def _by_borders(logits: SpanLogits, spans_BK2: Tensor, allowed_BL: Tensor) -> tuple[Tensor, Tensor]:
    """Compute a softmax over starts, and one over ends.

    Args:
        logits: of a linear head.
        spans_BK2: first and last token of each answer; of a missing one, token 0.
        allowed_BL: see `borders`.

    Returns:
        The log probability of each answer, [B, K], and the mean of both over the tokens where an
        answer can begin or end, [B].
    """
    first_BK, last_BK = spans_BK2.unbind(dim=2)
    start_BL = logits.start_BL.log_softmax(dim=1)
    end_BL = logits.end_BL.log_softmax(dim=1)
    log_p_BK = start_BL.gather(1, first_BK) + end_BL.gather(1, last_BK)

    count_B = allowed_BL.sum(dim=1)
    mean_start_B = start_BL.masked_fill(~allowed_BL, 0.0).sum(dim=1) / count_B
    mean_end_B = end_BL.masked_fill(~allowed_BL, 0.0).sum(dim=1) / count_B
    return log_p_BK, (mean_start_B + mean_end_B) / 2
