"""Encoder-decoder models: pretrained ones, and decoders warm-started from any encoder.

Both are one Hugging Face model, which `AutoModelForSeq2SeqLM` loads from `model/`.
Shape suffixes: B sequences, L tokens of an article, M tokens of a summary, N known tokens of all
summaries, D hidden, V vocabulary.
"""

import copy
import inspect
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    BertConfig,
    EncoderDecoderModel,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PretrainedConfig,
    PreTrainedModel,
)

from heron.base.errors import ConfigError
from heron.data.collate import IGNORED, Batch, known_places
from heron.data.hub import loading, origin, vocabulary_size
from heron.data.weights import load_weights
from heron.models.config import EncoderConfig
from heron.models.encoder import (
    Encoder,
    choose_attention,
    grow_embeddings,
    load_encoder,
    prepare_layers,
)
from heron.models.levels import check_encoder, count_positions, find_layers
from heron.models.precision import precision
from heron.tasks.config import Config
from heron.tasks.summarization.config import GenerationConfig as Generation
from heron.tasks.summarization.config import SummarizationConfig
from heron.tasks.summarization.features import TARGET

_PAIR = "encoder-decoder"  # transformers' model type of two joined models
# Special tokens of a decoder, and which of a tokenizer they are by default: the first it has.
_SPECIAL = {
    "decoder_start_token_id": ("cls", "bos", "pad"),
    "eos_token_id": ("sep", "eos"),
    "pad_token_id": ("pad",),
}
_DROPOUTS = ("dropout_rate", "dropout", "hidden_dropout_prob", "attention_probs_dropout_prob")


class _Undefined(LogitsProcessor):
    """Notes the rows with undefined scores in any step; -inf forbids a token."""

    def __init__(self, rows: int):
        self.rows_B = torch.zeros(rows, dtype=torch.bool)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        highest_K = scores.amax(dim=1)  # K: each row's beams; NaN if any score is
        undefined_K = ~(highest_K < torch.inf)
        undefined_B = undefined_K.view(len(self.rows_B), -1).any(dim=1)
        self.rows_B = self.rows_B.to(scores.device) | undefined_B
        return scores


