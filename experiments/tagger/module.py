"""Features, module and predictions; a sentence is a row and a sequence.

Shape suffixes: R sentences, L tokens, C tags. Tags are those of a word's first token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import AutoModelForTokenClassification

from heron.data.collate import IGNORED, Batch
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.data.features import Column, FeatureOptions, Features, flatten, token_ids
from heron.models.heads import build_classifier
from heron.tasks.base import ModelParts, Output, TaskModule, in_file_order
from heron.tasks.config import Config
from heron.tasks.exported_heads import HeadWeights, named
from heron.tasks.predictions import Predictions

from .task import OUTSIDE, entity_scores


def tag_features(examples: Sequence[Example], tokenizer: Any, options: FeatureOptions) -> Features:
    """Tokenize words; each word's first token has its position in `words`, its tag in `tags`."""
    numbers = {tag: number for number, tag in enumerate(options.label_order)}
    ids, tags, words, cut = [], [], [], []
    for example in examples:
        split, limit = example.text.split(" "), options.max_length
        read = tokenizer(split, is_split_into_words=True, truncation=True, max_length=limit)
        owners, gold = read.word_ids(), [numbers[tag] for tag in (example.target or "").split()]
        first = [-1 if w is None or w in owners[:n] else w for n, w in enumerate(owners)]
        ids.append(token_ids(read["input_ids"]))
        words.append(token_ids(first))
        tags.append(token_ids([gold[n] if n >= 0 and gold else IGNORED for n in first]))
        cut.append(bool(read.encodings[0].overflowing))
    tags_T, words_T, labels_R = flatten(tags)[0], flatten(words)[0], options.label_ids(examples)
    columns = {"tags": Column(tags_T, "token", IGNORED), "words": Column(words_T, "token")}
    return Features.of_rows(examples, ids, cut, labels_R=labels_R, columns=columns)


def head_in_transformers(head: Any, encoder: Any, tokenizer: Any, config: Config) -> Any:
    """Rename a linear head's weights for `AutoModelForTokenClassification`; None for others."""
    if config.head.classifier != "linear":
        return None
    layers = named("classifier", head[1])
    return HeadWeights(AutoModelForTokenClassification, config.data.label_order, layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagOutput(Output):
    """Observes, per sentence: geometric mean of p(gold), whether all is right, mean margin."""

    best_RL: Tensor  # the most probable tags
    words_RL: Tensor


class TaggingModule(TaskModule):
    """Cross-entropy of the tag of each word."""

    def logits(self, batch: Batch) -> Any:
        """Score every token; logits_RLC, float32."""
        return self.head(self.encoder(batch)).float()

    def output(self, logits: Tensor, batch: Batch) -> TagOutput:
        """See `TaskModule.output`."""
        tags_RL, words_RL, optim = batch.columns["tags"], batch.columns["words"], self.config.optim
        known_RL, rows = tags_RL != IGNORED, 0 if batch.is_stand_in else len(batch)
        flat, counts_R = (logits.flatten(0, 1), tags_RL.flatten()), known_RL.sum(dim=1)
        total = F.cross_entropy(*flat, reduction="sum", label_smoothing=optim.label_smoothing)
        log_p_RLC, gold_RL1 = logits.detach().log_softmax(2), tags_RL.clamp(min=0)[:, :, None]
        gold_RL = log_p_RLC.gather(2, gold_RL1)[:, :, 0]
        margin_RL = gold_RL - log_p_RLC.scatter(2, gold_RL1, -torch.inf).amax(2)
        p_R, margin_R = ((x * known_RL).sum(dim=1) / counts_R for x in (gold_RL, margin_RL))
        right_R = (~known_RL | (margin_RL > 0)).all(dim=1)
        return TagOutput(
            loss=total / counts_R.sum().clamp(min=1),
            weight=counts_R[:rows].sum().float(),
            labels_R=batch.labels_R[:rows],
            rows_R=batch.rows_R[:rows],
            observed_R3=torch.stack([p_R.exp(), right_R, margin_R], dim=1)[:rows],
            best_RL=logits[:rows].argmax(dim=2),
            words_RL=words_RL[:rows],
        )

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> "TagPredictions":
        """Predict a tag for each word; `O` for words that are truncated or without a token."""
        names, found = self.config.data.label_order, {}
        for output in outputs:
            parts = (output.rows_R, output.words_RL, output.best_RL)
            for row, words, best in zip(*(part.tolist() for part in parts), strict=True):
                found[row] = {word: names[tag] for word, tag in zip(words, best, strict=True)}
        examples, tags = [], []
        for example, row in zip(*in_file_order(data, split), strict=True):
            if row in found:
                examples.append(example)
                words = range(len(example.text.split(" ")))
                tags.append(" ".join(found[row].get(word, OUTSIDE) for word in words))
        return TagPredictions(examples, tags)


class TagPredictions(Predictions):
    """Tags of the words of each sentence, joined by spaces."""

    def scores(self, config: Config) -> dict[str, float]:
        """Score the sentences with gold tags."""
        known = [pair for pair in zip(self.golds, self.texts, strict=True) if pair[0]]
        return entity_scores(config.data.label_order, *zip(*known, strict=True)) if known else {}


MODEL = ModelParts(TaggingModule, head=build_classifier, in_transformers=head_in_transformers)
