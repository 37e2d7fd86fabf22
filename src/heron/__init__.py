"""heron: Hebrew, Romanian, NLU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heron.data.datamodule import DataModule
    from heron.training.compose import compose
    from heron.training.recorder import Recorder
    from heron.training.trainer import build_module

__version__ = "0.1.0"
__all__ = ["DataModule", "Recorder", "build_module", "compose"]

_HOMES = {
    "compose": "heron.training.compose",
    "DataModule": "heron.data.datamodule",
    "build_module": "heron.training.trainer",
    "Recorder": "heron.training.recorder",
}


def __getattr__(name: str) -> Any:
    """Import a public name where it is used first: `import heron` alone loads no torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'heron' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
