"""Forks: folders beside heron that add languages, tasks, heads and more by registering them.

A fork is `experiments/<fork>/` with an `__init__.py`, in heron's repository or in the working
directory. Importing it registers what it adds. Its YAML, if any, is in `experiments/<fork>/conf/`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from heron.base.errors import ConfigError
from heron.base.folders import experiment_roots

PACKAGE = "heron_forks"


def fork_folders(roots: Sequence[Path]) -> list[Path]:
    """List the folders with Python below `experiments/` of each root."""
    return [
        file.parent for root in roots for file in sorted(root.glob("experiments/*/__init__.py"))
    ]


def load_forks() -> None:
    """Import every fork that is not imported yet, as `heron_forks.<folder>`.

    Raises:
        ConfigError: a fork cannot be imported; names the file and the error.
    """
    for folder in fork_folders(experiment_roots()):
        _load(f"{PACKAGE}.{folder.name}", folder)


def _load(name: str, folder: Path) -> None:
    if name in sys.modules:
        return
    file = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A package without files, so that a fork's modules import each other by their full names.
    package = sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
    package.__path__ = []
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"{file} cannot be imported: {type(error).__name__}: {error}") from error
