"""Summaries of a whole split: scored and laid out.

Shape suffixes: R rows of a batch, M tokens of the longest summary, N rows of the split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heron.base.files import fingerprint, read_json, write_json
from heron.data.examples import Example
from heron.languages import get_language
from heron.metrics.summary import EXTRACTIVE_VERSION, extractive_scores
from heron.tasks.config import Config
from heron.tasks.predictions import LITTLE, Predictions
from heron.tasks.scoring import score_texts
from heron.tasks.summarization.config import SummarizationConfig
from heron.tasks.summarization.reader import as_given
from heron.tasks.summarization.scores import file_scores, text_scores

# Least difference between ROUGE-1 with the references of a summary's own and of another article,
# if anything was learnt.
_NEARER = 0.01


class Written(NamedTuple):
    """Generated summaries."""

    rows_R: Tensor  # in `Features`
    written_RM: Tensor  # padded token ids, int64
    finite_R: Tensor  # whether all logits of a row were finite


class SummaryPredictions(Predictions):
    """Summaries of articles, both as files have them; see `Predictions`."""

    column: ClassVar = "summary"

    @property
    def golds(self) -> list[str | None]:
        """See `Predictions`."""
        return [as_given(example)[1] for example in self.examples]

    @property
    def groups(self) -> list[str]:
        """See `Predictions`; rows without a document are drawn one by one."""
        return [example.group or example.guid for example in self.examples]

    def shown(self, example: Example, config: Config) -> str:
        """See `Predictions`."""
        return as_given(example)[0]

    def scores(self, config: Config) -> dict[str, float]:
        """Score the rows that have a reference.

        ROUGE, also of extractive baselines, BERTScore if `task.bertscore` has a model, and their
        intervals are on texts without normalisation; statistics of the summaries are on texts
        normalised by `data.unicode`.
        """
        articles = []
        texts = []
        golds = []
        groups = []
        for example, text, group in zip(self.examples, self.texts, self.groups, strict=True):
            article, gold = as_given(example)
            if gold is not None:
                articles.append(article)
                texts.append(text)
                golds.append(gold)
                groups.append(group)
        if not texts:
            return {}

        task = SummarizationConfig.of(config)
        bertscores = None
        if task.bertscore.model:
            from heron.metrics.bertscore import bertscore

            device = torch.device("cpu") if config.trainer.accelerator == "cpu" else None
            bertscores = bertscore(
                texts,
                golds,
                task.bertscore,
                Path(config.paths.cache),
                device=device,
                progress=config.trainer.enable_progress_bar,
            )

        of_file = file_scores(articles, texts, golds, config.data)
        of_file |= stored_extractive(articles, golds, config)
        return score_texts(
            text_scores(),
            texts,
            [[gold] for gold in golds],
            language=get_language(config.data.language),
            bertscores=bertscores,
            of_file=of_file,
            groups=groups if task.resample == "group" else None,
            resamples=task.bootstrap,
        )

    def doubts(self, scores: Mapping[str, float]) -> list[str]:
        """See `Predictions`; also summaries that fit other articles as well as their own."""
        own = scores.get("rouge1", 1.0)
        other = scores.get("exchanged_rouge1", 0.0)
        if other < own - _NEARER:
            return super().doubts(scores)
        message = f"rouge1 is {own:.3f}, and {other:.3f} with the references of other articles"
        return [message + LITTLE]


def choose_rows(guids: Sequence[str], most: int | None) -> np.ndarray:
    """Choose at most `most` rows to summarize after each epoch, the same in every run; bool [N].

    Args:
        guids: of all rows of the split.
        most: how many to choose; None: all.
    """
    chosen_N = np.ones(len(guids), dtype=bool)
    if most is not None and most < len(guids):
        order = sorted(range(len(guids)), key=lambda row: fingerprint(guids[row]))
        chosen_N[order[most:]] = False
    return chosen_N


def stored_extractive(
    articles: Sequence[str], golds: Sequence[str], config: Config
) -> dict[str, float]:
    """Compute `extractive_scores` once for all runs on the same texts.

    Args:
        articles: of all rows.
        golds: the reference of each.
        config: of the run; names the language and the cache.
    """
    language = config.data.language
    key = fingerprint(EXTRACTIVE_VERSION, language, list(articles), list(golds))
    path = Path(config.paths.cache, "extractive", f"{key[:32]}.json")
    with suppress(OSError, ValueError, KeyError, TypeError):  # absent or damaged: computed again
        stored = read_json(path)
        scores: dict[str, float] = stored["scores"]
        if stored["fingerprint"] == fingerprint(scores):
            return scores
    scores = extractive_scores(articles, golds, get_language(language))
    write_json(path, {"fingerprint": fingerprint(scores), "scores": scores})
    return scores
