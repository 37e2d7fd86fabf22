"""Tokenized splits on disk: memory-mapped, keyed by content, whole or rebuilt.

One folder per key: `<cache>/features/<key>/` holds an `.npy` file per array and `meta.json` with
the hash of each. Two processes that need the same key at once: one builds, the other waits.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from heron.data.features import Features
from heron.errors import Problem
from heron.files import locked, read_json, sha256_file, write_json

ARRAYS = (
    "tokens_T",
    "offsets_S",
    "second_S",
    "sequences_R",
    "spans_R4",
    "markers_R2",
    "labels_R",
    "truncated_R",
)


def load_or_build(cache: Path, key: str, build: Callable[[], Features]) -> Features:
    """Open the features stored under `key`, building and storing them first where needed.

    Args:
        cache: the cache folder.
        key: hexadecimal fingerprint of everything that decides the features.
        build: makes them; called at most once, by one process at a time.

    Returns:
        Features whose arrays are memory-mapped, read-only.
    """
    folder = cache / "features" / key[:32]
    with locked(folder.with_suffix(".lock")):
        if not _is_whole(folder):
            _store(folder, build())
    return _open(folder)


def _store(folder: Path, features: Features) -> None:
    for left_behind in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(left_behind)  # by a killed builder: the lock is ours now
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name in ARRAYS:
            np.save(temporary / f"{name}.npy", getattr(features, name))
        meta = {
            "sha256": {name: sha256_file(temporary / f"{name}.npy") for name in ARRAYS},
            "guids": features.guids,
            "refused": [asdict(problem) for problem in features.refused],
        }
        write_json(temporary / "meta.json", meta)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _is_whole(folder: Path) -> bool:
    """Check every array against its stored hash; a damaged entry counts as absent."""
    try:
        hashes = read_json(folder / "meta.json")["sha256"]
        return all(sha256_file(folder / f"{name}.npy") == hashes[name] for name in ARRAYS)
    except (OSError, ValueError, KeyError):
        return False


def _open(folder: Path) -> Features:
    meta = read_json(folder / "meta.json")
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
    refused = [Problem(**problem) for problem in meta["refused"]]
    return Features(**arrays, guids=meta["guids"], refused=refused)
