"""The state of every random generator, for an exact resume."""

import random
from typing import Any

import numpy as np
import torch


def random_state() -> dict[str, Any]:
    """Capture every generator as tensors and plain values, so that no pickle is needed."""
    kind, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    keys_tensor = torch.from_numpy(np.asarray(keys, dtype=np.int64))
    version, internal, gauss_next = random.getstate()
    return {
        "torch": torch.get_rng_state(),
        # This process's own device only: another machine may have fewer, or none.
        "cuda": [torch.cuda.get_rng_state()] if torch.cuda.is_available() else [],
        "numpy": [kind, keys_tensor, position, has_gauss, gauss],
        "python": [version, list(internal), gauss_next],
    }


def restore_random_state(state: dict[str, Any]) -> None:
    """Set every generator to what `random_state` has captured."""
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"][0])
    kind, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), position, has_gauss, gauss))
    version, internal, gauss_next = state["python"]
    random.setstate((version, tuple(internal), gauss_next))
