"""`Curriculum`: which examples a run sees at which optimizer step; and the pacing behind it.

Difficulty, pacing and seed decide which examples each step may draw (under `self_paced`, the losses
so far do too). There is one Trainer, one optimizer and one schedule; a resumed run makes the same
plan again and continues at its step.

Shape suffixes: U units (see `Units`), P units of a pass with repeats, B batches, R rows.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heron.base.errors import ConfigError
from heron.data.batching import copies, plan_pass
from heron.data.config import BatchingConfig
from heron.data.features import Units
from heron.dynamics import PACINGS
from heron.dynamics.config import CurriculumConfig

Batches = list[np.ndarray]

_UPDATES = 20  # times that the unlocked share grows under a pacing that grows


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a run, in optimizer steps, that draws from the same examples.

    These are the easiest share (`unlock`, 0 to 1) of all, or the union of named groups.
    """

    name: str
    steps: int
    unlock: float | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """The train split, from which batches are drawn."""

    units: Units  # the train split's
    classes_U: np.ndarray  # class id of each unit, or `UNLABELLED`
    label_order: Sequence[str]  # class names
    batching: BatchingConfig  # its oversampling counts unlocked units only
    stratified: bool = False  # keep the shares of classes in every batch

    def draw(self, unlocked_U: np.ndarray, count: int, seed: Sequence[int]) -> Batches:
        """Draw `count` batches: passes over what is unlocked, the last one cut short."""
        random = np.random.default_rng(list(seed))
        classes_U = self.classes_U if self.stratified else None
        copies_U = copies(self.classes_U[unlocked_U], self.label_order, self.batching)
        drawn_P = np.repeat(unlocked_U, copies_U)

        batches: Batches = []
        while len(batches) < count:
            batches += plan_pass(drawn_P, self.units, self.batching, random, classes_U)
        return batches[:count]


@dataclass(frozen=True, slots=True)
class Ranking:
    """How hard each unit is."""

    # Indices of units from easy to hard; units that are never unlocked are left out.
    order_U: np.ndarray
    # Bool per unit, by `easy`, `ambiguous`, `hard`; empty where no stage asks for them.
    groups: Mapping[str, np.ndarray]


