"""Fresh processes for measurements, and the folders that they need."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).parents[2]


def environment(threads: int) -> dict[str, str]:
    """Set up a measuring process: so many threads, no network, no fight over cores."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        # A thread that spins while another is preempted burns the time it is measured by.
        "GOMP_SPINCOUNT": "1000",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
    }


def folder(given: Path | None, variable: str) -> Path | None:
    """Take the folder that was given, or else the one that an environment variable names."""
    if given is None and os.environ.get(variable):
        given = Path(os.environ[variable])
    return given.resolve() if given else None


def missing_encoder(encoder: Path | None) -> list[str]:
    """Say that there is no encoder, where there is none."""
    if encoder is not None and (encoder / "config.json").is_file():
        return []
    return [f"no encoder ({encoder}): set HERON_ENCODER or encoder= to its folder"]


def wide_console() -> Console:
    """Print tables whole into files and pipes, which have no width of their own."""
    console = Console()
    return console if console.is_terminal else Console(width=120)
