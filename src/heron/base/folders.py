"""Where heron's YAML lives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import heron
from heron.base.errors import ConfigError, nearest
from heron.base.forks import find_forks


def conf_dir() -> Path:
    """Find heron's own `conf`: that of the repository it is imported from, or the package's.

    Raises:
        ConfigError: neither is there.
    """
    package = Path(heron.__file__).resolve().parent
    folders = (package.parents[1] / "conf", package / "conf")
    for folder in folders:
        if (folder / "train.yaml").is_file():
            return folder
    raise ConfigError(
        f"no configuration folder at {' or '.join(map(str, folders))}: this installation of heron "
        "is incomplete; in its repository, `make demo` or `pip install --editable .` installs it"
    )


def experiment_roots() -> list[Path]:
    """List the folders whose `experiments/` count: heron's own, then the working directory."""
    return list(dict.fromkeys((conf_dir().parent, Path.cwd().resolve())))


def conf_dirs(more: Sequence[Path] = ()) -> list[Path]:
    """List the folders with YAML; where several have a file of one name, the first one counts.

    Args:
        more: folders that the command line names.

    Returns:
        heron's `conf`, that of every fork (see `heron.base.forks`), and `more`.
    """
    forks = [fork.conf for fork in find_forks(experiment_roots()) if fork.conf.is_dir()]
    return list(dict.fromkeys((conf_dir(), *forks, *more)))


def data_sets(more: Sequence[Path] = ()) -> dict[str, Path]:
    """Find all data sets by name; see `conf_dirs`."""
    paths = [path for conf in conf_dirs(more) for path in sorted(conf.glob("data/*.yaml"))]
    # The first of a name counts, so it is entered last.
    return dict(sorted({path.stem: path for path in reversed(paths)}.items()))


def config_groups(more: Sequence[Path] = ()) -> set[str]:
    """List the config groups; Hydra takes longer to list them than to compose a job."""
    return {path.name for conf in conf_dirs(more) for path in conf.iterdir() if path.is_dir()}


def group_options(group: str, more: Sequence[Path] = ()) -> dict[str, Path]:
    """Find the options of a config group by name; those in its folders are `folder/option`."""
    folders = [conf / group for conf in reversed(conf_dirs(more))]  # the first of a name counts
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for folder in folders
        for path in sorted(folder.rglob("*.yaml"))
    }
    return dict(sorted(files.items()))


def data_set_file(name: str) -> Path:
    """Find a data set's YAML by its name.

    Raises:
        ConfigError: there is none of this name.
    """
    paths = data_sets()
    if name not in paths:
        raise ConfigError(f"no data set '{name}'.{nearest(name, paths)}")
    return paths[name]


def default_data_dir() -> Path:
    """Name the folder of the data sets: `$HERON_DATA`, else `data` in the current folder."""
    return Path(os.environ.get("HERON_DATA") or "data")


def default_cache_dir() -> Path:
    """Name the cache folder: `$HERON_CACHE`, else `cache` in the current folder."""
    return Path(os.environ.get("HERON_CACHE") or "cache")
