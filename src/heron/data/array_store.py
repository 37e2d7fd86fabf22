"""Arrays on disk: memory-mapped, keyed by content, whole or rebuilt.

One folder per key: `<cache>/<kind>/<key>/` holds an `.npy` file per array and `meta.json` with the
hash of each. Two processes that need the same key at once: one builds, the other waits.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heron.files import locked, read_json, sha256_file, write_json

Arrays = dict[str, np.ndarray]


def load_or_build(
    cache: Path, kind: str, key: str, build: Callable[[], tuple[Arrays, Mapping[str, Any]]]
) -> tuple[Arrays, dict[str, Any]]:
    """Open the arrays stored under `key`, building and storing them first where needed.

    Args:
        cache: the cache folder.
        kind: its sub-folder, such as `features`.
        key: hexadecimal fingerprint of everything that decides the arrays.
        build: makes the arrays, and what else to keep as JSON; called at most once, by one process
            at a time.

    Returns:
        The arrays, memory-mapped and read-only, and the rest.
    """
    folder = cache / kind / key[:32]
    with locked(folder.with_suffix(".lock")):
        if not _is_whole(folder):
            _store(folder, *build())
    meta = read_json(folder / "meta.json")
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in meta["sha256"]}
    return arrays, meta["rest"]


def _store(folder: Path, arrays: Arrays, rest: Mapping[str, Any]) -> None:
    for left_behind in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(left_behind)  # by a killed builder: the lock is ours now
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array)
        hashes = {name: sha256_file(temporary / f"{name}.npy") for name in arrays}
        write_json(temporary / "meta.json", {"sha256": hashes, "rest": rest})
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _is_whole(folder: Path) -> bool:
    """Check every array against its stored hash; a damaged entry counts as absent."""
    try:
        hashes = read_json(folder / "meta.json")["sha256"]
        return all(sha256_file(folder / f"{name}.npy") == hashes[name] for name in hashes)
    except (OSError, ValueError, KeyError):
        return False
