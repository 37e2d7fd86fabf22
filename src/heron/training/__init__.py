"""Training a run: job, trainer, checkpoints, inference and the run's life-cycle."""

from pathlib import Path

from heron.base.registry import Hook
from heron.base.run_folder import RunFolder

# Draws the data map of a run, if it is out of date, and returns the file's path. The layer of
# reports does it; W&B's artifact holds the file.
draw_map: Hook[[RunFolder], Path] = Hook()