class Curriculum:
    """The plan of a run whose `curriculum.name` is not `none`.

    Args:
        batches: number of batches in each epoch of the same run without a curriculum.
        accumulate: batches per optimizer step.

    Raises:
        ConfigError: a stage has nothing to draw from.
    """

    def __init__(
        self,
        config: CurriculumConfig,
        pool: Pool,
        ranking: Ranking,
        batches: Sequence[int],
        accumulate: int,
        seed: int,
    ):
        self.config = config
        self.pool = pool
        self.ranking = ranking
        self.seed = seed
        self.losses_U: np.ndarray | None = None
        self.batches = list(batches)

        steps = [math.ceil(count / accumulate) for count in batches]
        if config.pacing == "self_paced":
            self.stages = [Stage(f"epoch {number}", size) for number, size in enumerate(steps, 1)]
        else:
            self.stages = plan_stages(config, sum(steps))
            if config.budget == "own":
                total = sum(stage.steps for stage in self.stages)
                epochs, rest = divmod(total, steps[0])
                self.batches = [batches[0]] * epochs
                if rest:  # the last epoch is shorter than the others
                    self.batches.append(rest * accumulate)

        self._refuse_empty()

        numbers = np.arange(len(self.stages))
        stage_of_step = np.repeat(numbers, [stage.steps for stage in self.stages])
        self._stages_of: list[np.ndarray] = []  # by epoch: each batch's stage
        step = 0
        for count in self.batches:
            steps_B = step + np.arange(count) // accumulate
            self._stages_of.append(stage_of_step[steps_B].astype(np.int64))
            step += math.ceil(count / accumulate)

        self._drawn: dict[int, Batches] = {}

    def plan(self, epoch: int) -> Batches:
        """Plan the batches of one epoch; int64 unit indices each.

        Each stage draws all its batches once, seeded by run and stage; an epoch takes the next of
        them, and may contain several stages. Under `self_paced`, each epoch draws its own.

        Args:
            epoch: from 0.

        Raises:
            ConfigError: a Trainer with more epochs than the configuration asks for one.
        """
        if epoch >= len(self.batches):
            raise ConfigError(
                f"the curriculum is planned for {len(self.batches)} epochs: set trainer.max_epochs "
                "in the configuration, too"
            )
        if self.config.pacing == "self_paced":
            unlocked_U = self._self_paced(epoch)
            return self.pool.draw(unlocked_U, self.batches[epoch], [self.seed, epoch])

        stages = np.unique(self._stages_of[epoch]).tolist()
        for drawn in list(self._drawn):
            if drawn < stages[0]:  # of an epoch before: epochs come in order
                del self._drawn[drawn]

        plan: Batches = []
        for stage in stages:
            # The stage's batches in each epoch.
            counts = [stages_B.tolist().count(stage) for stages_B in self._stages_of]
            if stage not in self._drawn:
                unlocked_U = self.unlocked(self.stages[stage])
                seed = [self.seed, stage, 1]
                self._drawn[stage] = self.pool.draw(unlocked_U, sum(counts), seed)

            begin = sum(counts[:epoch])
            end = begin + counts[epoch]
            plan += self._drawn[stage][begin:end]

        return plan

    def stages_of(self, epoch: int) -> np.ndarray:
        """Number the stage of each batch of an epoch, int64, from 0."""
        return self._stages_of[epoch]

    def has_unlocked_all(self, epoch: int) -> bool:
        """Tell whether all is unlocked at an epoch's end; early stopping counts from there."""
        if self.config.pacing == "self_paced":
            return epoch >= self.config.until * len(self.batches)
        return bool(self._stages_of[epoch][-1] == len(self.stages) - 1)

    def observe(self, losses_R: np.ndarray) -> None:
        """Store the latest loss of every row, by which `self_paced` orders the next epoch."""
        self.losses_U = mean_of_units(losses_R, self.pool.units)

    def unlocked(self, stage: Stage) -> np.ndarray:
        """List the units that a stage draws from, int64."""
        if stage.groups:
            chosen_U = np.any([self.ranking.groups[group] for group in stage.groups], axis=0)
            return np.flatnonzero(chosen_U)

        assert stage.unlock is not None
        return unlock(stage.unlock, self.ranking.order_U, self._classes())

    def _refuse_empty(self) -> None:
        """Refuse a stage, or an order by groups, without an example to draw."""
        empty = []
        if self.config.pacing == "self_paced":
            key = "order=groups"
            if not len(self.ranking.order_U):
                empty = ["a group"]
        else:
            key = "stages"
            for stage in self.stages:
                if not len(self.unlocked(stage)):
                    empty.append(f"the stage {stage.name}")

        if empty:
            what = f"no example of {len(self.pool.units)} is in {empty[0]}"
            fraction = f"curriculum.fraction={self.config.fraction:g}"
            raise ConfigError(f"curriculum.{key}: {what} ({fraction})")

    def _self_paced(self, epoch: int) -> np.ndarray:
        """List the units with the lowest losses so far, the share that an epoch unlocks."""
        until = max(self.config.until * len(self.batches), 1)
        share = unlocked_share(self.config, epoch / until)

        order_U = self.ranking.order_U
        if self.losses_U is not None:
            # A stable sort: equal losses keep the order by difficulty and guid.
            by_loss = np.argsort(self.losses_U[order_U], kind="stable")
            order_U = order_U[by_loss]

        return unlock(share, order_U, self._classes())

    def _classes(self) -> np.ndarray | None:
        return self.pool.classes_U if self.config.by_class else None


def mean_of_units(values_R: np.ndarray, units: Units) -> np.ndarray:
    """Average each unit's rows, float64; NaN rows do not count; NaN if all are."""
    first_U = units.rows_V[:-1]
    known_R = ~np.isnan(values_R)
    counted_R = np.where(known_R, values_R, 0.0).astype(np.float64)
    sums_U = np.add.reduceat(counted_R, first_U)
    counts_U = np.add.reduceat(known_R.astype(np.int64), first_U)

    unknown_U = np.full(len(units), np.nan)
    return np.divide(sums_U, counts_U, out=unknown_U, where=counts_U > 0)


