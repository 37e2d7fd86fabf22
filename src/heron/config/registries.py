"""What a configuration chooses by name, except languages; and what forks add to the commands.

Each registry holds heron's own entries and those that forks add. heron's own code is imported when
it is used, so names are checked without it.

Shape suffixes: B sequences, L tokens, D hidden, R rows, P pooled, C classes, U units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.base.registry import Registry, on_demand

if TYPE_CHECKING:  # these load torch, or import this module
    import numpy as np
    from torch import Tensor, nn

    from heron.config.curriculum import CurriculumConfig
    from heron.config.data import DataConfig
    from heron.config.schema import Config, HeadConfig
    from heron.data.collate import Batch
    from heron.data.examples import Example
    from heron.dynamics.difficulty import Material

# Keys of data with a class for each row; see `TaskRules.data_keys`.
LABEL_KEYS = ("data.columns.label", "data.columns.truth", "data.label_aliases", "data.no_label")

Headline = Callable[[Sequence[str], str], Callable[[Any], dict[str, Any]]]
_CLASSIFICATION = on_demand("heron.metrics.classification:plain_headline")


def no_problems(_config: object) -> Iterable[str]:
    """Accept every configuration."""
    return ()


@dataclass(frozen=True, kw_only=True)
class TaskRules:
    """What a task allows in a configuration; `heron.tasks.task.Task` adds everything else."""

    forms: tuple[str, ...]  # input forms, of `head.input`
    long_forms: tuple[str, ...] = ()  # those that `encoder.overflow=windows` can read
    formats: Registry[Any]  # file formats, of `data.format`; forks may register more
    head: str  # option of `conf/head` where the command line names none
    # Whether an example has one of several classes; otherwise `data.label_order` only lists kinds
    # of examples.
    has_classes: bool = True
    classifiers: tuple[str, ...] = ()  # values of `head.classifier` that no other task has
    keys: tuple[str, ...] = ()  # keys of a run's configuration that no other task has
    # Keys, each with all keys below it, that only some tasks' data sets have; every such task lists
    # them.
    data_keys: tuple[str, ...] = ()
    # Lists which of a run's settings cannot work for the task.
    problems: Callable[[Config], Iterable[str]] = no_problems
    # Lists which of a data set's settings cannot work for the task.
    data_problems: Callable[[DataConfig], Iterable[str]] = no_problems
    # Of tasks with classes: gets class names and the mode of `relaxed_*` scores, and returns the
    # function from confusion matrices (`Cells` beyond 100 classes) to headline scores.
    headline: Headline = _CLASSIFICATION


@dataclass(frozen=True, slots=True)
class Pooling:
    """Encoder states to vectors, without weights (`head.pooling`)."""

    # Maps states_BLD and the batch to one vector per sequence, or with `of_rows` per row.
    pool: Callable[[Tensor, Batch], Tensor]
    width: int = 1  # of the result, in multiples of D
    of_rows: bool = False  # whether it gives a vector per row, from the row's two events
    # Values of `head.input` that it reads; empty: all but `window`.
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What makes an example hard (`curriculum.difficulty`)."""

    # Float64 for each unit of the train split; higher is harder, NaN where it is unknown.
    score: Callable[[Material], np.ndarray]
    needs_dynamics: bool = False  # whether it needs `Material.statistics_U`, from an earlier run


@dataclass(frozen=True, slots=True)
class Metric:
    """Further scores of a split (`task.metrics`); more is better.

    Both functions get the columns of `predictions/<split>.parquet`, labelled rows only: `guid`,
    `gold`, `prediction`, and what else the task writes.
    """

    # A value for each row; their mean is the score, under the metric's name. `heron compare` tests
    # such scores, too.
    of_rows: Callable[[Mapping[str, Sequence[Any]]], Sequence[float] | np.ndarray] | None = None
    # Scores by name, for scores that are not a mean over rows.
    of_split: Callable[[Mapping[str, Sequence[Any]]], Mapping[str, float]] | None = None
    tasks: tuple[str, ...] = ()  # tasks whose predictions it can score; empty: all


