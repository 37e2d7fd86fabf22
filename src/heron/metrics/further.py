"""Scores that forks add (`task.metrics`), computed from the columns of a predictions file.

Legend: R rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heron.base.errors import ConfigError
from heron.config.registries import METRICS


def further_scores(
    names: Sequence[str], columns: Mapping[str, Sequence[Any]], task: str
) -> dict[str, float]:
    """Compute scores over the labelled rows of a split.

    Args:
        names: of registered metrics.
        columns: as in `predictions/<split>.parquet`: guid, gold (None without a label), prediction.
        task: whose predictions they are.

    Returns:
        Fractions by name; none without a labelled row.

    Raises:
        ConfigError: a metric is for other tasks.
    """
    labelled = [row for row, gold in enumerate(columns["gold"]) if gold is not None]
    kept = {name: [values[row] for row in labelled] for name, values in columns.items()}
    found: dict[str, float] = {}
    for name in names if labelled else ():
        metric = METRICS[name]
        if metric.tasks and task not in metric.tasks:
            raise ConfigError(f"task.metrics: {name} is for task={' or '.join(metric.tasks)}")
        if metric.of_rows is not None:
            found[name] = float(row_values(name, kept).mean())
        if metric.of_split is not None:
            found |= {each: float(value) for each, value in metric.of_split(kept).items()}
    return found


def row_values(name: str, columns: Mapping[str, Sequence[Any]]) -> np.ndarray:
    """Compute the value of each row, float64 [R], whose mean is the score `name`.

    Args:
        name: of a registered metric.
        columns: of labelled rows.

    Raises:
        ConfigError: the metric has no values of rows, or not one for each.
    """
    metric = METRICS[name]
    if metric.of_rows is None:
        raise ConfigError(f"metric={name} has no value for each row (Metric.of_rows) to compare")
    values_R = np.asarray(metric.of_rows(columns), dtype=np.float64)
    rows = len(columns["gold"])
    if values_R.shape != (rows,):
        raise ConfigError(f"metric={name}: an array of shape {values_R.shape} for {rows} rows")
    return values_R
