"""Loggers and callbacks that a run names by `_target_`: found, checked and instantiated."""

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from hydra._internal.utils import _locate
from hydra.errors import InstantiationException
from hydra.utils import instantiate

from heron.base.errors import ConfigError, first_line
from heron.base.folders import experiment_roots, load_forks
from heron.base.run_folder import RunFolder
from heron.base.terminal import say
from heron.tasks.config import Config

# Packages whose classes a configuration from elsewhere may name.
KNOWN = ("heron", "pytorch_lightning", "torch", "torchmetrics", "transformers")


def chosen(config: Config, group: str) -> dict[str, dict[str, Any]]:
    """List what `logger` or `callbacks` has, by key; what has no `_target_` is left out.

    Under `trainer.fast_dev_run` nothing is logged, as Lightning says.
    """
    parts: dict[str, dict[str, Any]] = {}
    if group == "logger" and config.trainer.flags.get("fast_dev_run"):
        return parts

    for name, options in getattr(config, group).items():
        if isinstance(options, dict) and "_target_" in options:
            target = _class_name(options["_target_"])
            parts[f"{group}.{name}"] = {**options, "_target_": target}
        elif options:
            say(f"{group}.{name} has no _target_ and is left out", of_result=False)

    return parts


def wandb_options(config: Config) -> dict[str, Any]:
    """Find the options of W&B's logger; empty where the run has none."""
    for options in chosen(config, "logger").values():
        if options["_target_"].endswith("WandbLogger"):
            return options
    return {}


def check_classes(config: Config) -> None:
    """Import the classes of a run's loggers and callbacks; a ConfigError names what is no class."""
    for group in ("logger", "callbacks"):
        for key, options in chosen(config, group).items():
            _find(key, options["_target_"])


def make(key: str, options: Mapping[str, Any], folder: RunFolder) -> Any:
    """Make one logger or callback; its `save_dir` is the run folder by default.

    Raises:
        ConfigError: there is no such class, a package is missing, or it does not take the options.
    """
    parameters = inspect.signature(_find(key, options["_target_"])).parameters
    if "save_dir" in parameters:
        options = {"save_dir": str(folder.path), **options}

    try:
        return instantiate(options, _convert_="all")
    except InstantiationException as error:
        raise ConfigError(f"{key}: {first_line(error.__cause__ or error)}") from error


def _find(key: str, target: str) -> Any:
    """Import a class, also of a fork or of the working folder, where a script would find it."""
    load_forks(experiment_roots())
    working_folder = os.getcwd()
    if working_folder not in sys.path:
        sys.path.append(working_folder)

    try:
        return _locate(target)
    except (ImportError, ValueError) as error:
        reason = first_line(error.__cause__ or error)
        raise ConfigError(f"{key}._target_={target}: {reason}") from error


def check_trusted(config: Config) -> None:
    """Check the classes that a configuration from elsewhere names.

    Raises:
        ConfigError: one is of another package than `KNOWN`.
    """
    for key, target in _targets(config.values()):
        name = _class_name(target)
        is_known = False
        # Nothing of another package is imported; and `torch.os.system` is no class of torch.
        if _package(name) in KNOWN:
            part = _locate(name)
            is_known = isinstance(part, type) and _package(part.__module__) in KNOWN

        if not is_known:
            raise ConfigError(
                f"{key}={target}: the run's configuration names code of neither heron nor its "
                "libraries; if you trust it, add run.trust=true"
            )


def _package(name: str) -> str:
    return name.partition(".")[0]


def _class_name(target: Any) -> str:
    """Name a class of the package `lightning` by its name in `pytorch_lightning`."""
    return str(target).replace("lightning.pytorch.", "pytorch_lightning.", 1)


def _targets(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """List every `_target_` in nested values, with its dotted key."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    for name, inner in items:
        inner_key = f"{key}.{name}".lstrip(".")
        if name == "_target_":
            yield inner_key, str(inner)
        elif isinstance(inner, Mapping | list):
            yield from _targets(inner, inner_key)
