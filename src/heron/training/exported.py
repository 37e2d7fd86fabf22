"""`model/`: a trained run in Hugging Face form, that plain `transformers` loads as well.

- `config.json`, `model.safetensors`, `tokenizer.json` and so on: for AutoModel and AutoTokenizer;
  by `architectures` in `config.json` for AutoModelForSequenceClassification,
  ...ForQuestionAnswering or ...ForSeq2SeqLM, too.
- `head.safetensors`: the head's weights; `config.yaml` has its shape.
- `checksums.json`: SHA-256 of each of these files.

A head that has no such class in transformers is in `head.safetensors` alone. `config.json` then
has an empty `id2label`, so that transformers cannot answer from a head drawn at random.

A run on a frozen pretrained encoder holds `encoder.json` instead, which names that encoder; a
baseline its own files and `baseline.json`.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from heron.base.errors import ConfigError
from heron.base.files import SEAL, damaged_files, read_json, seal, system_errors, write_json
from heron.base.run_files import Pointer, read_record
from heron.base.run_folder import HEAD, RunFolder
from heron.base.terminal import say
from heron.data.hub import identity, save_tokenizer
from heron.models.config import EncoderConfig
from heron.models.encoder import Encoder
from heron.tasks.config import Config
from heron.tasks.task import new_head, task_of
from heron.training.stored import read_stored

if TYPE_CHECKING:
    from heron.tasks.exported_heads import HeadWeights

POINTER = "encoder.json"


def export(
    folder: Path,
    encoder: Encoder | None,
    head: nn.Module,
    tokenizer: Any,
    config: Config,
    known: HeadWeights | None = None,
) -> None:
    """Write encoder, tokenizer, label names and head to a folder.

    Args:
        folder: becomes a run's `model/`.
        encoder: None for a frozen pretrained one, which is named instead of copied.
        head: its weights go to `head.safetensors`.
        tokenizer: of the encoder.
        config: of the run.
        known: the head's weights for a class of transformers; None: as the task has them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with system_errors(folder):
        if encoder is None:
            pointer = {"name": config.encoder.name, "files": identity(config.encoder)}
            write_json(folder / POINTER, pointer)
        else:
            in_task = task_of(config).model().in_transformers
            _save_model(folder, encoder, known or in_task(head, encoder, tokenizer, config))
            _add_older_names(folder / "config.json")
            save_tokenizer(tokenizer, folder)

        save_file({k: v.contiguous() for k, v in head.state_dict().items()}, folder / HEAD)
        seal(folder)


def _save_model(folder: Path, encoder: Encoder, known: HeadWeights | None) -> None:
    """Write the encoder, with the head where there is a class for both."""
    if known is None:
        _name_classes(encoder.model.config, [])
        encoder.model.save_pretrained(folder)
        return

    settings = copy.deepcopy(encoder.model.config)
    _name_classes(settings, known.labels)
    settings.update(known.settings)
    settings._attn_implementation = "eager"  # nothing is computed with it
    with torch.device("meta"):
        whole = known.auto.from_config(settings, dtype=encoder.model.dtype)

    weights = {}
    for name, tensor in encoder.model.state_dict().items():
        weights[f"{whole.base_model_prefix}.{name}"] = tensor

    whole.save_pretrained(folder, state_dict=weights | known.layers)


def _name_classes(settings: Any, labels: Sequence[str]) -> None:
    settings.id2label = dict(enumerate(labels))
    settings.label2id = {label: index for index, label in enumerate(labels)}


def _add_older_names(path: Path) -> None:
    """Add the settings of rotary positions under the names that transformers 4 reads."""
    settings = read_json(path)
    for part in (settings, settings.get("encoder", {}), settings.get("decoder", {})):
        rotary = part.get("rope_parameters") or {}
        if "rope_theta" in rotary:
            part["rope_theta"] = rotary["rope_theta"]
            if rotary["rope_type"] != "default":
                part["rope_scaling"] = rotary
        elif part.get("model_type") == "modernbert":
            part["global_rope_theta"] = rotary["full_attention"]["rope_theta"]
            part["local_rope_theta"] = rotary["sliding_attention"]["rope_theta"]
            layers = [*part["layer_types"], "full_attention"]
            part["global_attn_every_n_layers"] = layers.index("full_attention", 1)

    write_json(path, settings)


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
    pointer = folder.model / POINTER

    if pointer.is_file() and read_record(pointer, Pointer)["files"] != identity(exported):
        raise ConfigError(
            f"{folder.path}: was trained on the frozen encoder {exported.name}, whose files "
            "have changed or are gone; put them back"
        )

    encoder = task_of(config).model().encoder(config, None)
    head = new_head(config, encoder)
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
    pointer = model / POINTER
    name = read_record(pointer, Pointer)["name"] if pointer.is_file() else str(model)
    if name == config.name:
        return config

    return dataclasses.replace(config, name=name, revision=None, num_layers=None)


def load_head(head: nn.Module, model: Path) -> None:
    """Load an exported head's weights; a ConfigError where they are damaged or do not fit."""
    require_whole(model)
    try:
        head.load_state_dict(load_file(model / HEAD))
    except (SafetensorError, RuntimeError) as error:
        raise ConfigError(f"{model / HEAD}: {error}") from error


def require_whole(model: Path) -> None:
    """Raise a ConfigError where files of `RunFolder.model` are missing or have changed."""
    damaged = damaged_files(model)
    if damaged is None:
        say(f"{model} has no {SEAL}: its files cannot be checked for damage")
    elif damaged:
        raise ConfigError(
            f"{model}: {', '.join(damaged)}: damaged, missing or changed since the run wrote it; "
            f"copy the folder again, or remove {SEAL} to use it"
        )
