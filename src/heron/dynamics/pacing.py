"""How much of the data a curriculum has unlocked at which step: pure functions.

Shape suffixes: U units (see `heron.data.features.Units`), in order of difficulty where said so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heron.config.registries import PACINGS
from heron.config.schema import CurriculumConfig


@dataclass(frozen=True, slots=True)
class Stage:
    """A stretch of a run that draws from the same examples.

    Args:
        name: for the ledger.
        steps: optimizer steps.
        unlock: the easiest share of the examples, from 0 to 1; or
        groups: names of groups, whose union it is.
    """

    name: str
    steps: int
    unlock: float | None = None
    groups: tuple[str, ...] = ()


def plan_stages(config: CurriculumConfig, total: int) -> list[Stage]:
    """Divide a run's optimizer steps between the stages of its curriculum.

    Args:
        config: see `CurriculumConfig`; `pacing` is not `self_paced`.
        total: optimizer steps of the whole run; unused under `budget: own`.

    Returns:
        At least one stage; their steps add up to `total` (under `budget: own` to their own sum).
        A stage too short for a step is left out.
    """
    if config.pacing != "stages":
        shares, unlocked = _growth(config, total)
        names = [f"{unlock:.0%}" for unlock in unlocked]
        sized = zip(names, _divide(shares, total), unlocked, strict=True)
        return [Stage(name, steps, unlock) for name, steps, unlock in sized if steps]
    entries = config.stages
    if config.budget == "own":
        steps_each = [int(entry["steps"]) for entry in entries]
    else:
        steps_each = _divide([float(entry["share"]) for entry in entries], total)
    stages = [_stage(entry, steps) for entry, steps in zip(entries, steps_each, strict=True)]
    return [stage for stage in stages if stage.steps]


def _stage(entry: Mapping[str, Any], steps: int) -> Stage:
    groups = tuple(entry.get("groups", ()))
    unlock = None if groups else float(entry.get("unlock", 1.0))
    name = " + ".join(groups) if groups else f"{unlock:.0%}"
    return Stage(str(entry.get("name", name)), steps, unlock, groups)


def _divide(shares: Sequence[float], total: int) -> list[int]:
    """Divide `total` by shares that add up to 1; the borders are rounded, so nothing is lost."""
    borders = np.rint(np.cumsum(shares) / sum(shares) * total).astype(int)
    return [int(steps) for steps in np.diff(borders, prepend=0)]


def _growth(config: CurriculumConfig, total: int) -> tuple[list[float], list[float]]:
    """Make the steps of a staircase under the pacing's curve, and the rest with everything."""
    updates = max(1, min(config.updates, round(config.until * total)))
    unlocked = [unlocked_share(config, index / updates) for index in range(updates)]
    shares = [config.until / updates] * updates
    if config.until < 1:
        shares, unlocked = [*shares, 1 - config.until], [*unlocked, 1.0]
    return shares, unlocked


def unlocked_share(config: CurriculumConfig, time: float) -> float:
    """Compute the unlocked share of the examples; `self_paced` grows like `linear`.

    Args:
        config: `pacing`, and what it needs.
        time: from 0 (the first step) to 1 (where everything is unlocked).
    """
    curve = linear if config.pacing == "self_paced" else PACINGS[config.pacing]
    return min(max(curve(config, min(max(time, 0.0), 1.0)), 0.0), 1.0)


def linear(config: CurriculumConfig, time: float) -> float:
    """Grow evenly from s = `start`: s + (1 - s) t."""
    return _root(config.start, time, 1.0)


def root(config: CurriculumConfig, time: float) -> float:
    """Grow fast at first, with p = `power`: (s^p + (1 - s^p) t)^(1/p).

    Source: Platanios et al. 2019 (equations 6 to 8).
    """
    return _root(config.start, time, config.power)


def competence(config: CurriculumConfig, time: float) -> float:
    """Grow as `root` does with p = 2."""
    return _root(config.start, time, 2.0)


def _root(start: float, time: float, power: float) -> float:
    begin = start**power
    return float((begin + (1 - begin) * time) ** (1 / power))


def unlock(share: float, order_U: np.ndarray, classes_U: np.ndarray | None = None) -> np.ndarray:
    """Choose the units that are unlocked.

    Args:
        share: of the units, from 0 to 1; rounded up, so that at least one is.
        order_U: units from easy to hard.
        classes_U: class id of each unit; the share then holds within every class.

    Returns:
        The unlocked units, easy ones first, int64.
    """
    if classes_U is None:
        return order_U[: _part(share, len(order_U))]
    kept_U = np.zeros(len(order_U), dtype=bool)
    classes_in_order = classes_U[order_U]
    for each in np.unique(classes_U):
        places = np.flatnonzero(classes_in_order == each)
        kept_U[places[: _part(share, len(places))]] = True
    return order_U[kept_U]


def _part(share: float, size: int) -> int:
    return max(min(size, 1), min(size, math.ceil(round(share * size, 6))))
