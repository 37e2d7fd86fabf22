"""How forks are imported; see `heron.base.folders`."""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from heron.base.errors import ConfigError, HeronError
from heron.base.files import sha256_file
from heron.base.folders import PACKAGE, VARIABLE, Fork, experiment_roots, find_forks
from heron.base.terminal import say


def load_forks(roots: Sequence[Path]) -> None:
    """Import the forks with Python that are not imported yet; an error names file and line."""
    forks, here = find_forks(roots), Path("experiments").resolve()
    known = {fork.folder.parent.resolve() for fork in forks}
    if here not in known and any(here.glob("*/__init__.py")):
        say(f"{here} is not searched for forks unless {VARIABLE} names it", who="heron")
    for fork in forks:
        has_code = not fork.module.startswith(PACKAGE) or (fork.folder / "__init__.py").is_file()
        if fork.module in sys.modules or not has_code:
            continue
        try:
            _load(fork)
        except Exception as error:
            what = type(error).__name__ + (f": {str(error).splitlines()[0]}" if str(error) else "")
            said = f": {error}" if isinstance(error, HeronError) else f" cannot be imported: {what}"
            raise ConfigError(f"{_where(error, fork.folder)}{said}") from error


def _load(fork: Fork) -> None:
    if not fork.module.startswith(f"{PACKAGE}."):
        importlib.import_module(fork.module)
        return
    spec = importlib.util.spec_from_file_location(
        fork.module, fork.folder / "__init__.py", submodule_search_locations=[str(fork.folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A package without files, so that a fork's modules import each other by their full names.
    package = sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
    package.__path__ = []
    sys.modules[fork.module] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[fork.module]
        raise
    setattr(package, fork.module.rpartition(".")[2], module)  # as an import does


def _where(error: Exception, folder: Path) -> str:
    """Name the place in a fork's own files where an error was raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else str(folder / "__init__.py")


def code_hashes(part: Any) -> list[str]:
    """Hash the Python that a function or class is written in: all files of its fork.

    Of what is in no fork, its own file; empty for what is heron's, which versions its caches.
    """
    while isinstance(part, partial):
        part = part.func
    name = str(part.__module__)
    if name.startswith("heron."):
        return []
    for fork in find_forks(experiment_roots()):
        if f"{name}.".startswith(f"{fork.module}.") and fork.folder.is_dir():
            return [sha256_file(path) for path in sorted(fork.folder.rglob("*.py"))]
    file = getattr(sys.modules.get(name), "__file__", None)
    return [sha256_file(Path(file))] if file else []
