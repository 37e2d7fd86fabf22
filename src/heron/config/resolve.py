"""From composed YAML to the checked dataclasses of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.registry import on_demand
from heron.config.parsing import parse
from heron.config.schema import Config

if TYPE_CHECKING:
    from heron.config.stages import StageConfig

read_stages = on_demand("heron.config.stages:read_stages")  # few runs have stages


def resolve(config: DictConfig) -> Config:
    """Check a composed configuration and turn it into dataclasses.

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
    return read(values)


def read(values: Mapping[Any, Any]) -> Config:
    """Read plain values; the settings of a prompt only where a model is asked.

    Raises:
        ConfigError: see `resolve`.
    """
    baseline = values.get("baseline")
    asked = isinstance(baseline, Mapping) and baseline.get("name") == "prompted"
    return parse(Config, values if asked else {**values, "prompting": None})


def resolve_stages(config: Config) -> list[StageConfig]:
    """Read `config.stages`; see `heron.config.stages`."""
    return read_stages(config.stages) if config.stages else []
