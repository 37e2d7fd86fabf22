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
