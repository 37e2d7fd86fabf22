"""Changes to a data set's splits: parts held out, folds, samples, duplicates removed.

Draws depend on nothing but the seed and the names of what is drawn (never on file order, process
or Python version): each name is hashed with the seed, and the smallest hashes are taken. A larger
share therefore always contains the smaller one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from heron.base.errors import DataError, Problem, raise_all
from heron.data.config import SPLITS, FoldsConfig, HoldoutConfig, SampleConfig, ValidationConfig
from heron.data.examples import Example, text_key

Halves = tuple[list[Example], list[Example]]  # of a split, both in their given order


def carve(examples: Sequence[Example], config: ValidationConfig) -> Halves:
    """Divide the training examples into train and another split.

    The split has whole groups, drawn one by one until they hold `config.fraction` of the rows; a
    group that would make it more than twice that share is skipped. Examples without a group are
    grouped by text: the pairs of one window, or the hypotheses about one premise, stay together.
    """
    units = _units(examples, config.by)
    drawn = _draw(units, config.fraction, config.seed, most=2 * config.fraction)
    key = "data.holdout" if isinstance(config, HoldoutConfig) else "data.validation"
    if len(drawn) == len(set(units)):
        _refuse_few(units, config.by, key, "fraction")
    return _divide(examples, [unit in drawn for unit in units])


def take_fold(examples: Sequence[Example], config: FoldsConfig) -> Halves:
    """Divide the training examples into train and one fold.

    Whole groups, in an order that the seed draws, go to the fold that holds the fewest rows so far.
    Groups are those of `carve`.
    """
    units = _units(examples, config.by)
    rows, held = Counter(units), [0] * config.count
    fold_of: dict[str, int] = {}
    for unit in _ordered(rows, config.seed):
        fold_of[unit] = held.index(min(held))
        held[fold_of[unit]] += rows[unit]
    if not all(held):
        _refuse_few(units, config.by, "data.folds", "count")
    return _divide(examples, [fold_of[unit] == config.fold for unit in units])


def _refuse_few(units: Sequence[str], by: str, key: str, field: str) -> None:
    what = f"has {len(set(units))} {by}s, too few for {key}.{field}"
    raise DataError("train", what, f"lower {key}.{field}, or set {key}.by=row")


def _divide(examples: Sequence[Example], is_chosen: Iterable[bool]) -> Halves:
    rest, chosen = list[Example](), list[Example]()
    for example, taken in zip(examples, is_chosen, strict=True):
        (chosen if taken else rest).append(example)
    return rest, chosen


def _units(examples: Sequence[Example], by: str) -> list[str]:
    """Name the unit that each example is drawn with: its group, or only itself.

    Questions are never divided from others on their paragraph, as these tell their answers. If all
    examples share one group, units are texts; if all share one text, single rows.
    """
    names = (lambda e: e.group or e.text, lambda e: e.text, lambda e: e.guid)
    asks = any(e.spans and e.text_pair for e in examples)
    for name in names if by == "group" else names[1 if asks else 2 :]:
        units = [name(e) for e in examples]
        if len(set(units)) > 1:
            break
    return units


def _ordered(units: Iterable[str], seed: int) -> list[str]:
    """Shuffle units by a hash of their name and the seed."""
    return sorted(units, key=lambda unit: hashlib.sha256(f"{seed}:{unit}".encode()).digest())


def sample(examples: Sequence[Example], config: SampleConfig) -> list[Example]:
    """Keep the fewest whole units that reach `config.fraction` of the rows, in their given order.

    By window, all pairs of a text are kept together.

    Source: TRC paper, Figure 1 (15, 25, 50, 75, 100 % of the training data).
    """
    units = [e.text if config.by == "window" else e.guid for e in examples]
    drawn = _draw(units, config.fraction, config.seed)
    return _divide(examples, [unit in drawn for unit in units])[1]


def _draw(units: Sequence[str], fraction: float, seed: int, most: float = 1.0) -> set[str]:
    """Draw units until they hold `fraction` of the rows; `units` has one entry per row.

    A unit that would lift the share above `most` is skipped, unless nothing else is left.
    """
    rows = Counter(units)
    wanted = fraction * len(units) - 1e-9  # 0.1 * 30 is a little more than 3
    drawn: set[str] = set()
    held = 0
    order = _ordered(rows, seed)
    for unit in order:
        if held >= wanted:
            break
        if held + rows[unit] <= most * len(units):
            drawn.add(unit)
            held += rows[unit]
    return drawn or set(sorted(order, key=rows.__getitem__)[:1])


def apply_duplicates(splits: Mapping[str, list[Example]], policy: str) -> dict[str, list[Example]]:
    """Keep, mark or drop the rows that other splits hold too; repeats inside a split stay.

    `mark` sets `side["duplicate_of"]` of every copy to `<split>:<guid>` of one in another split,
    test before validation before train; `drop` removes train's copies of validation and test rows,
    and validation's of test rows.
    """
    if policy == "keep":
        return dict(splits)
    # Test first: its copies in the other splits are the ones that matter.
    guids = {
        split: {text_key(e): e.guid for e in reversed(splits[split])}
        for split in reversed(SPLITS)
        if split in splits
    }
    found: dict[str, list[Example]] = {split: [] for split in splits}
    for split, examples in splits.items():
        later = SPLITS[SPLITS.index(split) + 1 :] if policy == "drop" else SPLITS
        others = {other: keys for other, keys in guids.items() if other in later and other != split}
        for example in examples:
            key = text_key(example)
            copy = next((f"{o}:{keys[key]}" for o, keys in others.items() if key in keys), "")
            if copy and policy == "mark":
                found[split].append(replace(example, side={**example.side, "duplicate_of": copy}))
            elif not copy:
                found[split].append(example)
    what, fix = "all of its rows are in other splits too", "data.duplicates=keep or mark"
    raise_all([Problem(s, what, fix) for s in splits if splits[s] and not found[s]])
    return found
