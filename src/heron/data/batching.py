"""Plans of batches: pure functions of lengths and a seed, that of run and epoch.

Under a curriculum the seed is that of run and stage (see `Curriculum.plan`).

Shape suffixes: U units (`heron.data.features.Units`), P units of a pass with repeats, C classes.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heron.base.errors import ConfigError
from heron.data import PLANS, BatchPlan
from heron.data.config import BUDGET, BatchingConfig
from heron.data.features import UNLABELLED, Units

# Where `batching.tokens` is null, an epoch has at least `BATCHES` batches, if these still have
# `SEQUENCES` sequences of mean length: few steps learn little, tiny batches take long.
BATCHES = 250
SEQUENCES = 8
# Batches that `bucket` sorts by length together (as transformers' `group_by_length` does). Sorted
# over the whole epoch, a batch of relations would hold pairs of a single text or two.
STRETCH = 50


def budget(batching: BatchingConfig) -> int:
    """Get the limit of padded tokens per batch; `BUDGET` where `batching.tokens` is null."""
    return BUDGET if batching.tokens is None else batching.tokens


def fit_budget(batching: BatchingConfig, lengths_S: np.ndarray) -> BatchingConfig:
    """Set `batching.tokens` if null: `BUDGET`, or less where the split is small.

    See `BATCHES`; the longest sequence always fits.
    """
    if batching.tokens is not None or not len(lengths_S):
        return batching
    share = int(lengths_S.sum()) // BATCHES
    few = SEQUENCES * int(lengths_S.mean())
    longest = int(lengths_S.max())
    return replace(batching, tokens=min(BUDGET, max(share, few, longest)))


def plan_epoch(
    units: Units,
    batching: BatchingConfig,
    seed: int,
    epoch: int,
    copies_U: np.ndarray | int = 1,
) -> list[np.ndarray]:
    """Plan one epoch; equal arguments give equal plans.

    Args:
        units: the train split's.
        batching: the plan, and the limits of a batch.
        seed: of the run.
        epoch: from 0.
        copies_U: how often each unit is seen, int64.

    Returns:
        Batches of unit indices, int64.
    """
    drawn_P = np.repeat(np.arange(len(units)), copies_U)
    return plan_pass(drawn_P, units, batching, np.random.default_rng([seed, epoch]))


def plan_pass(
    drawn_P: np.ndarray,
    units: Units,
    batching: BatchingConfig,
    random: np.random.Generator,
    classes_U: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Plan one pass over some units, by the entry of `PLANS` that `batching.plan` names.

    Args:
        drawn_P: the units to see, repeats included, int64.
        units: the train split's.
        batching: the plan, and the limits of a batch.
        random: generator of the order.
        classes_U: class id of each unit, to give every batch the class shares of the pass; None
            leaves them to chance.

    Returns:
        Batches of unit indices, int64.

    Raises:
        ConfigError: the plan has no batch of these units.
    """
    plan = PLANS[batching.plan]
    batches = plan.batches(drawn_P, units, batching, random, classes_U)
    if len(drawn_P) and not batches:
        raise ConfigError(
            f"batching.plan={batching.plan}: it returns no batch of {len(drawn_P)} examples"
        )
    return batches


