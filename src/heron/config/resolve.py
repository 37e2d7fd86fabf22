"""From composed YAML to the checked dataclasses of a configuration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.registry import on_demand
from heron.config.keys import RENAMED, say_renamed
from heron.config.parsing import parse
from heron.config.schema import Config, TrainerConfig

if TYPE_CHECKING:
    from heron.config.stages import StageConfig

read_stages = on_demand("heron.config.stages:read_stages")  # few runs have stages


def resolve(config: DictConfig, typed: Collection[str] = ()) -> Config:
    """Check a composed configuration and turn it into dataclasses; `typed` are keys of its words.

    Raises:
        ConfigError: an unknown key, a value of the wrong type or outside its range, or a
            combination that cannot work; names the key and what is allowed.
    """
    try:
        values = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        from heron.config.errors import explain

        raise ConfigError(explain(error)) from error
    assert isinstance(values, dict)
    return read(values, typed)


def read(values: Mapping[Any, Any], typed: Collection[str] | None = None) -> Config:
    """Read plain values, the settings of a prompt only where a model is asked.

    Stored values come without the keys that were `typed`.

    Raises:
        ConfigError: see `resolve`.
    """
    baseline = values.get("baseline")
    asked = isinstance(baseline, Mapping) and baseline.get("name") == "prompted"
    values = _current(values, typed)
    return parse(Config, values if asked else {**values, "prompting": None})


def _current(values: Mapping[Any, Any], typed: Collection[str] | None) -> dict[Any, Any]:
    """Rename keys of earlier versions; gather what TrainerConfig leaves to Lightning's Trainer."""
    whole = {k: dict(part) if isinstance(part, Mapping) else part for k, part in values.items()}
    for old, new in RENAMED.items():
        (group, key), (there, name) = old.split("."), new.split(".")
        if isinstance(part := whole.get(group), dict) and key in part:
            value = part.pop(key)
            if new not in (typed or ()):
                whole[there] = {**(whole.get(there) or {}), name: value}
            if typed is not None:
                say_renamed(old, new)
    if isinstance(trainer := whole.get("trainer"), dict):
        others = [key for key in trainer if key not in TrainerConfig.__dataclass_fields__]
        if others:
            flags = {key: trainer.pop(key) for key in others}
            trainer["flags"] = {**(trainer.get("flags") or {}), **flags}
    return whole


def resolve_stages(config: Config) -> list[StageConfig]:
    """Read `config.stages`; see `heron.config.stages`."""
    return read_stages(config.stages) if config.stages else []
