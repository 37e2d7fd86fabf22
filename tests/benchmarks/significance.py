"""The paired bootstrap beside a loop over rows.

The same difference of macro F1 of two systems, its interval from 10,000 draws: scikit-learn's
`f1_score` twice a draw, a NumPy confusion matrix twice a draw, and heron's draw over the cells
(gold, A, B). The loops are timed on fewer draws and scaled.

Shape suffix: N rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.metrics import f1_score

from heron.config.constraints import Count
from heron.metrics.arrays import Counts
from heron.metrics.classification import macro_f1
from heron.metrics.paired import paired_bootstrap, paired_counts

from .frame import Found, Out, beside, time_rounds

CLASSES = 4
SKLEARN, NUMPY = "a loop of f1_score", "two confusion matrices a draw"
Sample = tuple[Counts, Counts, Counts]  # gold and predictions of two systems


@dataclass
class Options(Out):
    """Options of the benchmark."""

    rows: Count = 3000  # of the split
    draws: Count = 10_000  # of the bootstrap
    loop: Count = 200  # draws that the loops are timed on
    rounds: Count = 5


def make_sample(rows: int) -> Sample:
    """Make up two systems that are right on about 70 % and 68 % of the rows."""
    random = np.random.default_rng(0)
    gold_N = random.choice(CLASSES, rows, p=[0.45, 0.3, 0.18, 0.07])

    def system(right: float) -> Counts:
        guess_N = random.integers(CLASSES, size=rows)
        return np.where(random.random(rows) < right, gold_N, guess_N)

    return gold_N, system(0.6), system(0.575)


def matrix_f1(gold: Counts, predicted: Counts) -> float:
    """Score by a confusion matrix."""
    cells = np.bincount(gold * CLASSES + predicted, minlength=CLASSES**2)
    return float(macro_f1(cells.reshape(CLASSES, CLASSES)))


def loop(sample: Sample, draws: int, score: Callable[..., float]) -> None:
    """Draw rows, score both systems, and take the 95 % interval."""
    (gold, first, second), random, found = sample, np.random.default_rng(1), []
    for _ in range(draws):
        drawn = random.integers(len(gold), size=len(gold))
        found.append(score(gold[drawn], first[drawn]) - score(gold[drawn], second[drawn]))
    np.quantile(found, [0.025, 0.975])


def run(options: Options) -> Found:
    """Time the ways: processor seconds for all draws."""
    sample = make_sample(options.rows)
    sklearn = partial(f1_score, labels=range(CLASSES), average="macro", zero_division=0)

    def heron() -> None:
        gold, *systems = sample
        counts = paired_counts(gold, *(system[None] for system in systems), CLASSES)
        paired_bootstrap(counts, macro_f1, draws=options.draws)

    ways: dict[str, Callable[[], None]] = {
        SKLEARN: partial(loop, sample, options.loop, sklearn),
        NUMPY: partial(loop, sample, options.loop, matrix_f1),
        "heron": heron,
    }
    scaled = dict.fromkeys((SKLEARN, NUMPY), options.draws / options.loop)
    times = time_rounds(ways, options.rounds, scaled=scaled)
    work = f"paired bootstrap, {options.rows:,} rows, {options.draws:,} draws"
    return Found(beside(work, times, SKLEARN, {"heron": "≥ 500"}))
