"""Hydra over heron's `conf/`: one run or the jobs of a sweep, as `heron train` composes them."""

from __future__ import annotations

import copy
import logging
import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from hydra._internal.callbacks import Callbacks
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path, get_args_parser
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus, run_job
from hydra.errors import HydraException
from hydra.types import HydraContext, RunMode, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.folders import add_forks, conf_dir, conf_dirs, data_sets
from heron.base.registry import on_demand
from heron.config.data import read_config
from heron.config.resolve import resolve, resolve_stages
from heron.config.run_names import base_name, run_path, sweep_name
from heron.config.schema import Config
from heron.config.words import PARSER, job_words, key_of, not_swept, rewrite

# Start-up time: for shorthands, sweeps and errors only.
write_out = on_demand("heron.config.shorthands:write_out")


class Composition:
    """One composed job; `whole` is Hydra's configuration, its own key `hydra` included."""

    def __init__(self, whole: DictConfig):
        self.whole = whole

    @cached_property
    def config(self) -> DictConfig:
        """The job's own configuration, without Hydra's keys."""
        config = copy.deepcopy(self.whole)
        with open_dict(config):
            del config["hydra"]
        return config

    @property
    def overrides(self) -> list[str]:
        """The job's overrides, with a sweep's values filled in."""
        return job_words(typed_words(self.whole))

    @property
    def choices(self) -> dict[str, Any]:
        """The option chosen in each group."""
        return dict(self.whole.hydra.runtime.choices)

    @cached_property
    def swept(self) -> tuple[str, ...]:
        """The keys that the sweep varies, as far as its sweeper says so."""
        return tuple(self.whole.hydra.sweeper.get("swept") or ())

    def resolved(self) -> Config:
        """Check the configuration and give it its types."""
        config = copy.deepcopy(self._resolved)
        if self.whole.hydra.job.chdir:  # a job's folders are the command's
            for name, value in vars(config.paths).items():
                setattr(config.paths, name, str(Path(self.whole.hydra.runtime.cwd, value)))
        return config

    @cached_property
    def _resolved(self) -> Config:
        folders = self._folders()
        add_forks(folders)
        config = resolve(self.config, set(map(key_of, self.overrides)))
        config.experiment = self.choices.get("experiment")
        config.run.sweep = self._sweep()
        _check_length(config, self.overrides)
        if folders:
            # A job may run in another process, which does not know these folders.
            named = {*config.also_test, *(stage.data for stage in resolve_stages(config))}
            added = data_sets(folders).items() - data_sets().items()
            config.others |= {name: read_config(path) for name, path in added if name in named}
        return config

    def _folders(self) -> list[Path]:
        """List the folders that the command line adds to Hydra's search path."""
        sources = self.whole.hydra.runtime.config_sources
        found = [Path(each.path) for each in sources if each.schema == "file"]
        return [folder for folder in found if folder not in conf_dirs()]

    def _sweep(self) -> str:
        run = self.config.run
        if run.sweep is not None:
            return str(run.sweep)
        named = self.choices.get("experiment")
        base = base_name(named, self.config.data.name, self.config.task.name)
        if run.job:  # a job that has a name stays in the plain folder
            return base
        if self.whole.hydra.mode == RunMode.MULTIRUN and "swept" not in self.whole.hydra.sweeper:
            return base  # a sweeper of others: nobody knows which words it varies
        fixed = not_swept(self.overrides)
        return sweep_name(base, [word for word in fixed if key_of(word) not in self.swept])

    def sweep_path(self) -> Path:
        """Name the sweep's folder."""
        return Path(self.config.paths.runs) / self._sweep()

    def run_path(self) -> Path:
        """Name the run's folder, by what can change its result."""
        return run_path(self._resolved, self.overrides, self.swept)

    def place(self) -> Path:
        """Name the folder of a sweep's job, as `hydra.sweep` says."""
        sweep = self.whole.hydra.sweep
        place = Path(os.path.normpath(Path(str(sweep.dir), str(sweep.subdir))))
        return place.absolute() if self.whole.hydra.job.chdir else place


def typed_words(whole: DictConfig) -> list[str]:
    """List the overrides that a configuration was composed with; `${...}` in them stays."""
    found: Any = OmegaConf.to_container(whole.hydra.overrides.task, resolve=False)
    return list(found)


