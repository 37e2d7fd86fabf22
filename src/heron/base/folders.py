"""Where configuration and forks are found, and how forks are imported.

A fork is a folder with Python and YAML that adds languages, tasks, heads and more to heron. It is
found in `experiments/` of heron's repository and of the working directory, where `HERON_FORKS` says
(folders, separated as in `PATH`), and among installed packages (entry points in the group
`heron.forks`). Importing its `__init__.py` registers what it adds, see `heron.base.registry`; its
YAML is in `conf/` beside that file. No other place is searched: a run's stored configuration can
name what a fork has registered, but it cannot name a module.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import heron
from heron.base.errors import ConfigError, HeronError, nearest

PACKAGE = "heron_forks"
GROUP = "heron.forks"  # of entry points
# An environment variable, because jobs, ranks and workers in other processes inherit it.
VARIABLE = "HERON_FORKS"


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
        heron's `conf`, that of every fork (see `heron.base.folders`), and `more`.
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


@dataclass(frozen=True, slots=True)
class Fork:
    """One fork.

    Args:
        module: the name that it is imported by.
        folder: holds `__init__.py`, `conf/` or both.
    """

    module: str
    folder: Path

    @property
    def has_code(self) -> bool:
        """Tell whether there is something to import."""
        return not self.module.startswith(PACKAGE) or (self.folder / "__init__.py").is_file()

    @property
    def conf(self) -> Path:
        """Its folder of YAML, which may not exist."""
        return self.folder / "conf"


def find_forks(roots: Sequence[Path]) -> list[Fork]:
    """List the forks; of two `experiments/` with a folder of one name the first one counts.

    Args:
        roots: folders whose `experiments/` hold forks.

    Raises:
        ConfigError: a folder in `HERON_FORKS` has the name of another fork.
    """
    found: dict[str, Path] = {}
    for root in roots:
        for folder in sorted(root.glob("experiments/*/")):
            found.setdefault(folder.name, folder)
    for folder in map(Path, _named()):
        other = found.setdefault(folder.name, folder)
        if other.resolve() != folder.resolve():
            raise ConfigError(f"two forks are named {folder.name}, rename one: {other}, {folder}")
    return [*(Fork(f"{PACKAGE}.{name}", path) for name, path in found.items()), *_installed()]


def add_forks(confs: Sequence[Path]) -> None:
    """Let the forks of some `conf/` folders count, in this process and in those that it starts.

    Args:
        confs: folders of YAML; the folder above one is a fork where it holds `__init__.py`.
    """
    for folder in (str(conf.resolve().parent) for conf in confs if conf.name == "conf"):
        if Path(folder, "__init__.py").is_file() and folder not in _named():
            os.environ[VARIABLE] = os.pathsep.join([*_named(), folder])


def set_named_forks(named: str) -> None:
    """Look for the forks of another process, where its environment is not inherited.

    Args:
        named: the value of `HERON_FORKS` there.
    """
    os.environ[VARIABLE] = named


def named_forks() -> str:
    """Read `HERON_FORKS`."""
    return os.environ.get(VARIABLE, "")


def _named() -> list[str]:
    return [name for name in named_forks().split(os.pathsep) if name]


def load_forks(roots: Sequence[Path]) -> None:
    """Import every fork with Python that is not imported yet.

    Args:
        roots: as in `find_forks`.

    Raises:
        ConfigError: a fork cannot be imported; names file, line and error.
    """
    for fork in find_forks(roots):
        if fork.module in sys.modules or not fork.has_code:
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


def _where(error: Exception, folder: Path) -> str:
    """Name the place in a fork's own files where an error was raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else str(folder / "__init__.py")


@cache  # what is installed does not change while a process runs, and listing it takes 0.05 s
def _installed() -> tuple[Fork, ...]:
    return tuple(_packages())


def _packages() -> Iterator[Fork]:
    for entry in entry_points(group=GROUP):
        top, *inner = entry.module.split(".")
        spec = importlib.util.find_spec(top)
        locations = (spec.submodule_search_locations or ()) if spec else ()
        yield Fork(entry.module, Path(next(iter(locations), top), *inner))
