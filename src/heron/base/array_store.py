"""Memory-mapped arrays on disk, keyed by content; damaged ones are built again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.files import read_json, stored_folder, write_json

Arrays = dict[str, np.ndarray]


def load_or_build(
    cache: Path, kind: str, key: str, build: Callable[[], tuple[Arrays, Mapping[str, Any]]]
) -> tuple[Arrays, dict[str, Any]]:
    """Open the arrays of `<cache>/<kind>/<key>/`, building and storing them first where needed.

    `key` is a fingerprint of everything that decides the arrays; `build` makes them, and what else
    to keep as JSON. Returns both; the arrays are memory-mapped and read-only.
    """

    def store(folder: Path) -> None:
        arrays, rest = build()
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        write_json(folder / "meta.json", {"arrays": list(arrays), "rest": rest})

    folder = stored_folder(cache / kind / key[:32], store)
    meta = read_json(folder / "meta.json")
    opened = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in meta["arrays"]}
    return opened, meta["rest"]
