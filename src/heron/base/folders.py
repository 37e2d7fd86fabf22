"""Where configuration and forks are found, and how forks are imported.

A fork is a folder with Python and YAML that adds languages, tasks, heads and more to heron. It is
found in `experiments/` of heron's repository, where `HERON_FORKS` says (forks, or folders of forks
that are named `experiments`, separated as in `PATH`), and among installed packages (entry points in
the group `heron.forks`). Importing its `__init__.py` registers what it adds, see
`heron.base.registry`; its YAML is in `conf/` beside that file. No other place is searched, not the
working directory either: runs from somebody else may lie in it, beside an `experiments/` of theirs.
A run's stored configuration can name what a fork has registered, but it cannot name a module.
"""

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from heron.base.errors import ConfigError, HeronError, nearest
from heron.base.files import sha256_file
from heron.base.signals import end_with_parent
from heron.base.terminal import say

VERSION = "0.1.0"  # of heron
PACKAGE = "heron_forks"
GROUP = "heron.forks"  # of entry points
# An environment variable, because jobs, ranks and workers in other processes inherit it.
VARIABLE = "HERON_FORKS"
_FORKS = "experiments"  # a folder of forks


class ForkError(ConfigError):
    """A fork cannot be imported."""


def package() -> Path:
    """Name the folder of heron's own code."""
    return Path(__file__).resolve().parents[1]


def conf_dir() -> Path:
    """Find heron's own `conf`: that of the repository it is imported from, or the package's."""
    own = package().parents[1] / "conf"
    return own if (own / "train.yaml").is_file() else package() / "conf"


def experiment_roots() -> list[Path]:
    """List the folders whose `experiments/` count: heron's own, then those of `HERON_FORKS`."""
    roots = [conf_dir().parent]
    for folder in _named():
        if folder.name == _FORKS:
            roots.append(folder.absolute().parent)
    return roots


def conf_dirs(more: Sequence[Path] = ()) -> list[Path]:
    """List the `conf/` folders of heron, of forks and `more`; the first file of a name counts."""
    confs = [fork.conf for fork in find_forks(experiment_roots()) if fork.conf.is_dir()]
    return list(dict.fromkeys((conf_dir(), *confs, *more)))


def data_sets(more: Sequence[Path] = ()) -> dict[str, Path]:
    """Find all data sets by name; see `conf_dirs`."""
    paths: dict[str, Path] = {}
    for conf in conf_dirs(more):
        for path in conf.glob("data/*.yaml"):
            paths.setdefault(path.stem, path)
    return dict(sorted(paths.items()))


def config_groups() -> set[str]:
    """List the config groups; Hydra takes longer to list them than to compose a job."""
    folders = set()
    for conf in conf_dirs():
        for path in conf.iterdir():
            if path.is_dir():
                folders.add(path.name)
    return folders


def data_set_file(name: str) -> Path:
    """Find a data set's YAML by its name; a ConfigError where there is none."""
    paths = data_sets()
    if name not in paths:
        raise ConfigError(f"no data set '{name}'.{nearest(name, paths)} heron data lists all")
    return paths[name]


def shortened(path: Path) -> Path:
    """Make a path inside the working folder relative to it; others are kept."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def named_with(forks: Path) -> str:
    """Write `HERON_FORKS` with a further folder of forks; empty where that one is searched."""
    roots = [root.resolve() for root in experiment_roots()]
    if forks.resolve().parent in roots:
        return ""
    return os.pathsep.join(map(str, [*_named(), forks.absolute()]))


def default_data_dir() -> Path:
    """Name the folder of the data sets: `$HERON_DATA`, else `data` in the current folder."""
    return Path(os.environ.get("HERON_DATA") or "data")


def default_cache_dir() -> Path:
    """Name the cache folder: `$HERON_CACHE`, else `cache` here, or the user's if that is closed."""
    if named := os.environ.get("HERON_CACHE"):
        return Path(named)
    here = Path("cache")
    if os.access(here if here.exists() else ".", os.W_OK):
        return here
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "heron")
    say(f"{here.absolute()} cannot be written; the cache is {own} (HERON_CACHE)", "cache")
    return own


@dataclass(frozen=True, slots=True)
class Fork:
    """One fork: the name it is imported by, and its folder with `__init__.py`, `conf/` or both."""

    module: str
    folder: Path

    @property
    def conf(self) -> Path:
        """Its folder of YAML, which may not exist."""
        return self.folder / "conf"


