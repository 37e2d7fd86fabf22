"""The one module that uses what Hydra and OmegaConf keep private, with the reason beside each use.

A new release of either may change these names without notice.
"""

import copy
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra._internal.callbacks import Callbacks
from hydra._internal.config_loader_impl import ConfigLoaderImpl

# `hydra.main` makes one `Hydra` from `sys.argv` and calls `sys.exit`. heron composes several times
# in a process, from any list of words, and reports errors itself.
from hydra._internal.hydra import Hydra

# The parser of `hydra.main`, so that `heron train` takes each of Hydra's flags.
from hydra._internal.utils import _locate, create_config_search_path, get_args_parser
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Override
from hydra.core.utils import JobReturn
from hydra.types import HydraContext
from omegaconf import DictConfig

from heron.base.folders import conf_dir, conf_dirs

__all__ = ["Hydra", "get_args_parser"]


@contextmanager
def open_hydra(name: str = "train", folders: Sequence[Path] = ()) -> Iterator[Hydra]:
    """Set up Hydra to compose; afterwards, restore its state and the logging of the caller.

    The public `hydra.initialize_config_dir` takes a single folder and cannot run a job or a sweep.

    Args:
        name: of the primary configuration, a file of `conf/`.
        folders: searched after heron's `conf/` and those of forks.
    """
    hydra_before = GlobalHydra.instance().hydra
    config_before = HydraConfig.instance().cfg
    root = logging.root
    handlers = root.handlers[:]
    level = root.level

    GlobalHydra.instance().clear()
    search_path = create_config_search_path(str(conf_dir()))
    for folder in conf_dirs(folders)[1:]:
        schema = SearchPathQuery(provider="schema", path=None)
        search_path.prepend(folder.parent.name, f"file://{folder}", schema)
    try:
        yield Hydra.create_main_hydra2(name, search_path)
    finally:
        # There is no public way to put a former Hydra back.
        GlobalHydra.instance().hydra = hydra_before
        HydraConfig.instance().cfg = config_before
        root.handlers[:] = handlers  # `--info` and `hydra.verbose` change them
        root.setLevel(level)


def job_context(config: DictConfig, loader: ConfigLoader | None = None) -> HydraContext:
    """Make what `hydra.core.utils.run_job` needs beside a job; it calls the job's callbacks.

    Hydra's own `run` and `multirun` make their callbacks where no caller can reach them.
    """
    return HydraContext(loader, Callbacks(config))  # type: ignore[arg-type]  # a job needs no loader


def result_of(job: JobReturn) -> Any:
    """Return what a job returned, or the error that it failed with.

    The public `return_value` of a failed job prints a line and raises.
    """
    return job._return_value


def running_config() -> DictConfig:
    """Return the whole configuration of the job that Hydra is running.

    Hydra gives a task the configuration without the key `hydra`, and publishes that key alone.
    """
    whole: DictConfig = HydraConfig.get()._get_root()  # type: ignore[attr-defined]
    return whole


def locate(name: str) -> Any:
    """Import what a dotted name says, as `_target_` is resolved.

    The public `hydra.utils.get_object` also logs each error, which heron reports itself.

    Raises:
        ImportError: there is no such module or attribute.
        ValueError: it is no dotted name.
    """
    return _locate(name)


@contextmanager
def overridden(config: DictConfig, overrides: Sequence[Override], keys: set[str]) -> Iterator[None]:
    """Set keys of a composed configuration for the block, as Hydra would compose them.

    The public `load_sweep_config` composes everything again (a fifth of a second), and a copy with
    `copy.deepcopy` takes longer than to save and restore what changes.

    Args:
        config: of a job.
        overrides: of values, not of groups.
        keys: the top-level keys that they change.
    """
    nodes: Any = config._content
    sweep: Any = config.hydra.sweep._content  # resolved for one job, so that it is not asked again
    changed = [(nodes, keys & nodes.keys()), (sweep, set(sweep))]
    before = [(content, dict(content)) for content, _ in changed]
    for content, changed_keys in changed:
        for key in changed_keys:
            content[key] = copy.deepcopy(content[key])
    try:
        ConfigLoaderImpl._apply_overrides_to_config(list(overrides), config)
        yield
    finally:
        for content, saved in before:
            content.clear()
            content.update(saved)
