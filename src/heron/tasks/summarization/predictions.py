"""Summaries of a whole split: scored and laid out.

Shape suffixes: R rows of a batch, M tokens of the longest summary, N rows of the split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heron.base.files import fingerprint, read_json, write_json
from heron.data.examples import Example
from heron.languages import get_language
from heron.languages.spelling import speller
from heron.metrics.intervals import intervals_of_means
from heron.metrics.span import mean_scores
from heron.metrics.summary import (
    EXTRACTIVE_VERSION,
    describe_summaries,
    exchanged_scores,
    extractive_scores,
    item_rouge,
)
from heron.tasks.config import Config
from heron.tasks.summarization.reader import as_given


class Written(NamedTuple):
    """Generated summaries: the rows in `Features`, and padded token ids, int64."""

    rows_R: Tensor
    written_RM: Tensor


@dataclass(frozen=True, slots=True)
class SummaryPredictions:
    """See `Predictions`; rows that were not summarized are absent."""

    guids: list[str]
    texts: list[str]  # the generated summaries
    golds: list[str | None]  # references as the file has them
    articles: list[str]  # as the file has them
    groups: list[str]  # of the bootstrap; the guid of a row without one

    @classmethod
    def of(cls, examples: Sequence[Example], texts: Sequence[str]) -> SummaryPredictions:
        """Combine examples with their summaries."""
        return cls(
            guids=[example.guid for example in examples],
            texts=list(texts),
            golds=[as_given(example)[1] for example in examples],
            articles=[as_given(example)[0] for example in examples],
            groups=[example.group or example.guid for example in examples],
        )

    def references(self) -> list[str]:
        """List the references that there are."""
        return [gold for gold in self.golds if gold is not None]

    def scores(self, config: Config, intervals: bool = True) -> dict[str, float]:
        """Score the rows that have a reference.

        ROUGE, the scores of copied sentences, BERTScore if `task.bertscore` has a model, and their
        intervals are on texts without normalisation; statistics of the summaries are on texts
        normalised by `data.unicode`. `intervals=False` computes the first two only, for use after
        every epoch.
        """
        rows = [row for row, gold in enumerate(self.golds) if gold is not None]
        if not rows:
            return {}
        texts, golds = [self.texts[row] for row in rows], self.references()
        language = get_language(config.data.language)
        values = item_rouge(texts, golds, language)
        articles = [self.articles[row] for row in rows]
        copied = stored_extractive(articles, golds, config)
        scores = mean_scores(values)
        if not intervals:
            return scores | copied
        if config.task.bertscore.model:
            from heron.metrics.bertscore import bertscore

            found = bertscore(
                texts,
                golds,
                config.task.bertscore,
                Path(config.paths.cache),
                device=torch.device("cpu") if config.trainer.accelerator == "cpu" else None,
                progress=config.trainer.enable_progress_bar,
            )
            values |= found.known()
            scores |= found.means()
        spell = speller(config.data.language, config.data.unicode)
        spelt = (list(map(spell, each)) for each in (articles, texts, golds))
        scores |= describe_summaries(*spelt)
        scores |= exchanged_scores(texts, golds, language) | copied
        scores |= intervals_of_means(values, [self.groups[row] for row in rows], config.task)
        return scores

    def columns(self, examples: Sequence[Example], config: Config) -> dict[str, Any]:
        """See `Predictions`."""
        group_of = {example.guid: example.group or None for example in examples}
        groups = [group_of[guid] for guid in self.guids]
        columns = {"guid": self.guids, "gold": self.golds, "prediction": self.texts}
        return {**columns, "text": self.articles, **({"group": groups} if any(groups) else {})}

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: guid and summary."""
        return {"guid": self.guids, "summary": self.texts}

    def lines(self, config: Config) -> list[str]:
        """Format the first row's summary."""
        return [self.texts[0]]


def choose_rows(guids: Sequence[str], most: int | None) -> np.ndarray:
    """Choose at most `most` rows to summarize after each epoch, the same in every run; bool [N]."""
    chosen_N = np.ones(len(guids), dtype=bool)
    if most is not None and most < len(guids):
        order = sorted(range(len(guids)), key=lambda row: fingerprint(guids[row]))
        chosen_N[order[most:]] = False
    return chosen_N


def from_texts(
    examples: Sequence[Example], texts: Sequence[str], config: Config
) -> SummaryPredictions:
    """Combine examples with the summaries that a language model wrote."""
    return SummaryPredictions.of(examples, texts)


def stored_extractive(
    articles: Sequence[str], golds: Sequence[str], config: Config
) -> dict[str, float]:
    """Compute `extractive_scores` once for all runs on the same texts."""
    language = config.data.language
    key = fingerprint(EXTRACTIVE_VERSION, language, list(articles), list(golds))
    path = Path(config.paths.cache) / "extractive" / f"{key[:32]}.json"
    try:
        stored = read_json(path)
        scores: dict[str, float] = stored["scores"]
        if stored["fingerprint"] == fingerprint(scores):
            return scores
    except (OSError, ValueError, KeyError, TypeError):
        pass  # absent or damaged: computed again
    scores = extractive_scores(articles, golds, get_language(language))
    write_json(path, {"fingerprint": fingerprint(scores), "scores": scores})
    return scores
