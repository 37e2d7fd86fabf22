"""Training dynamics and curricula, and what a curriculum chooses by name.

Shape suffix: U units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heron.base.registry import Registry, on_demand
from heron.models import LEARNT

if TYPE_CHECKING:  # start-up time
    import numpy as np


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What makes an example hard (`curriculum.difficulty`)."""

    # From a `heron.dynamics.difficulty.Material` to float64 for each unit of the train split;
    # higher is harder, NaN where it is unknown.
    score: Callable[[Any], np.ndarray]
    needs_dynamics: bool = False  # whether it needs `Material.statistics_U`, from an earlier run


DIFFICULTIES: Registry[Difficulty] = Registry("difficulty")
_DIFFICULTY = "heron.dynamics.difficulty:"
for _name in ("length", "sts", "external", "random"):
    DIFFICULTIES.register(_name, Difficulty(on_demand(_DIFFICULTY + _name)))
for _name in LEARNT:
    DIFFICULTIES.register(_name, Difficulty(on_demand(f"{_DIFFICULTY}learnt"), True))

# Growing pacings (`curriculum.pacing`): from the settings and the time, 0 to 1 (where everything is
# unlocked), to the unlocked share of the examples.
PACINGS: Registry[Callable[[Any, float], float]] = Registry(
    "pacing",
    {
        "linear": "heron.dynamics.curriculum:linear",
        "root": "heron.dynamics.curriculum:root",
        "competence": "heron.dynamics.curriculum:competence",
    },
)
