"""The tasks, and what is added to them: baselines, formats, analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from heron.base.registry import Hook, Registry
from heron.config.constraints import OneOf
from heron.data import no_problems

if TYPE_CHECKING:  # start-up time
    from heron.data.examples import Example

# Loads the `TaskModule` of any checkpoint, with its weights. The layer above does it, because a
# checkpoint without an encoder needs the run folder around it.
load_checkpoint: Hook[[Path], Any] = Hook()


@dataclass(frozen=True, slots=True)
class Baseline:
    """A system without a trained encoder, in place of encoder and head (`baseline.name`)."""

    # Fits a system to the labelled training examples; gives `heron.tasks.base.Baseline`.
    fit: Callable[[Any, Sequence[Example]], Any]
    load: Callable[[Any, Path], Any]  # opens a fitted system from a run's `model/`
    # The tasks that it is for; None: every task with classes; empty: every task.
    tasks: tuple[str, ...] | None = None
    # Lists the settings of a run that cannot work.
    problems: Callable[[Any], Iterable[str]] = no_problems
    # The files besides the data that its result depends on, by name.
    sources: Callable[[Any], dict[str, Path]] = lambda config: {}
    # The note beside its scores in tables, such as on word vectors that are not the paper's, from a
    # function that looks up the run's settings. Empty: no note.
    caveat: Callable[[Callable[[str], Any]], str] = lambda setting: ""
    # Chooses the splits to predict from all that there are.
    splits: Callable[[Any, Sequence[str]], list[str]] = lambda config, splits: [
        split for split in splits if split != "train"
    ]
    # Whether it is fitted to the train split. If not, a run leaves out the data set's train file,
    # unless validation or test are taken from it.
    reads_train: bool = True
    # The tables that it leaves in the run folder: columns by file name.
    tables: Callable[[Any], Mapping[str, Any]] = lambda fitted: {}
    options: type[BaselineConfig] | None = None  # its keys; None: it has none but its name


BASELINES: Registry[Baseline] = Registry("baseline")


@dataclass
class BaselineConfig:
    """A system without a trained encoder, in place of encoder and head."""

    # `none`, or a system, which may have further keys
    name: Annotated[str, OneOf("none", registry=BASELINES)] = "none"


# File formats of relations and of sentence pairs: their data sets may be in either.
CLASS_FORMATS: Registry[Any] = Registry("data format")

# What tools and forks add to `heron analyze`: `slices of TASK` (of runs) and `statistics of TASK`
# (of data sets; tasks with classes need neither), `by NAME` (a slice of runs with classes),
# `draw_sheet` and `score_sheet`, `published_statistics`.
FORK_ANALYSES: Registry[Callable[..., Any]] = Registry("analysis of a fork")
