"""Heads that give each row a class, as transformers' sequence classification."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification

from heron.config.schema import Config
from heron.models.encoder import Encoder
from heron.models.heads import Head, HeadWeights, Pooler, named

# Sequence classification in transformers: dense, tanh and a linear layer over the first token's
# state. The names of dense and linear layer, by the encoder's model type.
_ROBERTA = ("classifier.dense", "classifier.out_proj")
_CLASSIFIERS = {
    "bert": ("bert.pooler.dense", "classifier"),
    "camembert": _ROBERTA,
    "longformer": _ROBERTA,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
}
# tanh(x / 4096) * 4096 is x to a millionth for the states of encoders; a power of two scales
# weights without rounding.
_SCALE = 4096.0


def class_head_in_transformers(
    head: nn.Module, encoder: Encoder, tokenizer: Any, config: Config
) -> HeadWeights | None:
    """Name a head's weights as transformers does; None where it has no such class."""
    if not isinstance(head, Head) or not _reads_alike(encoder, tokenizer, config):
        return None
    layers = _classifier(head, encoder.model.config.model_type)
    if not layers:
        return None
    return HeadWeights(AutoModelForSequenceClassification, config.data.label_order, layers)


def _reads_alike(encoder: Encoder, tokenizer: Any, config: Config) -> bool:
    """Tell whether plain transformers gives the encoder the same tokens and segments as heron."""
    form, settings = config.head.input, config.encoder
    if settings.overflow != "truncate" or settings.separator is not None:
        return False
    if form != "pair":
        return form in ("marked", "premise", "hypothesis")
    known = "token_type_ids" in tokenizer.model_input_names
    second = tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"][-1]
    has_segments = getattr(encoder.model.config, "type_vocab_size", 1) > 1
    return has_segments == bool(known and second)


def _classifier(head: Head, model_type: str) -> dict[str, Tensor]:
    """Name a head's weights as transformers' sequence classification does; empty if it cannot."""
    if head.config.pooling != "cls" or head.distance or model_type not in _CLASSIFIERS:
        return {}
    dense, out = _CLASSIFIERS[model_type]
    if isinstance(head.classifier, Pooler):
        return named(dense, head.classifier.dense) | named(out, head.classifier.classes)
    if head.config.classifier != "linear":
        return {}
    linear: Any = list(head.classifier)[-1]  # type: ignore[call-overload]  # behind dropout
    eye = torch.eye(linear.in_features, dtype=linear.weight.dtype) / _SCALE
    return {
        f"{dense}.weight": eye,
        f"{dense}.bias": torch.zeros(linear.in_features, dtype=linear.weight.dtype),
        f"{out}.weight": linear.weight.detach() * _SCALE,
        f"{out}.bias": linear.bias.detach(),
    }
