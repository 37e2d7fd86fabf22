"""Hydra, with heron's error messages: compose `conf/` to the configuration of a run or a sweep."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hydra import compose as compose_with_hydra
from hydra import initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.base.folders import conf_dir, conf_dirs, config_groups, data_sets
from heron.base.registry import on_demand
from heron.config.data import read_config
from heron.config.resolve import resolve, resolve_stages
from heron.config.run_names import base_name, sweep_name
from heron.config.schema import Config
from heron.config.words import PARSER, key_of, not_swept, readable

if TYPE_CHECKING:
    from heron.config.space import Composer

write_out = on_demand("heron.config.shorthands:write_out")  # start-up time
search_path = on_demand("heron.config.hydra_words:search_path")  # few commands set Hydra itself

# Hydra's flags that heron takes: names, and argparse's options.
_FLAGS: dict[str, dict[str, Any]] = {
    "--multirun -m": {"action": "store_true"},
    "--cfg -c": {"choices": ["job", "hydra", "all"]},
    "--resolve": {"action": "store_true"},
    "--package -p": {},
    "--run -r": {"action": "store_true"},
    "--config-dir -cd": {},
    "--info -i": {"const": "all", "nargs": "?"},
}
# Hydra's flags that would be ignored or break heron, and what to type instead.
_REFUSED_FLAGS = {
    "--config-name -cn": "heron's primary configuration is conf/train.yaml; settings of "
    "your own are an experiment, DIR/experiment/NAME.yaml: --config-dir DIR experiment=NAME",
    "--config-path -cp": "heron needs its own conf/; --config-dir DIR adds a folder to it",
    "--experimental-rerun": "run.from=DIR repeats a run",
    "--hydra-help": "`heron train --help` and `heron options` say what there is",
    "--shell-completion -sc": "heron has none",
}


@dataclass(frozen=True, slots=True)
class Composition:
    """One composed job."""

    config: DictConfig  # the configuration without Hydra's own keys
    overrides: list[str]  # the job's overrides, with a sweep's values filled in
    choices: dict[str, Any]  # the option chosen in each group
    # Where the command line adds YAML (`--config-dir`, `hydra.searchpath`).
    folders: Sequence[Path] = ()
    # Composes the other points of a space that is searched as results come in; None where every job
    # is known from the start.
    search: Composer | None = None
    typed: Sequence[str] = ()  # the overrides of the whole command, with its sweeps

    def resolved(self) -> Config:
        """Check the configuration and give it its types."""
        config = resolve(self.config)
        config.experiment = self.choices.get("experiment")
        if config.run.sweep is None:
            base = base_name(config)
            # A job that has a name stays in the plain folder.
            config.run.sweep = base if config.run.job else sweep_name(base, not_swept(self.typed))
        if self.folders:
            # A job may run in another process, which does not know these folders.
            named = {*config.also_test, *(stage.data for stage in resolve_stages(config))}
            added = data_sets(self.folders).items() - data_sets().items()
            config.others |= {name: read_config(path) for name, path in added if name in named}
        return config


def compose(overrides: Sequence[str]) -> Config:
    """Compose the configuration of one run from words such as `["data=chronicle", "head=ess"]`.

    Raises:
        ConfigError: an override that does not fit, a value out of range, or a sweep.
    """
    found: list[Composition] = []
    compose_and_run("train", overrides, found.append)
    if len(found) != 1 or found[0].search is not None:
        raise ConfigError(
            f"{' '.join(overrides)}: not the words of one run; leave out -m, --cfg, lists of values"
        )
    return found[0].resolved()


def compose_and_run(name: str, arguments: Sequence[str], job: Callable[[Composition], Any]) -> None:
    """Do what Hydra's command line would: run, sweep (-m) or show (--cfg, --info) a config.

    `conf/<name>.yaml` is the primary one; `job` is called once per job.

    Raises:
        ConfigError: an override that does not fit; names the nearest key, group or option.
    """
    flags = _parse_flags(arguments)
    typed = [readable(word) for word in flags.overrides]
    folders, words = [], typed
    if flags.config_dir or any(key_of(word)[:5] == "hydra" for word in typed):
        folders, words = search_path(typed, flags.config_dir)
    if {"data", "encoder", "experiment", "baseline"} & set(map(key_of, words)):
        words = write_out(words, folders, tables=not flags.cfg and flags.info is None)
    jobs: list[Composition] = []
    with open_hydra(name, folders) as hydra, explained(words, folders):
        if flags.cfg:
            hydra.show_cfg(name, words, flags.cfg, package=flags.package, resolve=flags.resolve)
        elif flags.info is not None:
            hydra.show_info(flags.info, config_name=name, overrides=words)
        else:
            jobs = list(_compose_jobs(name, words, flags.multirun, folders))
    for composition in jobs:
        job(composition)


def _parse_flags(arguments: Sequence[str]) -> Any:
    parser = ArgumentParser(prog="heron train", add_help=False)
    parser.add_argument("overrides", nargs="*")
    for names, options in _FLAGS.items():
        parser.add_argument(*names.split(), **options)
    for names in _REFUSED_FLAGS:
        parser.add_argument(*names.split(), nargs="?", const="")
    # Intermixed: overrides may stand on both sides of a flag, `data=trc -m head=ess,emp`.
    found, unknown = parser.parse_known_intermixed_args(list(arguments))
    if flags := [word for word in unknown if word.startswith("-")]:
        known = [flag for names in (*_FLAGS, *_REFUSED_FLAGS) for flag in names.split()]
        raise ConfigError(f"unknown flag {flags[0]}.{nearest(flags[0], known)}")
    for names, instead in _REFUSED_FLAGS.items():
        flag = names.split()[0]
        if getattr(found, flag.strip("-").replace("-", "_")) is not None:
            raise ConfigError(f"{flag}: {instead}")
    return found


def _compose_jobs(
    name: str, words: Sequence[str], multirun: bool, folders: Sequence[Path]
) -> Iterable[Composition]:
    """Compose every job of a run or a sweep, in the order in which Hydra would start them."""
    groups = config_groups(folders)
    for word in words:
        if key_of(word) in groups and word.partition("=")[2].strip().startswith("{"):
            # Hydra would merge the mapping into the option that is chosen anyway.
            raise ConfigError(
                f"{word}: {key_of(word)} is a group: {key_of(word)}=NAME chooses an option, and "
                f"its keys are set one by one, {key_of(word)}.KEY=VALUE"
            )
    if not multirun and not any(o.is_sweep_override() for o in PARSER.parse_overrides(list(words))):
        config = compose_raw(name, words)
        if config.hydra.mode != RunMode.MULTIRUN:
            refuse_sweeper(words)
            return [composition(config, words, folders, words)]
    from heron.config.space import compose_sweep  # start-up time: one run does not need it

    return compose_sweep(name, words, multirun, folders)


def refuse_sweeper(words: Sequence[str]) -> None:
    """Refuse keys of the sweeper where there is no sweep."""
    if typed := [word for word in words if key_of(word).split(".")[0] == "sweeper"]:
        raise ConfigError(f"{typed[0]}: chooses the jobs of a sweep; add -m")


def compose_raw(name: str, words: Sequence[str]) -> DictConfig:
    """Compose with Hydra, its own keys included."""
    return compose_with_hydra(name, list(words), return_hydra_config=True)


def composition(
    config: DictConfig, words: Sequence[str], folders: Sequence[Path], typed: Sequence[str]
) -> Composition:
    """Move Hydra's own keys out of a composed configuration."""
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    own = [word for word in words if not word.startswith("hydra.")]
    return Composition(config, own, choices, folders, typed=typed)


