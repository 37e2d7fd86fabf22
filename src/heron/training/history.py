"""`metrics.csv`: losses and validation scores, exact across a resume."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import Logger

from heron.base import ranks
from heron.base.files import atomic_open


class History(Logger):
    """Collects logged metrics as rows and writes them as one CSV, atomically.

    The rows travel in the checkpoint (see `runtime.checkpointing`), so that a resumed run's file
    equals that of a run that was never stopped.

    Args:
        path: the CSV file.
    """

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.rows: list[dict[str, float]] = []

    @property
    def name(self) -> str:
        """The file's stem."""
        return self.path.stem

    @property
    def version(self) -> str:
        """Always empty: the run folder names the run."""
        return ""

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Add one row."""
        self.rows.append({"step": float(step or 0), **{k: float(v) for k, v in metrics.items()}})

    def values(self, metric: str) -> list[float]:
        """List what was logged under a name, in order."""
        return [row[metric] for row in self.rows if metric in row]

    def log_hyperparams(self, *args: Any) -> None:
        """Do nothing: `config.yaml` holds the configuration."""

    def finalize(self, status: str) -> None:
        """Write the file when training ends, however it ends."""
        if not ranks.is_first():
            return
        try:
            self.write()
        except OSError:
            # After a failure, which this must not hide: a full disk was told already.
            if status == "success":
                raise

    def write(self) -> None:
        """Write all rows; columns in order of appearance, empty where a row has no value."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        leading = [key for key in ("epoch", "step") if key in columns]
        columns = leading + [key for key in columns if key not in leading]
        with atomic_open(self.path) as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            for row in self.rows:
                writer.writerow({key: _tidy(key, value) for key, value in row.items()})


def _tidy(key: str, value: float) -> float | int:
    return int(value) if key in ("epoch", "step") else value
