"""The encoder: any Hugging Face encoder by hub id or path, or a small one built from config.

Shape suffixes: B sequences, L tokens, D hidden.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.fx.experimental import _config as symbolic_shapes
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForSeq2SeqLM,
    BertConfig,
    BertModel,
    PretrainedConfig,
    PreTrainedModel,
)

from heron.base.errors import ConfigError
from heron.data.collate import Batch
from heron.data.config import RunSettings
from heron.data.hub import loading, origin, vocabulary_size
from heron.data.weights import load_weights
from heron.models.config import EncoderConfig
from heron.models.dropout import PLAIN_ATTENTION, use_fast_dropout


class Encoder(nn.Module):
    """Token ids to hidden states of the last layer in use, of a Hugging Face encoder."""

    def __init__(
        self, model: PreTrainedModel, freeze: str = "none", global_attention: str = "first"
    ):
        super().__init__()
        self.model = model
        self.global_attention = global_attention
        self.frozen: list[nn.Module] = []
        if freeze != "none":
            from heron.models.levels import freeze_parts  # few runs need these

            self.frozen = freeze_parts(self, freeze)

    @property
    def inner(self) -> Any:
        """The model or, if it has a decoder, its encoder alone."""
        return encoding_part(self.model)

    def description(self) -> dict[str, Any]:
        """Describe the model for `untrained_model`; empty if it cannot."""
        settings = json.loads(self.model.config.to_json_string(use_diff=False))
        return {"class": type(self.model).__name__, "settings": settings}

    @property
    def width(self) -> int:
        """D, the width of the hidden states."""
        return int(self.inner.config.hidden_size)

    @property
    def layers(self) -> list[nn.Module]:
        """The transformer layers, in order."""
        from heron.models.levels import find_layers

        return list(find_layers(self.inner))

    @cached_property
    def levels(self) -> dict[nn.Parameter, int]:
        """See `find_levels`; computed before FSDP divides the parameters."""
        from heron.models.levels import find_levels

        return find_levels(self.inner)

    def forward(self, batch: Batch) -> Tensor:
        """Encode a batch; returns states_BLD, in the precision of the surrounding autocast."""
        output = self.inner(
            input_ids=batch.tokens_BL, attention_mask=self._mask(batch), **self._extras(batch)
        )
        return output.last_hidden_state

    def _mask(self, batch: Batch) -> Tensor | None:
        """Make the attention mask; None for all tokens, which has the fastest kernel on a GPU.

        transformers reads the values of a mask, and waits for the GPU, unless the mask has the
        form that attention itself takes.
        """
        settings = self.inner.config
        mask_BL = batch.mask_BL
        plain = settings.model_type in PLAIN_ATTENTION and settings._attn_implementation == "sdpa"
        if not plain or mask_BL.device.type == "cpu":
            return mask_BL
        is_full = not torch.compiler.is_compiling() and bool(batch.host.mask_BL.all())
        return None if is_full else mask_BL[:, None, None].bool()

    def _extras(self, batch: Batch) -> dict[str, Tensor]:
        """Collect the inputs that only some encoders have."""
        settings = self.inner.config
        extras = {}
        if getattr(settings, "type_vocab_size", 1) > 1:
            # Not for AlephBERT, whose tokenizer numbers two segments, but whose model has one.
            extras["token_type_ids"] = segments(batch)
        return extras | self._attend_globally(batch)

    def _attend_globally(self, batch: Batch) -> dict[str, Tensor]:
        """Let a Longformer's first token attend to all tokens, and they to it."""
        is_longformer = hasattr(self.inner.config, "attention_window")
        if not is_longformer or self.global_attention == "none":
            return {}
        global_BL = torch.zeros_like(batch.mask_BL)
        global_BL[:, 0] = 1
        return {"global_attention_mask": global_BL}

    def learns_as_head(self, parameter: nn.Parameter) -> bool:
        """Tell whether a parameter learns at the head's rate; an encoder's never does."""
        return False

    def train(self, mode: bool = True) -> Encoder:
        """Set the mode; frozen parts stay in eval mode, without dropout.

        `from_pretrained` returns eval mode and Lightning keeps it, which would train without
        dropout: callers set the mode and `assert_mode` checks it.
        """
        super().train(mode)
        for module in self.frozen:
            module.eval()
        return self

    def assert_mode(self, training: bool) -> None:
        """Assert that every module that is not frozen is in the given mode."""
        frozen = {inner for module in self.frozen for inner in module.modules()}
        wrong = []
        for name, module in self.model.named_modules():
            if module not in frozen and module.training != training:
                wrong.append(name)
        assert not wrong, f"modules not in {'train' if training else 'eval'} mode: {wrong[:5]}"


def segments(batch: Batch) -> Tensor:
    """Number the segments: 0 for the first text, 1 for the second; returns int64 [B, L]."""
    positions_L = torch.arange(batch.tokens_BL.shape[1], device=batch.tokens_BL.device)
    second_B1 = batch.second_B[:, None]
    is_second_BL = (second_B1 > 0) & (positions_L >= second_B1) & (batch.mask_BL == 1)
    return is_second_BL.long()


