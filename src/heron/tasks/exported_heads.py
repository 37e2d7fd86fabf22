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
_APART = 0.56  # distance of two tanh
_MARGIN = 1.5  # how far they continue beyond the range
_MOST_TANH = 64  # per logit, with a range of 16 on both sides
# A logit is multiplied by a scale before tanh, at least by this. The output weights are divided by
# it, so a step of AdamW changes the logit up to 1 / scale times as much.
_LEAST_SCALE = 1 / 16


def class_head_in_transformers(
    head: nn.Module, encoder: Encoder, tokenizer: Any, config: Config
) -> HeadWeights | None:
    """Give a head's weights the names of transformers; None if it has no equivalent head.

    Args:
        head: of the task.
        encoder: that it reads.
        tokenizer: of the encoder.
        config: of the run.
    """
    if not isinstance(head, Head) or not _has_same_input(encoder, tokenizer, config):
        return None
    model_config: Any = encoder.model.config
    if model_config.model_type not in _CLASSIFIERS or head.config.pooling != "cls" or head.distance:
        return None
    if getattr(model_config, "pooler_hidden_act", "gelu") != "gelu":  # DeBERTa's can be another
        return None

    dense_name, out_name, function = _CLASSIFIERS[model_config.model_type]
    changed = {}
    # Of experiments/trc: its `Pooler`, because pooling is `cls`.
    if head.config.classifier == "per_event" and function == "tanh":
        dense = head.classifier.dense
        out = head.classifier.classes
    elif head.config.classifier == "linear":
        layers = _two_layers(head.classifier[-1], encoder, function)
        if layers is None:
            return None
        dense, out = layers
        for name in _DROPOUTS:  # dropout would remove parts of a logit
            if hasattr(model_config, name):
                changed[name] = 0.0
    else:
        return None
    weights = named(dense_name, dense) | named(out_name, out)
    labels = config.data.label_order
    return HeadWeights(AutoModelForSequenceClassification, labels, weights, changed)


def _has_same_input(encoder: Encoder, tokenizer: Any, config: Config) -> bool:
    """Tell whether transformers gives the encoder the same tokens and segments as heron."""
    form, settings = config.head.input, config.encoder
    if settings.overflow != "truncate" or settings.separator is not None:
        return False
    if settings.global_attention == "none":
        return False  # Longformer's classifier of transformers lets the first token attend globally
    if config.head.markers is not None:
        return False  # heron reads these markers in place of the data set's
    if form != "pair":
        return form in ("marked", "premise", "hypothesis", "text")

    # heron gives segments 0 and 1 if the encoder has several types; transformers, if the tokenizer
    # does.
    gives_segments = "token_type_ids" in tokenizer.model_input_names
    last_segment = tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"][-1]
    reads_segments = getattr(encoder.model.config, "type_vocab_size", 1) > 1
    return reads_segments == (gives_segments and last_segment > 0)


def _two_layers(
    linear: nn.Linear, encoder: Encoder, function: str
) -> tuple[nn.Linear, nn.Linear] | None:
    """Write a linear layer as two with an activation between.

    None with too many classes, or for tanh with too large logits.

    Args:
        linear: the layer, from D units to C classes.
        encoder: whose states bound the logits.
        function: the activation: `tanh`, `relu` or `gelu`.
    """
    weight_CD = linear.weight.detach().double()
    bias_C = linear.bias.detach().double()
    classes, width = weight_CD.shape
    # Scale, shift and output weight of each of the K units that make up a logit.
    if function == "tanh":
        largest = _largest_logit(weight_CD, bias_C, encoder)
        pieces_3K = _straight(min(_MOST_TANH, width // classes), largest)
    else:
        pieces_3K = torch.tensor([[1, -1], [0, 0], [1, -1]], dtype=torch.float64)

    n_units = classes * pieces_3K.shape[1]
    if not 0 < n_units <= width:
        return None

    # Without initialisation, which would draw random numbers.
    dense = nn.utils.skip_init(nn.Linear, width, width)
    out = nn.utils.skip_init(nn.Linear, width, classes)

    scale_K, shift_K, out_K = pieces_3K
    scaled_CKD = scale_K[:, None] * weight_CD[:, None]
    shifted_CK = scale_K * bias_C[:, None] + shift_K
    sums_CX = torch.kron(torch.eye(classes), out_K[None].float())  # each class adds its K units
    with torch.no_grad():
        for parameter in (*dense.parameters(), *out.parameters()):
            parameter.zero_()
        dense.weight[:n_units] = scaled_CKD.flatten(0, 1).float()
        dense.bias[:n_units] = shifted_CK.flatten().float()
        out.weight[:, :n_units] = sums_CX
    return dense, out


def _largest_logit(weight_CD: Tensor, bias_C: Tensor, encoder: Encoder) -> float:
    """Compute an upper bound of all logits: the encoder ends with a LayerNorm.

    Args:
        weight_CD: of the linear layer, float64.
        bias_C: of the linear layer, float64.
        encoder: with the LayerNorm.
    """
    modules = encoder.layers[-1].modules()
    norm = [module for module in modules if isinstance(module, nn.LayerNorm)][-1]
    spread_CD = weight_CD * norm.weight.detach()
    middle_C = weight_CD @ norm.bias.detach().double() + bias_C
    most_C = spread_CD.norm(dim=1) * spread_CD.shape[1] ** 0.5 + middle_C.abs()
    return float(most_C.max())


def _straight(count: int, largest: float) -> Tensor:
    """Find scales, shifts and weights [3, K] of K tanh whose sum is z for |z| <= `largest`.

    Args:
        count: K.
        largest: the end of the range, a logit.

    Returns:
        float64; K is 0 where the scale would be too small.
    """
    end = _APART / 2 * (count - 1) - _MARGIN
    scale = end / max(largest, end)
    if scale < _LEAST_SCALE:
        return torch.empty(3, 0)
    shift_K = torch.linspace(-end - _MARGIN, end + _MARGIN, count, dtype=torch.float64)
    z_N1 = torch.linspace(-end, end, 1001, dtype=torch.float64)[:, None]
    values_NK = torch.tanh(z_N1 + shift_K)
    fit = torch.linalg.lstsq(values_NK, z_N1, rcond=1e-10, driver="gelsd")
    out_K = fit.solution[:, 0]
    scale_K = torch.full_like(shift_K, scale)
    return torch.stack([scale_K, shift_K, out_K / scale])
