"""Changes to a data set's splits: parts held out, folds, samples, duplicates removed.

Draws depend on nothing but the seed and the names of what is drawn (never on file order, process
or Python version): each name is hashed with the seed, and the smallest hashes are taken. A larger
share therefore always contains the smaller one. Validation, test and folds have the classes in
proportion, as far as their units (documents) allow.
"""

import hashlib
import heapq
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from heron.base.errors import DataError, Problem, raise_all
from heron.data.config import SPLITS, FoldsConfig, HoldoutConfig, SampleConfig, ValidationConfig
from heron.data.examples import Example, Splits, text_key

Halves = tuple[list[Example], list[Example]]  # of a split, both in their given order

# Kinds of units (by their rows of each class) from which the next one is chosen, if there are not
# more classes. Among more, fewer draws would depend on the seed.
_KINDS = 20


def carve(examples: Sequence[Example], config: ValidationConfig) -> Halves:
    """Divide the training examples into train and another split.

    The split has whole groups, drawn one by one until they hold `config.fraction` of the rows, so
    that each class has its share; a group that would make it more than twice that share is skipped.
    Examples without a group are grouped by text: the pairs of one window, or the hypotheses about
    one premise, stay together.

    Args:
        examples: the training rows.
        config: the share to take, and whether to take groups.

    Returns:
        Train and the other split.

    Raises:
        DataError: nothing would be left for train.
    """
    units = _units(examples, config.by)
    drawn = _draw_stratified(examples, units, config)
    key = "data.holdout" if isinstance(config, HoldoutConfig) else "data.validation"
    if len(drawn) == len(set(units)):
        _refuse_few(units, config.by, key, "fraction")
    return _divide(examples, units, drawn)


def take_fold(examples: Sequence[Example], config: FoldsConfig) -> Halves:
    """Divide the training examples into train and one fold.

    Whole groups, large ones before those of half their size, go to the fold that has the fewest
    rows of their classes so far, of such folds to the one with the fewest rows. The seed draws the
    order of groups of about one size and one main class. Groups are those of `carve`.

    Source: the idea of scikit-learn's StratifiedGroupKFold.

    Args:
        examples: the training rows.
        config: the number of folds, and which one to take.

    Returns:
        Train and the fold.

    Raises:
        DataError: there are fewer groups than folds.
    """
    units = _units(examples, config.by)
    order, rows_UC = _class_counts(examples, units, config.seed)
    shares_UC = rows_UC / rows_UC.sum(axis=0)
    rows_FC = np.zeros((config.count, rows_UC.shape[1]), dtype=np.int64)
    chosen = set()
    size_U = np.log2(rows_UC.sum(axis=1)).astype(int)
    for unit in np.lexsort((rows_UC.argmax(axis=1), -size_U)):  # stable
        # Rounded, so that of equal folds the first one wins, not the rounding error.
        fullness_F = (rows_FC @ shares_UC[unit]).round(12)
        fold = np.lexsort((rows_FC.sum(axis=1), fullness_F))[0]
        rows_FC[fold] += rows_UC[unit]
        if fold == config.fold:
            chosen.add(order[unit])

    if not rows_FC.any(axis=1).all():
        _refuse_few(units, config.by, "data.folds", "count")
    return _divide(examples, units, chosen)


def _refuse_few(units: Sequence[str], by: str, key: str, field: str) -> None:
    what = f"has {len(set(units))} {by}s, too few for {key}.{field}"
    raise DataError("train", what, f"lower {key}.{field}, or set {key}.by=row")


def _divide(examples: Sequence[Example], units: Sequence[str], chosen_units: set[str]) -> Halves:
    """Divide examples into those of other units and those of the chosen ones."""
    others = list[Example]()
    chosen = list[Example]()
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


