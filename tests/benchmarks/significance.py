"""`python -m tests.benchmarks.significance`: the paired bootstrap beside a loop over rows.

The same difference of macro F1 of two systems, its interval from 10,000 draws: scikit-learn's
`f1_score` twice a draw, a NumPy confusion matrix twice a draw, and heron's draw over the cells
(gold, A, B). The loops are timed on fewer draws and scaled. See README.md here.

Legend: N rows, R draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

from heron.config.constraints import Count
from heron.metrics.classification import Counts, macro_f1
from heron.metrics.paired import approximate_randomization, paired_bootstrap, paired_counts

from .frame import Found, main, set_beside, time_rounds

CLASSES = 4


@dataclass
class Options:
    """Options of the benchmark."""

    rows: Count = 3000  # of the split
    draws: Count = 10_000  # of the bootstrap
    loop: Count = 200  # draws that the loops are timed on
    rounds: Count = 5
    seeds: Count = 5  # runs of each system, for the line of a whole comparison
    out: Path = Path("runs/benchmark_significance.json")


@dataclass(frozen=True, slots=True)
class Sample:
    """Gold labels and two systems' predictions, class ids; K runs of each."""

    gold_N: Counts
    first_KN: Counts
    second_KN: Counts


def make_sample(rows: int, runs: int = 1, seed: int = 0) -> Sample:
    """Make up two systems that are right on about 70 % and 68 % of the rows."""
    random = np.random.default_rng(seed)
    gold_N = random.choice(CLASSES, rows, p=[0.45, 0.3, 0.18, 0.07])

    def system(right: float) -> Counts:
        guess_KN = random.integers(CLASSES, size=(runs, rows))
        return np.where(random.random((runs, rows)) < right, gold_N, guess_KN)

    return Sample(gold_N, system(0.6), system(0.575))


def _interval(sample: Sample, draws: int, score: Callable[..., float]) -> tuple[float, float]:
    random, rows, found = np.random.default_rng(1), len(sample.gold_N), []
    for _ in range(draws):
        drawn = random.integers(rows, size=rows)
        gold, first, second = sample.gold_N[drawn], sample.first_KN[0], sample.second_KN[0]
        found.append(score(gold, first[drawn]) - score(gold, second[drawn]))
    return tuple(np.quantile(found, [0.025, 0.975]))


def sklearn_loop(sample: Sample, draws: int) -> tuple[float, float]:
    """Call scikit-learn twice a draw; returns the 95 % interval."""
    return _interval(
        sample,
        draws,
        partial(f1_score, labels=range(CLASSES), average="macro", zero_division=0),
    )


def numpy_loop(sample: Sample, draws: int) -> tuple[float, float]:
    """Count two confusion matrices a draw; returns the 95 % interval."""

    def score(gold: Counts, predicted: Counts) -> float:
        cells = np.bincount(gold * CLASSES + predicted, minlength=CLASSES**2)
        return float(macro_f1(cells.reshape(CLASSES, CLASSES)))

    return _interval(sample, draws, score)


def cells(sample: Sample, draws: int) -> tuple[float, float]:
    """Draw over the cells, counting included; returns the 95 % interval."""
    counts = paired_counts(sample.gold_N, sample.first_KN, sample.second_KN, CLASSES)
    found = paired_bootstrap(counts, macro_f1, draws=draws)
    return found.low, found.high


def randomization(sample: Sample, draws: int) -> float:
    """Swap over the cells, counting included; returns p."""
    counts = paired_counts(sample.gold_N, sample.first_KN, sample.second_KN, CLASSES)
    return approximate_randomization(counts, macro_f1, draws=draws).p


def run(options: Options) -> Found:
    """Compare the intervals, then time the ways to them: processor seconds for all draws."""
    one, many = make_sample(options.rows), make_sample(options.rows, options.seeds)
    some = 10 * options.loop
    print("95 % interval:", *cells(one, options.draws), "loop:", *numpy_loop(one, some))
    ways = {
        "sklearn_loop": lambda: sklearn_loop(one, options.loop),
        "numpy_loop": lambda: numpy_loop(one, options.loop),
        "heron": lambda: cells(one, options.draws),
        "heron_randomization": lambda: randomization(one, options.draws),
        f"heron_{options.seeds}_seeds": lambda: cells(many, options.draws),
    }
    times, scale = time_rounds(ways, options.rounds), options.draws / options.loop
    for name in ("sklearn_loop", "numpy_loop"):
        times[name] = [scale * each for each in times[name]]
    case = f"{options.draws:,} draws of {options.rows:,} rows"
    bars = {case: {"heron": 500.0}}
    return set_beside("paired bootstrap", {case: times}, "sklearn_loop", bars=bars)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
