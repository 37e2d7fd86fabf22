"""From composed YAML to the checked dataclasses of a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.registry import on_demand
from heron.config.constraints import check
from heron.config.keys import is_under, refuse_unknown
from heron.config.schema import Config

if TYPE_CHECKING:
    from heron.config.stages import StageConfig

# Few runs ask a model, or have stages.
read_stages = on_demand("heron.config.stages:read_stages")
read_prompting = on_demand("heron.config.prompting:read_prompting")
explain = on_demand("heron.config.prompting:explain")


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
        key = str(error.full_key or "configuration")
        message = explain(error) if is_under(key, "prompting") else str(error).splitlines()[0]
        raise ConfigError(f"{key}: {message}") from error
    assert isinstance(resolved, Config)
    return complete(resolved)


def complete(config: Config) -> Config:
    """Read the parts whose schema another key names, and check the whole."""
    is_asked = config.prompting is not None and config.baseline.name == "prompted"
    config.prompting = read_prompting(config.prompting) if is_asked else None
    if config.curriculum.name == "none":
        config.curriculum.changes = {}
    resolve_stages(config)
    check(config)
    return config


def resolve_stages(config: Config) -> list[StageConfig]:
    """Read `config.stages`; see `heron.config.stages`."""
    return read_stages(config.stages) if config.stages else []
