"""Data formats: what a file of a data set may be, and what reading it gives.

A task lists the formats of its data (`Task.formats`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from heron.base.errors import Problem
from heron.base.registry import Registry
from heron.base.tables import Table
from heron.config.data import DataConfig
from heron.config.tasks import TASKS
from heron.data.examples import Example

if TYPE_CHECKING:
    from heron.config.schema import Config
    from heron.data.features import FeatureOptions, Features

# Whether each row needs a label, may have one, or is read without.
Labels = Literal["required", "optional", "ignored"]

# Names of files of a data set beside its splits: a table to join, and a list of linking phrases.
JOIN, PHRASES = "join", "phrases"
SIDE = "data.columns.side"


@dataclass(frozen=True, slots=True)
class Rows:
    """What one file holds.

    Args:
        examples: the usable rows, in file order.
        problems: the others, by line, in file order.
        unlabelled: number of rows left out under `data.unlabelled=drop`, by what their label cell
            holds (an empty one as "").
        dropped: reason and label of each row that the task's own options left out.
        guids: ids of all rows that could be read, used or not, in file order; of a part of a file
            (`read_chunks`) also those before it.
        has_ids: whether the ids are the file's own, not `<file stem>:<line>`.
    """

    examples: list[Example]
    problems: list[Problem]
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    dropped: Sequence[tuple[str, str]] = ()
    guids: Sequence[str] = ()
    has_ids: bool = False


class Reader(Protocol):
    """Reads one file of a data set."""

    def __call__(
        self, source: Path | Table, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        """Read a file.

        Args:
            source: the file, or rows of it.
            labels: whether each row needs a label.
            label_column: which column holds it.
            keys: the columns that must be there, and the configuration's key that names each.

        Raises:
            DataError: no rows, or columns that are missing.
        """


@dataclass(frozen=True, slots=True)
class Format:
    """One data format.

    Args:
        open: makes a reader of a data set's files; gets the files beside its splits, by name.
        is_whole: tells whether a file can only be read as a whole, not some rows at a time.
    """

    open: Callable[[DataConfig, Mapping[str, Path]], Reader]
    is_whole: Callable[[Path], bool] = lambda path: False


class DataTask(Protocol):
    """What the data layer asks a task; see `heron.tasks.task.Task`."""

    @property
    def formats(self) -> Registry[Format]:
        """What a data set's files may be."""

    @property
    def features(self) -> Callable[[Sequence[Example], Any, FeatureOptions], Features]:
        """Tokenizes a split."""

    @property
    def feature_options(self) -> Callable[[FeatureOptions, Config, bool], FeatureOptions]:
        """Adapts what decides the features."""

    @property
    def added_tokens(self) -> Callable[[Config], tuple[str, ...]]:
        """Lists strings that the tokenizer reads as one token each."""


def data_task(name: str) -> DataTask:
    """Find a task by name."""
    return cast(DataTask, TASKS[name])


def find_format(config: DataConfig) -> Format:
    """Find the format of a data set."""
    return data_task(config.task).formats[config.format]
