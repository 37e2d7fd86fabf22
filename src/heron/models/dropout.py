"""Faster dropout and attention on a CPU.

torch draws dropout masks on the CPU one number at a time, which takes longer than the next matrix
product; with attention dropout, scaled_dot_product_attention also loses its fast kernel. Here 16
random bits decide each element, and training attends with two matrix products around a softmax.
Without gradients, on other devices and under `torch.compile`, torch's own functions are used.

Shape suffixes: B sequences, H attention heads, L tokens, D width of one head.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import eager_mask

ATTENTION = "heron_cpu"

# Encoders whose attention is softmax(q k / sqrt(d) + mask) v and nothing else.
PLAIN_ATTENTION = ("bert", "camembert", "electra", "roberta", "xlm-roberta")
_OUTCOMES = 2**16


class FastDropout(nn.Dropout):
    """`nn.Dropout` with cheaper random numbers on the CPU; see `fast_dropout`."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements in train mode, pass the input on in eval mode."""
        return fast_dropout(input, self.p) if self.training else input


def use_fast_dropout(model: PreTrainedModel) -> None:
    """Give an encoder fast dropout, and fast attention where its attention is the plain one.

    Weights, names, modes and what is exported stay as they are; only the random numbers differ.
    """
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, FastDropout(child.p).train(child.training))
    if model.config.model_type in PLAIN_ATTENTION:
        model.set_attn_implementation(ATTENTION)


def fast_dropout(x: Tensor, p: float) -> Tensor:
    """Set elements to zero with probability `p` and divide the others by 1 - `p`.

    The bits come from a generator that is seeded by torch's: they are repeated by
    `torch.manual_seed`, a restored random state, and gradient checkpointing.

    Args:
        x: any shape, floating point.
        p: probability, rounded to a multiple of 1 / 65536.

    Deviates: not the numbers that `torch.nn.functional.dropout` draws from the same seed.
    """
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(x, p)
    dropped = round(p * _OUTCOMES)
    if dropped in (0, _OUTCOMES):
        return x * float(dropped == 0)
    seed = int(torch.randint(2**62, ()))
    bits = np.random.SFC64(seed).random_raw(-(-x.numel() // 4)).view(np.uint16)[: x.numel()]
    # As int8, because torch converts bool to floating point several times more slowly.
    keep = torch.from_numpy((bits >= dropped).view(np.int8)).view(x.shape)
    return x * keep.to(x.dtype).mul_(_OUTCOMES / (_OUTCOMES - dropped))


def attention(
    module: nn.Module,
    query_BHLD: Tensor,
    key_BHLD: Tensor,
    value_BHLD: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **unused: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attend with two matrix products where gradients are needed, in transformers' form.

    Args:
        module: the calling layer.
        query_BHLD, key_BHLD, value_BHLD: of any floating-point type.
        attention_mask: added to the scores, [B, 1, L, L], or None.
        dropout: probability for the weights; the caller passes 0 in eval mode.
        scaling: factor on the scores; None is 1 / sqrt(D).
        unused: arguments of other attention functions.

    Returns:
        Weighted sums of the values [B, L, H, D], and the weights [B, H, L, L] or None.
    """
    # Gradient checkpointing's first pass has dropout but no gradients; it must equal the second.
    evaluating = not dropout and not query_BHLD.requires_grad
    if evaluating or query_BHLD.device.type != "cpu" or torch.compiler.is_compiling():
        usual: tuple[Tensor, None] = sdpa_attention_forward(
            module, query_BHLD, key_BHLD, value_BHLD, attention_mask, dropout, scaling
        )
        return usual
    scaling = query_BHLD.shape[-1] ** -0.5 if scaling is None else scaling
    # Scaling the queries touches fewer numbers than scaling the scores.
    scores_BHLL = torch.matmul(query_BHLD * scaling, key_BHLD.transpose(2, 3))
    if attention_mask is not None:
        scores_BHLL = scores_BHLL + attention_mask.to(scores_BHLL.dtype)
    # Autocast would convert softmax to float32 and back; the kernel sums in float32 either way.
    with torch.autocast(query_BHLD.device.type, enabled=False):
        weights_BHLL = scores_BHLL.softmax(dim=-1)
    dropped_BHLL = fast_dropout(weights_BHLL, dropout) if dropout else weights_BHLL
    mixed_BHLD = torch.matmul(dropped_BHLL, value_BHLD)
    return mixed_BHLD.transpose(1, 2).contiguous(), weights_BHLL


AttentionInterface.register(ATTENTION, attention)
# Without a mask function, transformers would silently pass no mask.
AttentionMaskInterface.register(ATTENTION, eager_mask)
