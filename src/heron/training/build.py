"""From a configuration to the model that a run trains."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.data.datamodule import DataModule
from heron.models.encoder import Encoder
from heron.models.optim import class_weights
from heron.tasks.base import TaskModule
from heron.tasks.config import Config
from heron.tasks.task import new_head, task_of


def build_module(config: Config, data: DataModule, first: RunFolder | None = None) -> TaskModule:
    """Build encoder, head and task module for a DataModule, and give it what the training needs.

    Its batches get the vectors of a frozen encoder, computed here unless they are stored, and a
    curriculum plans them. `first` is the run that the curriculum learns from; None where its
    dynamics are named (`curriculum.dynamics`), or it needs none.
    """
    if config.curriculum.name != "none" and data.curriculum is None:
        from heron.training.curriculum import build_curriculum  # start-up time

        data.curriculum = build_curriculum(config, data, first)
    encoder: Encoder
    pools_once = not config.head.both_ways and config.head.pooling != "tokens"
    if config.encoder.freeze == "all" and config.encoder.cache and pools_once:
        # Start-up time: frozen encoders only.
        from heron.models.feature_cache import StoredEncoder, load_vectors

        data.vectors = load_vectors(config, data, lambda: _build_models(config, data))
        encoder = StoredEncoder.of(config.head, data.vectors)
        head = build_head(config, encoder)
    else:
        encoder, head = _build_models(config, data)
    counts_C = torch.as_tensor(data.label_counts_C)
    weights_C = class_weights(config.optim.class_weights, counts_C)
    module = task_of(config).model.module(config, encoder, head, weights_C).train()
    module.learn_from(data)
    return module


def _build_models(config: Config, data: DataModule) -> tuple[Encoder, nn.Module]:
    encoder = build_encoder(config, data.tokenizer)
    return encoder, build_head(config, encoder)


def build_encoder(config: Config, tokenizer: Any) -> Encoder:
    """Load the encoder for a tokenizer.

    Raises:
        ConfigError: the head reads a first token that this encoder does not have.
    """
    if config.head.pooling == "cls" and tokenizer.cls_token is None:
        raise ConfigError(
            f"head.pooling=cls: {config.encoder.name} puts no token before a text, and a decoder's "
            "first word has read nothing; set head.pooling=last_token or mean"
        )
    return task_of(config).model.encoder(config, tokenizer)


def build_head(config: Config, encoder: Encoder) -> nn.Module:
    """Build the head; `head.start` names an exported one to begin with."""
    if config.encoder.freeze == "all":
        torch.manual_seed(config.seed)  # the same head with and without stored vectors
    head = new_head(config, encoder)
    if config.head.start:
        from heron.training.exported import load_head

        load_head(head, Path(config.head.start))
    return head