class Seq2Seq(Encoder):
    """Computes logits of gold summaries, and generates summaries.

    The model is already resized to its tokenizer. Under `freeze` (see `EncoderConfig.freeze`), the
    decoder trains, except for word embeddings that it shares with a frozen encoder.
    """

    def __init__(
        self, model: PreTrainedModel, freeze: str = "none", global_attention: str = "first"
    ):
        super().__init__(model, freeze, global_attention)
        self._encoding = {id(parameter) for parameter in self.inner.parameters()}

    def learns_as_head(self, parameter: nn.Parameter) -> bool:
        """See `Encoder.learns_as_head`; true of the decoder's own parameters."""
        return id(parameter) not in self._encoding

    def forward(self, batch: Batch) -> Tensor:
        """Compute logits_NV of every target token, row by row, in the precision of autocast."""
        target_RM = batch.columns[TARGET]
        known_N = known_places(TARGET, batch)

        def keep_known(layer: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            states_BMD, *others = inputs
            return states_BMD.flatten(0, 1)[known_N], *others

        # The output layer needs most memory: it gets the states of known tokens only.
        output_layer = self.model.get_output_embeddings()
        with output_layer.register_forward_pre_hook(keep_known):
            outputs = self.model(
                input_ids=batch.tokens_BL,
                attention_mask=self._mask(batch),
                decoder_input_ids=self._shifted(target_RM),
                use_cache=False,
                **self._extras(batch),
            )
        return outputs.logits

    def _shifted(self, target_RM: Tensor) -> Tensor:
        """Put the decoder's first token before the targets, as the model's own training does."""
        model: Any = self.model
        if hasattr(model, "prepare_decoder_input_ids_from_labels"):
            return model.prepare_decoder_input_ids_from_labels(labels=target_RM)
        # M2M100 and NLLB, among others, shift inside their `forward`.
        shifted_RM = target_RM.roll(1, dims=1)
        shifted_RM[:, 0] = model.config.decoder_start_token_id
        return shifted_RM.masked_fill(shifted_RM == IGNORED, model.config.pad_token_id)

    @torch.no_grad()
    def write(self, batch: Batch, generation: Generation) -> tuple[Tensor, Tensor]:
        """Summarize the articles.

        Returns:
            ids [B, M], int64, padded, without the decoder's first token; and whether all logits of
            an article's summary were finite, bool [B].
        """
        model: Any = self.model
        undefined = _Undefined(len(batch.tokens_BL))
        written_BM = model.generate(
            input_ids=batch.tokens_BL,
            attention_mask=batch.mask_BL,
            generation_config=generation_settings(model, generation),
            logits_processor=LogitsProcessorList([undefined]),
            **self._extras(batch),
        )
        return written_BM[:, 1:], ~undefined.rows_B

    def _extras(self, batch: Batch) -> dict[str, Tensor]:
        return self._attend_globally(batch)


def generation_settings(model: Any, generation: Generation) -> GenerationConfig:
    """Convert heron's settings to transformers' ones, with the model's special tokens."""
    settings: GenerationConfig = copy.deepcopy(model.generation_config)
    settings.update(**generation_options(generation))
    return settings


def generation_options(generation: Generation) -> dict[str, Any]:
    """Name heron's settings as `generate` does; they replace the model's length limits."""
    options = asdict(generation)
    options["min_new_tokens"] = generation.min_new_tokens or None
    if generation.num_beams == 1:
        options["length_penalty"] = 1.0  # without effect; transformers saves no other value
    fixed = {"do_sample": False, "early_stopping": False, "max_length": None, "min_length": 0}
    return options | fixed


def build_seq2seq(config: Config, tokenizer: Any = None) -> Seq2Seq:
    """Load encoder and decoder of a run; without a tokenizer, as a finished run exported them.

    The model's own generation settings, which are exported with it, become those of the run.
    """
    model: Any = load_seq2seq(config, tokenizer)
    model.generation_config = generation_settings(model, SummarizationConfig.of(config).generation)
    if tokenizer is None:
        return Seq2Seq(model, global_attention=config.encoder.global_attention)
    if "t5" in model.config.model_type and precision(config) == "16-mixed":
        raise ConfigError(
            f"trainer.precision={config.trainer.precision}: {config.encoder.name} overflows in "
            "fp16; set trainer.precision=32-true, or bf16-mixed where the device computes in it"
        )
    return Seq2Seq(model, config.encoder.freeze, config.encoder.global_attention)


def load_seq2seq(config: Config, tokenizer: Any = None) -> PreTrainedModel:
    """Load the model of `head=seq2seq`, or build that of `head=warm_start`."""
    encoder = config.encoder
    if encoder.name == "scratch":
        return warm_start(config, tokenizer)
    with loading(encoder.name):
        settings: PretrainedConfig = AutoConfig.from_pretrained(encoder.name, **origin(encoder))
    if not settings.is_encoder_decoder:
        if config.head.classifier != "warm_start":
            raise ConfigError(
                f"encoder.name={encoder.name}: a {settings.model_type} model has no "
                "decoder; head=warm_start builds one from its weights"
            )
        return warm_start(config, tokenizer)
    if config.head.classifier == "warm_start" and settings.model_type != _PAIR:
        raise ConfigError(
            f"encoder.name={encoder.name}: a {settings.model_type} model has a decoder of "
            "its own: set head=seq2seq"
        )
    return _from_pretrained(encoder, settings, tokenizer)


def warm_start(config: Config, tokenizer: Any) -> PreTrainedModel:
    """Add a decoder to an encoder, initialised with the encoder's weights where they fit.

    Cross-attention is new. Encoders whose architecture has no decoder (Longformer, DeBERTa) get a
    BERT decoder of the same width, with their word embeddings.

    Source: Rothe et al. 2020, BERT2BERT.
    """
    encoder = load_encoder(config.encoder, vocabulary_size(tokenizer), tokenizer.pad_token_id)
    decoder = _decoder(encoder, config)
    task = SummarizationConfig.of(config)
    longest = max(task.max_target_tokens, task.generation.max_new_tokens) + 1
    positions = count_positions(decoder)
    if positions and longest > positions:
        raise ConfigError(
            f"task.max_target_tokens and task.generation.max_new_tokens: the decoder has "
            f"{positions} positions, a summary with its first token needs {longest}"
        )
    prepare_layers(decoder, config.encoder)
    model = EncoderDecoderModel(encoder=encoder, decoder=decoder)
    model.generation_config = GenerationConfig()  # without the decoder's own tokens
    model.config.update(_special_tokens(tokenizer))
    _complete_special_tokens(model, tokenizer)
    return model


def _complete_special_tokens(model: Any, tokenizer: Any) -> None:
    """Name start, end and padding of summaries in both configurations: of training, of `generate`.

    Where one lacks a token, it takes the other's, or else the decoder's or the tokenizer's.
    """
    both = (model.config, model.generation_config)
    decoder = getattr(model.config, "decoder", None)
    for key, own in _special_tokens(tokenizer).items():
        tokens = [getattr(part, key, None) for part in (*both, decoder)]
        for part in both:
            if getattr(part, key, None) is None:
                setattr(part, key, _first([*tokens, own]))


def _begin_as_trained(model: Any, tokenizer: Any) -> None:
    """Let summaries begin with the tokens that training puts first: mBART's are the language's."""
    first_token = tokenizer("a").input_ids[0]
    is_forced = model.generation_config.forced_bos_token_id is not None
    if is_forced and first_token in tokenizer.all_special_ids:
        model.generation_config.forced_bos_token_id = first_token
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        ends_1M = torch.tensor([tokenizer("").input_ids])
        first = int(model.prepare_decoder_input_ids_from_labels(labels=ends_1M)[0, 0])
        model.config.decoder_start_token_id = first
        model.generation_config.decoder_start_token_id = first


def _special_tokens(tokenizer: Any) -> dict[str, int | None]:
    """Choose start, end and padding of summaries among the tokens of an encoder's tokenizer."""
    chosen = {}
    for key, names in _SPECIAL.items():
        tokens = [getattr(tokenizer, f"{name}_token_id", None) for name in names]
        chosen[key] = _first(tokens)
    return chosen


def _first(tokens: Sequence[int | None]) -> int | None:
    return next((token for token in tokens if token is not None), None)


def _decoder(encoder: PreTrainedModel, config: Config) -> PreTrainedModel:
    layers = config.head.decoder_layers
    settings = copy.deepcopy(encoder.config)
    settings.is_decoder = settings.add_cross_attention = True
    if layers is not None:
        settings.num_hidden_layers = layers

    kind: Any = AutoModelForCausalLM._model_mapping.get(type(settings), None)
    if kind is None or "encoder_hidden_states" not in inspect.signature(kind.forward).parameters:
        return _bert_decoder(encoder, settings, config)
    encoder_layers = len(find_layers(encoder))
    if layers and layers > encoder_layers:
        raise ConfigError(
            f"head.decoder_layers={layers}: the encoder uses {encoder_layers} layers, which "
            "initialise the decoder"
        )
    attention = choose_attention(config.encoder, kind)
    decoder: PreTrainedModel = kind._from_config(settings, attn_implementation=attention)
    decoder.base_model.load_state_dict(encoder.state_dict(), strict=False)
    return decoder


def _bert_decoder(
    encoder: PreTrainedModel, settings: PretrainedConfig, config: Config
) -> PreTrainedModel:
    """Build a BERT decoder with the encoder's width and word embeddings."""
    words: Any = encoder.get_input_embeddings()
    if words.embedding_dim != settings.hidden_size:
        raise ConfigError(
            f"head=warm_start: the word embeddings of {config.encoder.name} have width "
            f"{words.embedding_dim}, its states {settings.hidden_size}; a decoder that shares them "
            "needs one width: name another encoder.name"
        )
    shape = BertConfig(
        vocab_size=words.num_embeddings,
        hidden_size=settings.hidden_size,
        num_hidden_layers=settings.num_hidden_layers,
        num_attention_heads=settings.num_attention_heads,
        intermediate_size=settings.intermediate_size,
        max_position_embeddings=512,
        type_vocab_size=1,
        pad_token_id=settings.pad_token_id,
        is_decoder=True,
        add_cross_attention=True,
    )
    decoder: PreTrainedModel = AutoModelForCausalLM.from_config(
        shape, attn_implementation=config.encoder.attention
    )
    own: Any = decoder.get_input_embeddings()
    with torch.no_grad():
        own.weight.copy_(words.weight)
    return decoder


def _from_pretrained(
    config: EncoderConfig, settings: PretrainedConfig, tokenizer: Any
) -> PreTrainedModel:
    if config.dropout is not None:
        inner = [getattr(settings, name, None) for name in ("encoder", "decoder")]
        for part in (settings, *inner):
            for key in _DROPOUTS:
                if hasattr(part, key):
                    setattr(part, key, config.dropout)
    kind = AutoModelForSeq2SeqLM._model_mapping.get(type(settings), None)
    model: Any = load_weights(
        AutoModelForSeq2SeqLM,
        config.name,
        optional="pooler",
        config=settings,
        attn_implementation=choose_attention(config, kind),
        dtype=torch.float32,
        **origin(config),
    )
    parts = [model]
    if settings.model_type == _PAIR:
        parts = [model.encoder, model.decoder]
        if getattr(model.encoder, "pooler", None) is not None:
            model.encoder.pooler = None  # drawn at random on loading; nothing reads it
    elif tokenizer is not None:
        grow_embeddings(model, vocabulary_size(tokenizer))
    _complete_special_tokens(model, tokenizer)
    if tokenizer is not None:
        _begin_as_trained(model, tokenizer)
    check_encoder(config, model.get_encoder())
    for part in parts:
        prepare_layers(part, config)
    return model
