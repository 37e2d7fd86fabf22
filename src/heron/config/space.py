"""The space that a sweep searches: the values of each swept key, draws from it, and its jobs.

`a,b`, `choice(a,b)`, `glob(*)`   values            `range(1,5)`   numbers in order
`interval(0,0.5)`, `int(interval(1,9))`, `tag(log,interval(1e-5,1e-3))`   all numbers between
"""

import math
import pickle
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from heron.base.errors import ConfigError
from heron.base.folders import config_groups
from heron.config.compose import (
    Composition,
    compose_raw,
    composition,
    explained,
    open_hydra,
    refuse_sweeper,
)
from heron.config.words import PARSER, key_of

Point = tuple[str, ...]  # one value per dimension, as on the command line
_DIGITS = 6  # of a drawn number: more make commands and folder names unreadable
_READ = {"grid": ("", "name"), "random": ("", "name", "trials", "seed")}  # keys of `sweeper`
_MOST_DRAWS = 1000  # in a row of points that are known already


@dataclass(frozen=True, slots=True)
class Dimension:
    """One swept key."""

    key: str  # as typed before the `=`, with its `+` if there is one
    values: Point = ()  # as typed; empty for an interval
    ordered: bool = False  # whether the values are numbers in order (`range`)
    # low, high: ends of an interval, both included.
    low: float = 0.0
    high: float = 0.0
    log: bool = False  # draw the logarithm uniformly
    integer: bool = False  # whole numbers only

    @property
    def first(self) -> str:
        """The first value, or an interval's lower end."""
        return self.values[0] if self.values else self.value(self.low)

    @property
    def size(self) -> float:
        """Number of values; infinite for an interval of fractions."""
        if self.values:
            return len(set(self.values))
        if self.low == self.high:
            return 1
        return self.high - self.low + 1 if self.integer else math.inf

    def value(self, number: float) -> str:
        """Write a number of an interval as on the command line, to six digits."""
        if self.integer:
            return str(round(number))
        # Rounding must not leave the interval.
        rounded = min(max(float(f"{number:.{_DIGITS}g}"), self.low), self.high)
        return repr(rounded)

    def draw(self, generator: random.Random) -> str:
        """Draw one value uniformly; under `log` its logarithm."""
        if self.values:
            return generator.choice(self.values)
        if self.integer and not self.log:
            return str(generator.randint(round(self.low), round(self.high)))
        if self.log:
            return self.value(math.exp(generator.uniform(math.log(self.low), math.log(self.high))))
        return self.value(generator.uniform(self.low, self.high))

    def describe(self) -> list[object]:
        """List what identifies the dimension."""
        return [self.key, list(self.values), self.low, self.high, self.log, self.integer]


def dimension(override: Override) -> Dimension:
    """Read one swept override; raises ConfigError for an empty interval or a log of 0."""
    key = override.get_key_element()
    swept = override.value()
    if not isinstance(swept, IntervalSweep):
        values = tuple(override.sweep_string_iterator())
        if not values:
            raise ConfigError(f"{override.input_line}: no values")
        return Dimension(key, values, ordered=override.is_range_sweep())
    low, high = swept.start, swept.end
    if low is None or high is None or not -math.inf < low <= high < math.inf:
        raise ConfigError(f"{override.input_line}: the first number must not be above the second")
    log = "log" in swept.tags
    if log and low <= 0:
        raise ConfigError(f"{override.input_line}: a logarithmic interval begins above 0")
    integer = isinstance(low, int) and isinstance(high, int)
    return Dimension(key, low=low, high=high, log=log, integer=integer)


def size(space: Sequence[Dimension]) -> float:
    """Count the points of a space; infinite with an interval of fractions in it."""
    return math.prod(each.size for each in space)


def grid(space: Sequence[Dimension]) -> Iterator[Point]:
    """List all points, the last key's values first; an interval, without an end, is refused."""
    for each in space:
        if not each.values:
            raise ConfigError(
                f"{each.key}: a grid needs single values, `a,b` or `range(1,5)`; an interval needs "
                "sweeper=random or sweeper=optuna"
            )
    return product(*(each.values for each in space))


def draws(
    space: Sequence[Dimension], trials: int, seed: int, tried: Sequence[Point] = ()
) -> Iterator[Point]:
    """Draw points without repeats, none of `tried`; fewer where the space has no more.

    With more trials, the first draws stay the same.
    """
    generator, seen, found = random.Random(seed), set(tried), 0
    if not space:
        return
    while found < min(trials, size(space)):
        point = _new(space, generator, seen)
        if point is None:
            return
        seen.add(point)
        found += 1
        yield point


def _new(space: Sequence[Dimension], generator: random.Random, seen: set[Point]) -> Point | None:
    """Draw until a point is new; the last few of a small space are searched one by one."""
    for _ in range(_MOST_DRAWS):
        point = tuple(each.draw(generator) for each in space)
        if point not in seen:
            return point
    if all(each.values for each in space) and size(space) <= 100 * _MOST_DRAWS:
        return next((point for point in grid(space) if point not in seen), None)
    return None


