"""Summaries of a whole split: scored and laid out.

Shape suffixes: R rows of a batch, M tokens of the longest summary, N rows of the split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from heron.tasks.summarization.reader import as_given
from heron.tasks.summarization.scores import file_scores, text_scores

_NEARER = 0.01  # of ROUGE-1: what summaries must gain by their own article


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
        references, groups = self.golds, self.groups
        known = [row for row, reference in enumerate(references) if reference is not None]
        if not known:
            return {}
        articles = [as_given(self.examples[row])[0] for row in known]
        texts = [self.texts[row] for row in known]
        golds = [str(references[row]) for row in known]
        bertscores = None
        if config.task.bertscore.model:
            from heron.metrics.bertscore import bertscore

            bertscores = bertscore(
                texts,
                golds,
                config.task.bertscore,
                Path(config.paths.cache),
                device=torch.device("cpu") if config.trainer.accelerator == "cpu" else None,
                progress=config.trainer.enable_progress_bar,
            )
        by_group = [groups[row] for row in known] if config.task.resample == "group" else None
        return score_texts(
            text_scores(),
            texts,
            [[gold] for gold in golds],
            language=get_language(config.data.language),
            bertscores=bertscores,
            of_file=file_scores(articles, texts, golds, config.data)
            | stored_extractive(articles, golds, config),
            groups=by_group,
            resamples=config.task.bootstrap,
        )

    def doubts(self, scores: Mapping[str, float]) -> list[str]:
        """See `Predictions`; also summaries that fit other articles as well as their own."""
        own, other = scores.get("rouge1", 1.0), scores.get("exchanged_rouge1", 0.0)
        if other < own - _NEARER:
            return super().doubts(scores)
        what = f"rouge1 is {own:.3f}, and {other:.3f} with the references of other articles"
        return [what + LITTLE]


def choose_rows(guids: Sequence[str], most: int | None) -> np.ndarray:
    """Choose at most `most` rows to summarize after each epoch, the same in every run; bool [N]."""
    chosen_N = np.ones(len(guids), dtype=bool)
    if most is not None and most < len(guids):
        order = sorted(range(len(guids)), key=lambda row: fingerprint(guids[row]))
        chosen_N[order[most:]] = False
    return chosen_N


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
