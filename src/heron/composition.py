"""Hydra, with heron's error messages: compose `conf/`, run one job or a sweep of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path, get_args_parser
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from heron.config import all_keys
from heron.config_dir import conf_dir, data_sets
from heron.errors import ConfigError, nearest
from heron.schema import Config

# Mappings whose keys are the user's own.
_OPEN = (
    "data.files.",
    "data.counts.",
    "data.join.",
    "batching.multipliers.",
    "baseline.hypotheses.",
)


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
    shows = arguments_.cfg or arguments_.hydra_help or arguments_.shell_completion
    words = arguments_.overrides
    if not shows and arguments_.info is None:
        words = unfold(words)
    overrides = follow_the_data(spell_out_encoder(words))
    jobs: list[Composition] = []
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
        else:
            jobs = list(_compose_all(hydra, name, overrides, arguments_.multirun))
    for composition in jobs:
        job(composition)


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


def unfold(overrides: Sequence[str]) -> list[str]:
    """Write out an experiment whose sweep is a list of other experiments, such as a paper's table.

    Hydra cannot sweep over a group that the command line has chosen.
    """
    name = dict(override.partition("=")[::2] for override in overrides).get("experiment", "")
    files = [folder / "experiment" / f"{name}.yaml" for folder in _conf_dirs()]
    path = next((file for file in files if name and file.is_file()), None)
    listed = OmegaConf.load(path) if path else OmegaConf.create()
    params = OmegaConf.select(listed, "hydra.sweeper.params") or {}
    if "experiment" not in params:
        return list(overrides)
    named = {_key(override) for override in overrides if not override.startswith("experiment=")}
    report = OmegaConf.select(listed, "report") or "null"
    swept = {"experiment": "", "report": report, **params}
    swept |= {"hydra.mode": "MULTIRUN", "run.sweep": name.replace("/", "-")}
    added = [f"{key}={value}" for key, value in swept.items() if key not in named]
    return [*added, *(o for o in overrides if not o.startswith("experiment="))]


# The head that a task begins with where the command line names none.
_HEADS = {"relation": "ess", "nli": "mlp3", "qa": "span", "summarization": "warm_start"}


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
    chosen = {"task": str(task)}
    if "none" in named.get("baseline", "none").split(","):
        chosen["head"] = _HEADS[str(task)]
    return [*(f"{key}={value}" for key, value in chosen.items() if key not in named), *overrides]


def data_task(name: str) -> str | None:
    """Read which task a data set of `conf/data` or of a fork is for; None where there is none."""
    path = data_sets().get(name)
    if path is None:
        return None
    return str(OmegaConf.select(OmegaConf.load(path), "task", default="relation"))


def _compose_all(
    hydra: Hydra, name: str, overrides: Sequence[str], multirun: bool
) -> Iterator[Composition]:
    """Compose every job of a run or a sweep, in the order in which Hydra would start them.

    Hydra takes half a second for a composition. Jobs of a grid differ in few plain keys, so each
    choice of groups is composed once, and the keys are set in copies of it.
    """
    groups = {group.split("/")[0] for group in hydra.list_all_config_groups()}
    expanded = _expand(hydra, overrides)
    first = _base([row[0] for row in expanded], groups)
    config = _compose(hydra, name, first)
    if not (multirun or config.hydra.mode == RunMode.MULTIRUN):
        if any(is_swept for row in expanded for _, is_swept in row):
            # A comma without -m is Hydra's to complain about.
            config = _compose(hydra, name, overrides)
        yield _composition(config, overrides)
        return
    rows = next((row for row in expanded if len(row) > 1 and _key(row[0][0]) == "experiment"), [])
    for experiment, _ in rows:
        # Each may carry a grid of its own, which is not the others'.
        words = [experiment if _key(o) == "experiment" else o for o in overrides]
        yield from _compose_all(hydra, name, words, multirun=True)
    if rows:
        return
    named = {_key(override) for override in overrides}
    params = config.hydra.sweeper.get("params") or {}
    words = [*(f"{k}={v}" for k, v in params.items() if k not in named), *overrides]
    bases = {first: config}
    for chosen in product(*_expand(hydra, words)):
        base = _base(chosen, groups)
        if base not in bases:
            bases[base] = _compose(hydra, name, base)
        config = copy.deepcopy(bases[base])
        plain = [override for override, _ in chosen if override not in base]
        for override in OverridesParser.create().parse_overrides(plain):
            OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
        yield _composition(config, [override for override, _ in chosen])


def _base(chosen: Sequence[tuple[str, bool]], groups: set[str]) -> tuple[str, ...]:
    """Leave out a job's swept plain keys, which are set in a copy of what the others compose to."""
    return tuple(o for o, is_swept in chosen if not is_swept or _key(o) in groups or o[0] == "+")


def _compose(hydra: Hydra, name: str, overrides: Sequence[str]) -> DictConfig:
    config: DictConfig = hydra.compose_config(
        name, list(overrides), run_mode=RunMode.RUN, with_log_configuration=False
    )
    return config


def _expand(hydra: Hydra, overrides: Sequence[str]) -> list[list[tuple[str, bool]]]:
    """List the jobs' words for each override; of two on one key the later counts, as in Hydra."""
    parser = OverridesParser.create(config_loader=hydra.config_loader)
    parsed = parser.parse_overrides(list(overrides))
    return list({each.get_key_element(): _choices(each) for each in parsed}.values())


def _choices(override: Override) -> list[tuple[str, bool]]:
    """List the jobs' words for one override, and whether there are several."""
    if not override.is_sweep_override():
        return [(str(override.input_line), False)]
    key = override.get_key_element()
    return [(f"{key}={value}", True) for value in override.sweep_string_iterator()]


def _key(override: str) -> str:
    return override.lstrip("+~").partition("=")[0].partition("@")[0]


def _composition(config: DictConfig, overrides: Sequence[str]) -> Composition:
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    return Composition(config, [o for o in overrides if not o.startswith("hydra.")], choices)


def _conf_dirs() -> list[Path]:
    """List where YAML is looked for: heron's folder, then those of the forks beside it."""
    return [conf_dir(), *sorted((conf_dir().parent / "experiments").glob("*/conf"))]


@contextmanager
def _hydra(name: str) -> Iterator[Hydra]:
    GlobalHydra.instance().clear()
    ConfigStore.instance().store(name="schema", node=Config)
    search_path = create_config_search_path(str(conf_dir()))
    for fork in _conf_dirs()[1:]:
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
    return key.startswith(_OPEN)