def find_forks(roots: Sequence[Path]) -> list[Fork]:
    """List the forks; of two `experiments/` (of `roots`) with one name the first one counts."""
    folders: dict[str, Path] = {}
    for root in roots:
        for folder in sorted(root.glob(f"{_FORKS}/*/")):
            folders.setdefault(folder.name, folder)

    for folder in _named():
        name = folder.name
        if not _is_fork(folder):
            say(f"{VARIABLE}: no fork in {folder}: there is neither conf/ nor __init__.py")
        if name == _FORKS:
            continue
        other = folders.setdefault(name, folder)
        if other.resolve() != folder.resolve():
            raise ConfigError(f"two forks are named {name}, rename one: {other}, {folder}")

    forks = []
    for name, folder in folders.items():
        forks.append(Fork(f"{PACKAGE}.{name}", folder))
    return [*forks, *_installed()]


def _is_fork(folder: Path) -> bool:
    """Tell whether a folder is a fork, or a place for forks."""
    if folder.name == _FORKS:
        return folder.is_dir()
    return (folder / "conf").is_dir() or (folder / "__init__.py").is_file()


def add_forks(confs: Sequence[Path]) -> None:
    """Add the forks that `conf/` folders belong to, for this process and those that it starts."""
    for conf in confs:
        folder = conf.resolve().parent
        is_new = conf.name == "conf" and folder not in _named()
        if is_new and (folder / "__init__.py").is_file():
            os.environ[VARIABLE] = os.pathsep.join(map(str, [*_named(), folder]))


def _named() -> list[Path]:
    """List the folders that the environment variable names."""
    names = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [Path(name) for name in names if name]


@cache  # what is installed does not change while a process runs, and listing it takes 0.05 s
def _installed() -> tuple[Fork, ...]:
    """List the installed forks: packages that name themselves by an entry point."""
    forks = []
    for entry in entry_points(group=GROUP):
        top, *inner = entry.module.split(".")
        spec = importlib.util.find_spec(top)
        locations = spec.submodule_search_locations if spec else None
        folder = Path(locations[0] if locations else top, *inner)
        if folder.is_dir() or folder.with_suffix(".py").is_file():  # else it has been deleted
            forks.append(Fork(entry.module, folder))
    return tuple(forks)


def load_forks(roots: Sequence[Path]) -> None:
    """Import the forks with Python that are not imported yet; an error names file and line."""
    forks = find_forks(roots)
    here = Path("experiments").resolve()
    searched = {fork.folder.parent.resolve() for fork in forks}
    if here not in searched and any(here.glob("*/__init__.py")):
        say(f"{here} is not searched for forks unless {VARIABLE} names it")

    # A package without files, so that a fork's modules import each other by their full names.
    package = sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
    in_folders = [fork for fork in forks if fork.module.startswith(f"{PACKAGE}.")]
    parents = dict.fromkeys(str(fork.folder.parent) for fork in in_folders)
    package.__path__ = list(parents)
    importlib.invalidate_caches()

    for fork in forks:
        # An installed fork may be a module of one file.
        has_code = fork not in in_folders or (fork.folder / "__init__.py").is_file()
        if has_code and fork.module not in sys.modules:
            _import(fork)


def _import(fork: Fork) -> None:
    """Import a fork; a ForkError names the line of its own code where that failed."""
    try:
        importlib.import_module(fork.module)
    except (Exception, SystemExit) as error:
        where = _where(error, fork.folder)
        if isinstance(error, HeronError):
            raise ForkError(f"{where}: {error}") from error
        what = type(error).__name__
        if str(error):
            what += f": {str(error).splitlines()[0]}"
        raise ForkError(f"{where} cannot be imported: {what}") from error


def _where(error: BaseException, folder: Path) -> str:
    """Name the place in a fork's own files where an error was raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).resolve().is_relative_to(folder.resolve()):
            return f"{frame.filename}:{frame.lineno}"
    return str(folder / "__init__.py")


def code_hashes(part: Any) -> list[str]:
    """Hash the Python that a function or class is written in: all files of its fork.

    For code in no fork, only its own file; none for heron's own, whose caches have versions.
    """
    while isinstance(part, partial):
        part = part.func
    name = str(part.__module__)
    if f"{name}.".startswith("heron."):
        return []
    for fork in find_forks(experiment_roots()):
        if f"{name}.".startswith(f"{fork.module}.") and fork.folder.is_dir():
            return [sha256_file(path) for path in sorted(fork.folder.rglob("*.py"))]
    file = getattr(sys.modules.get(name), "__file__", None)
    return [sha256_file(Path(file))] if file else []


def begin_worker(roots: Sequence[Path]) -> None:
    """Begin a worker process: it ends with its parent and can run functions of forks."""
    end_with_parent()
    load_forks(roots)