def _class_counts(
    examples: Sequence[Example], units: Sequence[str], seed: int
) -> tuple[list[str], np.ndarray]:
    """Order the units by the seed, and count each one's rows of each class, int64 [U, C]."""
    order = _ordered(set(units), seed)
    unit_ids = {unit: number for number, unit in enumerate(order)}
    labels = [example.label or "" for example in examples]
    class_ids = {label: number for number, label in enumerate(sorted(set(labels)))}

    rows_UC = np.zeros((len(unit_ids), len(class_ids)), dtype=np.int64)
    for unit, label in zip(units, labels, strict=True):
        rows_UC[unit_ids[unit], class_ids[label]] += 1
    return order, rows_UC


def _draw_stratified(
    examples: Sequence[Example], units: Sequence[str], config: ValidationConfig
) -> set[str]:
    """Draw units until they have a share of the rows, and of each class's rows.

    Units are in an order that the seed draws. From the next unit of each of the first kinds, the
    one is taken that brings the classes nearest to their shares; of equals, the first. Single rows
    thus end at the shares, rounded to rows, and units of one class only keep their order.
    """
    order, rows_UC = _class_counts(examples, units, config.seed)
    fewest = math.ceil(config.fraction * len(units) - 1e-9)  # 0.1 * 30 is a little more than 3
    most = 2 * config.fraction * len(units)
    quota_C = _quotas(rows_UC.sum(axis=0), fewest)

    units_of_kind: dict[tuple[int, ...], list[int]] = {}  # the next one last
    for unit in reversed(range(len(order))):
        units_of_kind.setdefault(tuple(rows_UC[unit]), []).append(unit)

    next_units = [alike.pop() for alike in units_of_kind.values()]
    heapq.heapify(next_units)

    drawn: set[str] = set()
    drawn_C = np.zeros_like(quota_C)
    while next_units and drawn_C.sum() < fewest:
        kinds = min(len(next_units), max(_KINDS, len(quota_C)))
        candidates = [heapq.heappop(next_units) for _ in range(kinds)]
        candidates = [unit for unit in candidates if (drawn_C + rows_UC[unit]).sum() <= most]

        if candidates:
            best = candidates.pop(_nearest(drawn_C + rows_UC[candidates], quota_C))
            drawn.add(order[best])
            drawn_C += rows_UC[best]
            alike = units_of_kind[tuple(rows_UC[best])]
            if alike:
                candidates.append(alike.pop())

        for unit in candidates:
            heapq.heappush(next_units, unit)

    smallest = int(rows_UC.sum(axis=1).argmin())
    return drawn or {order[smallest]}


def _nearest(rows_KC: np.ndarray, quota_C: np.ndarray) -> int:
    """Find which rows of each class are nearest to the shares of the quotas; of equals, the first.

    Both shares are times both sums: whole numbers, of which equal ones are equal.
    """
    shares_KC = rows_KC * quota_C.sum()
    wanted_KC = rows_KC.sum(axis=1, keepdims=True) * quota_C
    distance_K = np.abs(shares_KC - wanted_KC).sum(axis=1)
    return int(distance_K.argmin())


def _quotas(rows_C: np.ndarray, wanted: int) -> np.ndarray:
    """Divide a number of rows among classes in proportion, by the largest remainders."""
    quota_C, remainder_C = np.divmod(rows_C * wanted, rows_C.sum())
    largest_first = np.argsort(-remainder_C, kind="stable")
    quota_C[largest_first[: wanted - quota_C.sum()]] += 1
    return quota_C


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


def _draw(units: Sequence[str], fraction: float, seed: int) -> set[str]:
    """Draw units in an order that the seed draws until they have a share of the rows."""
    rows_of_unit = Counter(units)
    fewest = fraction * len(units) - 1e-9  # 0.1 * 30 is a little more than 3
    drawn: set[str] = set()
    rows = 0
    for unit in _ordered(rows_of_unit, seed):
        if rows >= fewest:
            break
        drawn.add(unit)
        rows += rows_of_unit[unit]
    return drawn


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

    what = "all of its rows are in other splits too"
    fix = "data.duplicates=keep or mark"
    raise_all([Problem(split, what, fix) for split in splits if splits[split] and not kept[split]])
    return kept
