"""Hydra, with heron's error messages: compose `conf/`, run one job or a sweep of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path, get_args_parser
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.config import all_keys
from heron.config_dir import conf_dir, data_sets
from heron.errors import ConfigError, nearest
from heron.schema import Config


@dataclass(frozen=True, slots=True)
class Composition:
    """One composed job.

    Args:
        config: the configuration without Hydra's own keys.
        overrides: the words that led to it, a sweep's values filled in.
        choices: the option chosen in each group.
    """

    config: DictConfig
    overrides: list[str]
    choices: dict[str, Any]


def compose_and_run(name: str, arguments: Sequence[str], job: Callable[[Composition], Any]) -> None:
    """Do what Hydra's command line would: run, sweep (-m) or show (--cfg, --info) a config.

    Args:
        name: the primary config, `conf/<name>.yaml`.
        arguments: overrides and Hydra's flags.
        job: called once per job.

    Raises:
        ConfigError: an override that does not fit; names the nearest key, group or option.
    """
    parser = get_args_parser()
    # Intermixed: overrides may stand on both sides of a flag, `data=trc -m head=ess,emp`.
    arguments_, unknown = parser.parse_known_intermixed_args(list(arguments))
    flags = [word for word in unknown if word.startswith("-")]
    if flags:
        options = [o for action in parser._actions for o in action.option_strings]
        raise ConfigError(f"unknown flag {flags[0]}.{nearest(flags[0], options)}")
    overrides = follow_the_data(spell_out_encoder(arguments_.overrides))
    with _hydra(name) as hydra, _explained(hydra, name, overrides):
        if arguments_.cfg:
            hydra.show_cfg(
                name,
                overrides,
                arguments_.cfg,
                package=arguments_.package,
                resolve=arguments_.resolve,
            )
        elif arguments_.info is not None:
            hydra.show_info(arguments_.info, config_name=name, overrides=overrides)
        elif arguments_.hydra_help:
            hydra.hydra_help(config_name=name, args_parser=parser, args=arguments_)
        elif arguments_.shell_completion:
            hydra.shell_completion(config_name=name, overrides=overrides)
        elif arguments_.multirun or hydra.get_mode(name, overrides) == RunMode.MULTIRUN:
            hydra.multirun(name, lambda config: job(_composition(config)), overrides)
        else:
            hydra.run(name, lambda config: job(_composition(config)), overrides)


def spell_out_encoder(overrides: Sequence[str]) -> list[str]:
    """Let `encoder=<folder or hub id>` stand for `encoder=pretrained encoder.name=<...>`.

    The options in `conf/encoder` have no slash in their names; folders and hub ids have.
    """
    words = []
    for override in overrides:
        key, _, value = override.partition("=")
        if key == "encoder" and "/" in value:
            words += ["encoder=pretrained", f"encoder.name={value}"]
        else:
            words.append(override)
    return words


# The head that a task begins with where the command line names none.
_HEADS = {"relation": "ess", "nli": "mlp3"}


def follow_the_data(overrides: Sequence[str]) -> list[str]:
    """Let `data=<name>` choose the task that its YAML names, and a head that fits.

    An experiment chooses for itself, and so does whoever names `task=` or `head=`.
    """
    named = dict(override.partition("=")[::2] for override in overrides)
    if "data" not in named or {"task", "experiment"} & named.keys():
        return list(overrides)
    tasks = {data_task(name) for name in named["data"].split(",")} - {None}
    if len(tasks) != 1:
        return list(overrides)  # an unknown data set, or two tasks at once: said further on
    (task,) = tasks
    chosen = {"task": str(task), "head": _HEADS[str(task)]}
    return [*(f"{key}={value}" for key, value in chosen.items() if key not in named), *overrides]


def data_task(name: str) -> str | None:
    """Read which task a data set of `conf/data` or of a fork is for; None where there is none."""
    path = data_sets().get(name)
    if path is None:
        return None
    return str(OmegaConf.select(OmegaConf.load(path), "task", default="relation"))


def _composition(config: DictConfig) -> Composition:
    state = HydraConfig.get()
    return Composition(config, list(state.overrides.task), dict(state.runtime.choices))


@contextmanager
def _hydra(name: str) -> Iterator[Hydra]:
    GlobalHydra.instance().clear()
    ConfigStore.instance().store(name="schema", node=Config)
    search_path = create_config_search_path(str(conf_dir()))
    experiments = conf_dir().parent / "experiments"
    for fork in sorted(experiments.glob("*/conf")):
        # Before the schema, which Hydra wants last.
        search_path.prepend(fork.parent.name, f"file://{fork}", SearchPathQuery(provider="schema"))
    try:
        yield Hydra.create_main_hydra2(task_name=name, config_search_path=search_path)
    finally:
        GlobalHydra.instance().clear()


@contextmanager
def _explained(hydra: Hydra, name: str, overrides: Sequence[str]) -> Iterator[None]:
    """Turn Hydra's complaints into heron's: what is wrong, and what was probably meant."""
    try:
        yield
    except (HydraException, OmegaConfBaseException, AssertionError, ValueError) as error:
        raise ConfigError(_explain(hydra, overrides, error)) from error


def _explain(hydra: Hydra, overrides: Sequence[str], error: Exception) -> str:
    """Find the override that does not fit; where none is at fault, pass on what Hydra says."""
    groups = {group.split("/")[0] for group in hydra.list_all_config_groups()} - {"hydra"}
    for override in overrides:
        key, _, value = override.lstrip("+~").partition("=")
        key = key.split("@")[0]
        if key in groups:
            options = _options(hydra, key)
            allowed = [*options, "null"] if key == "experiment" else options
            wrong = [option for option in value.split(",") if option not in allowed]
            if wrong:
                return f"{key}={wrong[0]}: no such option.{nearest(wrong[0], options)}"
        elif not key.startswith("hydra") and key not in all_keys() and not _open(key):
            hint = nearest(key, [*all_keys(), *groups])
            return f"unknown key '{key}'.{hint or ' heron train --cfg job lists them all.'}"
        elif _open(key) and key in str(error) and "FileConfig'" not in str(error.__cause__):
            entry, _, field = key.rpartition(".")
            return f"{override}: no such entry here; add it, '+{entry}={{{field}: {value}}}'"
        elif isinstance(error, AssertionError) and key.count(".") > 1:
            # OmegaConf asserts when an override reaches into a node that is null.
            parent = key.rpartition(".")[0]
            return f"{override}: {parent} is null here; give it whole, {parent}={{...}}"
    if isinstance(error.__cause__, OmegaConfBaseException):
        error = error.__cause__  # Hydra says only which override failed, OmegaConf also why
    where = getattr(error, "full_key", None)
    message = str(error).splitlines()[0]
    return f"{where}: {message}" if where else re.sub(r"\s*\n\s*", " ", str(error))


def _options(hydra: Hydra, group: str) -> list[str]:
    """List a group's options, those in its folders as `folder/option`."""
    loader = hydra.config_loader
    nested = [
        f"{folder}/{option}".removeprefix(f"{group}/")
        for folder in hydra.list_all_config_groups(parent=group)
        for option in loader.get_group_options(folder)
    ]
    return [*loader.get_group_options(group), *nested]


def _open(key: str) -> bool:
    """Tell whether a key lies in a mapping whose keys are the user's, such as data.files."""
    return key.startswith(("data.files.", "data.counts.", "data.join."))
