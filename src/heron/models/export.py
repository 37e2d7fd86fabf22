"""`model/`: a trained run in Hugging Face form, that plain `transformers` loads as well.

config.json model.safetensors tokenizer.json ...   AutoModel, AutoTokenizer
head.safetensors                                    the head's weights; config.yaml its shape
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import nn

from heron.config import from_yaml
from heron.errors import ConfigError
from heron.models.encoder import Encoder, load_encoder
from heron.models.heads import Head
from heron.runtime.run_folder import RunFolder
from heron.schema import Config


def export(
    folder: Path, encoder: Encoder, head: nn.Module, tokenizer: Any, labels: list[str]
) -> None:
    """Write encoder, tokenizer, label names and head."""
    settings = encoder.model.config
    settings.id2label = dict(enumerate(labels))
    settings.label2id = {label: index for index, label in enumerate(labels)}
    encoder.model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    save_file(
        {k: v.contiguous() for k, v in head.state_dict().items()}, folder / "head.safetensors"
    )


def load_exported(folder: RunFolder) -> tuple[Config, Encoder, Head]:
    """Load a run's configuration, encoder and head, in eval mode.

    Returns:
        The configuration now names `model/` as its encoder, with all layers it holds.

    Raises:
        ConfigError: the weights do not fit this version of heron.
    """
    config = from_yaml(folder.config.read_text(encoding="utf-8"))
    exported = dataclasses.replace(
        config.encoder, name=str(folder.model), revision=None, num_layers=None, freeze="none"
    )
    config = dataclasses.replace(config, encoder=exported)
    encoder = Encoder(load_encoder(exported, vocabulary=0, pad_id=0))
    head = Head(config.head, encoder.width, len(config.data.label_order))
    try:
        head.load_state_dict(load_file(folder.model / "head.safetensors"))
    except RuntimeError as error:
        raise ConfigError(
            f"{folder.model}: this version of heron builds another head than the one that was "
            f"exported; {folder.status} names the commit that fits"
        ) from error
    return config, encoder.eval(), head.eval()
