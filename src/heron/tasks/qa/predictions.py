"""Answers of a whole split: collected from windows, thresholded, scored and laid out.

Shape suffixes: R rows (questions), B windows of a batch, N candidates.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from heron.base.terminal import isolate
from heron.data.config import RunSettings
from heron.data.datamodule import DataModule
from heron.data.examples import Example, Span
from heron.data.features import Features
from heron.languages import get_language
from heron.metrics.span import (
    best_threshold,
    expected_f1,
    item_scores,
    language_profile,
)
from heron.tasks.base import in_file_order
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions
from heron.tasks.qa.answers import spans_as_given
from heron.tasks.qa.head import NEVER
from heron.tasks.qa.reader import given_context, normaliser, text_scores
from heron.tasks.scoring import score_texts


class CandidateAnswer(NamedTuple):
    """A candidate: a span of the context as the file has it, before normalisation.

    `start` and `end` count characters, end exclusive. `probability` is among all spans of all
    windows (and "no answer", where the data set has it). A span in two windows counts twice there,
    so probabilities may sum to less than 1. An answer that a language model wrote has NaN, and -1
    for `start` and `end` where the text does not have it.
    """

    text: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class SpanPredictions(Predictions):
    """The best answer to each question, or none; see `Predictions`."""

    # Candidates of each row, best first; empty for a context without any word.
    best: Sequence[list[CandidateAnswer]]
    none_R: np.ndarray  # the score of "no answer" minus that of the best span, in logits
    threshold: float | None  # "no answer" is predicted where `none_R` is larger; None: never
    column: ClassVar = "answer"

    @classmethod
    def over(
        cls,
        examples: Sequence[Example],
        best: Sequence[list[CandidateAnswer]],
        none_R: np.ndarray,
        threshold: float | None,
    ) -> Self:
        """Predict each best answer, or none by the threshold.

        Args:
            examples: the questions.
            best: candidates of each question, best first.
            none_R: see `SpanPredictions`.
            threshold: see `SpanPredictions`.
        """
        texts = []
        for answers, none in zip(best, none_R, strict=True):
            is_answered = bool(answers) and (threshold is None or none <= threshold)
            texts.append(answers[0].text if is_answered else "")
        return cls(examples, texts, best, none_R, threshold)

    @property
    def golds(self) -> list[str | None]:
        """See `Predictions`: the first gold answer, empty for none."""
        golds: list[str | None] = []
        for example in self.examples:
            if example.label is None:
                golds.append(None)
            else:
                golds.append(next(iter(gold_answers(example)), ""))
        return golds

    def scores(self, config: Config) -> dict[str, float]:
        """See `Predictions`.

        Args:
            config: of the run.

        Returns:
            Fractions from 0 to 1; `threshold` in logits.
        """
        texts = []
        golds = []
        groups = []
        for example, text, group in zip(self.examples, self.texts, self.groups, strict=True):
            if example.label is not None:
                texts.append(text)
                golds.append(gold_answers(example))
                groups.append(group)

        return score_texts(
            text_scores(),
            texts,
            golds,
            language=get_language(config.data.language),
            no_answer=self.threshold is not None,
            of_file={} if self.threshold is None else {"threshold": self.threshold},
            groups=groups if config.task.resample == "group" else None,
            resamples=config.task.bootstrap,
        )

    def shown(self, example: Example, config: Config) -> str:
        """See `Predictions`."""
        return given_context(example)

    def details(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: spans, in characters, probability, and the candidates in JSON."""
        columns = self._spans()
        candidates = columns.pop("n_best")
        golds = [json.dumps(gold_answers(e), ensure_ascii=False) for e in self.examples]
        questions = [example.text_pair for example in self.examples]
        return {**columns, "golds": golds, "n_best": candidates, "text_pair": questions}

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`."""
        return {"guid": self.guids, self.column: list(self.texts), **self._spans()}

    def _spans(self) -> dict[str, list[Any]]:
        """Lay out each answer's span, in characters, its probability, and the candidates."""
        starts = []
        ends = []
        probabilities = []
        listed = []
        for candidates, text in zip(self.best, self.texts, strict=True):
            start = None
            end = None
            probability = None
            if text:
                answer = candidates[0]
                if answer.start >= 0:
                    start = answer.start
                    end = answer.end
                if not isnan(answer.probability):
                    probability = answer.probability
            starts.append(start)
            ends.append(end)
            probabilities.append(probability)
            of_model = [candidate._asdict() for candidate in _of_model(candidates)]
            listed.append(json.dumps(of_model, ensure_ascii=False))
        return {
            "start": starts,
            "end": ends,
            "probability": probabilities,
            "no_answer": self.none_R.tolist(),
            "n_best": listed,
        }

    def lines(self, config: Config) -> list[str]:
        """Format the first row's answer, then its candidates with span and probability."""
        lines = [self.texts[0] or "(no answer)"]
        for answer in _of_model(self.best[0]):
            span = f"{answer.start:>6}-{answer.end:<6}"
            lines.append(f"  {answer.probability:.4f}  {span}  {isolate(answer.text)}")
        return lines

    def tuned(self) -> SpanPredictions:
        """Choose the threshold on these rows; see `best_threshold`."""
        is_labelled_R = np.asarray([example.label is not None for example in self.examples])
        rows = np.flatnonzero(is_labelled_R & np.isfinite(self.none_R)).tolist()
        if self.threshold is None or not rows:
            return self
        golds = [gold_answers(self.examples[row]) for row in rows]
        texts = [self.best[row][0].text if self.best[row] else "" for row in rows]
        answered = item_scores(texts, golds, no_answer=True)
        unanswered = item_scores([""] * len(rows), golds, no_answer=True)
        threshold = best_threshold(self.none_R[rows], answered["f1"] - unanswered["f1"])
        return self.over(self.examples, self.best, self.none_R, threshold)


def gold_answers(example: Example) -> list[str]:
    """List the gold answers of a question, as the data set spells them."""
    return list(example.side.get("answers") or ())


def _of_model(candidates: Sequence[CandidateAnswer]) -> list[CandidateAnswer]:
    """Leave out an answer that a language model wrote: it has no probability."""
    return [answer for answer in candidates if not isnan(answer.probability)]


def from_texts(
    examples: Sequence[Example], texts: Sequence[str], config: Config
) -> SpanPredictions:
    """Combine questions with the answers that a language model wrote; empty for "no answer".

    An answer's span is where the context has it first; its text is then spelt as there.

    Args:
        examples: the questions.
        texts: the answer to each.
        config: of the run; tells whether a question can have no answer.
    """
    best: list[list[CandidateAnswer]] = []
    for example, text in zip(examples, texts, strict=True):
        if not text:
            best.append([])
            continue
        start = given_context(example).find(text)
        start_normalised = example.text.find(text)
        end = start + len(text) if start >= 0 else -1
        answer = CandidateAnswer(text, start, end, float("nan"))
        if start < 0 <= start_normalised:  # only the normalised context has it
            end = start_normalised + len(text)
            normalised = answer._replace(start=start_normalised, end=end)
            (answer,) = _as_given(example, [normalised], config)
        best.append([answer])

    can_be_empty = len(config.data.label_order) > 1
    none_R = np.zeros(len(examples), dtype=np.float32)
    return SpanPredictions.over(examples, best, none_R, 0.0 if can_be_empty else None)


def collect_spans(
    outputs: Sequence[Any], data: DataModule, split: str, threshold: float | None, decoding: str
) -> SpanPredictions:
    """Join the windows of each question; see `TaskModule.collect` and `SpanPredictions`.

    `decoding` is that of the model: several under different settings share `data`.

    Args:
        outputs: `SpanOutput` of each batch of the split.
        data: with the split's features and examples.
        split: its name.
        threshold: see `SpanPredictions`.
        decoding: value of `task.decoding`.
    """
    features = data.features[split]
    examples, order_R = in_file_order(data, split)
    by_row = dict(zip(order_R.tolist(), examples, strict=True))

    best: list[list[CandidateAnswer]] = [[] for _ in features.guids]
    none_R = np.zeros(len(features), dtype=np.float32)
    with_none = threshold is not None
    for output in outputs:
        joined = answers_of(output, features, by_row, with_none, data.config, decoding)
        for row, answers, none in joined:
            best[row] = answers
            none_R[row] = none

    in_order = [best[row] for row in order_R]
    return SpanPredictions.over(examples, in_order, none_R[order_R], threshold)


def _as_given(
    example: Example, answers: list[CandidateAnswer], config: RunSettings
) -> list[CandidateAnswer]:
    """Cut answers, spans of `Example.text`, out of the context as the file has it."""
    context = given_context(example)
    if context == example.text:
        return answers
    spans = [Span(answer.start, answer.end) for answer in answers]
    given_answers = []
    for answer, span in zip(
        answers, spans_as_given(context, spans, normaliser(config.data)), strict=True
    ):
        text = context[span.start : span.end]
        given_answers.append(CandidateAnswer(text, span.start, span.end, answer.probability))
    return given_answers


def answers_of(
    output: Any,
    features: Features,
    by_row: dict[int, Example],
    with_none: bool,
    config: RunSettings,
    decoding: str,
) -> list[tuple[int, list[CandidateAnswer], float]]:
    """Join the windows of each question of one batch.

    Args:
        output: a `SpanOutput`, of whole questions.
        features: of the split.
        by_row: the split's questions by their row.
        with_none: whether "no answer" shares the probability with the spans.
        config: of the run.
        decoding: value of `task.decoding`.

    Returns:
        For each question its row, its candidates, best first, and the score of "no answer" minus
        that of the best span, in logits; infinite without any span.
    """
    candidates = output.candidates
    if candidates is None:  # a batch without rows
        return []
    profile = language_profile(get_language(config.data.language))
    scores_BN = candidates.scores_BN.cpu().numpy()
    spans_BN2 = candidates.spans_BN2.cpu().numpy()
    none_B = candidates.none_B.cpu().numpy()
    total_B = candidates.total_B.double().cpu().numpy()
    rows_R = output.rows_R.cpu().numpy()
    owners_B = output.owners_B.cpu().numpy()
    n_best = scores_BN.shape[1]

    # Spans in characters. The windows of a row are consecutive, in the order of the features.
    chars_T2 = features.columns["chars"].array
    last_T = len(chars_T2) - 1
    first_B = np.searchsorted(owners_B, owners_B)
    window_of_row_B = np.arange(len(owners_B)) - first_B
    sequences_B = features.sequences_R[rows_R[owners_B]] + window_of_row_B
    tokens_BN2 = features.offsets_S[sequences_B][:, None, None] + spans_BN2
    starts_BN = chars_T2[np.minimum(tokens_BN2[:, :, 0], last_T), 0]
    ends_BN = chars_T2[np.minimum(tokens_BN2[:, :, 1], last_T), 1]

    joined = []
    for number, row in enumerate(rows_R):
        windows_B = owners_B == number
        none = float(none_B[windows_B].min())
        totals = total_B[windows_B]
        if with_none:
            totals = np.append(totals, none)
        total = np.logaddexp.reduce(totals)

        # A span in two windows has the better of its scores.
        is_span_BN = windows_B[:, None] & (scores_BN > NEVER / 2)
        starts = starts_BN[is_span_BN].tolist()
        ends = ends_BN[is_span_BN].tolist()
        values = scores_BN[is_span_BN].tolist()
        scores: dict[tuple[int, int], float] = {}
        for start, end, score in zip(starts, ends, values, strict=True):
            scores[start, end] = max(score, scores.get((start, end), score))
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))

        example = by_row[int(row)]
        answers = []
        for (start, end), score in ranked[:n_best]:
            probability = float(np.exp(score - total))
            answers.append(CandidateAnswer(example.text[start:end], start, end, probability))
        answers = _as_given(example, answers, config)

        if decoding == "mbr":
            texts = [answer.text for answer in answers]
            probabilities = [answer.probability for answer in answers]
            order_N = np.argsort(-expected_f1(texts, probabilities, profile), kind="stable")
            answers = [answers[index] for index in order_N]

        none_margin = np.inf
        if ranked:
            _, best_score = ranked[0]
            none_margin = none - best_score
        joined.append((int(row), answers, none_margin))
    return joined
