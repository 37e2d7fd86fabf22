"""Hydra that composes each choice of groups once in a process: half of what the tests took.

Hydra reads and merges the same YAML for every composition. Here the merged configuration of a
choice of groups is kept, and the plain keys of a command are set in a copy of it, by Hydra itself.
Folders that a test writes are read anew each time.
"""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from functools import cache
from typing import Any

from hydra._internal import config_loader_impl as hydra_loader
from hydra._internal import defaults_list
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from hydra._internal.defaults_list import DefaultsList
from omegaconf import DictConfig

from heron.base.folders import conf_dirs

# The folders of YAML that no test changes: only what is read from these is kept.
_CONF_FOLDERS = {f"file://{folder}" for folder in conf_dirs()}
_FIXED_SOURCES = {*_CONF_FOLDERS, "pkg://hydra.conf", "structured://"}

_hydras_defaults_list = hydra_loader.create_defaults_list
_hydras_merge = hydra_loader.ConfigLoaderImpl._compose_config_from_defaults_list
_hydras_load = ConfigRepository.load_config
_hydras_interpolation_map = defaults_list._create_interpolation_map

# What Hydra made of the fixed sources, by what it was asked for.
_defaults_lists: dict[Any, DefaultsList] = {}
_merged_configs: dict[Any, bytes] = {}
_loaded_files: dict[Any, bytes] = {}


def _sources(repo: Any) -> tuple[str, ...]:
    return tuple(f"{source.scheme()}://{source.path}" for source in repo.get_sources())


@cache
def _is_group(key: str) -> bool:
    return any((folder / key).is_dir() for folder in conf_dirs()) or key.startswith("hydra/")


def create_defaults_list(
    repo: Any, config_name: str, overrides_list: list[Any], prepend_hydra: bool, skip_missing: bool
) -> DefaultsList:
    """List the files of a choice of groups; the plain keys are those of this command."""
    sources = _sources(repo)
    if not _FIXED_SOURCES.issuperset(sources):
        return _hydras_defaults_list(repo, config_name, overrides_list, prepend_hydra, skip_missing)
    groups = [each for each in overrides_list if _is_group(each.key_or_group)]
    key = (sources, config_name, prepend_hydra, skip_missing, *(str(g.input_line) for g in groups))
    if key not in _defaults_lists:
        _defaults_lists[key] = _hydras_defaults_list(
            repo, config_name, groups, prepend_hydra, skip_missing
        )
    plain = [o for o in overrides_list if o not in groups and not o.is_sweep_override()]
    return replace(_defaults_lists[key], config_overrides=plain)


def interpolation_map(overrides: Any, defaults: list[Any], self_added: bool) -> Any:
    """Make what `${...}` in a list of defaults may name, where there is any."""
    needed = any(default.is_interpolation() for default in defaults)
    return _hydras_interpolation_map(overrides, defaults, self_added) if needed else None


def merge_once(self: Any, defaults: list[Any], repo: Any) -> DictConfig:
    """Merge the files of a choice of groups, or copy what they were merged to before."""
    sources = _sources(repo)
    if not _FIXED_SOURCES.issuperset(sources):
        return _hydras_merge(self, defaults, repo)
    key = (sources, *map(repr, defaults))
    if key not in _merged_configs:
        _merged_configs[key] = pickle.dumps(_hydras_merge(self, defaults, repo))
    merged: DictConfig = pickle.loads(_merged_configs[key])  # six times as fast as a deep copy
    return merged


def load_once(self: ConfigRepository, config_path: str) -> Any:
    """Read a file once."""
    sources = _sources(self)
    if not _FIXED_SOURCES.issuperset(sources):
        return _hydras_load(self, config_path)
    if (sources, config_path) not in _loaded_files:
        _loaded_files[sources, config_path] = pickle.dumps(_hydras_load(self, config_path))
    return pickle.loads(_loaded_files[sources, config_path])


def share_files(self: CachingConfigRepository, delegate: Any) -> None:
    """Begin with a copy that has the same files, where Hydra copies all registered schemas."""
    self.delegate = copy.copy(delegate)  # later sources are a new list, not added to this one
    self.cache = {}


def install() -> None:
    """Replace what Hydra does in this process."""
    CachingConfigRepository.__init__ = share_files
    ConfigRepository.load_config = load_once
    defaults_list._create_interpolation_map = interpolation_map
    hydra_loader.create_defaults_list = create_defaults_list
    hydra_loader.ConfigLoaderImpl._compose_config_from_defaults_list = merge_once
