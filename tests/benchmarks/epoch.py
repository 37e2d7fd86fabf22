"""Estimate a whole epoch from a few of its batches: which ones to time, and what they say.

A step with random batches of 32 takes seconds on a processor, an epoch many minutes. Sorting an
epoch's plan by length and timing the middle batch of each equal part estimates the epoch closely,
because a step's cost is nearly proportional to its padded tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heron.data.features import Units


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one rival achieved in one round.

    Args:
        samples_per_cpu_second: event pairs per second of processor time, all threads together.
        samples_per_second: event pairs per second on the clock.
        padding_efficiency: share of the epoch's tokens that are not padding, from 0 to 1.
        steps_per_epoch: optimizer steps of the epoch that the batches were drawn from.
        cpu_seconds: processor time of each timed step.
        seconds: clock time of each timed step.
        gemm_share: floating-point operations of the encoder's layers on real tokens per second of
            processor time, as a share of what this machine reaches in nothing but the products of
            these layers, in the same precision; None where it was not measured.
    """

    samples_per_cpu_second: float
    samples_per_second: float
    padding_efficiency: float
    steps_per_epoch: int
    cpu_seconds: list[float]
    seconds: list[float]
    gemm_share: float | None = None


def choose_batches(
    plan: Sequence[np.ndarray], lengths_S: np.ndarray, count: int
) -> list[np.ndarray]:
    """Choose batches that stand for an epoch: the middle one of each of `count` equal parts.

    Args:
        plan: the epoch's batches of sequence indices.
        lengths_S: tokens per sequence.
        count: how many to choose, at most as many as the plan has.

    Returns:
        The chosen batches, those with the shortest sequences first.
    """
    longest = [int(lengths_S[batch].max()) for batch in plan]
    parts = np.array_split(np.argsort(longest, kind="stable"), min(count, len(plan)))
    return [plan[part[len(part) // 2]] for part in parts]


def estimate(
    plan: Sequence[np.ndarray],
    chosen: Sequence[np.ndarray],
    lengths_S: np.ndarray,
    rows_S: np.ndarray,
    times: np.ndarray,
) -> Measurement:
    """Scale the chosen batches' time to the epoch, by padded tokens.

    Args:
        plan: the epoch's batches of sequence indices.
        chosen: the batches that were timed.
        lengths_S: tokens per sequence.
        rows_S: samples per sequence.
        times: processor and clock seconds of each chosen batch, float64 [len(chosen), 2].
    """
    scale = padded_tokens(plan, lengths_S) / padded_tokens(chosen, lengths_S)
    samples = sum(int(rows_S[batch].sum()) for batch in plan)
    cpu_seconds, seconds = times.sum(axis=0) * scale
    return Measurement(
        samples_per_cpu_second=samples / cpu_seconds,
        samples_per_second=samples / seconds,
        padding_efficiency=padding_efficiency(list(plan), Units.single(lengths_S), lengths_S),
        steps_per_epoch=len(plan),
        cpu_seconds=times[:, 0].tolist(),
        seconds=times[:, 1].tolist(),
    )


def padded_tokens(plan: Sequence[np.ndarray], lengths_S: np.ndarray) -> int:
    """Count the tokens of all batches, padding included."""
    return sum(len(batch) * int(lengths_S[batch].max()) for batch in plan)


def padding_efficiency(plan: Sequence[np.ndarray], units: Units, lengths_S: np.ndarray) -> float:
    """Compute the share of a plan's tokens that are not padding, from 0 to 1."""
    tokens_U = np.add.reduceat(lengths_S, units.sequences_V[:-1]) if len(units) else np.empty(0)
    longest_U, sizes_U = units.longest_U, units.sizes_U
    padded = sum(int(longest_U[batch].max()) * int(sizes_U[batch].sum()) for batch in plan)
    return float(sum(int(tokens_U[batch].sum()) for batch in plan)) / max(padded, 1)
