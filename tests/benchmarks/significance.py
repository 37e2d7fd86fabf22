"""`python -m tests.benchmarks.significance`: the paired bootstrap beside a loop over rows.

The same difference of macro F1 of two systems, its interval from 10,000 draws: scikit-learn's
`f1_score` twice a draw, a NumPy confusion matrix twice a draw, and heron's draw over the cells
(gold, A, B). The loops are timed on fewer draws and scaled. See README.md here.

Legend: N rows, R draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

from heron.config.constraints import Count
from heron.metrics.classification import Counts, macro_f1
from heron.metrics.paired import approximate_randomization, paired_bootstrap, paired_counts

from .frame import Found, Times, compare, main, time_rounds

CLASSES = 4


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        rows: of the split.
        draws: of the bootstrap.
        loop: draws that the loops are timed on.
        rounds: every rival runs so often; ratios are taken within a round.
        seeds: runs of each system, for the line of a whole comparison.
        out: JSON file with every measurement.
    """

    rows: Count = 3000
    draws: Count = 10_000
    loop: Count = 200
    rounds: Count = 5
    seeds: Count = 5
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


def _draws(sample: Sample, draws: int) -> Iterator[tuple[Counts, Counts, Counts]]:
    random, rows = np.random.default_rng(1), len(sample.gold_N)
    for _ in range(draws):
        drawn = random.integers(rows, size=rows)
        yield sample.gold_N[drawn], sample.first_KN[0, drawn], sample.second_KN[0, drawn]


def sklearn_loop(sample: Sample, draws: int) -> tuple[float, float]:
    """Call scikit-learn twice a draw; returns the 95 % interval."""

    def score(gold: Counts, predicted: Counts) -> float:
        labels = range(CLASSES)
        return f1_score(gold, predicted, labels=labels, average="macro", zero_division=0)

    found = [score(gold, a) - score(gold, b) for gold, a, b in _draws(sample, draws)]
    return tuple(np.quantile(found, [0.025, 0.975]))


def numpy_loop(sample: Sample, draws: int) -> tuple[float, float]:
    """Count two confusion matrices a draw; returns the 95 % interval."""

    def score(gold: Counts, predicted: Counts) -> float:
        cells = np.bincount(gold * CLASSES + predicted, minlength=CLASSES**2)
        return float(macro_f1(cells.reshape(CLASSES, CLASSES)))

    found = [score(gold, a) - score(gold, b) for gold, a, b in _draws(sample, draws)]
    return tuple(np.quantile(found, [0.025, 0.975]))


def cells(sample: Sample, draws: int) -> tuple[float, float]:
    """Draw over the cells, counting included; returns the 95 % interval."""
    counts = paired_counts(sample.gold_N, sample.first_KN, sample.second_KN, CLASSES)
    found = paired_bootstrap(counts, macro_f1, draws=draws)
    return found.low, found.high


def randomization(sample: Sample, draws: int) -> float:
    """Swap over the cells, counting included; returns p."""
    counts = paired_counts(sample.gold_N, sample.first_KN, sample.second_KN, CLASSES)
    return approximate_randomization(counts, macro_f1, draws=draws).p


def measure(options: Options) -> Times:
    """Time every rival once a round, in processor seconds for all draws."""
    one = make_sample(options.rows)
    many = make_sample(options.rows, options.seeds)
    ways = {
        "sklearn_loop": lambda: sklearn_loop(one, options.loop),
        "numpy_loop": lambda: numpy_loop(one, options.loop),
        "heron": lambda: cells(one, options.draws),
        "heron_randomization": lambda: randomization(one, options.draws),
        f"heron_{options.seeds}_seeds": lambda: cells(many, options.draws),
    }
    times, scale = time_rounds(ways, options.rounds), options.draws / options.loop
    return {
        name: [scale * each for each in spent] if name.endswith("_loop") else spent
        for name, spent in times.items()
    }


def run(options: Options) -> Found:
    """Compare the intervals, then time the ways to them."""
    sample, some = make_sample(options.rows), 10 * options.loop
    print("95 % interval:", *cells(sample, options.draws), "loop:", *numpy_loop(sample, some))
    times = measure(options)
    case = f"{options.draws:,} draws of {options.rows:,} rows"
    table = compare("Paired bootstrap", {case: times}, "sklearn_loop")
    return Found({"seconds": times}, [table])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
