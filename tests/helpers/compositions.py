"""Compositions for the tests of `conf/`: one job each, as `heron train` composes it."""

from __future__ import annotations

from typing import Any

from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from heron.base.folders import conf_dir
from heron.config.constraints import PARTS
from heron.config.describe import group_options
from heron.tasks.config import Config

# The files of the papers' experiments by name: those of the folders with published numbers.
PAPER_EXPERIMENTS = {
    name: file
    for name, file in group_options("experiment").items()
    if (conf_dir().parent / "experiments" / name.partition("/")[0] / "published.yaml").is_file()
}


def raw(hydra: Any, *words: str) -> tuple[DictConfig, dict[str, Any]]:
    """Compose one job: the configuration, unchecked, and the option chosen in each group."""
    config = hydra.compose_config(
        "train", list(words), run_mode=RunMode.RUN, with_log_configuration=False
    )
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    return config, choices


def unchecked(config: DictConfig) -> Any:
    """Give a composed configuration its types; combinations that cannot work are let through."""
    schema = OmegaConf.structured(Config)
    OmegaConf.set_struct(schema, False)
    OmegaConf.set_struct(schema.baseline, False)
    found: Any = OmegaConf.to_object(OmegaConf.merge(schema, config))
    found.parts = {name: vars(found).pop(name) for name in PARTS if name in vars(found)}
    return found
