"""BERT's head for masked tokens, and the encoder whose word embeddings it shares.

Shape suffixes: N masked tokens, D hidden, V vocabulary.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModelForMaskedLM

from heron.base.errors import ConfigError
from heron.data.hub import load_tokenizer
from heron.models.config import HeadConfig
from heron.models.encoder import Encoder, build_encoder
from heron.tasks.config import Config
from heron.tasks.exported_heads import HeadWeights, named
from heron_tools.mlm.masking import Vocabulary

_EPS = 1e-12  # as in BERT


class MaskedEncoder(Encoder):
    """An encoder, with the facts about its tokenizer that masking needs."""

    def __init__(self, plain: Encoder, freeze: str, vocabulary: Vocabulary):
        super().__init__(plain.model, freeze, plain.global_attention)
        self.vocabulary = vocabulary

    def description(self) -> dict[str, Any]:
        """See `Encoder.description`; empty, because the tokenizer is not part of it."""
        return {}

    @property
    def embeddings_VD(self) -> Tensor:
        """The word embeddings."""
        embeddings: Any = self.model.get_input_embeddings()
        weight: Tensor = embeddings.weight
        return weight


class MaskedHead(nn.Module):
    """Dense layer, GELU, LayerNorm, then the product with the encoder's word embeddings.

    Source: Devlin et al. 2019, released code (`get_masked_lm_output`).
    """

    def __init__(self, width: int, vocabulary: int):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=_EPS)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)

    def forward(self, states_ND: Tensor, embeddings_VD: Tensor) -> Tensor:
        """Score every token of the vocabulary.

        Args:
            states_ND: of the masked tokens.
            embeddings_VD: the encoder's word embeddings.

        Returns:
            logits_NV.
        """
        return F.linear(self.norm(F.gelu(self.dense(states_ND))), embeddings_VD, self.bias)


def build_masked(config: Config, tokenizer: Any = None) -> MaskedEncoder:
    """Load the encoder of a run; see `heron.models.encoder.build_encoder`.

    Raises:
        ConfigError: its tokenizer has no mask token, or its word embeddings and states differ in
            width.
    """
    known = tokenizer or load_tokenizer(config.encoder, (), (), Path(config.paths.cache))
    vocabulary = Vocabulary.of(known)
    plain = build_encoder(config, tokenizer)
    encoder = MaskedEncoder(plain, config.encoder.freeze, vocabulary)
    width = encoder.embeddings_VD.shape[1]
    if width != encoder.width:
        raise ConfigError(
            f"task=mlm: {config.encoder.name} has word embeddings of {width} numbers and states "
            f"of {encoder.width}; name an encoder where both are the same"
        )
    return encoder


def outputs(config: Config, encoder: MaskedEncoder) -> int:
    """Return the size of the vocabulary, V."""
    return len(encoder.embeddings_VD)


def new_head(config: HeadConfig, width: int, outputs: int) -> MaskedHead:
    """Build the head with new weights; `outputs` is V."""
    return MaskedHead(width, outputs)


def head_in_transformers(
    head: Any, encoder: Encoder, tokenizer: Any, config: Config
) -> HeadWeights | None:
    """Rename a head's weights for `BertForMaskedLM`; None for other encoders."""
    settings: Any = encoder.model.config
    own = settings.model_type, settings.hidden_act, settings.layer_norm_eps
    if own != ("bert", "gelu", _EPS) or not settings.tie_word_embeddings:
        return None
    name = "cls.predictions"
    layers = named(f"{name}.transform.dense", head.dense)
    layers |= named(f"{name}.transform.LayerNorm", head.norm)
    return HeadWeights(AutoModelForMaskedLM, [], {**layers, f"{name}.bias": head.bias.data})
