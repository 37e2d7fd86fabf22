"""A run's configuration read back from `config.yaml`, or derived from another run's."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.base.folders import default_cache_dir
from heron.config.constraints import is_under
from heron.tasks.config import Config, read

# Keys that `changes` in a stored configuration may not hold: they would undo `read_stored`.
_UNCHANGED = (
    *("encoder.trust_remote_code", "paths", "data.files", "data.join", "data.phrases"),
    *("data.texts", "others", "stages", "curriculum"),
)
# Folders in a cache; a folder without any of them is not one of heron's caches.
_CACHED = ("features", "tokenizers", "chronicle", "vectors", "word-vectors")


def derive(config: Config, changes: Mapping[str, Any], composed: bool = False) -> Config:
    """Copy a configuration with some keys changed, checked as a whole.

    A stage, the run that a curriculum learns from, a repeated run and a run that predicts under
    other settings are each derived from a run; `heron.training.run_names` names and hashes them all
    alike.

    Args:
        config: stays as it is.
        changes: by dotted key; a mapping replaces a part, whose other keys get their defaults.
        composed: see `heron.tasks.config.read`.

    Raises:
        ConfigError: unknown keys, and values that are wrong or do not work together.
    """
    values = config.values()
    for key, value in changes.items():
        *parents, name = key.split(".")
        part = values
        for parent in parents:
            if not isinstance(part.get(parent), dict):  # not a part: the check reports it
                part[parent] = {}
            part = part[parent]

        part[name] = value

    return read(values, composed)


def read_own(path: Path) -> Config:
    """Read the `config.yaml` of this command's own run, unchanged; `${...}` in it stays text.

    Raises:
        ConfigError: the file is damaged or of another version; names it, and what is wrong.
    """
    try:
        values = read_yaml(path)
        if not isinstance(values, dict) or "run" not in values:  # one of the last keys
            raise ConfigError("its end is missing")
        return read(values)
    except ConfigError as error:
        raise ConfigError(
            f"{path} is damaged, or of another version of heron: {error}; copy it again, or train "
            "again (run.resume=false)"
        ) from error


def read_stored(path: Path, run_code: bool = False) -> Config:
    """Read a run's `config.yaml`, which may come from somebody else.

    The file can name what to read, but it cannot make heron run code, download files without a
    hash, or write outside a cache of heron's: `trust_remote_code` is set to `run_code`, addresses
    of files without a hash are removed, and any other cache folder is replaced by the default one.

    Args:
        path: the file.
        run_code: whether the user allows code that comes with the weights.

    Raises:
        ConfigError: names the file, and what in it this version of heron cannot use.
    """
    config = read_own(path)
    changed = list(config.curriculum.changes)
    for stage in config.read_stages():
        changed += stage.changes

    for key in changed:
        if any(is_under(key, own) or is_under(own, key) for own in _UNCHANGED):
            raise ConfigError(
                f"{path}: changes: neither a stage nor curriculum.changes may set {key}"
            )

    config.encoder.trust_remote_code = run_code
    for data in (config.data, *config.others.values()):
        for file in (*data.files.values(), *data.texts.files):
            if not file.pinned:
                file.url = None

    cache = Path(config.paths.cache)
    if not any(os.access(cache / name, os.W_OK) for name in _CACHED):
        config.paths.cache = str(default_cache_dir())

    return config
