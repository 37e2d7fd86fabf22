"""Files that are either whole or absent: atomic writes, JSON, YAML, arrays, hashes, locks."""

from __future__ import annotations

import fcntl
import functools
import glob
import hashlib
import itertools
import json
import os
import pickle
import re
import shutil
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import yaml

from heron.base.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

SEAL = "checksums.json"
# One half of a surrogate pair without the other, as JSON writes them.
_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_DEEPEST = 100  # levels of YAML: libyaml crashes somewhere beyond 10,000
_TOP_LEVEL = re.compile(r"^(?=\w)", re.M)  # where a key of the top level begins
_DOCUMENT = re.compile(r"^(?:---|\.\.\.|%)", re.M)  # where one of several documents begins
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")  # how Rust shows an errno
# Hydra's numbers: `1e-5` is a number, not text.
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")

# From inside an object: a brace that closes it, after objects inside it that are closed.
_ENDS_ABOVE = re.compile(r"[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")

Arrays: TypeAlias = "dict[str, np.ndarray]"
Version = tuple[str, int, int, int, int]  # path, times of change, size, inode
# Module globals: a hash depends on a file's version only, and locks belong to the process.
_hashes: dict[Version, str] = {}
_locks: list[IO[Any]] = []  # held by this process, to be closed in its forks


