"""Which sequences form a batch, and in what order: pure functions of lengths, seed and epoch."""

from __future__ import annotations

import numpy as np

from heron.schema import BatchingConfig


def plan_epoch(
    lengths_S: np.ndarray, batching: BatchingConfig, seed: int, epoch: int
) -> list[np.ndarray]:
    """Plan one training epoch; every sequence is in exactly one batch.

    Args:
        lengths_S: tokens per sequence.
        batching: `shuffle` (random batches of `size`) or `bucket` (like lengths together, up to
            `tokens` padded tokens, batches in random order).
        seed: the run's seed.
        epoch: from 0; each epoch has its own order.

    Returns:
        Batches of sequence indices, int64 each; the same for the same arguments, on any machine.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths_S))
    if batching.plan == "shuffle":
        return [order[i : i + batching.size] for i in range(0, len(order), batching.size)]
    # Stable on a random order: sequences of equal length meet other neighbours every epoch. The
    # first batch is cut short at random, so the other batches' borders move as well.
    order = order[np.argsort(lengths_S[order], kind="stable")]
    batches = fill_batches(order, lengths_S, batching.tokens, first=random.uniform(0.3, 1.0))
    return [batches[index] for index in random.permutation(len(batches))]


def plan_evaluation(lengths_S: np.ndarray, tokens: int) -> list[np.ndarray]:
    """Plan one pass in order of length, so that little is padded; no randomness."""
    return fill_batches(np.argsort(lengths_S, kind="stable"), lengths_S, tokens)


def fill_batches(
    order_S: np.ndarray, lengths_S: np.ndarray, tokens: int, first: float = 1.0
) -> list[np.ndarray]:
    """Cut an order of sequences into batches of at most `tokens` padded tokens.

    A sequence longer than `tokens` forms a batch of its own. `first` scales the first batch's
    budget.
    """
    batches, start, longest = [], 0, 0
    budget = tokens * first
    for position, index in enumerate(order_S):
        longest = max(longest, int(lengths_S[index]))
        if position > start and longest * (position + 1 - start) > budget:
            batches.append(order_S[start:position])
            start, longest, budget = position, int(lengths_S[index]), tokens
    if start < len(order_S):
        batches.append(order_S[start:])
    return batches


def padding_efficiency(plan: list[np.ndarray], lengths_S: np.ndarray) -> float:
    """Compute the share of a plan's tokens that are not padding, from 0 to 1."""
    padded = sum(len(batch) * int(lengths_S[batch].max()) for batch in plan)
    return float(sum(int(lengths_S[batch].sum()) for batch in plan)) / max(padded, 1)
