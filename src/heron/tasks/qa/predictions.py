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


class Answer(NamedTuple):
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

    best: Sequence[list[Answer]]  # candidates of each row, best first; empty without any word
    none_R: np.ndarray  # the score of "no answer" minus that of the best span, in logits
    threshold: float | None  # "no answer" is predicted where `none_R` is larger; None: never
    column: ClassVar = "answer"

    @classmethod
    def over(
        cls,
        examples: Sequence[Example],
        best: Sequence[list[Answer]],
        none_R: np.ndarray,
        threshold: float | None,
    ) -> Self:
        """Predict each best answer, or none by the threshold."""
        texts = [
            answers[0].text if answers and (threshold is None or none <= threshold) else ""
            for answers, none in zip(best, none_R, strict=True)
        ]
        return cls(examples, texts, best, none_R, threshold)

    @property
    def golds(self) -> list[str | None]:
        """See `Predictions`: the first gold answer, empty for none."""
        first = [next(iter(gold_answers(example)), "") for example in self.examples]
        return [None if e.label is None else g for e, g in zip(self.examples, first, strict=True)]

    def scores(self, config: Config) -> dict[str, float]:
        """See `Predictions`."""
        labelled = [row for row, example in enumerate(self.examples) if example.label is not None]
        groups = self.groups
        by_group = [groups[row] for row in labelled] if config.task.resample == "group" else None
        return score_texts(
            text_scores(),
            [self.texts[row] for row in labelled],
            [gold_answers(self.examples[row]) for row in labelled],
            language=get_language(config.data.language),
            no_answer=self.threshold is not None,
            of_file={} if self.threshold is None else {"threshold": self.threshold},
            groups=by_group,
            resamples=config.task.bootstrap,
        )

    def shown(self, example: Example, config: Config) -> str:
        """See `Predictions`."""
        return given_context(example)

    def details(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: spans, in characters, probability, and the candidates in JSON."""
        places = self._places()
        best = places.pop("n_best")
        golds = [json.dumps(gold_answers(each), ensure_ascii=False) for each in self.examples]
        asked = [example.text_pair for example in self.examples]
        return {**places, "golds": golds, "n_best": best, "text_pair": asked}

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`."""
        return {"guid": self.guids, self.column: list(self.texts), **self._places()}

    def _places(self) -> dict[str, list[Any]]:
        """Lay out each answer's span, in characters, its probability, and the candidates."""
        pairs = zip(self.best, self.texts, strict=True)
        given, ends = [best[0] if text else None for best, text in pairs], ("start", "end")
        listed = ([a._asdict() for a in best if not isnan(a.probability)] for best in self.best)
        places = [answer if answer and answer.start >= 0 else None for answer in given]
        shares = [answer and answer.probability for answer in given]
        return {
            **{name: [place and getattr(place, name) for place in places] for name in ends},
            "probability": [None if share is None or isnan(share) else share for share in shares],
            "no_answer": self.none_R.tolist(),
            "n_best": [json.dumps(best, ensure_ascii=False) for best in listed],
        }

    def lines(self, config: Config) -> list[str]:
        """Format the first row's answer, then its candidates with span and probability."""
        known = [answer for answer in self.best[0] if not isnan(answer.probability)]
        best = [f"  {a.probability:.4f}  {a.start:>6}-{a.end:<6}  {isolate(a.text)}" for a in known]
        return [self.texts[0] or "(no answer)", *best]

    def tuned(self) -> SpanPredictions:
        """Choose the threshold on these rows; see `best_threshold`."""
        labelled_R = np.asarray([example.label is not None for example in self.examples])
        rows = np.flatnonzero(labelled_R & np.isfinite(self.none_R)).tolist()
        if self.threshold is None or not len(rows):
            return self
        golds = [gold_answers(self.examples[row]) for row in rows]
        first = [self.best[row][0].text if self.best[row] else "" for row in rows]
        always = item_scores(first, golds, no_answer=True)
        never = item_scores([""] * len(rows), golds, no_answer=True)
        threshold = best_threshold(self.none_R[rows], always["f1"] - never["f1"])
        return self.over(self.examples, self.best, self.none_R, threshold)


def gold_answers(example: Example) -> list[str]:
    """List the gold answers of a question, as the data set spells them."""
    return list(example.side.get("answers") or ())


def from_texts(
    examples: Sequence[Example], texts: Sequence[str], config: Config
) -> SpanPredictions:
    """Combine questions with the answers that a language model wrote; empty for "no answer".

    An answer's span is where the context has it first; its text is then spelt as there.
    """
    best = []
    for example, text in zip(examples, texts, strict=True):
        start, read = given_context(example).find(text), example.text.find(text)
        answer = Answer(text, start, start + len(text) if start >= 0 else -1, float("nan"))
        if text and start < 0 <= read:  # only the normalised context has it
            there = answer._replace(start=read, end=read + len(text))
            (answer,) = _as_given(example, [there], config)
        best.append([answer] if text else [])
    can_be_empty = len(config.data.label_order) > 1
    none_R = np.zeros(len(examples), dtype=np.float32)
    return SpanPredictions.over(examples, best, none_R, 0.0 if can_be_empty else None)


def collect_spans(
    outputs: Sequence[Any], data: DataModule, split: str, threshold: float | None, decoding: str
) -> SpanPredictions:
    """Join the windows of each question; see `TaskModule.collect` and `SpanPredictions`.

    `decoding` is that of the model: several under different settings share `data`.
    """
    features = data.features[split]
    best: list[list[Answer]] = [[] for _ in features.guids]
    none_R = np.zeros(len(features), dtype=np.float32)
    examples, order_R = in_file_order(data, split)
    by_row = dict(zip(order_R.tolist(), examples, strict=True))
    for output in outputs:
        for row, answers, none in answers_of(
            output, features, by_row, threshold is not None, data.config, decoding
        ):
            best[row], none_R[row] = answers, none
    in_order = [best[row] for row in order_R]
    return SpanPredictions.over(examples, in_order, none_R[order_R], threshold)


def _as_given(example: Example, answers: list[Answer], config: RunSettings) -> list[Answer]:
    """Cut answers, spans of `Example.text`, out of the context as the file has it."""
    given = given_context(example)
    if given == example.text:
        return answers
    spans = spans_as_given(given, [Span(a.start, a.end) for a in answers], normaliser(config.data))
    return [
        Answer(given[start:end], start, end, answer.probability)
        for answer, (start, end) in zip(answers, spans, strict=True)
    ]


def answers_of(
    output: Any,
    features: Features,
    by_row: dict[int, Example],
    with_none: bool,
    config: RunSettings,
    decoding: str,
) -> list[tuple[int, list[Answer], float]]:
    """Join one batch's windows: `(row, its answers, its value of none_R)`."""
    chars_T2 = features.columns["chars"].array
    found = output.candidates
    if found is None:  # a batch without rows
        return []
    profile = language_profile(get_language(config.data.language))
    scores_BN, spans_BN2 = found.scores_BN.cpu().numpy(), found.spans_BN2.cpu().numpy()
    none_B, total_B = found.none_B.cpu().numpy(), found.total_B.double().cpu().numpy()
    rows_R, owners_B = output.rows_R.cpu().numpy(), output.owners_B.cpu().numpy()
    rows_B = rows_R[owners_B]
    # The windows of a row are consecutive, in the order of the features.
    first_B = np.searchsorted(owners_B, owners_B)
    sequences_B = features.sequences_R[rows_B] + np.arange(len(owners_B)) - first_B
    tokens_BN2 = features.offsets_S[sequences_B][:, None, None] + spans_BN2
    last_T = len(chars_T2) - 1
    starts_BN = chars_T2[np.minimum(tokens_BN2[:, :, 0], last_T), 0]
    ends_BN = chars_T2[np.minimum(tokens_BN2[:, :, 1], last_T), 1]
    joined = []
    for place, row in enumerate(rows_R):
        windows = owners_B == place
        none = float(none_B[windows].min())
        totals = np.append(total_B[windows], none) if with_none else total_B[windows]
        normaliser = np.logaddexp.reduce(totals)
        kept = scores_BN[windows] > NEVER / 2
        spans: dict[tuple[int, int], float] = {}
        found_BN = (starts_BN, ends_BN, scores_BN)
        for start, end, score in zip(*(n[windows][kept].tolist() for n in found_BN), strict=True):
            spans[start, end] = max(score, spans.get((start, end), score))
        ranked = sorted(spans.items(), key=lambda item: (-item[1], item[0]))
        text = by_row[int(row)].text
        answers = [
            Answer(text[start:end], start, end, float(np.exp(score - normaliser)))
            for (start, end), score in ranked[: scores_BN.shape[1]]
        ]
        answers = _as_given(by_row[int(row)], answers, config)
        if decoding == "mbr":
            given, p_N = [each.text for each in answers], [each.probability for each in answers]
            order_N = np.argsort(-expected_f1(given, p_N, profile), kind="stable")
            answers = [answers[place] for place in order_N]
        joined.append((int(row), answers, none - ranked[0][1] if ranked else np.inf))
    return joined