def shuffle(
    drawn_P: np.ndarray,
    units: Units,
    batching: BatchingConfig,
    random: np.random.Generator,
    classes_U: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Plan random batches of `batching.size` units; arguments as for `plan_pass`."""
    order_P = random.permutation(drawn_P)
    if classes_U is not None:
        order_P = interleave(order_P, classes_U)
    starts = range(0, len(order_P), batching.size)
    return [order_P[start : start + batching.size] for start in starts]


def bucket(
    drawn_P: np.ndarray,
    units: Units,
    batching: BatchingConfig,
    random: np.random.Generator,
    classes_U: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Plan batches of units of similar length, up to `batching.tokens` padded tokens each.

    The batches come in random order. Arguments as for `plan_pass`.
    """
    order_P = random.permutation(drawn_P)
    longest_P = units.longest_U[order_P]
    tokens_P = longest_P * units.sizes_U[order_P]
    stretch_P = np.cumsum(tokens_P) // (STRETCH * budget(batching))
    # Every second stretch begins with its longest units: neighbours across a border are alike too.
    signed_P = np.where(stretch_P % 2, -longest_P, longest_P)
    # A stable sort of a random order: units of equal length have other neighbours every epoch. The
    # first batch is shortened at random, so the other batches' borders move as well.
    order_P = order_P[np.lexsort((signed_P, stretch_P))]
    if classes_U is not None:
        order_P = interleave(order_P, classes_U)
    batches = fill_batches(order_P, units, budget(batching), first=random.uniform(0.3, 1.0))
    return [batches[index] for index in random.permutation(len(batches))]


SHUFFLE = BatchPlan(shuffle, limit="size")
BUCKET = BatchPlan(bucket, limit="tokens")


def interleave(order_P: np.ndarray, classes_U: np.ndarray) -> np.ndarray:
    """Spread each class uniformly over an order, keeping the order within the class.

    In any stretch of the result, the count of a class with share p is off by at most 1 + p (C - 2),
    at its beginning by half of that. Of units sorted by length, those at the same quantile of their
    class's lengths come together, so that little is padded.

    Args:
        order_P: unit indices.
        classes_U: class id of each unit.
    """
    classes_P = classes_U[order_P]
    quantile_P = np.empty(len(order_P))  # of each unit, among those of its class
    for label in np.unique(classes_P):
        members = np.flatnonzero(classes_P == label)
        quantile_P[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order_P[np.argsort(quantile_P, kind="stable")]


def plan_evaluation(units: Units, tokens: int) -> list[np.ndarray]:
    """Plan one pass in order of length, without randomness."""
    return fill_batches(np.argsort(units.longest_U, kind="stable"), units, tokens)


def fill_batches(
    order_U: np.ndarray, units: Units, tokens: int, first: float = 1.0
) -> list[np.ndarray]:
    """Cut an order of units into batches of at most `tokens` padded tokens.

    A unit larger than `tokens` is a batch of its own.

    Args:
        order_U: unit indices.
        units: of the split.
        tokens: limit of padded tokens.
        first: factor on the limit of the first batch.
    """
    batches = []
    start = longest = sequences = 0  # of the batch that is being filled
    limit = tokens * first
    for position, unit in enumerate(order_U):
        length = int(units.longest_U[unit])
        size = int(units.sizes_U[unit])
        longest = max(longest, length)
        sequences += size
        if position > start and longest * sequences > limit:
            batches.append(order_U[start:position])
            start = position
            longest = length
            sequences = size
            limit = tokens
    if start < len(order_U):
        batches.append(order_U[start:])
    return batches


def copies(
    labels_U: np.ndarray, label_order: Sequence[str], batching: BatchingConfig
) -> np.ndarray:
    """Decide how often each unit is seen in an epoch.

    Args:
        labels_U: class id of each unit, or `UNLABELLED`.
        label_order: class names.
        batching: `oversample` is `none`, `balanced` (each class as often as the largest one, in
            whole copies: largest count // own count) or `multipliers`.

    Returns:
        int64, at least 1 each.

    Source: RoNLI section 4 and its repository (multipliers of 10 and 20; balanced copies).
    """
    labelled_U = labels_U != UNLABELLED
    if batching.oversample == "balanced":
        counts_C = np.bincount(labels_U[labelled_U], minlength=len(label_order))
        copies_C = counts_C.max(initial=1) // np.maximum(counts_C, 1)
    elif batching.oversample == "multipliers":
        times = [batching.multipliers.get(label, 1) for label in label_order]
        copies_C = np.asarray(times, dtype=np.int64)
    else:
        copies_C = np.ones(len(label_order), dtype=np.int64)
    copies_U = np.ones(len(labels_U), dtype=np.int64)
    copies_U[labelled_U] = copies_C[labels_U[labelled_U]]
    return copies_U
