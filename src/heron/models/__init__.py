"""Encoder, head and optimizer, and what a configuration chooses of them by name.

A registry holds heron's own entries, registered in `heron/__init__.py`, and forks'; their code is
imported when it is used.

Shape suffixes: B sequences, L tokens, D hidden, R rows, P pooled, C classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heron.base.registry import Registry

if TYPE_CHECKING:  # importing these modules would load torch
    from torch import Tensor, nn

    from heron.data.collate import Batch

# Statistics of an earlier run's dynamics (`heron.dynamics.difficulty.SCORES`).
LEARNT = (
    *("eq1_swapped", "eq1_printed", "repo", "confidence", "loss"),
    *("variability", "correctness", "aum", "forgetting"),
)


@dataclass(frozen=True, slots=True)
class Pooling:
    """Turns encoder states into vectors, without weights (`head.pooling`)."""

    # Maps states_BLD and the batch to one vector per sequence, or with `of_rows` per row.
    pool: Callable[[Tensor, Batch], Tensor]
    width: int = 1  # of the result, in multiples of D
    of_rows: bool = False  # whether it gives a vector per row, from the row's two events
    # Values of `head.input` that it reads; empty: all but `window`.
    inputs: tuple[str, ...] = ()


# `heron export` needs a new pooling in `heron_tools/export/heron_model.py` and `plain.py`, too.
POOLINGS: Registry[Pooling] = Registry("pooling")

# From a head's configuration, P and C to a module that maps pooled_XP to logits_XC.
CLASSIFIERS: Registry[Callable[[Any, int, int], nn.Module]] = Registry("classifier")

# Whole heads (`head.module`): from a head's configuration, D and C to a `heron.models.heads.Head`.
HEADS: Registry[Callable[[Any, int, int], nn.Module]] = Registry("head")

# Losses of tasks with classes (`optim.loss`): from logits_RC, labels_R and weights_C (or None) to
# one loss per row, float32 [R], each times the weight of its class where there are weights.
LOSSES: Registry[Callable[[Tensor, Tensor, Tensor | None], Tensor]] = Registry(
    "loss", {"cross_entropy": "torch.nn.functional:cross_entropy"}
)
