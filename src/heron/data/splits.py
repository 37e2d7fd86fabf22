"""Which examples train, validate and test: carving, and subsets for learning curves.

Draws depend on nothing but the seed and the names of what is drawn (never on file order, process
or Python version): each name is hashed with the seed, and the smallest hashes are taken. A larger
share therefore always contains the smaller one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from heron.base.errors import DataError, Problem
from heron.config.data import HoldoutConfig, SampleConfig, ValidationConfig
from heron.data.examples import Example


def carve(
    examples: Sequence[Example], config: ValidationConfig
) -> tuple[list[Example], list[Example]]:
    """Part the training examples into train and another split, both in their given order.

    Args:
        examples: the training split as it was shipped.
        config: how much, by what, and the seed: `data.validation`, or `data.holdout` for a test
            split. By group, examples without a group are held together by their text, so that the
            pairs of one window, or the hypotheses about one premise, never part.

    Returns:
        What is left to train on, and the split carved out: whole groups, drawn one by one until
        they hold `config.fraction` of the rows. A group that would make it more than twice that
        share is passed over.

    Raises:
        DataError: nothing would be left to train on.
    """
    by_group = config.by == "group"
    units = [(e.group or e.text) if by_group else e.guid for e in examples]
    drawn = _draw(units, config.fraction, config.seed, most=2 * config.fraction)
    train = [e for e, unit in zip(examples, units, strict=True) if unit not in drawn]
    if not train:
        kind = "groups" if by_group else "rows"
        split, key = "validation", "data.validation"
        if isinstance(config, HoldoutConfig):
            split, key = "test", "data.holdout"
        what = f"its {kind} ({len(set(units))}) would all go to {split}, none to train on"
        fix = f"lower {key}.fraction, or set {key}.by=row"
        raise DataError(Problem("train", what, fix))
    return train, [e for e, unit in zip(examples, units, strict=True) if unit in drawn]


def sample(examples: Sequence[Example], config: SampleConfig) -> list[Example]:
    """Keep a share of the training examples, in their given order.

    Args:
        examples: the training split.
        config: how much, by what, and the seed. By window, all pairs of a text come together.

    Returns:
        The fewest whole units that reach `config.fraction` of the rows.

    Source: TRC paper, Figure 1 (15, 25, 50, 75, 100 % of the training data).
    """
    if config.fraction == 1:
        return list(examples)
    units = [e.text if config.by == "window" else e.guid for e in examples]
    drawn = _draw(units, config.fraction, config.seed)
    return [e for e, unit in zip(examples, units, strict=True) if unit in drawn]


def _draw(units: Sequence[str], fraction: float, seed: int, most: float = 1.0) -> set[str]:
    """Draw units until they hold `fraction` of the rows; one entry in `units` per row.

    A unit that would lift the share above `most` is passed over, unless nothing else is left.
    """
    rows = Counter(units)
    wanted = fraction * len(units) - 1e-9  # 0.1 * 30 is a little more than 3
    drawn: set[str] = set()
    held = 0
    order = sorted(rows, key=lambda unit: hashlib.sha256(f"{seed}:{unit}".encode()).digest())
    for unit in order:
        if held >= wanted:
            break
        if held + rows[unit] <= most * len(units):
            drawn.add(unit)
            held += rows[unit]
    return drawn or set(sorted(order, key=rows.__getitem__)[:1])
