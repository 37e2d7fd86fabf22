"""heron: Hebrew, Romanian, NLU.

This module connects layers that must not import each other: it registers the entries of registries
in lower layers, and implements their hooks by functions of higher layers. Each function imports
what it needs when it is called, so that `import heron` alone loads no torch.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from heron.base.folders import VERSION
from heron.config.constraints import root_schema
from heron.data import PLANS, TASKS
from heron.dynamics import DIFFICULTIES, PACINGS, Difficulty
from heron.models import CLASSIFIERS, LEARNT, POOLINGS, Pooling
from heron.tasks import BASELINES, CLASS_FORMATS, load_checkpoint
from heron.training import draw_map

if TYPE_CHECKING:
    from heron.data.datamodule import DataModule
    from heron.dynamics.recorder import Recorder
    from heron.training.compose import compose
    from heron.training.trainer import build_module

__version__ = VERSION
__all__ = ["DataModule", "Recorder", "build_module", "compose"]


def __getattr__(name: str) -> Any:
    """Import a public name where it is used first."""
    if name == "DataModule":
        from heron.data.datamodule import DataModule

        return DataModule
    if name == "Recorder":
        from heron.dynamics.recorder import Recorder

        return Recorder
    if name == "build_module":
        from heron.training.trainer import build_module

        return build_module
    if name == "compose":
        from heron.training.compose import compose

        return compose
    raise AttributeError(f"module 'heron' has no attribute '{name}'")


@root_schema.implement
def _root_schema() -> Any:
    from heron.tasks.config import Config

    return Config


@load_checkpoint.implement
def _load_checkpoint(path: Any) -> Any:
    from heron.training.inference import load_checkpoint

    return load_checkpoint(path)


@draw_map.implement
def _draw_map(folder: Any) -> Any:
    from heron.reports.map import draw_map

    return draw_map(folder)


def _task(name: str) -> Any:
    return import_module(f"heron.tasks.{name}").TASK


for _name in ("relation", "nli", "qa", "summarization", "classification"):
    TASKS.late(_name)(partial(_task, _name))


@PLANS.late("shuffle")
def _shuffle() -> Any:
    from heron.data.batching import SHUFFLE

    return SHUFFLE


@PLANS.late("bucket")
def _bucket() -> Any:
    from heron.data.batching import BUCKET

    return BUCKET


def _pool(name: str, states_BLD: Any, batch: Any) -> Any:
    from heron.models import heads

    pooling = getattr(heads, name)
    return pooling(states_BLD, batch)


for _name in ("cls", "last_token", "mean"):
    POOLINGS.register(_name, Pooling(partial(_pool, _name)))
for _name, _width, _inputs in (
    ("event_start", 2, ("marked",)),
    ("mention_pool", 2, ("marked", "window")),
    ("span_ends", 8, ("window",)),
):
    POOLINGS.register(_name, Pooling(partial(_pool, _name), _width, True, _inputs))


def _classifier(name: str) -> Any:
    from heron.models import heads

    return getattr(heads, name)


for _name in ("linear", "mlp"):
    CLASSIFIERS.late(_name)(partial(_classifier, _name))


def _grade(name: str, material: Any) -> Any:
    from heron.dynamics import difficulty

    score = getattr(difficulty, name)
    return score(material)


for _name in ("length", "sts", "external", "random"):
    DIFFICULTIES.register(_name, Difficulty(partial(_grade, _name)))
for _name in LEARNT:
    DIFFICULTIES.register(_name, Difficulty(partial(_grade, "learnt"), needs_dynamics=True))


def _pacing(name: str) -> Any:
    from heron.dynamics import curriculum

    return getattr(curriculum, name)


for _name in ("linear", "root", "competence"):
    PACINGS.late(_name)(partial(_pacing, _name))


@CLASS_FORMATS.late("marked_table")
def _marked_table() -> Any:
    from heron.tasks.class_readers import MARKED_TABLE

    return MARKED_TABLE


@CLASS_FORMATS.late("pair_table")
def _pair_table() -> Any:
    from heron.tasks.class_readers import PAIR_TABLE

    return PAIR_TABLE


@BASELINES.late("majority")
def _majority() -> Any:
    from heron.tasks.class_baselines import MAJORITY

    return MAJORITY


@BASELINES.late("lead", "textrank", "oracle")
def _extractive() -> Any:
    from heron.tasks.summarization.baselines import EXTRACTIVE

    return EXTRACTIVE
