"""Where heron's YAML lives."""

from __future__ import annotations

from pathlib import Path

import heron
from heron.errors import ConfigError


def conf_dir() -> Path:
    """Name the folder `conf` of the repository that this package is imported from.

    Raises:
        ConfigError: the package was installed without its repository.
    """
    folder = Path(heron.__file__).resolve().parents[2] / "conf"
    if not folder.is_dir():
        raise ConfigError(
            f"no configuration folder at {folder}: install heron from its repository with "
            "`pip install --editable .`"
        )
    return folder


def data_sets() -> dict[str, Path]:
    """Find the data sets of heron and of the forks beside it, the way Hydra's search path does."""
    forks = sorted((conf_dir().parent / "experiments").glob("*/conf"))
    paths = [path for conf in (conf_dir(), *forks) for path in sorted(conf.glob("data/*.yaml"))]
    # The first of a name counts, so it is entered last.
    return dict(sorted({path.stem: path for path in reversed(paths)}.items()))
