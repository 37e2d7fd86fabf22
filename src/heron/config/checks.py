"""The configuration: composed YAML in, checked dataclasses out, and the way to YAML and back."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.base.folders import default_cache_dir
from heron.base.yaml_files import dump_yaml, parse_yaml
from heron.config.constraints import broken, check
from heron.config.keys import flatten, refuse_unknown
from heron.config.schema import BUDGET, Config, StageConfig, TrainerConfig

# Groups that every version of heron has written; a file that was cut off lacks the last of them.
_ALWAYS = ("data", "task", "encoder", "head", "optim", "batching", "trainer", "paths", "run")
# Keys that `changes` in a stored configuration may not hold: they would undo `read_stored`.
_UNCHANGED = (
    "encoder.trust_remote_code",
    "paths",
    "data.files",
    "data.join",
    "data.phrases",
    "others",
    "stages",
    "curriculum",
)
# Folders in a cache; a folder without any of them is no cache of heron's.
_CACHED = ("features", "tokenizers", "chronicle", "vectors", "word-vectors")

# Keys that say where things lie or how they look, and so cannot change a result.
NEUTRAL = ("paths", "run", "logger", "report", "trainer.progress", "launcher", "sweeper")
# Nor can an experiment's name: what it stands for is in the other keys.
INDECISIVE = (*NEUTRAL, "experiment")
# Trainer keys that spread one training over devices; they change no result.
SPREAD = ("devices", "num_nodes", "strategy")
# Keys that earlier versions of heron did not have, and the value that does what these versions did.
# These are left out of a run's name where they have their defaults.
_OPTIONAL: dict[str, Any] = {
    "head.module": None,
    "optim.loss": "cross_entropy",
    "task.metrics": [],
    "trainer.callbacks": {},
}
_LATER = {
    "curriculum.order": "difficulty",
    "encoder.trailing_separator": False,
    "optim.warmup_steps": None,
}


def resolve(config: DictConfig) -> Config:
    """Check a composed configuration and turn it into dataclasses.

    Raises:
        ConfigError: an unknown key, a value of the wrong type or outside its range, or a
            combination that cannot work; names the key and what is allowed.
    """
    refuse_unknown(config, Config, "")
    try:
        typed = OmegaConf.get_type(config) is Config  # as Hydra composes it
        whole = config if typed else OmegaConf.merge(OmegaConf.structured(Config), config)
        resolved = OmegaConf.to_object(whole)
    except OmegaConfBaseException as error:
        message = str(error).splitlines()[0]
        raise ConfigError(f"{error.full_key or 'configuration'}: {message}") from error
    assert isinstance(resolved, Config)
    if resolved.curriculum.name == "none":
        resolved.curriculum.changes = {}
    resolve_stages(resolved)
    check(resolved)
    return resolved


def resolve_stages(config: Config) -> list[StageConfig]:
    """Read `config.stages`: names of data sets, or mappings as in `StageConfig`.

    Raises:
        ConfigError: a stage without data, an unknown key, or a value of the wrong type.
    """
    stages = []
    for entry in config.stages:
        values = {"data": entry} if isinstance(entry, str) else entry
        if not isinstance(values, dict):
            raise ConfigError(f"stages: {entry!r} is neither a data set's name nor a mapping")
        known = [field.name for field in dataclasses.fields(StageConfig)]
        for key in values:
            if key not in known:
                raise ConfigError(f"stages: unknown key '{key}'.{nearest(str(key), known)}")
        try:
            merged = OmegaConf.merge(OmegaConf.structured(StageConfig), values)
            stage = OmegaConf.to_object(merged)
        except OmegaConfBaseException as error:
            raise ConfigError(f"stages: {str(error).splitlines()[0]}") from error
        assert isinstance(stage, StageConfig)
        if problems := list(broken(stage, "stages: ")):
            raise ConfigError("\n".join(problems))
        stages.append(stage)
    return stages


def to_yaml(config: Config) -> str:
    """Write a configuration as YAML, every key with its value."""
    return dump_yaml(as_dict(config))


def from_yaml(text: str) -> Config:
    """Read what `to_yaml` wrote.

    Raises:
        ConfigError: it is no mapping, lacks keys that every version has written, or holds `${...}`,
            which `to_yaml` never leaves: nothing in it is looked up in the environment.
    """
    return _from_values(_whole_values(text))


def _whole_values(text: str) -> dict[str, Any]:
    values = parse_yaml(text)
    if not isinstance(values, dict):
        raise ConfigError("config.yaml is not a mapping of keys to values")
    if missing := [key for key in _ALWAYS if key not in values]:
        raise ConfigError(f"it has no {', '.join(missing)}")
    return values


def _from_values(values: dict[str, Any]) -> Config:
    for key, value in flatten(values):
        if "${" in f"{key} {value}":
            raise ConfigError(f"{key}={value}: a stored configuration has no ${{...}}.")
    try:
        config = OmegaConf.create(values)
    except OmegaConfBaseException as error:
        raise ConfigError(str(error).splitlines()[0]) from error
    return resolve(config)


def read_stored(path: Path, run_code: bool = False) -> Config:
    """Read a run's `config.yaml`, which somebody else may have written.

    It can name what to read, but it cannot make heron run code, fetch a file of unknown content, or
    write to a folder that is no cache of heron's: `trust_remote_code` is off, files without a hash
    have no address, and such a cache is replaced by the default one.

    Args:
        path: the file.
        run_code: whether the user has said that code which comes with the weights may run.

    Raises:
        ConfigError: names the file, and what in it this version of heron cannot use.
    """
    config = read_own(path)
    stages = (stage.changes for stage in resolve_stages(config))
    for key in (key for changes in (config.curriculum.changes, *stages) for key in changes):
        if any(f"{key}.".startswith(f"{own}.") or own.startswith(f"{key}.") for own in _UNCHANGED):
            raise ConfigError(f"{path}: changes: no stage and no first run may change {key}")
    config.encoder.trust_remote_code = run_code
    for data in (config.data, *config.others.values()):
        joined = [data.join.file] if data.join else []
        listed = [data.phrases.file] if data.phrases.file else []
        for file in (*data.files.values(), *joined, *listed):
            file.url = file.url if file.sha256 else None
    cache = Path(config.paths.cache)
    if not any(os.access(cache / name, os.W_OK) for name in _CACHED):
        config.paths.cache = str(default_cache_dir())
    return config


def read_own(path: Path) -> Config:
    """Read the `config.yaml` of a run that is this command's own, as it is.

    Raises:
        ConfigError: as for `read_stored`.
    """
    try:
        values = _whole_values(path.read_text(encoding="utf-8"))
    except (ConfigError, UnicodeDecodeError) as error:
        what = f"{path} is damaged: {error}; copy it again from where the run was trained"
        raise ConfigError(what) from error
    try:
        return _from_values(values)
    except ConfigError as error:
        fix = "If another version of heron wrote this file, correct it, or use that version."
        raise ConfigError(f"{path}: {str(error).rstrip('.')}. {fix}") from error


def decisive(config: Config) -> dict[str, Any]:
    """List what can change a result: `{dotted key: value}` without the keys in `INDECISIVE`.

    The number of devices does not change a batch, so every run is listed as one on one device.
    """
    left_out = tuple(f"{key}." for key in INDECISIVE)
    found = {
        key: value for key, value in flatten(as_dict(config)) if not f"{key}.".startswith(left_out)
    }
    unset = [key for key, value in _OPTIONAL.items() if found.get(key, value) == value]
    return {k: v for k, v in found.items() if k not in unset} | _spread(TrainerConfig())


def decisive_earlier(config: Config) -> dict[str, Any]:
    """List what earlier versions of heron listed as `decisive`; the names of their runs hash it."""
    found = decisive(config) | _spread(config.trainer)
    if config.batching.tokens is None:
        found["batching.tokens"] = BUDGET
    return {k: value for k, value in found.items() if k not in _LATER or value != _LATER[k]}


def _spread(trainer: TrainerConfig) -> dict[str, Any]:
    return {f"trainer.{key}": getattr(trainer, key) for key in SPREAD}


def as_dict(config: Any) -> dict[str, Any]:
    """Turn a configuration (or a part of it) into plain dictionaries."""
    return dataclasses.asdict(config)