class Composer:
    """Composes the jobs of a sweep, here or in another process (it can be pickled).

    A composition by Hydra takes half a second. Jobs differ in few plain keys, so each choice of
    groups is composed once, and the keys are set in copies of it. `rows` are overrides in order;
    a swept key is a `Dimension`.
    """

    def __init__(
        self,
        name: str,
        rows: Sequence[str | Dimension],
        folders: Sequence[Path] = (),
        typed: Sequence[str] = (),
    ):
        self.name, self.rows, self.typed = name, list(rows), list(typed)
        self.folders, self.groups = tuple(folders), config_groups(folders)
        self._bases: dict[tuple[str, ...], DictConfig] = {}

    @property
    def space(self) -> list[Dimension]:
        """The swept keys."""
        return [row for row in self.rows if isinstance(row, Dimension)]

    @property
    def first(self) -> Point:
        """The first value of each swept key."""
        return tuple(each.first for each in self.space)

    def compose(self, point: Point) -> Composition:
        """Compose one point of the space: a value for each key."""
        words = self.words(point)
        if not GlobalHydra.instance().is_initialized():
            with open_hydra(self.name, self.folders), explained(words, self.folders):
                return self.compose(point)
        config = pickle.loads(pickle.dumps(self.base(point)))  # much faster than a deep copy
        plain = [word for word in words if word not in self._base_words(point)]
        for override in PARSER.parse_overrides(plain):
            OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
        return composition(config, words, self.folders, self.typed)

    def words(self, point: Point) -> list[str]:
        """Write out one job's overrides."""
        values = iter(point)
        return [row if isinstance(row, str) else f"{row.key}={next(values)}" for row in self.rows]

    def base(self, point: Point) -> DictConfig:
        """Compose everything except the swept plain keys."""
        words = self._base_words(point)
        if words not in self._bases:
            self._bases[words] = compose_raw(self.name, words)
        return self._bases[words]

    def _base_words(self, point: Point) -> tuple[str, ...]:
        """Leave out a job's swept plain keys, which are set in a copy of the base."""
        rows = zip(self.rows, self.words(point), strict=True)
        return tuple(
            word
            for row, word in rows
            if isinstance(row, str) or key_of(word) in self.groups or word[0] == "+"
        )

    def __getstate__(self) -> dict[str, Any]:
        # Compositions may hold secrets from the environment; they are made again.
        return {**self.__dict__, "_bases": {}}


def compose_sweep(
    name: str, words: Sequence[str], multirun: bool, folders: Sequence[Path]
) -> Iterator[Composition]:
    """Compose every job of a sweep, in the order in which Hydra would start them.

    Raises:
        ConfigError: sweepers without a space, or with several experiments; a sweep without `-m`.
    """
    sweep = Composer(name, _read_space(words), folders, words)
    config = sweep.base(sweep.first)
    if not (multirun or config.hydra.mode == RunMode.MULTIRUN):
        refuse_sweeper(words)
        # A comma without -m: the error is Hydra's.
        yield composition(compose_raw(name, words), words, folders, words)
        return
    experiments = next((each.values for each in sweep.space if each.key == "experiment"), ())
    if len(experiments) > 1:
        if config.sweeper.name != "grid":
            raise ConfigError(f"sweeper={config.sweeper.name} searches one experiment at a time")
        for experiment in experiments:
            # Each may have a grid of its own.
            one = [f"experiment={experiment}" if key_of(o) == "experiment" else o for o in words]
            yield from compose_sweep(name, one, True, folders)
        return
    named = set(map(key_of, words))
    params = config.hydra.sweeper.get("params") or {}
    sweep.rows = _read_space([*(f"{k}={v}" for k, v in params.items() if k not in named), *words])
    yield from _compose_points(sweep, config)


def _compose_points(sweep: Composer, config: DictConfig) -> Iterator[Composition]:
    """Compose the points that the sweeper tries, as far as they are known beforehand."""
    sweeper, launcher = config.sweeper, config.launcher.name
    for key in map(key_of, sweep.typed):
        group, _, own = key.partition(".")
        if group == "sweeper" and own not in _READ.get(sweeper.name, [own]):
            raise ConfigError(f"{key} does nothing under sweeper={sweeper.name}")
        if group == "launcher" and own not in ("", "name", "wait") and launcher == "local":
            raise ConfigError(f"{key} needs launcher=slurm, ray or joblib")
    if sweeper.name in ("random", "optuna") and not sweep.space:
        raise ConfigError(
            f"sweeper={sweeper.name} has nothing to choose from: give keys several values or an "
            "interval, such as 'optim.lr=tag(log,interval(1e-5,1e-3))'"
        )
    if sweeper.name == "optuna":
        # Not composed in advance: the other groups' options are, when they are chosen.
        yield replace(sweep.compose(sweep.first), search=sweep)
        return
    drawn = sweeper.name == "random"
    if drawn and sweeper.trials < 1:
        raise ConfigError(f"sweeper.trials={sweeper.trials}: must be at least 1")
    points = draws(sweep.space, sweeper.trials, sweeper.seed) if drawn else grid(sweep.space)
    for point in points:
        yield sweep.compose(point)


def _read_space(words: Sequence[str]) -> list[str | Dimension]:
    """Read what each override sweeps over; of two on one key the later counts, as in Hydra."""
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())  # for glob(*)
    parsed = parser.parse_overrides(list(words))
    rows = {each.get_key_element(): each for each in parsed}.values()
    return [dimension(each) if each.is_sweep_override() else str(each.input_line) for each in rows]
