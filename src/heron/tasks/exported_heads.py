"""Head weights renamed as in transformers, so that `from_pretrained` loads a run's `model/`."""

from dataclasses import dataclass, field, replace
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
    settings: dict[str, Any] = field(default_factory=dict)  # to change in `config.json`


def named(name: str, layer: nn.Module) -> dict[str, Tensor]:
    """Return a layer's weights with `name.` before each key."""
    return {f"{name}.{key}": value for key, value in layer.state_dict().items()}


@dataclass(frozen=True, slots=True)
class _Classifier:
    """Where transformers classifies the first token: a dense layer, a function, a linear layer."""

    dense: str
    out: str
    function: str = "tanh"
    dropouts: tuple[str, ...] = ("classifier_dropout",)  # settings of this head alone


_POOLER = _Classifier("bert.pooler.dense", "classifier")
_ROBERTA = _Classifier("classifier.dense", "classifier.out_proj")
_DEBERTA = _Classifier("pooler.dense", "classifier", "gelu", ("pooler_dropout", "cls_dropout"))
_CLASSIFIERS = {  # by the encoder's model type
    "bert": _POOLER,
    "camembert": _ROBERTA,
    "deberta": _DEBERTA,
    "deberta-v2": _DEBERTA,
    "distilbert": _Classifier("pre_classifier", "classifier", "relu", ("seq_classif_dropout",)),
    "electra": replace(_ROBERTA, function="gelu"),
    "longformer": replace(_ROBERTA, dropouts=()),  # it has the encoder's
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
}
# heron's linear head has no dense layer and no function. A logit z is a sum of that function's
# values: relu(z) - relu(-z) = z, also of GELU; shifted tanh add up to a straight line, as steps to
# a ramp. `_APART` and `_MARGIN` keep it straight to 1e-7 of its range.
_APART, _MARGIN = 0.56, 1.5  # between two tanh; how far they go on beyond the range
_MOST = 64  # tanh for one logit: a range of 16 on both sides
_WORST = 2e-5  # difference of a logit that counts as none


def class_head_in_transformers(
    head: nn.Module, encoder: Encoder, tokenizer: Any, config: Config
) -> HeadWeights | None:
    """Give a head's weights the names of transformers; None if it has no equivalent head."""
    if not isinstance(head, Head) or not _has_same_input(encoder, tokenizer, config):
        return None
    known = _CLASSIFIERS.get(encoder.model.config.model_type)
    if known is None or head.config.pooling != "cls" or head.distance:
        return None
    weights: Any = head.classifier
    dropouts = {}
    if head.config.classifier == "per_event" and known.function == "tanh":  # of TRC's repository
        layers = named(known.dense, weights.dense) | named(known.out, weights.classes)
    elif head.config.classifier == "linear":
        layers = _linear(weights[-1], encoder, known)
        dropouts = dict.fromkeys(known.dropouts, 0.0)  # it would drop parts of a logit
    else:
        return None
    labels = config.data.label_order
    return (
        HeadWeights(AutoModelForSequenceClassification, labels, layers, dropouts)
        if layers
        else None
    )


def _has_same_input(encoder: Encoder, tokenizer: Any, config: Config) -> bool:
    """Tell whether transformers gives the encoder the same tokens and segments as heron."""
    form, settings = config.head.input, config.encoder
    if settings.overflow != "truncate" or settings.separator is not None:
        return False
    if form != "pair":
        return form in ("marked", "premise", "hypothesis", "text")
    known = "token_type_ids" in tokenizer.model_input_names
    second = tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"][-1]
    has_segments = getattr(encoder.model.config, "type_vocab_size", 1) > 1
    return has_segments == bool(known and second)


def _linear(linear: nn.Linear, encoder: Encoder, known: _Classifier) -> dict[str, Tensor]:
    """Write a linear layer as the two of transformers; empty where it has too many classes."""
    weight_CD, bias_C = linear.weight.detach().double(), linear.bias.detach().double()
    (classes, width), units = weight_CD.shape, None
    if known.function == "tanh":
        units = _straight(min(_MOST, width // classes), _largest_logit(weight_CD, bias_C, encoder))
    elif 2 * classes <= width:
        units = torch.tensor([[1.0, -1.0], [0.0, 0.0], [1.0, -1.0]], dtype=torch.float64)
    if units is None:
        return {}
    scale_K, shift_K, out_K = units
    dense_DD, dense_D = torch.zeros(width, width), torch.zeros(width)
    out_CD = torch.zeros(classes, width)
    used = classes * len(scale_K)
    dense_DD[:used] = (scale_K[:, None] * weight_CD[:, None]).flatten(0, 1)
    dense_D[:used] = (scale_K * bias_C[:, None] + shift_K).flatten()
    out_CD[:, :used] = torch.kron(torch.eye(classes), out_K[None])
    layers = {
        f"{known.dense}.weight": dense_DD,
        f"{known.dense}.bias": dense_D,
        f"{known.out}.weight": out_CD,
        f"{known.out}.bias": torch.zeros(classes),
    }
    return {name: value.to(linear.weight.dtype) for name, value in layers.items()}


def _largest_logit(weight_CD: Tensor, bias_C: Tensor, encoder: Encoder) -> float:
    """Compute what no logit exceeds, because the encoder ends with a LayerNorm."""
    norm = [each for each in encoder.layers[-1].modules() if isinstance(each, nn.LayerNorm)][-1]
    spread_CD = weight_CD * norm.weight.detach()
    middle_C = weight_CD @ norm.bias.detach().double() + bias_C
    return float((spread_CD.norm(dim=1) * spread_CD.shape[1] ** 0.5 + middle_C.abs()).max())


def _straight(count: int, largest: float) -> Tensor | None:
    """Find scales, shifts and weights [3, K] of K tanh whose sum is z for |z| <= `largest`."""
    end = _APART / 2 * (count - 1) - _MARGIN
    if end <= 0:
        return None
    scale = min(1.0, end / largest)
    shift_K = torch.linspace(-end - _MARGIN, end + _MARGIN, count, dtype=torch.float64)
    z_N = torch.linspace(-end, end, 1001, dtype=torch.float64)
    values_NK = torch.tanh(z_N[:, None] + shift_K)
    out_K = torch.linalg.lstsq(values_NK, z_N[:, None], rcond=1e-10, driver="gelsd").solution[:, 0]
    found_N = torch.tanh((z_N[:, None] + shift_K).float()) @ out_K.float()
    if float((found_N - z_N).abs().max()) / scale > _WORST:
        return None
    return torch.stack([torch.full_like(shift_K, scale), shift_K, out_K / scale])
