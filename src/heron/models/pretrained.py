"""Pretrained encoders: a Hugging Face model by hub id or path."""

import inspect
from collections.abc import Mapping
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForSeq2SeqLM,
    PretrainedConfig,
    PreTrainedModel,
)

from heron.base.errors import ConfigError
from heron.base.terminal import say
from heron.data.hub import loading, origin
from heron.models.config import EncoderConfig
from heron.models.encoder import check_positions, encoding_part
from heron.models.levels import encode_ids

_PADDING = 1e-4  # largest change by padding, as a share of the largest state; rounding is far below


def pretrained_model(config: EncoderConfig) -> PreTrainedModel:
    """Load a model with the configured layers, dropout and attention, in float32.

    Raises:
        ConfigError: as for `heron.models.encoder.load_encoder`.
    """
    settings, source = _settings(config), origin(config)
    if type(settings) in AutoModelForSeq2SeqLM._model_mapping:
        settings.is_encoder_decoder = True  # also of T5 checkpoints that hold the encoder only
    if config.num_layers is not None:
        if config.num_layers > settings.num_hidden_layers:
            raise ConfigError(
                f"encoder.num_layers={config.num_layers}: {config.name} has only "
                f"{settings.num_hidden_layers} layers"
            )
        settings.num_hidden_layers = config.num_layers
        if hasattr(settings, "encoder_layers"):  # BART's and its relatives'
            settings.encoder_layers = config.num_layers
        for name in ("attention_window", "layer_types"):  # Longformer's, ModernBERT's: one a layer
            if isinstance(values := getattr(settings, name, None), list):
                setattr(settings, name, values[: config.num_layers])
    if config.dropout is not None:
        _set_dropout(config.dropout, settings)
    model_class: Any = AutoModel._model_mapping.get(type(settings), None)
    if isinstance(model_class, tuple):  # Funnel's: with and without a decoder
        model_class = model_class[0]
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
    check_encoder(config, encoding_part(model))
    return model


def untrained_model(description: Mapping[str, Any]) -> PreTrainedModel:
    """Build a model with random weights from `Encoder.description`.

    Raises:
        ConfigError: it names no model class of transformers.
    """
    settings, name = description["settings"], description["class"]
    model_class: Any = getattr(transformers, name, None)
    if not (isinstance(model_class, type) and issubclass(model_class, PreTrainedModel)):
        raise ConfigError(f"{name}: no model class of transformers")
    config: Any = transformers.CONFIG_MAPPING[settings["model_type"]].from_dict(settings)
    model: PreTrainedModel = getattr(model_class, "_from_config")(config)  # noqa: B009
    return model


def check_encoder(config: EncoderConfig, model: PreTrainedModel) -> None:
    """Check that an encoder reads `max_length` tokens; warn where padding changes its states."""
    if not isinstance(model, PreTrainedModel):  # FSMT's encoder is no PreTrainedModel
        raise ConfigError(f"encoder.name={config.name}: its encoder cannot be used alone")
    check_positions(config, count_positions(model))
    ids = [each for each in range(5, 18) if each != model.config.pad_token_id]
    with torch.no_grad():
        alone_LD, padded_LD = (encode_ids(model, ids, padding) for padding in (0, 7))
    change = float((alone_LD - padded_LD).abs().max() / alone_LD.abs().max())
    if change > _PADDING:
        say(
            f"{config.name}: padding changes the states of a {model.config.model_type} encoder (by "
            f"{change:.1g} of their size), so its states of a text depend on the longest text "
            "of the batch; batching.size=1 reads each text alone",
            f"padding {config.name}",
            who="heron",
        )


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


def count_positions(model: PreTrainedModel) -> int | None:
    """Count the positions that tokens can have; None without a limit.

    Where the table of positions has a row for padding (RoBERTa), they begin after it.
    """
    positions: int | None = getattr(model.config, "max_position_embeddings", None)
    if positions is None or positions < 1:  # XLNet says -1
        return None
    words: Any = model.get_input_embeddings()
    for table in (module for module in model.modules() if module is not words):
        pad, weight = getattr(table, "padding_idx", None), getattr(table, "weight", None)
        if pad is not None and isinstance(weight, Tensor) and len(weight) == positions:
            return positions - int(pad) - 1
    return positions


def _settings(config: EncoderConfig) -> PretrainedConfig:
    with loading(config.name):
        return AutoConfig.from_pretrained(config.name, **origin(config))
