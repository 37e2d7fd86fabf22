"""Tokenized splits on disk: `Features` in an array store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heron.base import array_store
from heron.base.errors import Problem
from heron.data.features import Features

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
OPTIONAL = (
    "answers_S2",
    "chars_T2",
    "fits_R",
    "targets_T",
    "target_offsets_R",
    "target_cut_R",
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

    def parts() -> tuple[array_store.Arrays, dict[str, Any]]:
        features = build()
        rest = {"guids": features.guids, "refused": [asdict(p) for p in features.refused]}
        arrays = {name: getattr(features, name) for name in (*ARRAYS, *OPTIONAL)}
        return {name: array for name, array in arrays.items() if array is not None}, rest

    arrays, rest = array_store.load_or_build(cache, "features", key, parts)
    refused = [Problem(**problem) for problem in rest["refused"]]
    return Features(**arrays, guids=rest["guids"], refused=refused)
