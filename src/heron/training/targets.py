"""Loggers and callbacks that a run names by `_target_`: found, checked and instantiated."""

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from heron.base.errors import ConfigError, first_line
from heron.base.folders import experiment_roots, load_forks
from heron.base.run_folder import RunFolder
from heron.base.terminal import say
from heron.config.hydra_door import locate
from heron.tasks.config import Config

# Packages whose classes a configuration from elsewhere may name.
KNOWN = ("heron", "pytorch_lightning", "torch", "torchmetrics", "transformers")


def chosen(config: Config, group: str) -> dict[str, dict[str, Any]]:
    """List what `logger` or `callbacks` has, by key; what has no `_target_` is left out.

    Under `trainer.fast_dev_run` nothing is logged, as Lightning says.
    """
    found: dict[str, dict[str, Any]] = {}
    if group == "logger" and config.trainer.flags.get("fast_dev_run"):
        return found
    for name, options in getattr(config, group).items():
        if isinstance(options, dict) and "_target_" in options:
            found[f"{group}.{name}"] = {**options, "_target_": _name(options["_target_"])}
        elif options:
            say(f"{group}.{name} has no _target_ and is left out", of_result=False)
    return found


def wandb_options(config: Config) -> dict[str, Any]:
    """Find the options of W&B's logger; empty where the run has none."""
    found = chosen(config, "logger").values()
    return next((each for each in found if each["_target_"].endswith("WandbLogger")), {})


def check_classes(config: Config) -> None:
    """Find the classes of a run's loggers and callbacks; a ConfigError names what is no class."""
    for group in ("logger", "callbacks"):
        for key, options in chosen(config, group).items():
            _find(key, options["_target_"])


def make(key: str, options: Mapping[str, Any], folder: RunFolder) -> Any:
    """Make one logger or callback; its `save_dir` is the run folder unless it is given.

    Raises:
        ConfigError: there is no such class, a package is missing, or it does not take the options.
    """
    takes = inspect.signature(_find(key, options["_target_"])).parameters
    place = {"save_dir": str(folder.path)} if "save_dir" in takes else {}
    try:
        return instantiate({**place, **options}, _convert_="all")
    except InstantiationException as error:
        raise ConfigError(f"{key}: {first_line(error.__cause__ or error)}") from error


def _find(key: str, target: str) -> Any:
    """Import a class, also of a fork or of the working folder, where a script would find it."""
    load_forks(experiment_roots())
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        return locate(target)
    except (ImportError, ValueError) as error:
        why = first_line(error.__cause__ or error)
        raise ConfigError(f"{key}._target_={target}: {why}") from error


def check_trusted(config: Config) -> None:
    """Check the classes that a configuration from elsewhere names.

    Raises:
        ConfigError: one is of another package than `KNOWN`.
    """
    for key, target in _targets(config.values()):
        # Nothing of another package is imported; and `torch.os.system` is no class of torch.
        name = _name(target)
        found = locate(name) if name.partition(".")[0] in KNOWN else None
        if not isinstance(found, type) or found.__module__.partition(".")[0] not in KNOWN:
            raise ConfigError(
                f"{key}={target}: the run's configuration names code of neither heron nor its "
                "libraries; if you trust it, add run.trust=true"
            )


def _name(target: Any) -> str:
    """Name a class by the package that heron trains with, where `lightning` has the same."""
    return str(target).replace("lightning.pytorch.", "pytorch_lightning.", 1)


def _targets(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    for name, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
        place = f"{key}.{name}".lstrip(".")
        if name == "_target_":
            yield place, str(inner)
        elif isinstance(inner, Mapping | list):
            yield from _targets(inner, place)
