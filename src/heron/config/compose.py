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
    words: Any = OmegaConf.to_container(whole.hydra.overrides.task, resolve=False)
    return list(words)


def run_application(name: str, arguments: Sequence[str], task: TaskFunction) -> list[JobReturn]:
    """Run a command line as a program of `hydra.main` would.

    Returns:
        What Hydra returns of each job; empty where flags such as `--cfg` only print. A single job
        that failed raises its error.

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
                batches = hydra.multirun(name, task, words) or []
                return [job for batch in batches for job in batch]
            str(config.hydra.run.dir)  # resolves the configuration, which raises what is wrong
        context = job_context(config, hydra.config_loader)
        context.callbacks.on_run_start(config=config, config_name=name)
        job = run_job(task, config, "hydra.run.dir", None, context)
        context.callbacks.on_run_end(config=config, config_name=name, job_return=job)
    if job.status == JobStatus.FAILED:
        raise result_of(job)
    return [job]


def run_in_hydra(whole: DictConfig, task: Callable[[], Any]) -> Any:
    """Call `task` as Hydra runs a job of a sweep: `.hydra`, `job.chdir`, environment, callbacks."""
    context = job_context(whole)
    job = run_job(lambda _: task(), whole, "hydra.sweep.dir", "hydra.sweep.subdir", context)
    if job.status == JobStatus.FAILED:
        raise result_of(job)
    return job.return_value


def read_flags(arguments: Sequence[str]) -> Namespace:
    """Parse Hydra's flags, and rewrite the overrides for Hydra's grammar.

    Returns:
        Hydra's flags; `overrides` are rewritten (see `heron.config.words.rewrite`), and `folders`
        has the folder of `--config-dir`, if any.
    """
    parser = get_args_parser()
    parser.prog = "heron train"
    # Intermixed: overrides may stand on both sides of a flag, `data=trc -m head=ess,emp`.
    flags = parser.parse_intermixed_args(list(arguments))
    if flags.config_path is not None or flags.experimental_rerun is not None:
        raise ConfigError("heron needs its own conf/; --config-dir DIR adds a folder to it")
    flags.folders = []
    if flags.config_dir is not None:
        folder = Path(flags.config_dir).absolute()
        if not folder.is_dir():
            raise ConfigError(f"--config-dir: no folder {folder}")
        flags.folders = [folder]

    if flags.hydra_help:
        flags.overrides = [word for word in flags.overrides if word.startswith("hydra")]
    if flags.hydra_help or flags.shell_completion:
        return flags
    searched = [*flags.folders, *_search_path(flags.overrides)]
    add_forks(searched)
    flags.overrides = rewrite(flags.overrides, searched)
    return flags


def _search_path(words: Sequence[str]) -> list[Path]:
    """List the folders in `hydra.searchpath=[...]`; packages are found by Hydra alone."""
    folders = []
    for word in words:
        key, _, value = word.partition("=")
        if key_of(key) != "hydra.searchpath":
            continue
        for name in value.strip("[]").split(","):
            name = name.strip(" '\"")
            if "pkg:" not in name:
                folders.append(Path(name.removeprefix("file://")).absolute())
    return folders


def shown(hydra: Hydra, flags: Namespace, name: str) -> bool:
    """Print the output of flags such as `--cfg`, as Hydra does; returns whether there was one."""
    if flags.hydra_help:
        hydra.hydra_help(name, get_args_parser(), flags)
    elif flags.shell_completion:
        hydra.shell_completion(name, flags.overrides)
    elif flags.cfg:
        hydra.show_cfg(name, flags.overrides, flags.cfg, flags.package, flags.resolve)
    elif flags.info is not None:
        hydra.show_info(flags.info, config_name=name, overrides=flags.overrides)
    else:
        return False
    return True


def composed(hydra: Hydra, flags: Namespace, name: str) -> DictConfig:
    """Compose a run, or what the jobs of a sweep share; its `hydra.mode` tells which."""
    words = flags.overrides
    is_sweep = flags.multirun
    if not is_sweep:
        overrides = PARSER.parse_overrides(list(words))
        has_sweep = any(override.is_sweep_override() for override in overrides)
        is_sweep = has_sweep and hydra.get_mode(name, words) == RunMode.MULTIRUN

    if is_sweep:
        config = hydra.compose_config(name, words, RunMode.MULTIRUN)
        config.hydra.mode = RunMode.MULTIRUN
        return config

    config = hydra.compose_config(name, words, RunMode.RUN)
    config.hydra.mode = config.hydra.mode or RunMode.RUN
    return config


@contextmanager
def explained(overrides: Sequence[str]) -> Iterator[None]:
    """Turn an error of Hydra or OmegaConf into a ConfigError that names the nearest valid word."""
    wrong_words = HydraException, OmegaConfBaseException, AssertionError, ValueError, ImportError
    try:
        yield
    except (*wrong_words, YAMLError, RecursionError) as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        from heron.config.parsing import explain_words  # start-up time: for errors only
        from heron.config.unreadable import wrong_file

        raise ConfigError(wrong_file(error) or explain_words(overrides, error)) from error
