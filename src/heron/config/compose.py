"""Hydra over heron's `conf/`: one run or the jobs of a sweep, as `heron train` composes them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn, JobStatus, run_job
from hydra.errors import HydraException
from hydra.types import RunMode, TaskFunction
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from heron.base.errors import ConfigError
from heron.base.folders import add_forks
from heron.config.constraints import key_of
from heron.config.hydra_door import (
    Hydra,
    get_args_parser,
    job_context,
    open_hydra,
    result_of,
)
from heron.config.words import PARSER, rewrite


def typed_words(whole: DictConfig) -> list[str]:
    """List the overrides that a configuration was composed with; `${...}` in them stays."""
    found: Any = OmegaConf.to_container(whole.hydra.overrides.task, resolve=False)
    return list(found)


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
            if shown(hydra, flags, name):
                return []
            config = composed(hydra, flags, name)
            if config.hydra.mode == RunMode.MULTIRUN:
                words = [*flags.overrides, "hydra.mode=MULTIRUN"]
                found = hydra.multirun(name, task, words) or []
                return [each for batch in found for each in batch]
            str(config.hydra.run.dir)  # raises what is wrong with the configuration
        context = job_context(config, hydra.config_loader)
        context.callbacks.on_run_start(config=config, config_name=name)
        job = run_job(task, config, "hydra.run.dir", None, context)
        context.callbacks.on_run_end(config=config, config_name=name, job_return=job)
    if job.status == JobStatus.FAILED:
        raise result_of(job)
    return [job]


def run_in_hydra(whole: DictConfig, task: Callable[[], Any]) -> Any:
    """Call `task` as Hydra runs a sweep's job: `.hydra`, `job.chdir`, environment, callbacks."""
    context = job_context(whole)
    job = run_job(lambda _: task(), whole, "hydra.sweep.dir", "hydra.sweep.subdir", context)
    if job.status == JobStatus.FAILED:
        raise result_of(job)
    return job.return_value


def read_flags(arguments: Sequence[str]) -> Namespace:
    """Read Hydra's flags, and write the words as Hydra reads them; `folders`: of --config-dir."""
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
    searched = [*added, *_searched(flags.overrides)]
    add_forks(searched)
    flags.overrides = rewrite(flags.overrides, searched)
    return flags


def _searched(words: Sequence[str]) -> list[Path]:
    """List the folders in `hydra.searchpath=[...]`; packages are found by Hydra alone."""
    values = [word.partition("=")[2] for word in words if key_of(word) == "hydra.searchpath"]
    names = [each.strip(" '\"") for value in values for each in value.strip("[]").split(",")]
    return [Path(name.removeprefix("file://")).absolute() for name in names if "pkg:" not in name]


def shown(hydra: Hydra, flags: Namespace, name: str) -> bool:
    """Print what flags such as `--cfg` ask for, as Hydra does; returns whether one did."""
    if flags.hydra_help:
        hydra.hydra_help(name, get_args_parser(), flags)
    elif flags.shell_completion:
        hydra.shell_completion(name, flags.overrides)
    elif flags.cfg:
        shown = flags.cfg, flags.package, flags.resolve
        hydra.show_cfg(name, flags.overrides, *shown)
    elif flags.info is not None:
        hydra.show_info(flags.info, config_name=name, overrides=flags.overrides)
    else:
        return False
    return True


def composed(hydra: Hydra, flags: Namespace, name: str) -> DictConfig:
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
def explained(overrides: Sequence[str]) -> Iterator[None]:
    """Turn Hydra's and OmegaConf's errors into one message that names the nearest valid word."""
    wrong_words = HydraException, OmegaConfBaseException, AssertionError, ValueError, ImportError
    try:
        yield
    except (*wrong_words, YAMLError, RecursionError) as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        from heron.config.parsing import explain_words  # start-up time: for errors only
        from heron.config.unreadable import wrong_file

        raise ConfigError(wrong_file(error) or explain_words(overrides, error)) from error


def shortened(path: str) -> Path:
    """Name a folder relative to the working one where it lies in it, as the command did."""
    folder, here = Path(path), Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