def compose(overrides: Sequence[str]) -> Config:
    """Compose the configuration of one run from words such as `["data=chronicle", "head=ess"]`.

    Raises:
        ConfigError: an override that does not fit, a value out of range, or a sweep.
    """
    found: list[Composition] = []
    compose_and_run("train", overrides, found.append)
    if len(found) != 1:
        raise ConfigError(
            f"{' '.join(overrides)}: not the words of one run; leave out -m, --cfg, lists of values"
        )
    return found[0].resolved()


def compose_and_run(name: str, arguments: Sequence[str], job: Callable[[Composition], Any]) -> None:
    """Compose what a command line would run, a grid's jobs included; `job` is called once per job.

    Nothing is written and no launcher is asked.

    Raises:
        ConfigError: an override that does not fit; names the nearest key, group or option.
    """
    flags = read_flags(arguments)
    with open_hydra(flags.config_name or name, flags.folders) as hydra, explained(flags.overrides):
        if _shown(hydra, flags, flags.config_name or name):
            return
        config = _composed(hydra, flags, flags.config_name or name)
        from heron.config.jobs import JobComposer, grid  # start-up time: for sweeps only

        if config.hydra.mode != RunMode.MULTIRUN:
            found = [Composition(config)]
        else:
            jobs, config = grid(hydra.config_loader, config)
            make = JobComposer(hydra.config_loader, config, jobs)
            found = [Composition(make(words)) for words in jobs]
    for composition in found:
        job(composition)


def run_application(name: str, arguments: Sequence[str], task: TaskFunction) -> list[JobReturn]:
    """Do what a program of `hydra.main` would do with its command line.

    Returns:
        How the jobs ended; a single one that failed raises its error. Empty where the command only
        shows something.

    Raises:
        ConfigError: an error of Hydra's, with the nearest name.
    """
    flags = read_flags(arguments)
    name = flags.config_name or name
    with open_hydra(name, flags.folders) as hydra:
        with explained(flags.overrides):
            if _shown(hydra, flags, name):
                return []
            config = _composed(hydra, flags, name)
            if config.hydra.mode == RunMode.MULTIRUN:
                words = [*flags.overrides, "hydra.mode=MULTIRUN"]
                found = hydra.multirun(name, task, words) or []
                return [each for batch in found for each in batch]
            str(config.hydra.run.dir)  # what is wrong with the configuration is said here
        context = HydraContext(hydra.config_loader, Callbacks(config))
        context.callbacks.on_run_start(config=config, config_name=name)
        ended = run_job(task, config, "hydra.run.dir", None, context)
        context.callbacks.on_run_end(config=config, config_name=name, job_return=ended)
    if ended.status == JobStatus.FAILED:
        raise ended._return_value
    return [ended]


def run_in_hydra(whole: DictConfig, task: Callable[[], Any]) -> Any:
    """Call `task` as Hydra runs a sweep's job: `.hydra`, `job.chdir`, environment, callbacks."""
    context = HydraContext(None, Callbacks(whole))  # type: ignore[arg-type]  # nothing is composed
    ended = run_job(lambda _: task(), whole, "hydra.sweep.dir", "hydra.sweep.subdir", context)
    if ended.status == JobStatus.FAILED:
        raise ended._return_value
    return ended.return_value


def read_flags(arguments: Sequence[str]) -> Namespace:
    """Read Hydra's flags, and write the words as Hydra reads them; `folders` are those added."""
    parser = get_args_parser()
    parser.prog = "heron train"
    # Intermixed: overrides may stand on both sides of a flag, `data=trc -m head=ess,emp`.
    flags = parser.parse_intermixed_args(list(arguments))
    if flags.config_path is not None or flags.experimental_rerun is not None:
        raise ConfigError("heron needs its own conf/; --config-dir DIR adds a folder to it")
    added = [] if flags.config_dir is None else [Path(flags.config_dir).absolute()]
    if missing := [folder for folder in added if not folder.is_dir()]:
        raise ConfigError(f"--config-dir: no folder {missing[0]}")
    flags.folders = added
    if flags.shell_completion or flags.hydra_help:
        if flags.hydra_help:
            flags.overrides = [word for word in flags.overrides if word.startswith("hydra")]
        return flags
    words = rewrite(flags.overrides)
    searched = [*added, *_searched(words)]
    add_forks(searched)
    if {"data", "encoder", "experiment", "baseline"} & set(map(key_of, words)):
        words = write_out(words, searched)
    flags.overrides = words
    return flags


def _searched(words: Sequence[str]) -> list[Path]:
    """List the folders in `hydra.searchpath=[...]`; packages are found by Hydra alone."""
    values = [word.partition("=")[2] for word in words if key_of(word) == "hydra.searchpath"]
    names = [each.strip(" '\"") for value in values for each in value.strip("[]").split(",")]
    return [Path(name.removeprefix("file://")).absolute() for name in names if "pkg:" not in name]


