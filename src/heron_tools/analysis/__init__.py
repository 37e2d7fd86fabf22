"""Scores of a run by slice, and statistics of a data set (`heron analyze`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.errors import ConfigError
from heron.base.registry import Registry
from heron.commands.listing import FORK_COMMANDS, Command
from heron.tasks import FORK_ANALYSES

if TYPE_CHECKING:  # start-up time
    from heron.base.cells import Table
    from heron.data.config import DataConfig
    from heron.results.shipped import Shipped
    from heron_tools.analysis.base import DataStatistics, RunAnalysis, Split
    from heron_tools.analysis.options import AnalyzeOptions

# How runs of a task are sliced, and how its data sets are described, by task; forks may add theirs.
# Tasks with classes need no entry.
RUNS: Registry[Callable[[Split, AnalyzeOptions], RunAnalysis]] = Registry("analysis of runs")
DATA: Registry[Callable[[DataConfig, AnalyzeOptions], DataStatistics]] = Registry("statistics")


def run_analysis(split: Split, options: AnalyzeOptions) -> RunAnalysis:
    """Open the analyses of a run's split.

    Raises:
        ConfigError: there are none for its task.
    """
    from heron.tasks.task import task_of
    from heron_tools.analysis.labels import LabelAnalysis

    find, task = RUNS.find(split.data.task), split.data.task
    if find is None and not task_of(split.data).has_classes:
        raise ConfigError(f"run=: no analysis for task={task}; predictions/<split>.parquet has all")
    return (find or LabelAnalysis)(split, options)


def data_statistics(config: DataConfig, options: AnalyzeOptions) -> DataStatistics:
    """Open the statistics of a data set."""
    from heron_tools.analysis.label_statistics import LabelStatistics

    return (DATA.find(config.task) or LabelStatistics)(config, options)


@RUNS.late("qa")
def _answers() -> type[RunAnalysis]:
    from heron_tools.analysis.answers import AnswerAnalysis

    return AnswerAnalysis


@RUNS.late("summarization")
def _summaries() -> type[RunAnalysis]:
    from heron_tools.analysis.summaries import SummaryAnalysis

    return SummaryAnalysis


@DATA.late("qa")
def _questions() -> type[DataStatistics]:
    from heron_tools.analysis.question_statistics import QuestionStatistics

    return QuestionStatistics


@DATA.late("summarization")
def _articles() -> type[DataStatistics]:
    from heron_tools.analysis.summary_statistics import SummaryStatistics

    return SummaryStatistics


@FORK_ANALYSES.registered("statistics")
def tables(shipped: Shipped) -> Sequence[Table]:
    """Describe a data set with the default options, for its card."""
    from heron_tools.analysis.options import AnalyzeOptions

    config = shipped.config
    return data_statistics(config, AnalyzeOptions(data=config.name)).describe(shipped).tables


def run(words: Sequence[str]) -> int:
    """Run `heron analyze`."""
    from heron_tools.analysis.command import run

    return run(words)


FORK_COMMANDS.register("analyze", Command(run, Path(__file__).with_name("analyze.txt")))
