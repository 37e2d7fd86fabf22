"""Progress bars on terminals, silence in files."""

from __future__ import annotations

import sys

import pytorch_lightning as pl
from pytorch_lightning.callbacks import RichProgressBar


def progress_bar(wanted: bool | None) -> list[pl.Callback]:
    """Make the training progress bar.

    Args:
        wanted: show it or not; None shows it when standard output is a terminal.
    """
    shown = sys.stdout.isatty() if wanted is None else wanted
    return [RichProgressBar()] if shown else []