def build_encoder(config: RunSettings, tokenizer: Any = None) -> Encoder:
    """Load the encoder of a run; a frozen one does not depend on earlier random numbers.

    Without a tokenizer, the encoder is one that a finished run exported.
    """
    settings = config.encoder
    if settings.freeze == "all":
        torch.manual_seed(config.seed)
    vocabulary = pad_id = 0
    if tokenizer is not None:
        vocabulary = vocabulary_size(tokenizer)
        pad_id = tokenizer.pad_token_id
    model = load_encoder(settings, vocabulary, pad_id)
    return Encoder(model, settings.freeze, settings.global_attention)


def load_encoder(config: EncoderConfig, vocabulary: int, pad_id: int) -> PreTrainedModel:
    """Load or build the Hugging Face model behind `Encoder`.

    `vocabulary` counts the tokenizer's tokens, added markers included; embeddings get its size.

    Raises:
        ConfigError: the model is not found, has fewer layers than `num_layers`, or fewer positions
            than `max_length`.
    """
    if config.name == "scratch":
        model = _from_scratch(config, vocabulary, pad_id)
    else:
        model = pretrained_model(config)
    trained = set(encoding_part(model).parameters())
    for parameter in set(model.parameters()) - trained:  # a decoder's, exported as they are
        parameter.requires_grad_(False)
    grow_embeddings(model, vocabulary)
    prepare_layers(model, config)
    return model


def prepare_layers(model: Any, config: EncoderConfig) -> None:
    """Let a model's layers compute as `encoder.kernels` and `gradient_checkpointing` say.

    A decoder is not compiled: its cache grows by a token with each step of generation.
    """
    if config.kernels == "auto" and not torch.cuda.is_available():
        use_fast_dropout(model)
    if config.kernels == "compiled" and not getattr(model.config, "is_decoder", False):
        # Else a first batch of as many sequences as tokens would have a graph, and roundings, of
        # its own: a resumed run, which begins with another batch, would differ.
        symbolic_shapes.use_duck_shape = False
        encoding_part(model).compile(dynamic=True)
    if config.gradient_checkpointing:
        model.activation_checkpointing_enable()


def grow_embeddings(model: PreTrainedModel, vocabulary: int) -> None:
    """Add embeddings for added tokens, each drawn as the model's weights first were.

    By its default since version 4.46, transformers would give all of them the mean of the others:
    the markers of an event's begin and end, and those of two events, would be one vector.
    """
    embeddings: Any = model.get_input_embeddings()
    if len(embeddings.weight) < vocabulary:
        model.resize_token_embeddings(vocabulary, mean_resizing=False)


def encoding_part(model: PreTrainedModel) -> Any:
    """Return the model or, if it has a decoder, its encoder alone."""
    return model.get_encoder() if model.config.is_encoder_decoder else model


def _from_scratch(config: EncoderConfig, vocabulary: int, pad_id: int) -> PreTrainedModel:
    shape = config.scratch
    dropout = 0.1 if config.dropout is None else config.dropout
    model_config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=config.num_layers or shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.intermediate,
        max_position_embeddings=max(256, config.max_length),
        type_vocab_size=1,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=pad_id,
    )
    model_config._attn_implementation = config.attention
    with loading("scratch"):
        return BertModel(model_config, add_pooling_layer=False)


def pretrained_model(config: EncoderConfig) -> PreTrainedModel:
    """Load a model with the configured layers, dropout and attention, in float32.

    Raises:
        ConfigError: as for `load_encoder`.
    """
    source = origin(config)
    with loading(config.name):
        settings = AutoConfig.from_pretrained(config.name, **source)
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
        for name in ("attention_window", "layer_types"):  # Longformer, ModernBERT: one per layer
            of_layers = getattr(settings, name, None)
            if isinstance(of_layers, list):
                setattr(settings, name, of_layers[: config.num_layers])
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

    model: PreTrainedModel = load_weights(
        AutoModel, config.name, read_part=encoding_part, optional="pooler", **options
    )
    from heron.models.levels import check_encoder  # start-up time

    check_encoder(config, encoding_part(model))
    return model


def untrained_model(description: Mapping[str, Any]) -> PreTrainedModel:
    """Build a model with random weights from `Encoder.description`.

    Raises:
        ConfigError: it names no model class of transformers.
    """
    settings = description["settings"]
    name = description["class"]
    model_class: Any = getattr(transformers, name, None)
    if not (isinstance(model_class, type) and issubclass(model_class, PreTrainedModel)):
        raise ConfigError(f"{name}: no model class of transformers")
    config: Any = transformers.CONFIG_MAPPING[settings["model_type"]].from_dict(settings)
    model: PreTrainedModel = getattr(model_class, "_from_config")(config)  # noqa: B009
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
