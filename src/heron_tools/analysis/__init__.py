"""Scores of a run by slice, and statistics of a data set (`heron analyze`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.errors import ConfigError
from heron.commands import COMMANDS, LOOK, Command
from heron.tasks import FORK_ANALYSES

if TYPE_CHECKING:  # start-up time
    from heron.data.config import DataConfig
    from heron.results.shipped import Shipped
    from heron_tools.analysis.slicing import Slicer, Split
    from heron_tools.statistics.options import AnalyzeOptions
    from heron_tools.statistics.outcome import AnalysisResult

    Describe = Callable[[Shipped, AnalyzeOptions], AnalysisResult]


def slicer_of(split: Split) -> Slicer:
    """Build the slicer of a run's split, by its task.

    Raises:
        ConfigError: no analysis is registered for its task.
    """
    from heron.tasks.task import task_of
    from heron_tools.analysis.labels import slice_labels

    task = split.data.task
    find = FORK_ANALYSES.find(f"slices of {task}")
    if find is None and not task_of(split.data).has_classes:
        raise ConfigError(f"run=: no analysis for task={task}; predictions/<split>.parquet has all")

    return (find or slice_labels)(split)


def statistics_of(config: DataConfig, options: AnalyzeOptions) -> Describe:
    """Choose the statistics of a data set, by its task."""
    from heron_tools.statistics.labels import describe_labels

    return FORK_ANALYSES.find(f"statistics of {config.task}") or describe_labels


@FORK_ANALYSES.late("slices of summarization")
def _summaries() -> Callable[[Split], Slicer]:
    from heron_tools.analysis.summaries import slice_summaries

    return slice_summaries


@FORK_ANALYSES.late("statistics of summarization")
def _articles() -> Describe:
    from heron_tools.statistics.summaries import describe_summaries

    return describe_summaries


_HELP = Path(__file__).with_name("analyze.txt")
COMMANDS.register("analyze", Command(f"{__name__}.command", _HELP, group=LOOK))
