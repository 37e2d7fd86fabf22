"""Head weights renamed as in transformers, so that `from_pretrained` loads a run's `model/`."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification

from heron.config.schema import Config
from heron.models.encoder import Encoder
from heron.models.heads import Head


@dataclass(frozen=True, slots=True)
class HeadWeights:
    """A head's weights under the names of a class of transformers."""

    auto: Any  # the class that loads encoder and head, such as `AutoModelForQuestionAnswering`
    labels: list[str]  # class names, in the order of the logits
    layers: dict[str, Tensor]  # the head's weights


def named(name: str, layer: nn.Module) -> dict[str, Tensor]:
    """Return a layer's weights with `name.` before each key."""
    return {f"{name}.{key}": value for key, value in layer.state_dict().items()}


# Sequence classification in transformers is a dense layer, tanh and a linear layer on the state of
# the first token. These are the names of both layers, by the encoder's model type.
_ROBERTA = ("classifier.dense", "classifier.out_proj")
_CLASSIFIERS = {
    "bert": ("bert.pooler.dense", "classifier"),
    "camembert": _ROBERTA,
    "longformer": _ROBERTA,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
}
# heron's linear head has no dense layer and tanh: x is divided by 4096 before tanh and multiplied
# after it, which differs from x by less than 1e-6 of it where |x| < 7. A power of two does not
# round weights.
_SCALE = 4096.0


def class_head_in_transformers(
    head: nn.Module, encoder: Encoder, tokenizer: Any, config: Config
) -> HeadWeights | None:
    """Give a head's weights the names of transformers; None if it has no equivalent head."""
    if not isinstance(head, Head) or not _has_same_input(encoder, tokenizer, config):
        return None
    layers = _named_layers(head, encoder.model.config.model_type)
    labels = config.data.label_order
    return HeadWeights(AutoModelForSequenceClassification, labels, layers) if layers else None


def _has_same_input(encoder: Encoder, tokenizer: Any, config: Config) -> bool:
    """Tell whether transformers gives the encoder the same tokens and segments as heron."""
    form, settings = config.head.input, config.encoder
    if settings.overflow != "truncate" or settings.separator is not None:
        return False
    if form != "pair":
        return form in ("marked", "premise", "hypothesis")
    known = "token_type_ids" in tokenizer.model_input_names
    second = tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"][-1]
    has_segments = getattr(encoder.model.config, "type_vocab_size", 1) > 1
    return has_segments == bool(known and second)


def _named_layers(head: Head, model_type: str) -> dict[str, Tensor]:
    """Give the weights the names in transformers; empty where it has no such head."""
    if head.config.pooling != "cls" or head.distance or model_type not in _CLASSIFIERS:
        return {}
    dense, out = _CLASSIFIERS[model_type]
    if head.config.classifier == "per_event":  # of TRC's repository, with a pooler
        pooler: Any = head.classifier
        return named(dense, pooler.dense) | named(out, pooler.classes)
    if head.config.classifier != "linear":
        return {}
    linear: Any = list(head.classifier)[-1]  # the first is dropout
    eye = torch.eye(linear.in_features, dtype=linear.weight.dtype) / _SCALE
    return {
        f"{dense}.weight": eye,
        f"{dense}.bias": torch.zeros(linear.in_features, dtype=linear.weight.dtype),
        f"{out}.weight": linear.weight.detach() * _SCALE,
        f"{out}.bias": linear.bias.detach(),
    }
