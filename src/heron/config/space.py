"""The space that a sweep searches: what Hydra's grammar says of each swept key, and draws from it.

`a,b`, `choice(a,b)`, `glob(*)`   values            `range(1,5)`   numbers in order
`interval(0,0.5)`, `int(interval(1,9))`, `tag(log,interval(1e-5,1e-3))`   all numbers between
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from hydra.core.override_parser.types import IntervalSweep, Override

from heron.base.errors import ConfigError

Point = tuple[str, ...]  # one value per dimension, as on the command line
_DIGITS = 6  # of a drawn number: more would only make commands and folder names unreadable
_MOST_DRAWS = 1000  # in a row that have been tried already


@dataclass(frozen=True, slots=True)
class Dimension:
    """One swept key.

    Args:
        key: as typed before the `=`, with its `+` if there is one.
        values: as typed, where the key has a list of them; empty for an interval.
        ordered: whether the values are numbers in order (`range`).
        low, high: the ends of an interval, both included.
        log: draw the logarithm evenly.
        integer: whole numbers only.
    """

    key: str
    values: Point = ()
    ordered: bool = False
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    integer: bool = False

    @property
    def first(self) -> str:
        """Its first value, or an interval's lower end."""
        return self.values[0] if self.values else self.value(self.low)

    @property
    def size(self) -> float:
        """How many values there are; infinite for an interval of fractions."""
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
        """Draw one value; numbers evenly, under `log` their logarithms."""
        if self.values:
            return generator.choice(self.values)
        if self.integer and not self.log:
            return str(generator.randint(round(self.low), round(self.high)))
        if self.log:
            return self.value(math.exp(generator.uniform(math.log(self.low), math.log(self.high))))
        return self.value(generator.uniform(self.low, self.high))

    def describe(self) -> list[object]:
        """List what makes it this dimension and no other."""
        return [self.key, list(self.values), self.low, self.high, self.log, self.integer]


def dimension(override: Override) -> Dimension:
    """Read one swept override.

    Raises:
        ConfigError: an interval that is empty, or a logarithm of what is not above 0.
    """
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
    """List all points, the last key's values first.

    Raises:
        ConfigError: an interval, which has no end of values.
    """
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
    """Draw points without repeats; fewer than `trials` where the space has no more.

    The first draws stay the same when there are to be more of them.

    Args:
        space: the dimensions.
        trials: how many at most.
        seed: of the draws.
        tried: points to leave out.
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
    """Draw until a point is new; the last few of a small space are looked for one by one."""
    for _ in range(_MOST_DRAWS):
        point = tuple(each.draw(generator) for each in space)
        if point not in seen:
            return point
    if all(each.values for each in space) and size(space) <= 100 * _MOST_DRAWS:
        return next((point for point in grid(space) if point not in seen), None)
    return None
