"""Names of run folders: the sweep's, and the job's with a hash of its configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.files import fingerprint
from heron.base.secrets import redact
from heron.config.checks import NEUTRAL, decisive, decisive_earlier
from heron.config.schema import Config

# Runs that differ in these keys, in their data or their task are not compared with each other.
_APART = ("protocol", "also_test", "trainer.max_epochs", "trainer.max_steps")


def config_key(config: Config) -> str:
    """Hash all that can change a run's result: what a run folder's name ends with."""
    return fingerprint(decisive(config))[:8]


def earlier_key(config: Config) -> str:
    """Hash a configuration as earlier versions of heron did: their runs are found by it."""
    return fingerprint(decisive_earlier(config))[:8]


def path_words(config: Config) -> list[str]:
    """Write out where a run reads and writes, as the words that set it."""
    return [f"paths.{name}={value}" for name, value in vars(config.paths).items()]


def check_paths(config: Config) -> None:
    """Make sure that a run's folders can be written to, before anything is.

    Raises:
        ConfigError: one of them is a file, or may not be written to; names the key.
    """
    for word in path_words(config):
        key, _, value = word.partition("=")
        folder = Path(value).resolve()
        above = next(path for path in (folder, *folder.parents) if path.exists())
        if not above.is_dir():
            raise ConfigError(f"{word}: {above} is a file; name a folder")
        if key != "paths.data" and not os.access(above, os.W_OK | os.X_OK):
            raise ConfigError(f"{word}: {above} cannot be written to; name another folder")


def run_path(config: Config, overrides: Sequence[str]) -> Path:
    """Name the run folder: readable overrides and a hash of all that can change the result.

    A run of this configuration that an earlier version of heron began keeps its folder.

    Raises:
        ConfigError: `run.sweep` or `run.job` leads out of `paths.runs`.
    """
    _check_names(config)
    base = base_name(config)
    sweep = config.run.sweep or base
    folder = Path(config.paths.runs) / sweep
    if config.run.job:
        return folder / config.run.job
    key = config_key(config)
    # The same configuration in other words (a default spelled out) goes to the folder it has.
    said = config.experiment is not None and f"{sweep},".startswith(f"{base},")
    name = _readable(overrides, hidden=("experiment",) if said else ())
    # Earlier versions added no words to a sweep's name.
    plain = folder.with_name(folder.name.partition(",")[0] or folder.name)
    earlier = dict.fromkeys((folder, plain))
    known = [(folder, key), *((place, earlier_key(config)) for place in earlier)]
    found = (path for place, each in known for path in sorted(place.glob(f"*-{each}")))
    return next(found, folder / f"{name}-{key}")


def base_name(config: Config) -> str:
    """Name the sweep folder of runs that change neither data nor task nor length of training."""
    if config.experiment:
        return config.experiment.replace("/", "-")
    return f"{config.data.name}-{config.task.name}"


def sweep_name(base: str, fixed: Sequence[str]) -> str:
    """Name the sweep folder of a command: only runs that can be compared share one by default.

    Args:
        base: the experiment, or data set and task.
        fixed: what was typed for all of the command's jobs. Words that change the rows, how they
            are scored or how long training takes are added to the name.
    """
    apart = sorted(word for word in fixed if _sets_apart(word, base))
    if not apart:
        return base
    name = _readable(apart)
    if len(name) > 80 or name != ",".join(apart):  # cut short: a hash keeps it unique
        name = f"{name[:80]}-{fingerprint(apart)[:4]}"
    return f"{base},{name}"


def _sets_apart(word: str, base: str) -> bool:
    key, _, value = word.lstrip("+~").partition("=")
    if key == "data":
        return not base.startswith(f"{value}-")  # an experiment with another data set
    return key in _APART or key.startswith(("data.", "task."))


def _check_names(config: Config) -> None:
    """Refuse names that lead out of `paths.runs`, or a job's out of its sweep."""
    where = "paths.runs=DIR says where sweeps lie"
    for key, name in (("sweep", config.run.sweep), ("job", config.run.job)):
        parts = Path(name or "_").parts
        if not parts or ".." in parts or Path(name or "_").is_absolute():
            raise ConfigError(f"run.{key}={name}: a name inside paths.runs is needed; {where}")
    if config.run.job and len(Path(config.run.job).parts) > 1:
        raise ConfigError(
            f"run.job={config.run.job}: one folder's name is needed, without '/'; "
            "run.sweep=DIR/DIR may have several"
        )


def _readable(overrides: Sequence[str], hidden: Sequence[str] = ()) -> str:
    """Join the overrides that say something about the run; paths shrink to their last part."""
    words = []
    # Groups and seed first: a long name is cut at its end.
    for override in sorted(overrides, key=lambda word: ("." in word.partition("=")[0], word)):
        key, _, value = override.lstrip("+").partition("=")
        if key.split(".")[0] not in (*NEUTRAL, *hidden):
            # Masked whole: of an address without a path, the last part is the user's name.
            words.append(f"{key}={redact(value).rstrip('/').rsplit('/', 1)[-1]}")
    name = ",".join(words) or "default"
    return "".join(c if c.isalnum() or c in "=,._-" else "_" for c in name)[:100]
