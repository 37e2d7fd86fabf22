"""`model/`: a trained run in Hugging Face form, that plain `transformers` loads as well.

config.json model.safetensors tokenizer.json ...   AutoModel, AutoTokenizer; where the run writes
                                                    summaries AutoModelForSeq2SeqLM
head.safetensors                                    the head's weights; config.yaml its shape

A run on a frozen pretrained encoder holds `encoder.json` instead, which names that encoder.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import nn

from heron.config import read_stored
from heron.errors import ConfigError
from heron.files import read_json, write_json
from heron.models.encoder import Encoder, load_encoder
from heron.models.heads import new_head
from heron.models.hub import identity
from heron.models.seq2seq import Seq2Seq, load_seq2seq
from heron.runtime.run_folder import HEAD, RunFolder
from heron.schema import Config, EncoderConfig

POINTER = "encoder.json"


def export(
    folder: Path, encoder: Encoder | None, head: nn.Module, tokenizer: Any, config: Config
) -> None:
    """Write encoder, tokenizer, label names and head.

    Args:
        folder: `RunFolder.model`.
        encoder: None for a pretrained encoder that was frozen: the run then points to it instead of
            copying it, so that the hundreds of runs of a grid weigh little.
        head: its weights go to `head.safetensors`.
        tokenizer: written beside the encoder.
        config: the run's configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if encoder is None:
        write_json(
            folder / POINTER, {"name": config.encoder.name, "files": identity(config.encoder)}
        )
    else:
        labels = config.data.label_order
        settings = encoder.model.config
        settings.id2label = dict(enumerate(labels))
        settings.label2id = {label: index for index, label in enumerate(labels)}
        encoder.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    save_file({k: v.contiguous() for k, v in head.state_dict().items()}, folder / HEAD)


def load_exported(folder: RunFolder) -> tuple[Config, Encoder, nn.Module]:
    """Load a run's configuration, encoder and head, in eval mode.

    Returns:
        The configuration now names the encoder that `trained_encoder` does.

    Raises:
        ConfigError: the weights do not fit this version of heron, or the encoder that the run
            points to has changed.
    """
    config = read_stored(folder.config)
    exported = dataclasses.replace(trained_encoder(config.encoder, folder.model), freeze="none")
    config = dataclasses.replace(config, encoder=exported)
    if (folder.model / POINTER).is_file():
        _check_pointer(folder, config)
    encoder: Encoder
    if config.task.name == "summarization":
        encoder = Seq2Seq(load_seq2seq(config))
    else:
        encoder = Encoder(load_encoder(config.encoder, vocabulary=0, pad_id=0))
    head = new_head(config.head, encoder.width, len(config.data.label_order))
    load_head(head, folder.model)
    return config, encoder.eval(), head.eval()


def trained_encoder(config: EncoderConfig, model: Path) -> EncoderConfig:
    """Name the encoder that an exported head goes with.

    Args:
        config: the encoder that the run began with.
        model: `RunFolder.model`.

    Returns:
        The one in `model/`, with all layers it holds, or the frozen one that the run points to. In
        sequential fine-tuning that can be the encoder an earlier stage has trained.
    """
    pointer = model / POINTER
    name = read_json(pointer)["name"] if pointer.is_file() else str(model)
    if name == config.name:
        return config
    return dataclasses.replace(config, name=name, revision=None, num_layers=None)


def load_head(head: nn.Module, model: Path) -> None:
    """Load an exported head's weights.

    Args:
        head: of the same shape.
        model: `RunFolder.model` of the run that exported it.

    Raises:
        ConfigError: there are none, or they do not fit.
    """
    path = model / HEAD
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; is {model} the model/ folder of a finished run?")
    try:
        head.load_state_dict(load_file(path))
    except RuntimeError as error:
        raise ConfigError(
            f"{path}: holds another head than the one that is built here: other widths, other "
            "classes, or another version of heron (status.json names the commit)"
        ) from error


def _check_pointer(folder: RunFolder, config: Config) -> None:
    pointer = read_json(folder.model / POINTER)
    if pointer["files"] != identity(config.encoder):
        raise ConfigError(
            f"{folder.path}: was trained on the frozen encoder {pointer['name']}, whose files "
            "have changed or gone since; put them back"
        )