@contextmanager
def atomic_open(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`, which replaces it if the block raises nothing.

    An OSError (a full disk) names `path`. Temporary files of killed processes are removed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_half_written(path.parent.glob(f".{glob.escape(path.name)}.*"))
    encoding = None if "b" in mode else "utf-8"
    mark = f".{path.name}.{socket.gethostname()}-{os.getpid()}."
    handle, name = tempfile.mkstemp(prefix=mark, dir=path.parent)
    try:
        newline = None if "b" in mode else ""
        with os.fdopen(handle, mode, encoding=encoding, newline=newline) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        _name(error, path)
        raise


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file as `atomic_open` does; returns its path."""
    with atomic_open(path, "wb" if isinstance(content, bytes) else "w") as file:
        file.write(content)
    return path


def _name(error: BaseException, path: Path) -> None:
    """Add the path to an OSError that has an errno but no path."""
    # Without an errno, a file name would replace the message.
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        error.filename = str(path)


@contextmanager
def system_errors(path: Path) -> Iterator[None]:
    """Raise an OSError of `path` where a library in Rust wraps one (a full disk) in its own."""
    try:
        yield
    except Exception as error:
        wrapped = _SYSTEM_ERROR.search(str(error))
        if wrapped is None or isinstance(error, OSError):
            raise
        number = int(wrapped[1])
        raise OSError(number, os.strerror(number), str(path)) from error


def remove_half_written(paths: Iterable[Path]) -> None:
    """Remove those files and folders that killed processes of this machine left half-written."""
    host = re.escape(socket.gethostname())
    temporary = re.compile(rf"\..+\.{host}-(\d+)\.\w{{8}}")
    for path in list(paths):
        match = temporary.fullmatch(path.name)
        if match is None or _lives(int(match[1])):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Make a temporary folder that replaces `folder`, sealed, if the block raises nothing.

    Temporary folders of killed processes are removed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_half_written(folder.parent.glob(f".{glob.escape(folder.name)}.*"))
    mark = f".{folder.name}.{socket.gethostname()}-{os.getpid()}."
    temporary = Path(tempfile.mkdtemp(prefix=mark, dir=folder.parent))
    try:
        yield temporary
        seal(temporary)
        os.chmod(temporary, 0o755)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(temporary, folder)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError) and str(error.filename).startswith(str(temporary)):
            error.filename = None  # the folder that the user has named instead
        _name(error, folder)
        raise


def stored_folder(folder: Path, build: Callable[[Path], object]) -> Path:
    """Call `build` to fill a folder, unless it exists undamaged; other processes wait meanwhile."""
    with locked(folder.with_suffix(".lock")):
        if damaged_files(folder) != []:
            with atomic_folder(folder) as temporary:
                build(temporary)
    return folder


def load_or_build(
    cache: Path, kind: str, key: str, build: Callable[[], tuple[Arrays, Mapping[str, Any]]]
) -> tuple[Arrays, dict[str, Any]]:
    """Open the arrays of `<cache>/<kind>/<key>/`, building and storing them first where needed.

    `key` is a fingerprint of everything that decides the arrays; `build` makes them, and
    further values, kept as JSON. Returns both; the arrays are memory-mapped and read-only.
    """

    import numpy as np  # start-up time

    def store(folder: Path) -> None:
        arrays, rest = build()
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        write_json(folder / "meta.json", {"arrays": list(arrays), "rest": rest})

    folder = stored_folder(cache / kind / key[:32], store)
    meta = read_json(folder / "meta.json")
    opened = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in meta["arrays"]}
    return opened, meta["rest"]


def seal(folder: Path) -> None:
    """Write the SHA-256 of a folder's files, except hidden ones, to `checksums.json` in it."""
    hashes = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != SEAL and not path.name.startswith("."):
            hashes[path.name] = sha256_file(path)
    write_json(folder / SEAL, hashes)


def damaged_files(folder: Path) -> list[str] | None:
    """Name the files of a sealed folder that are missing or changed; None without a seal."""
    if not (folder / SEAL).is_file():
        return None
    try:
        hashes = dict(read_json(folder / SEAL))
    except (ValueError, TypeError):
        return [SEAL]
    damaged = []
    for name, expected in hashes.items():
        path = folder / name
        if not path.is_file() or sha256_file(path) != expected:
            damaged.append(name)
    return damaged


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as readable UTF-8 JSON, atomically; keys keep their order."""
    with atomic_open(path) as file:
        json.dump(value, file, ensure_ascii=False, indent=2)
        file.write("\n")


def read_json(path: Path | str) -> Any:
    """Read a file with one JSON value, as `parse_json` does."""
    return parse_json(Path(path).read_text(encoding="utf-8"))


def parse_json(text: str, halves: bool = False, **options: Any) -> Any:
    """Read one JSON value as `json.loads` does, with `options` for it.

    Every error is a JSONDecodeError. So is a key that an object has twice, of which `json.loads`
    takes the last value; and half a surrogate pair (`"\\ud800"`), because it is not valid UTF-8;
    `halves` allows it.
    """
    options = {"object_pairs_hook": _unrepeated, **options}
    try:
        value = json.loads(text, **options)
        half = None
        if not halves and "\\u" in text:
            half = _HALF.search(text)
        if half:  # or only an escaped backslash before a `u`: encoding tells
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError("nested too deeply", text, 0) from error
    except _RepeatedKeyError as error:
        raise json.JSONDecodeError(str(error), text, _place_of_repeated(text, error.key)) from error
    except UnicodeEncodeError as error:
        assert half is not None
        raise json.JSONDecodeError(f"{half[0]} is no character", text, half.start()) from error
    except ValueError as error:  # a number too long for Python
        raise json.JSONDecodeError(str(error).partition(";")[0], text, 0) from error
    return value


class _RepeatedKeyError(ValueError):
    """An object has a key twice."""

    def __init__(self, key: str):
        super().__init__(f"key '{key}' is there twice")
        self.key = key


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values; a _RepeatedKeyError where a key is repeated."""
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _RepeatedKeyError(next(name for name in counts if counts[name] > 1))
    return value


def _place_of_repeated(text: str, key: str) -> int:
    """Find where a key that an object has twice is repeated: no object ends between the two."""
    written = re.escape(json.dumps(key, ensure_ascii=False))
    places = [match.start() for match in re.finditer(rf"{written}\s*:", text)]
    for first, second in itertools.pairwise(places):
        if not _ENDS_ABOVE.match(text, first, second):
            return second
    return 0


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader with Hydra's numbers; a key that is there twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Make a dictionary; of a repeated key, PyYAML takes the last value."""
        names = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in names:
                problem = f"found duplicate key {key.value}"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            names.add(key.value)
        return dict(super().construct_mapping(node, deep))


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """PyYAML's safe dumper; quotes text that a reader would take for such a number."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values in full, without aliases."""
        return True


for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789"))


def dump_yaml(value: Any) -> str:
    """Write plain dictionaries, lists, texts and numbers as YAML; keys keep their order."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True))


def parse_yaml(text: str, change: Callable[[yaml.Node], None] | None = None) -> Any:
    """Read YAML; raises a ConfigError if it is invalid, nested too deeply, or holds aliases.

    `change` may change the tree before its values are made.
    """
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.AliasEvent):  # a few expand to billions of values
                raise ValueError(f"*{event.anchor}, an alias: write the values out")
            if depth > _DEEPEST:
                raise ValueError(f"over {_DEEPEST} levels: write the values out")
        loader = _Loader(text)
        node = loader.get_single_node()
        if node and change:
            change(node)
        return loader.construct_document(node) if node else None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not valid YAML: {yaml_problem(error)}") from error


def yaml_problem(error: Exception) -> str:
    """Say on one line what is wrong with a YAML file, and in which line."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return f"line {line}: not UTF-8: byte 0x{error.object[error.start]:02x}"
    return " ".join(str(error).split())


def read_yaml(path: Path, change: Callable[[yaml.Node], None] | None = None) -> Any:
    """Read a YAML file as `parse_yaml` does; its errors name the file.

    What several files have in common, under a key of the top level, is parsed once: the runs of a
    sweep differ in few keys.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        if change:
            return parse_yaml(text, change)
        with suppress(ConfigError, TypeError):
            parts = [pickle.loads(_parsed(part)) for part in _TOP_LEVEL.split(text) if part]
            values: dict[Any, Any] = {}
            for part in parts:
                values |= part
            if values and len(values) == len(parts):  # no key is repeated
                return values
        return parse_yaml(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: {yaml_problem(error)}") from error


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> bytes:
    """Parse a part of a file, one key and its value, and pickle it; None for anything else."""
    part = parse_yaml(text)
    is_entry = isinstance(part, dict) and len(part) == 1 and not _DOCUMENT.search(text)
    return pickle.dumps(part if is_entry else None)


def sha256_file(path: Path | str) -> str:
    """Hash a file to its hexadecimal SHA-256; a process reads each version of a file once."""
    path = Path(path).absolute()
    state = path.stat()
    version = (str(path), state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
    if version not in _hashes:
        with open(path, "rb") as file:
            _hashes[version] = hashlib.file_digest(file, "sha256").hexdigest()
    return _hashes[version]


def git_blob(path: Path) -> str:
    """Name a file's bytes as git does: the SHA-1 of `blob <size>`, a zero byte and the bytes."""
    content = path.read_bytes()
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def known_hashes() -> dict[Version, str]:
    """List the hashes that this process knows, for other processes."""
    return dict(_hashes)


def remember_hashes(hashes: Mapping[Version, str]) -> None:
    """Add hashes that another process has computed."""
    _hashes.update(hashes)


def fingerprint(*parts: Any) -> str:
    """Hash JSON-like values into 64 hexadecimal digits: keys sorted; iterators count as lists."""
    encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode
    digest = hashlib.sha256()

    def add(values: Iterable[Any]) -> None:
        digest.update(b"[")
        for place, value in enumerate(values):
            digest.update(b", " if place else b"")
            if isinstance(value, Iterator):
                add(value)
            else:
                digest.update(encode(value).encode())
        digest.update(b"]")

    add(parts)
    return digest.hexdigest()


def is_locked(path: Path | str) -> bool:
    """Tell whether a process of this machine holds a lock; writes nothing."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # absent, a link, not readable, or without locks: treated as free
        pass
    return False


@contextmanager
def locked(path: Path | str, wait: bool = True) -> Iterator[None]:
    """Hold an exclusive lock on `path` (created if absent); other processes wait.

    The operating system releases it when the process ends. Forks of the process (a loader's
    workers) do not hold it. The filelock package leaves a marker file after a kill.

    Raises:
        BlockingIOError: without `wait`, when another process holds the lock.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without truncation, and not through a link.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    with os.fdopen(handle, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            _name(error, path)
            raise
        _locks.append(file)
        try:
            yield
        finally:
            _locks.remove(file)


def _drop_locks() -> None:
    """Close the parent's locks in a forked process, which could outlive it and keep them."""
    for file in _locks:
        file.close()


os.register_at_fork(after_in_child=_drop_locks)
