"""Head weights renamed as in transformers, so that `from_pretrained` loads a run's `model/`."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification

from heron.models.encoder import Encoder
from heron.models.heads import Head
from heron.tasks.config import Config


@dataclass(frozen=True, slots=True)
class HeadWeights:
    """A head's weights under the names of a class of transformers."""

    auto: Any  # the class that loads encoder and head, such as `AutoModelForQuestionAnswering`
    labels: list[str]  # class names, in the order of the logits
    layers: dict[str, Tensor]  # the head's weights
    settings: dict[str, Any] = field(default_factory=dict)  # to change in `config.json`


def named(name: str, layer: nn.Module) -> dict[str, Tensor]:
    """Return a layer's weights with `name.` before each key."""
    return {f"{name}.{key}": value for key, value in layer.state_dict().items()}


# Sequence classification in transformers is a dense layer, an activation and a linear layer on the
# first token's state: the layers' names and the activation, by the encoder's model type.
_ROBERTA = ("classifier.dense", "classifier.out_proj", "tanh")
_DEBERTA = ("pooler.dense", "classifier", "gelu")
_CLASSIFIERS = {
    "bert": ("bert.pooler.dense", "classifier", "tanh"),
    "camembert": _ROBERTA,
    "deberta": _DEBERTA,
    "deberta-v2": _DEBERTA,
    "distilbert": ("pre_classifier", "classifier", "relu"),
    "electra": (*_ROBERTA[:2], "gelu"),
    "longformer": _ROBERTA,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
}
_DROPOUTS = ("classifier_dropout", "cls_dropout", "pooler_dropout", "seq_classif_dropout")
# heron's linear head has no dense layer and no activation. The export writes a logit z as a sum of
# activations: relu(z) - relu(-z) = z, also for GELU; shifted tanh add up to a straight line, with
# an error of 1e-7 of its range. No weight is very large or small, so that the model can be trained
# further: AdamW moves all weights by the same amount.
_APART, _MARGIN = 0.56, 1.5  # distance of two tanh; how far they continue beyond the range
_MOST = 64  # most tanh per logit, with a range of 16 on both sides
_LEAST = 1 / 16  # least scale of a logit before tanh; 1 / scale multiplies its change in a step


def class_head_in_transformers(
    head: nn.Module, encoder: Encoder, tokenizer: Any, config: Config
) -> HeadWeights | None:
    """Give a head's weights the names of transformers; None if it has no equivalent head."""
    if not isinstance(head, Head) or not _has_same_input(encoder, tokenizer, config):
        return None
    settings: Any = encoder.model.config
    names = _CLASSIFIERS.get(settings.model_type)
    if names is None or head.config.pooling != "cls" or head.distance:
        return None
    if getattr(settings, "pooler_hidden_act", "gelu") != "gelu":  # DeBERTa's can be another
        return None
    (dense, out, function), classifier, changed = names, head.classifier, {}
    layers: list[nn.Module] = []
    if head.config.classifier == "per_event" and function == "tanh":  # of experiments/trc
        layers = [classifier.dense, classifier.classes]
    elif head.config.classifier == "linear":
        layers = _two_layers(classifier[-1], encoder, function)
        # Dropout would remove parts of a logit.
        changed = {name: 0.0 for name in _DROPOUTS if hasattr(settings, name)}
    if not layers:
        return None
    weights = named(dense, layers[0]) | named(out, layers[1])
    labels = config.data.label_order
    return HeadWeights(AutoModelForSequenceClassification, labels, weights, changed)


def _has_same_input(encoder: Encoder, tokenizer: Any, config: Config) -> bool:
    """Tell whether transformers gives the encoder the same tokens and segments as heron."""
    form, settings = config.head.input, config.encoder
    if settings.overflow != "truncate" or settings.separator is not None:
        return False
    if settings.global_attention == "none":  # Longformer's classes of transformers have it
        return False
    if config.head.markers is not None:
        return False  # other markers than in the text that a user writes
    if form != "pair":
        return form in ("marked", "premise", "hypothesis", "text")
    known = "token_type_ids" in tokenizer.model_input_names
    second = tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"][-1]
    has_segments = getattr(encoder.model.config, "type_vocab_size", 1) > 1
    return has_segments == bool(known and second)


def _two_layers(linear: nn.Linear, encoder: Encoder, function: str) -> list[nn.Module]:
    """Write a linear layer as two with an activation between; empty with too many classes."""
    weight_CD, bias_C = linear.weight.detach().double(), linear.bias.detach().double()
    classes, width = weight_CD.shape
    units = torch.tensor([[1.0, 0, 1], [-1, 0, -1]], dtype=torch.float64).T
    if function == "tanh":
        units = _straight(min(_MOST, width // classes), _largest_logit(weight_CD, bias_C, encoder))
    if not 0 < (used := classes * units.shape[1]) <= width:
        return []
    scale_K, shift_K, out_K = units
    # Without initialisation, which would draw random numbers.
    dense, out = (nn.utils.skip_init(nn.Linear, width, each) for each in (width, classes))
    with torch.no_grad():
        for each in (*dense.parameters(), *out.parameters()):
            each.zero_()
        dense.weight[:used] = (scale_K[:, None] * weight_CD[:, None]).flatten(0, 1).float()
        dense.bias[:used] = (scale_K * bias_C[:, None] + shift_K).flatten().float()
        out.weight[:, :used] = torch.kron(torch.eye(classes), out_K[None].float())
    return [dense, out]


def _largest_logit(weight_CD: Tensor, bias_C: Tensor, encoder: Encoder) -> float:
    """Compute an upper bound of all logits: the encoder ends with a LayerNorm."""
    norm = [each for each in encoder.layers[-1].modules() if isinstance(each, nn.LayerNorm)][-1]
    spread_CD = weight_CD * norm.weight.detach()
    middle_C = weight_CD @ norm.bias.detach().double() + bias_C
    return float((spread_CD.norm(dim=1) * spread_CD.shape[1] ** 0.5 + middle_C.abs()).max())


def _straight(count: int, largest: float) -> Tensor:
    """Find scales, shifts and weights [3, K] of K tanh whose sum is z for |z| <= `largest`."""
    end = _APART / 2 * (count - 1) - _MARGIN
    scale = end / max(largest, end)
    if scale < _LEAST:
        return torch.empty(3, 0)
    shift_K = torch.linspace(-end - _MARGIN, end + _MARGIN, count, dtype=torch.float64)
    z_N = torch.linspace(-end, end, 1001, dtype=torch.float64)
    values_NK = torch.tanh(z_N[:, None] + shift_K)
    out_K = torch.linalg.lstsq(values_NK, z_N[:, None], rcond=1e-10, driver="gelsd").solution[:, 0]
    return torch.stack([torch.full_like(shift_K, scale), shift_K, out_K / scale])
