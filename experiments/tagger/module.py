"""Features, module and predictions; each sentence is one row and one input of the encoder.

Shape suffixes: R sentences, L tokens, C tags. A word's tag is
predicted at its first token.
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
    """Tokenize words; each word's first token has its position in `words`, its tag in `tags`.

    Args:
        examples: with words joined by spaces, and tags likewise.
        tokenizer: a fast one.
        options: the tags in order, and the longest text.
    """
    tag_ids = {tag: number for number, tag in enumerate(options.label_order)}
    tokens = []
    words = []
    tags = []
    cut = []
    for example in examples:
        encoding = tokenizer(
            example.text.split(" "),
            is_split_into_words=True,
            truncation=True,
            max_length=options.max_length,
        )
        positions = first_tokens(encoding.word_ids())
        gold_tags = (example.target or "").split()
        gold = [tag_ids[tag] for tag in gold_tags]
        token_tags = tags_of_tokens(positions, gold)

        tokens.append(token_ids(encoding["input_ids"]))
        words.append(token_ids(positions))
        tags.append(token_ids(token_tags))
        cut.append(bool(encoding.encodings[0].overflowing))

    flat_tags, _ = flatten(tags)
    flat_words, _ = flatten(words)
    columns = {
        "tags": Column(flat_tags, "token", IGNORED),
        "words": Column(flat_words, "token"),
    }
    labels_R = options.label_ids(examples)
    return Features.of_rows(examples, tokens, cut, labels_R=labels_R, columns=columns)


def first_tokens(word_of_token: Sequence[int | None]) -> list[int]:
    """Give each word's first token the word's position in the sentence, and other tokens -1.

    Args:
        word_of_token: the position of each token's word; None: a special token.
    """
    positions = []
    last_word = None
    for word in word_of_token:
        if word is None or word == last_word:
            positions.append(-1)
        else:
            positions.append(word)
        last_word = word
    return positions


def tags_of_tokens(positions: Sequence[int], gold: Sequence[int]) -> list[int]:
    """Give each word's first token the word's tag; other tokens are ignored.

    Args:
        positions: as `first_tokens` returns them.
        gold: tag ids of the words; empty: the sentence has no tags, and all tokens are ignored.
    """
    tags = []
    for word in positions:
        if gold and word >= 0:
            tags.append(gold[word])
        else:
            tags.append(IGNORED)
    return tags


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

    def tags_by_row(self, names: Sequence[str]) -> dict[int, dict[int, str]]:
        """Map each row to the predicted tags of its words, by their positions; -1: no word."""
        rows = self.rows_R.tolist()
        words_RL = self.words_RL.tolist()
        best_RL = self.best_RL.tolist()

        tags_by_row = {}
        for row, words, best in zip(rows, words_RL, best_RL, strict=True):
            tags = [names[tag_id] for tag_id in best]
            tags_by_row[row] = dict(zip(words, tags, strict=True))
        return tags_by_row


class TaggingModule(TaskModule):
    """Cross-entropy of the tag of each word."""

    def logits(self, batch: Batch) -> Any:
        """Score every token; logits_RLC, float32."""
        return self.head(self.encoder(batch)).float()

    def output(self, logits: Tensor, batch: Batch) -> TagOutput:
        """See `TaskModule.output`."""
        tags_RL = batch.columns["tags"]
        words_RL = batch.columns["words"]
        known_RL = tags_RL != IGNORED
        counts_R = known_RL.sum(dim=1)

        smoothing = self.config.optim.label_smoothing
        total = F.cross_entropy(
            logits.flatten(0, 1),
            tags_RL.flatten(),
            reduction="sum",
            label_smoothing=smoothing,
        )
        loss = total / counts_R.sum().clamp(min=1)

        log_p_RLC = logits.detach().log_softmax(2)
        gold_RL1 = tags_RL.clamp(min=0)[:, :, None]
        log_p_gold_RL = log_p_RLC.gather(2, gold_RL1)[:, :, 0]
        # The most probable tag but the gold one.
        log_p_other_RL = log_p_RLC.scatter(2, gold_RL1, -torch.inf).amax(2)
        margin_RL = log_p_gold_RL - log_p_other_RL

        p_gold_R = ((log_p_gold_RL * known_RL).sum(dim=1) / counts_R).exp()
        margin_R = (margin_RL * known_RL).sum(dim=1) / counts_R
        right_R = (~known_RL | (margin_RL > 0)).all(dim=1)
        observed_R3 = torch.stack([p_gold_R, right_R, margin_R], dim=1)

        rows = 0 if batch.is_stand_in else len(batch)
        return TagOutput(
            loss=loss,
            weight=counts_R[:rows].sum().float(),
            labels_R=batch.labels_R[:rows],
            rows_R=batch.rows_R[:rows],
            observed_R3=observed_R3[:rows],
            finite_R=logits[:rows].isfinite().flatten(1).all(dim=1),
            best_RL=logits[:rows].argmax(dim=2),
            words_RL=words_RL[:rows],
        )

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> "TagPredictions":
        """Predict a tag for each word; `O` for words that are truncated or without a token."""
        label_order = self.config.data.label_order
        tags_by_row: dict[int, dict[int, str]] = {}
        for output in outputs:
            tags_by_row.update(output.tags_by_row(label_order))

        predicted = []
        tags = []
        examples, rows = in_file_order(data, split)
        for example, row in zip(examples, rows, strict=True):
            tag_of_word = tags_by_row.get(row)
            if tag_of_word is None:
                continue

            words = example.text.split(" ")
            tags_of_words = []
            for position in range(len(words)):
                tag = tag_of_word.get(position, OUTSIDE)
                tags_of_words.append(tag)

            predicted.append(example)
            tags.append(" ".join(tags_of_words))

        return TagPredictions(predicted, tags)


class TagPredictions(Predictions):
    """Tags of the words of each sentence, joined by spaces."""

    def scores(self, config: Config) -> dict[str, float]:
        """Score the sentences with gold tags."""
        golds = []
        texts = []
        for gold, text in zip(self.golds, self.texts, strict=True):
            if gold:
                golds.append(gold)
                texts.append(text)

        if not golds:
            return {}
        return entity_scores(config.data.label_order, golds, texts)


MODEL = ModelParts(TaggingModule, head=build_classifier, in_transformers=head_in_transformers)
