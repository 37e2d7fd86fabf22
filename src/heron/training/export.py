"""`model/`: a trained run in Hugging Face form, that plain `transformers` loads as well.

config.json model.safetensors tokenizer.json ...   AutoModel, AutoTokenizer; by `architectures` in
                                                    config.json AutoModelForSequenceClassification,
                                                    ...ForQuestionAnswering or ...ForSeq2SeqLM, too
head.safetensors                                    the head's weights; config.yaml its shape
checksums.json                                      SHA-256 of each of these files

A head that has no such class in transformers is in `head.safetensors` alone. `config.json` then
has an empty `id2label`, so that transformers cannot answer from a head drawn at random.

A run on a frozen pretrained encoder holds `encoder.json` instead, which names that encoder.
"""

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from heron.base.errors import ConfigError
from heron.base.files import read_json, seal, write_json
from heron.base.registry import on_demand
from heron.base.run_folder import DAMAGED, HEAD, RunFolder, require_whole
from heron.config.schema import Config, EncoderConfig
from heron.config.stored import read_stored
from heron.models.encoder import Encoder
from heron.tasks.task import task_of

POINTER = "encoder.json"
identity = on_demand("heron.data.hub:identity")  # start-up time: of pretrained encoders only


def export(
    folder: Path, encoder: Encoder | None, head: nn.Module, tokenizer: Any, config: Config
) -> None:
    """Write encoder, tokenizer, label names and head to `RunFolder.model`.

    Without an encoder, the run names the pretrained one that was frozen instead of copying it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if encoder is None:
        write_json(
            folder / POINTER, {"name": config.encoder.name, "files": identity(config.encoder)}
        )
    else:
        _save_model(folder, encoder, head, tokenizer, config)
        tokenizer.save_pretrained(folder)
    save_file({k: v.contiguous() for k, v in head.state_dict().items()}, folder / HEAD)
    seal(folder)


def _save_model(
    folder: Path, encoder: Encoder, head: nn.Module, tokenizer: Any, config: Config
) -> None:
    """Write the encoder, with the head where transformers has a class for both."""
    known = task_of(config).head_in_transformers(head, encoder, tokenizer, config)
    if known is None:
        _name_classes(encoder.model.config, [])
        encoder.model.save_pretrained(folder)
        return
    settings = copy.deepcopy(encoder.model.config)
    _name_classes(settings, known.labels)
    settings._attn_implementation = "eager"  # nothing is computed with it
    with torch.device("meta"):
        whole = known.auto.from_config(settings, dtype=encoder.model.dtype)
    inner = {f"{whole.base_model_prefix}.{k}": v for k, v in encoder.model.state_dict().items()}
    whole.save_pretrained(folder, state_dict={**inner, **known.layers})


def _name_classes(settings: Any, labels: Sequence[str]) -> None:
    settings.id2label = dict(enumerate(labels))
    settings.label2id = {label: index for index, label in enumerate(labels)}


def load_exported(folder: RunFolder, run_code: bool = False) -> tuple[Config, Encoder, nn.Module]:
    """Load a finished run's configuration, encoder and head, in eval mode.

    The configuration names the trained encoder, see `trained_encoder`. With `run_code`, code that
    comes with the weights may run.

    Raises:
        ConfigError: the weights are damaged or do not fit this version of heron, or the encoder
            that the run points to has changed.
    """
    config = read_stored(folder.config, run_code)
    exported = dataclasses.replace(trained_encoder(config.encoder, folder.model), freeze="none")
    config = dataclasses.replace(config, encoder=exported)
    if (folder.model / POINTER).is_file():
        _check_pointer(folder, config)
    task = task_of(config)
    encoder = task.encoder(config, None)
    head = task.head_module(config.head, encoder.width, len(config.data.label_order))
    load_head(head, folder.model)
    return config, encoder.eval(), head.eval()


def trained_encoder(config: EncoderConfig, model: Path) -> EncoderConfig:
    """Name the encoder that an exported head was trained with.

    It is the one in `model/`, with all layers it holds, or the frozen one that the run points to.
    In sequential fine-tuning that can be the encoder an earlier stage has trained. `config` is the
    encoder that the run began with.

    Raises:
        ConfigError: a file of `model/` is damaged.
    """
    require_whole(model)
    name = _read_pointer(model)["name"] if (model / POINTER).is_file() else str(model)
    if name == config.name:
        return config
    return dataclasses.replace(config, name=name, revision=None, num_layers=None)


def load_head(head: nn.Module, model: Path) -> None:
    """Load an exported head's weights from `model/` into a head of the same shape.

    Raises:
        ConfigError: there are none, they are damaged, or they do not fit.
    """
    path = model / HEAD
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; is {model} the model/ folder of a finished run?")
    require_whole(model)
    try:
        head.load_state_dict(load_file(path))
    except SafetensorError as error:
        raise ConfigError(f"{path}: {DAMAGED} ({error})") from error
    except RuntimeError as error:
        raise ConfigError(
            f"{path}: does not fit the head that is built here: its widths or classes differ, or "
            "another version of heron has written it (status.json names the commit)"
        ) from error


def _check_pointer(folder: RunFolder, config: Config) -> None:
    pointer = _read_pointer(folder.model)
    if pointer["files"] != identity(config.encoder):
        raise ConfigError(
            f"{folder.path}: was trained on the frozen encoder {pointer['name']}, whose files "
            "have changed or are gone; put them back"
        )


def _read_pointer(model: Path) -> dict[str, Any]:
    try:
        pointer = read_json(model / POINTER)
        if isinstance(pointer["name"], str) and isinstance(pointer["files"], dict):
            return pointer
    except (ValueError, TypeError, KeyError):
        pass
    raise ConfigError(f"{model / POINTER}: {DAMAGED}")