def plan_stages(config: CurriculumConfig, total: int) -> list[Stage]:
    """Divide a run's optimizer steps between the stages of its curriculum.

    `pacing` is not `self_paced`. Steps add up to `total`; with `budget: own`, stages keep
    their own steps. A stage too short for a step is left out; at least one remains.
    """
    if config.pacing == "stages":
        entries = config.stages
        if config.budget == "own":
            steps = [int(entry["steps"]) for entry in entries]
        else:
            steps = _divide([float(entry["share"]) for entry in entries], total)
        stages = [_stage(entry, size) for entry, size in zip(entries, steps, strict=True)]
    else:
        # The pacing's curve in constant steps; after `until`, all is unlocked.
        updates = max(1, min(_UPDATES, round(config.until * total)))
        unlocked = [unlocked_share(config, update / updates) for update in range(updates)]
        shares = [config.until / updates] * updates

        if config.until < 1:
            unlocked.append(1.0)
            shares.append(1 - config.until)

        steps = _divide(shares, total)
        stages = []
        for share, size in zip(unlocked, steps, strict=True):
            stages.append(Stage(f"{share:.0%}", size, share))

    return [stage for stage in stages if stage.steps]


def _stage(entry: Mapping[str, Any], steps: int) -> Stage:
    """Make a stage of an entry of `curriculum.stages`, by default named after what it unlocks."""
    groups = tuple(entry.get("groups", ()))
    if groups:
        name = " + ".join(groups)
        unlock = None
    else:
        unlock = float(entry.get("unlock", 1.0))
        name = f"{unlock:.0%}"

    return Stage(str(entry.get("name", name)), steps, unlock, groups)


def _divide(shares: Sequence[float], total: int) -> list[int]:
    """Divide `total` by shares that add up to 1; the borders are rounded, so nothing is lost."""
    borders = np.rint(np.cumsum(shares) / sum(shares) * total).astype(int)
    return [int(steps) for steps in np.diff(borders, prepend=0)]


def unlocked_share(config: CurriculumConfig, time: float) -> float:
    """Compute the unlocked share of the examples; `self_paced` grows like `linear`.

    `time` runs from 0 (the first step) to 1 (where everything is unlocked).
    """
    curve = linear if config.pacing == "self_paced" else PACINGS[config.pacing]
    within = min(max(time, 0.0), 1.0)
    share = curve(config, within)
    return min(max(share, 0.0), 1.0)


def linear(config: CurriculumConfig, time: float) -> float:
    """Grow linearly from s = `start`: s + (1 - s) t."""
    return _root(config.start, time, 1.0)


def root(config: CurriculumConfig, time: float) -> float:
    """Grow fast at first, with p = `power`: (s^p + (1 - s^p) t)^(1/p).

    Source: Platanios et al. 2019, equations 6 to 8.
    """
    return _root(config.start, time, config.power)


def competence(config: CurriculumConfig, time: float) -> float:
    """Grow as `root` does with p = 2."""
    return _root(config.start, time, 2.0)


def _root(start: float, time: float, power: float) -> float:
    begin = start**power
    return float((begin + (1 - begin) * time) ** (1 / power))


def unlock(share: float, order_U: np.ndarray, classes_U: np.ndarray | None = None) -> np.ndarray:
    """Choose the units that are unlocked, of `order_U` from easy to hard, int64.

    Their number is rounded up, so that it is at least 1. With class ids, the share holds within
    every class.
    """
    if classes_U is None:
        count = _part(share, len(order_U))
        return order_U[:count]

    kept_U = np.zeros(len(order_U), dtype=bool)
    ordered_classes_U = classes_U[order_U]
    for label in np.unique(classes_U):
        places = np.flatnonzero(ordered_classes_U == label)
        count = _part(share, len(places))
        kept_U[places[:count]] = True

    return order_U[kept_U]


def _part(share: float, size: int) -> int:
    """Round a share of a number up, to at least 1 where there is one."""
    part = math.ceil(round(share * size, 6))  # 0.1 * 30 is a little more than 3
    return min(size, max(part, 1))
