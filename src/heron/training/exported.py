"""Load what `heron.training.export` has written to a run's `model/`."""

import dataclasses
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from heron.base.errors import ConfigError
from heron.base.files import SEAL, damaged_files
from heron.base.run_folder import HEAD, RunFolder, read_record
from heron.base.terminal import say
from heron.data.hub import identity
from heron.models.config import EncoderConfig
from heron.models.encoder import Encoder
from heron.tasks.config import Config
from heron.tasks.task import new_head, task_of
from heron.training.export import POINTER
from heron.training.stored import read_stored


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
    encoder = task_of(config).model.encoder(config, None)
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
    name = read_record(model / POINTER)["name"] if (model / POINTER).is_file() else str(model)
    if name == config.name:
        return config
    return dataclasses.replace(config, name=name, revision=None, num_layers=None)


def load_head(head: nn.Module, model: Path) -> None:
    """Load an exported head's weights from `model/` into a head of the same shape.

    Raises:
        ConfigError: they are damaged, or do not fit.
    """
    path = model / HEAD
    require_whole(model)
    try:
        head.load_state_dict(load_file(path))
    except (SafetensorError, RuntimeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _check_pointer(folder: RunFolder, config: Config) -> None:
    pointer = read_record(folder.model / POINTER)
    if pointer["files"] != identity(config.encoder):
        raise ConfigError(
            f"{folder.path}: was trained on the frozen encoder {pointer['name']}, whose files "
            "have changed or are gone; put them back"
        )


def require_whole(model: Path) -> None:
    """Raise a ConfigError where files of `RunFolder.model` are missing or have changed."""
    damaged = damaged_files(model)
    if damaged is None:
        say(f"{model} has no {SEAL}: its files cannot be checked for damage", who="heron")
    elif damaged:
        what = f"{', '.join(damaged)}: damaged, missing or changed since the run wrote it"
        raise ConfigError(f"{model}: {what}; copy the folder again, or remove {SEAL} to use it")