def _shown(hydra: Hydra, flags: Namespace, name: str) -> bool:
    """Do what only shows something, as Hydra does; returns whether it was asked for."""
    if flags.hydra_help:
        hydra.hydra_help(name, get_args_parser(), flags)
    elif flags.shell_completion:
        hydra.shell_completion(name, flags.overrides)
    elif flags.cfg:
        shown = flags.cfg, flags.package, flags.resolve
        hydra.show_cfg(name, flags.overrides, *shown)
    elif flags.info is not None:
        hydra.show_info(flags.info, config_name=name, overrides=flags.overrides)
    elif flags.resolve:
        raise ConfigError("--resolve belongs to --cfg")
    else:
        return False
    return True


def _composed(hydra: Hydra, flags: Namespace, name: str) -> DictConfig:
    """Compose a run, or the part that the jobs of a sweep share; `hydra.mode` says which."""
    words = flags.overrides
    swept = flags.multirun or any(
        each.is_sweep_override() for each in PARSER.parse_overrides(list(words))
    )
    if swept and (flags.multirun or hydra.get_mode(name, words) == RunMode.MULTIRUN):
        config = hydra.compose_config(name, words, RunMode.MULTIRUN)
        config.hydra.mode = RunMode.MULTIRUN
        return config
    config = hydra.compose_config(name, words, RunMode.RUN)
    config.hydra.mode = config.hydra.mode or RunMode.RUN
    return config


@contextmanager
def open_hydra(name: str = "train", folders: Sequence[Path] = ()) -> Iterator[Hydra]:
    """Set up Hydra to compose; what a program that imports heron has set up comes back after."""
    before = GlobalHydra.instance().hydra, HydraConfig.instance().cfg
    log, handlers, level = logging.root, logging.root.handlers[:], logging.root.level
    GlobalHydra.instance().clear()
    path = create_config_search_path(str(conf_dir()))
    for folder in conf_dirs(folders)[1:]:
        before_schema = SearchPathQuery(provider="schema", path=None)
        path.prepend(folder.parent.name, f"file://{folder}", before_schema)
    try:
        yield Hydra.create_main_hydra2(name, path)
    finally:
        GlobalHydra.instance().hydra, HydraConfig.instance().cfg = before
        log.handlers[:] = handlers  # `--info` and `hydra.verbose` change them
        log.setLevel(level)


@contextmanager
def explained(overrides: Sequence[str]) -> Iterator[None]:
    """Turn Hydra's and OmegaConf's errors into one message that names the nearest valid word."""
    try:
        yield
    except (HydraException, OmegaConfBaseException, AssertionError, ValueError, ImportError) as e:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        from heron.config.errors import explain_words  # start-up time: for errors only

        raise ConfigError(explain_words(overrides, e)) from e


def shortened(path: str) -> Path:
    """Name a folder relative to the working one where it lies in it, as the command did."""
    folder, here = Path(path), Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _check_length(config: Config, overrides: Sequence[str]) -> None:
    """Refuse typed epochs where steps decide: they would be ignored silently."""
    typed, steps = set(map(key_of, overrides)), config.trainer.max_steps
    if steps is not None and "trainer.max_epochs" in typed and "trainer.max_steps" not in typed:
        raise ConfigError(
            f"trainer.max_epochs={config.trainer.max_epochs}: trainer.max_steps={steps} says how "
            "long this trains; add trainer.max_steps=null"
        )


class _Last:
    """Keeps the last composition: Hydra asks several times for one job's folders."""

    root: Any = None
    composition: Any = None


def _of(root: DictConfig) -> Composition:
    if _Last.root is not root:
        _Last.root, _Last.composition = root, Composition(root)
    found: Composition = _Last.composition
    return found


def _job(_root_: DictConfig) -> str:
    of = _of(_root_)
    return os.path.relpath(of.run_path(), of.sweep_path())


_schema = OmegaConf.structured(Config)
for _part in (_schema.trainer, _schema.optim):  # `resolve` says which further keys they may have
    OmegaConf.set_struct(_part, False)
ConfigStore.instance().store(name="schema", node=_schema)
for _name, _resolver in {
    "heron.run_dir": lambda _root_: str(_of(_root_).run_path()),
    "heron.sweep_dir": lambda _root_: str(_of(_root_).sweep_path()),
    "heron.job": _job,
}.items():
    OmegaConf.register_new_resolver(_name, _resolver, replace=True)
