"""Changes to a data set's splits: parts held out, folds, samples, duplicates removed.

Draws depend on nothing but the seed and the names of what is drawn (never on file order, process
or Python version): each name is hashed with the seed, and the smallest hashes are taken. A larger
share therefore always contains the smaller one.
"""

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from heron.base.errors import DataError, Problem, raise_all
from heron.data.config import SPLITS, FoldsConfig, HoldoutConfig, SampleConfig, ValidationConfig
from heron.data.examples import Example, Splits, text_key

Halves = tuple[list[Example], list[Example]]  # of a split, both in their given order


def carve(examples: Sequence[Example], config: ValidationConfig) -> Halves:
    """Divide the training examples into train and another split.

    The split has whole groups, drawn one by one until they hold `config.fraction` of the rows; a
    group that would make it more than twice that share is skipped. Examples without a group are
    grouped by text: the pairs of one window, or the hypotheses about one premise, stay together.

    Args:
        examples: the training rows.
        config: the share to take, and whether to take groups.

    Returns:
        Train and the other split.

    Raises:
        DataError: nothing would be left for train.
    """
    units = _units(examples, config.by)
    drawn = _draw(units, config.fraction, config.seed, most=2 * config.fraction)
    key = "data.holdout" if isinstance(config, HoldoutConfig) else "data.validation"
    if len(drawn) == len(set(units)):
        _refuse_few(units, config.by, key, "fraction")
    return _divide(examples, units, drawn)


def take_fold(examples: Sequence[Example], config: FoldsConfig) -> Halves:
    """Divide the training examples into train and one fold.

    Whole groups, in an order that the seed draws, go to the fold that has the fewest rows so far.
    Groups are those of `carve`.

    Args:
        examples: the training rows.
        config: the number of folds, and which one to take.

    Returns:
        Train and the fold.

    Raises:
        DataError: there are fewer groups than folds.
    """
    units = _units(examples, config.by)
    rows_of_unit = Counter(units)
    rows_of_fold = [0] * config.count
    units_of_fold: list[set[str]] = [set() for _ in rows_of_fold]
    for unit in _ordered(rows_of_unit, config.seed):
        fewest = rows_of_fold.index(min(rows_of_fold))
        units_of_fold[fewest].add(unit)
        rows_of_fold[fewest] += rows_of_unit[unit]

    if not all(rows_of_fold):
        _refuse_few(units, config.by, "data.folds", "count")
    return _divide(examples, units, units_of_fold[config.fold])


def _refuse_few(units: Sequence[str], by: str, key: str, field: str) -> None:
    what = f"has {len(set(units))} {by}s, too few for {key}.{field}"
    raise DataError("train", what, f"lower {key}.{field}, or set {key}.by=row")


def _divide(examples: Sequence[Example], units: Sequence[str], chosen_units: set[str]) -> Halves:
    """Divide examples into those of other units and those of the chosen ones."""
    others, chosen = list[Example](), list[Example]()
    for example, unit in zip(examples, units, strict=True):
        if unit in chosen_units:
            chosen.append(example)
        else:
            others.append(example)
    return others, chosen


def _units(examples: Sequence[Example], by: str) -> list[str]:
    """Name the unit that each example is drawn with: its group, or only itself.

    Questions on one paragraph stay together, because they give away each other's answers. If all
    examples share one group, units are texts; if all share one text, single rows.
    """
    guids = [example.guid for example in examples]
    texts = [example.text for example in examples]
    choices = [guids]
    if by == "group":
        groups = [example.group or example.text for example in examples]
        choices = [groups, texts, guids]
    elif any(example.spans and example.text_pair for example in examples):
        choices = [texts, guids]
    for units in choices:
        if len(set(units)) > 1:
            return units
    return guids


def _ordered(units: Iterable[str], seed: int) -> list[str]:
    """Shuffle units by a hash of their name and the seed."""
    return sorted(units, key=lambda unit: hashlib.sha256(f"{seed}:{unit}".encode()).digest())


def sample(examples: Sequence[Example], config: SampleConfig) -> list[Example]:
    """Keep the fewest whole units that reach `config.fraction` of the rows, in their given order.

    By window, all pairs of a text are kept together.

    Source: TRC paper, Figure 1 (15, 25, 50, 75, 100 % of the training data).
    """
    by_text = config.by == "window"
    units = [example.text if by_text else example.guid for example in examples]
    drawn = _draw(units, config.fraction, config.seed)
    _, kept = _divide(examples, units, drawn)
    return kept


def _draw(units: Sequence[str], fraction: float, seed: int, most: float = 1.0) -> set[str]:
    """Draw units until they have a share of the rows.

    Args:
        units: the unit of each row.
        fraction: the least share.
        seed: of the order.
        most: a unit that would lift the share above it is skipped, unless nothing else is left.
    """
    rows_of_unit = Counter(units)
    fewest = fraction * len(units) - 1e-9  # 0.1 * 30 is a little more than 3
    order = _ordered(rows_of_unit, seed)
    drawn: set[str] = set()
    rows = 0
    for unit in order:
        if rows >= fewest:
            break
        if rows + rows_of_unit[unit] <= most * len(units):
            drawn.add(unit)
            rows += rows_of_unit[unit]
    smallest_first = sorted(order, key=rows_of_unit.__getitem__)
    return drawn or set(smallest_first[:1])


def apply_duplicates(splits: Splits, policy: str) -> Splits:
    """Keep, mark or drop the rows that other splits hold too; repeats inside a split stay.

    Args:
        splits: the examples of each split.
        policy: `keep`; `mark` sets `side["duplicate_of"]` of every copy to `<split>:<guid>` of one
            in another split, test before validation before train; `drop` removes train's copies of
            validation and test rows, and validation's of test rows.

    Raises:
        DataError: nothing would be left of a split.
    """
    if policy == "keep":
        return dict(splits)
    # Test first: its copies in the other splits are the ones that matter.
    present = [split for split in reversed(SPLITS) if split in splits]
    guids: dict[str, dict[Hashable, str]] = {}
    for split in present:
        # Of repeats inside a split, the first one counts.
        guids[split] = {text_key(example): example.guid for example in reversed(splits[split])}

    kept: Splits = {split: [] for split in splits}
    for split, examples in splits.items():
        others = [other for other in present if other != split]
        if policy == "drop":
            others = [other for other in others if SPLITS.index(other) > SPLITS.index(split)]
        for example in examples:
            key = text_key(example)
            holder = next((other for other in others if key in guids[other]), None)
            if holder is None:
                kept[split].append(example)
            elif policy == "mark":
                side = {**example.side, "duplicate_of": f"{holder}:{guids[holder][key]}"}
                kept[split].append(replace(example, side=side))

    what, fix = "all of its rows are in other splits too", "data.duplicates=keep or mark"
    raise_all([Problem(split, what, fix) for split in splits if splits[split] and not kept[split]])
    return kept