@dataclass(frozen=True, slots=True)
class Baseline:
    """A system without a trained encoder, in place of encoder and head (`baseline.name`)."""

    # Fits a system to the labelled training examples; gives `heron.tasks.base.Baseline`.
    fit: Callable[[Config, Sequence[Example]], Any]
    load: Callable[[Config, Path], Any]  # opens a fitted system from a run's `model/`
    # The tasks that it is for; None: every task with classes; empty: every task.
    tasks: tuple[str, ...] | None = None
    # Lists which of a run's settings cannot work.
    problems: Callable[[Config], Iterable[str]] = no_problems
    # The files besides the data that its result depends on, by name.
    sources: Callable[[Config], dict[str, Path]] = lambda config: {}
    # What tables must say beside its scores, such as word vectors that are not the paper's; from a
    # function that looks up the run's settings. Empty for nothing.
    caveat: Callable[[Callable[[str], Any]], str] = lambda setting: ""
    # Chooses the splits to predict from all that there are.
    splits: Callable[[Config, Sequence[str]], list[str]] = lambda config, splits: [
        split for split in splits if split != "train"
    ]
    # The tables that it leaves in the run folder: columns by file name.
    tables: Callable[[Any], Mapping[str, Any]] = lambda fitted: {}


TASKS: Registry[TaskRules] = Registry(
    "task",
    {
        name: f"heron.tasks.{name}.task:TASK"
        for name in ("relation", "nli", "qa", "summarization", "classification", "mlm")
    },
)

_MAJORITY = "heron.tasks.class_baselines:"
_EXTRACTIVE = on_demand("heron.tasks.summarization.baselines:extractive_baseline")
BASELINES: Registry[Baseline] = Registry("baseline")
BASELINES.register(
    "majority",
    Baseline(on_demand(f"{_MAJORITY}fit_majority"), on_demand(f"{_MAJORITY}load_majority")),
)
for _name in ("lead", "textrank", "oracle"):
    BASELINES.register(_name, Baseline(_EXTRACTIVE, _EXTRACTIVE, ("summarization",)))
_fit, _load, _problems, _splits, _tables = (
    on_demand(f"heron.prompting.system:{name}")
    for name in ("fit_prompted", "load_prompted", "problems", "asked_splits", "tables")
)
BASELINES.register("prompted", Baseline(_fit, _load, (), _problems, splits=_splits, tables=_tables))

POOLINGS: Registry[Pooling] = Registry("pooling")
_POOLING = "heron.models.heads:"
for _name in ("cls", "last_token", "mean"):
    POOLINGS.register(_name, Pooling(on_demand(_POOLING + _name)))
for _name, _width, _inputs in (
    ("event_start", 2, ("marked",)),
    ("mention_pool", 2, ("marked", "window")),
    ("span_ends", 8, ("window",)),
):
    POOLINGS.register(_name, Pooling(on_demand(_POOLING + _name), _width, True, _inputs))

# From a head's configuration, P and C to a module that maps pooled_XP to logits_XC.
CLASSIFIERS: Registry[Callable[[HeadConfig, int, int], nn.Module]] = Registry(
    "classifier", {"linear": "heron.models.heads:linear", "mlp": "heron.models.heads:mlp"}
)

# Whole heads (`head.module`): from a head's configuration, D and C to a `heron.models.heads.Head`.
HEADS: Registry[Callable[[HeadConfig, int, int], nn.Module]] = Registry("head")

# Losses of tasks with classes (`optim.loss`): from logits_RC, labels_R and weights_C (or None) to
# one loss per row, float32 [R], each times the weight of its class where there are weights.
LOSSES: Registry[Callable[[Tensor, Tensor, Tensor | None], Tensor]] = Registry(
    "loss", {"cross_entropy": "torch.nn.functional:cross_entropy"}
)

DIFFICULTIES: Registry[Difficulty] = Registry("difficulty")
_DIFFICULTY = "heron.dynamics.difficulty:"
for _name in ("length", "sts", "external", "random"):
    DIFFICULTIES.register(_name, Difficulty(on_demand(_DIFFICULTY + _name)))
# Statistics of an earlier run's dynamics (`heron.dynamics.difficulty.SCORES`).
LEARNT = (
    *("eq1_swapped", "eq1_printed", "repo", "confidence", "loss"),
    *("variability", "correctness", "aum", "forgetting"),
)
for _name in LEARNT:
    DIFFICULTIES.register(_name, Difficulty(on_demand(f"{_DIFFICULTY}learnt"), True))

# Growing pacings (`curriculum.pacing`): from the settings and the time, 0 to 1 (where everything is
# unlocked), to the unlocked share of the examples.
PACINGS: Registry[Callable[[CurriculumConfig, float], float]] = Registry(
    "pacing",
    {name: f"heron.dynamics.curriculum:{name}" for name in ("linear", "root", "competence")},
)

METRICS: Registry[Metric] = Registry("metric")


class _Forms:
    """The input forms of all tasks, forks' included."""

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(form for task in TASKS for form in TASKS[task].forms))


FORMS = _Forms()


def formats() -> list[str]:
    """List the file formats of all tasks, forks' included."""
    return list(dict.fromkeys(each for task in TASKS for each in TASKS[task].formats))
