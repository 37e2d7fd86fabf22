"""Scores by name: which are minimised, ROUGE's names, and the scores that forks register.

Legend: R rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from heron.base.errors import ConfigError
from heron.metrics import METRICS, TableColumns, require_rows

LOSS = "loss"  # on validation, as `metrics.csv` has it for each epoch
# The complete list: of all other scores more is better.
_MINIMISED = (LOSS, "perplexity", "ece", "mce", "brier")

MEASURES = ("rouge1", "rouge2", "rougeL")
PROFILES = ("xlsum", "heron")  # ways to split a text into tokens, see `heron.metrics.rouge`
COPIES = ("lead3", "oracle")  # extractive systems, as prefixes of scores
COPIED_NOTE = (
    "lead3: the article's first three sentences; oracle: at most three, chosen greedily by the "
    "reference."
)


def is_minimised(metric: str) -> bool:
    """Tell whether less of a metric is better."""
    return metric in _MINIMISED


def signed(metric: str, value: float) -> float:
    """Give a value the sign with which more is better."""
    return -value if is_minimised(metric) else value


def rouge_names() -> list[str]:
    """List every ROUGE score; names without a profile are those of the standard one, XL-Sum's."""
    return [*MEASURES, *(f"{measure}_heron" for measure in MEASURES)]


def copied_names(metric: str) -> list[str]:
    """Name the extractive systems' values of a ROUGE score (`lead3_rouge1`), to be shown beside it.

    Empty for other scores.
    """
    if metric not in rouge_names():
        return []
    return [f"{copy}_{metric}" for copy in COPIES]


def with_copied(metrics: Iterable[str], present: Iterable[str]) -> list[str]:
    """List each score, followed by those of its `copied_names` that are among `present`."""
    known = set(present)
    names = []
    for metric in metrics:
        names.append(metric)
        names += [copied for copied in copied_names(metric) if copied in known]
    return names


def is_copied(metric: str) -> bool:
    """Tell whether a score is an extractive system's, such as `lead3_rouge1`."""
    prefix, _, rest = metric.partition("_")
    return prefix in COPIES and metric in copied_names(rest)


class _Columns(dict[str, Sequence[Any]]):
    """A split's columns for a fork's metric; an absent one raises a ConfigError with all names."""

    def __init__(self, columns: TableColumns, metric: str):
        super().__init__(columns)
        self.metric = metric

    def __missing__(self, name: str) -> Sequence[Any]:
        names = ", ".join(self)
        raise ConfigError(f"metric={self.metric}: no column '{name}'; there are {names}")


def further_scores(names: Sequence[str], columns: TableColumns, task: str) -> dict[str, float]:
    """Compute registered scores (`task.metrics`) over the labelled rows of a split.

    Args:
        names: of the metrics.
        columns: as in `predictions/<split>.parquet`; gold is None without a label.
        task: of the predictions.

    Returns:
        Fractions by name; empty without a labelled row.

    Raises:
        ConfigError: a metric is for other tasks, or needs a column that is not there.
    """
    rows = [row for row, gold in enumerate(columns["gold"]) if gold is not None]
    if not rows:
        return {}
    labelled = {name: [values[row] for row in rows] for name, values in columns.items()}

    scores: dict[str, float] = {}
    for name in names:
        metric = METRICS[name]
        if metric.tasks and task not in metric.tasks:
            tasks = " or ".join(metric.tasks)
            raise ConfigError(f"task.metrics: {name} is for task={tasks}")
        if metric.of_rows is not None:
            scores[name] = float(row_values(name, labelled).mean())
        if metric.of_split is not None:
            for score, value in metric.of_split(_Columns(labelled, name)).items():
                scores[score] = float(value)
    return scores


def row_values(name: str, columns: TableColumns) -> np.ndarray:
    """Compute a registered metric's value of each labelled row, float64 [R].

    Raises:
        ConfigError: the metric has no values of rows, or needs a column that is not there.
        DataError: it has not one value for each row.
    """
    metric = METRICS[name]
    if metric.of_rows is None:
        raise ConfigError(f"metric={name} has no value for each row (Metric.of_rows) to compare")
    values_R = np.asarray(metric.of_rows(_Columns(columns, name)), dtype=np.float64)
    require_rows(f"metric={name}", columns["gold"], values_R)
    return values_R