class _Folders(SearchPathPlugin):
    """Adds the folders of forks and of the command line to Hydra's search path."""

    # Of the class, because Hydra makes the instance; set for the length of one composition.
    added: ClassVar[Sequence[Path]] = ()

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append each folder, under the name of its fork."""
        for folder in self.added:
            search_path.append(provider=folder.parent.name, path=f"file://{folder}")


@contextmanager
def open_hydra(name: str, folders: Sequence[Path] = ()) -> Iterator[Any]:
    """Set up Hydra to compose; a program that uses Hydra itself finds its own as it was."""
    own, GlobalHydra.instance().hydra = GlobalHydra.instance().hydra, None
    if "schema.yaml" not in ConfigStore.instance().repo:
        ConfigStore.instance().store(name="schema", node=Config)
    Plugins.instance().register(_Folders)
    _Folders.added = conf_dirs(folders)[1:]
    try:
        with initialize_config_dir(str(conf_dir()), job_name=name, version_base=None):
            yield GlobalHydra.instance().hydra
    finally:
        # Hydra restores a copy of what it found, which was empty.
        GlobalHydra.instance().hydra, _Folders.added = own, ()


@contextmanager
def explained(overrides: Sequence[str], folders: Sequence[Path]) -> Iterator[None]:
    """Replace Hydra's errors by heron's, which name the override and the nearest valid one."""
    try:
        yield
    except (HydraException, OmegaConfBaseException, AssertionError, ValueError) as error:
        from heron.config.overrides import explain  # start-up time: for errors only

        raise ConfigError(explain(overrides, error, folders)) from error
