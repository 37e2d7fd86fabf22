"""heron: Hebrew, Romanian, NLU.

Entries of registries in lower layers are registered here, all others by their own packages. Each is
imported when its name is looked up first.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from heron.base.folders import VERSION
from heron.base.registry import ABOVE
from heron.data import PLANS, TASKS
from heron.models import CLASSIFIERS
from heron.tasks import BASELINES, CLASS_FORMATS

if TYPE_CHECKING:
    from heron.data.datamodule import DataModule
    from heron.dynamics.recorder import Recorder
    from heron.training.compose import compose
    from heron.training.trainer import build_module

__version__ = VERSION
__all__ = ["DataModule", "Recorder", "build_module", "compose"]

_HOMES = {
    "compose": "heron.training.compose",
    "DataModule": "heron.data.datamodule",
    "build_module": "heron.training.trainer",
    "Recorder": "heron.dynamics.recorder",
}


def __getattr__(name: str) -> Any:
    """Import a public name where it is used first: `import heron` alone loads no torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'heron' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


@ABOVE.late("configuration")
def _configuration() -> Any:
    from heron.tasks.config import Config

    return Config


@ABOVE.late("checkpoint")
def _checkpoint() -> Any:
    from heron.training.inference import load_checkpoint

    return load_checkpoint


@ABOVE.late("data map")
def _data_map() -> Any:
    from heron.reports.map import draw_map

    return draw_map


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


def _classifier(name: str) -> Any:
    from heron.models import heads

    return getattr(heads, name)


for _name in ("linear", "mlp"):
    CLASSIFIERS.late(_name)(partial(_classifier, _name))


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
