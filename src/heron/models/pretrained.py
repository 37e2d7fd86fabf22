"""Pretrained encoders: a Hugging Face model by hub id or path."""

import inspect
from typing import Any

import torch
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from heron.base.errors import ConfigError
from heron.config.schema import EncoderConfig
from heron.data.hub import loading, origin
from heron.models.encoder import check_positions


def pretrained_model(config: EncoderConfig) -> PreTrainedModel:
    """Load a model with the configured layers, dropout and attention, in float32.

    Raises:
        ConfigError: as for `heron.models.encoder.load_encoder`.
    """
    settings, source = _settings(config), origin(config)
    if config.num_layers is not None:
        if config.num_layers > settings.num_hidden_layers:
            raise ConfigError(
                f"encoder.num_layers={config.num_layers}: {config.name} has only "
                f"{settings.num_hidden_layers} layers"
            )
        settings.num_hidden_layers = config.num_layers
        for name in ("attention_window", "layer_types"):  # Longformer's, ModernBERT's: one a layer
            if isinstance(values := getattr(settings, name, None), list):
                setattr(settings, name, values[: config.num_layers])
    if config.dropout is not None:
        _set_dropout(config.dropout, settings)
    check_positions(config, count_positions(settings))
    model_class: Any = AutoModel._model_mapping.get(type(settings), None)
    options: dict[str, Any] = {
        "config": settings,
        **source,
        "attn_implementation": choose_attention(config, model_class),
        "dtype": torch.float32,
    }
    if model_class and "add_pooling_layer" in inspect.signature(model_class).parameters:
        options["add_pooling_layer"] = False
    with loading(config.name):
        model: PreTrainedModel = AutoModel.from_pretrained(config.name, **options)
    return model


def choose_attention(config: EncoderConfig, model_class: Any) -> str:
    """Choose the attention; transformers calls Longformer's and DeBERTa's own `eager`."""
    if config.attention == "sdpa" and not getattr(model_class, "_supports_sdpa", True):
        return "eager"
    return config.attention


def _set_dropout(probability: float, settings: PretrainedConfig) -> None:
    for key in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        if not hasattr(settings, key):
            raise ConfigError(
                f"encoder.dropout={probability}: a {settings.model_type} encoder has no {key}; "
                "set encoder.dropout=null to keep its own"
            )
        setattr(settings, key, probability)


def count_positions(settings: PretrainedConfig) -> int | None:
    """Count the positions that tokens can have; RoBERTa's begin after the padding id."""
    positions: int | None = getattr(settings, "max_position_embeddings", None)
    shifted = ("roberta", "xlm-roberta", "camembert", "longformer", "mpnet")
    if positions and settings.model_type in shifted:
        positions -= (settings.pad_token_id or 0) + 1
    return positions


def pretrained_widths(config: EncoderConfig) -> tuple[int, int]:
    """Read the widths of a model's states and of its feed-forward layers, D and F."""
    settings: Any = _settings(config)
    settings = getattr(settings, "encoder", settings)  # of an encoder with a decoder
    width = settings.hidden_size
    names = ("intermediate_size", "d_ff", "encoder_ffn_dim")
    return width, next((getattr(settings, n) for n in names if hasattr(settings, n)), 4 * width)


def _settings(config: EncoderConfig) -> PretrainedConfig:
    with loading(config.name):
        return AutoConfig.from_pretrained(config.name, **origin(config))
