"""Compare systems on the same rows with a baseline: differences, intervals, tests.

The protocol of the papers: several seeds of each system, mean and standard deviation of their
scores, and the run that is best on validation. Three units are tested:

- rows (or whole documents), each drawn or swapped with all seeds of both systems: the headline.
  `bootstrap` gives the interval of the difference of means, `randomization` its p-value, `p_holm`
  that p-value corrected for the number of systems;
- rows of two single runs: same seed with same seed (`per_seed`), and best on validation with best
  on validation (`mcnemar`, `cochran_q`; right or wrong only);
- runs: Mann-Whitney over the seeds' scores: whether other seeds would differ on these rows. It
  needs four seeds a side before p can fall below .05.

Rows of different seeds are never stacked as independent observations: every row would count
several times, and p-values would be too small.

Legend: N rows, K runs of a system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError
from heron.metrics.paired import (
    Bootstrap,
    Randomization,
    approximate_randomization,
    paired_bootstrap,
)
from heron.metrics.significance import (
    CochranQ,
    MannWhitney,
    McNemar,
    cochran_q,
    holm,
    mann_whitney,
    mcnemar,
)
from heron.results.alignment import Aligned, SystemOutcomes
from heron.results.scoring import Settings

_FEW_DOCUMENTS = 20


@dataclass(frozen=True, slots=True)
class SeedPair:
    """A system's run beside the baseline's of the same seed."""

    seed: str  # name of the pair; `0 / 3` where the seeds differ
    # score, baseline: of the system's run, and of the baseline's.
    score: float
    baseline: float
    # bootstrap, randomization: tests that draw and swap rows.
    bootstrap: Bootstrap
    randomization: Randomization
    mcnemar: McNemar | None  # rows right or wrong, exact; None where they are neither


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """A system's difference to the baseline."""

    # Interval and p of the difference of mean scores; rows with all their seeds.
    bootstrap: Bootstrap
    randomization: Randomization  # p of the same difference; rows are swapped with all their seeds
    p_holm: float  # the randomisation's p, corrected for the number of systems
    significant: bool  # whether `p_holm` is at most alpha
    mcnemar: McNemar | None  # of the best runs; None where rows are not right or wrong
    # Over the scores of the seeds; None where a system has one run.
    mann_whitney: MannWhitney | None
    per_seed: tuple[SeedPair, ...]  # each pair of runs


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system's scores."""

    label: str  # its name
    names: tuple[str, ...]  # its runs, K
    seeds: tuple[str, ...]  # of the runs, K
    scores: tuple[float, ...]  # of each run, K fractions
    best: int  # number of the run that is best on validation; the first without validation scores
    validation: float | None  # that run's score on validation, or None
    against: AgainstBaseline | None = None  # None for the baseline itself


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several systems compared with a baseline."""

    settings: Settings  # the metric and the parameters of the tests
    baseline: str  # its label
    systems: tuple[SystemResult, ...]  # all, in the order given, the baseline among them
    # The score that is 1 for a right row, `accuracy` or `exact_match`; None: there is none.
    right: str | None
    # Over the best run of every system; None where rows are not right or wrong.
    cochran_q: CochranQ | None
    rows: int  # number of rows
    groups: int | None  # number of groups; None where rows are drawn
    notes: tuple[str, ...]  # for readers
    # Of summaries, what copying sentences reaches on the runs' split, such as `lead3_rouge1`; empty
    # where no run stores it.
    copied: Mapping[str, float] = field(default_factory=dict)


def compare_systems(
    aligned: Aligned, settings: Settings | None = None, against: int = 0
) -> Comparison:
    """Compare every system with the one of number `against`.

    Raises:
        ConfigError: there is only one system.
    """
    settings = settings or Settings()
    if len(aligned.systems) < 2:
        only = ", ".join(system.label for system in aligned.systems)
        raise ConfigError(
            f"there is one system only ({only}): name two, or a sweep that varies more than seeds"
        )
    results = [_result(system, aligned) for system in aligned.systems]
    tests = _Tests(aligned, settings, results, against)
    others = [number for number in range(len(results)) if number != against]
    differences = [tests.rows(number) for number in others]
    corrected = holm([randomization.p for _, randomization in differences])
    for number, difference, p_holm in zip(others, differences, corrected, strict=True):
        found = AgainstBaseline(
            *difference,
            p_holm,
            p_holm <= settings.alpha,
            tests.mcnemar(number),
            tests.mann_whitney(number),
            tests.per_seed(number),
        )
        results[number] = replace(results[number], against=found)
    return Comparison(
        settings,
        results[against].label,
        tuple(results),
        aligned.scoring.right,
        _cochran_q(aligned),
        len(aligned.guids),
        len(set(aligned.groups)) if aligned.groups else None,
        (*aligned.notes, *_notes(results, aligned)),
    )


def pair_runs(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the runs of two systems by their seeds.

    A system of one run (a deterministic one, a file) is paired with each run of the other. Where
    no seed is shared, runs are paired in order.
    """
    if len(first) == 1 or len(second) == 1:
        return [(i, j) for i in range(len(first)) for j in range(len(second))]
    shared = [(i, second.index(seed)) for i, seed in enumerate(first) if seed in second]
    return shared or list(zip(range(len(first)), range(len(second)), strict=False))


@dataclass(frozen=True, slots=True)
class _Tests:
    """The tests of each system, by its number, against the baseline."""

    aligned: Aligned
    settings: Settings
    results: Sequence[SystemResult]
    against: int

    def rows(
        self, number: int, run: int | None = None, beside: int | None = None
    ) -> tuple[Bootstrap, Randomization]:
        """Test all runs of both systems, or `run` of the system and `beside` of the baseline."""
        system, baseline = self.aligned.systems[number], self.aligned.systems[self.against]
        first_KN, second_JN = system.outcome_KN, baseline.outcome_KN
        if run is None:
            first_KN, second_JN = _same_seeds_first(system, baseline)
        else:
            first_KN, second_JN = first_KN[run], second_JN[beside]
        scoring, settings = self.aligned.scoring, self.settings
        units = scoring.pair(first_KN, second_JN, self.aligned.groups)
        drawn = {"draws": settings.draws, "seed": settings.seed}
        return (
            paired_bootstrap(units, scoring.score, level=1 - settings.alpha, **drawn),
            approximate_randomization(units, scoring.score, **drawn),
        )

    def mcnemar(
        self, number: int, run: int | None = None, beside: int | None = None
    ) -> McNemar | None:
        """Test `run` and `beside`; default: the best runs."""
        system, baseline = self.aligned.systems[number], self.aligned.systems[self.against]
        if system.right_KN is None or baseline.right_KN is None:
            return None
        return mcnemar(
            system.right_KN[system.best if run is None else run],
            baseline.right_KN[baseline.best if beside is None else beside],
        )

    def mann_whitney(self, number: int) -> MannWhitney | None:
        """Test the scores of the seeds; None where either system has only one run."""
        first, second = self.results[number].scores, self.results[self.against].scores
        if min(len(first), len(second)) < 2:
            return None
        return mann_whitney(first, second)

    def per_seed(self, number: int) -> tuple[SeedPair, ...]:
        """Test each pair of runs by itself."""
        first, second = self.results[number], self.results[self.against]
        pairs = []
        for i, j in pair_runs(first.seeds, second.seeds):
            seeds = " / ".join(dict.fromkeys(filter(None, (first.seeds[i], second.seeds[j]))))
            scores = first.scores[i], second.scores[j]
            bootstrap, randomization = self.rows(number, i, j)
            right = self.mcnemar(number, i, j)
            pairs.append(SeedPair(seeds, *scores, bootstrap, randomization, right))
        return tuple(pairs)


def _result(system: SystemOutcomes, aligned: Aligned) -> SystemResult:
    return SystemResult(
        system.label,
        system.names,
        system.seeds,
        tuple(aligned.scoring.run_scores(system.outcome_KN)),
        system.best,
        system.validation[system.best],
    )


def _cochran_q(aligned: Aligned) -> CochranQ | None:
    """Test the best run of every system, row by row."""
    right_SN = [one.right_KN[one.best] for one in aligned.systems if one.right_KN is not None]
    return cochran_q(np.stack(right_SN, axis=1)) if right_SN else None


def _same_seeds_first(
    system: SystemOutcomes, baseline: SystemOutcomes
) -> tuple[npt.NDArray, npt.NDArray]:
    """Order the runs so that runs of one seed have the same place; all runs stay."""
    pairs = pair_runs(system.seeds, baseline.seeds)
    orders = []
    for runs, place in ((system.outcome_KN, 0), (baseline.outcome_KN, 1)):
        paired = dict.fromkeys(pair[place] for pair in pairs)
        orders.append(runs[list({**paired, **dict.fromkeys(range(len(runs)))})])
    return orders[0], orders[1]


def _notes(results: Sequence[SystemResult], aligned: Aligned) -> list[str]:
    """Warn of best runs chosen without a validation score, and of few documents."""
    notes = []
    unknown = [one.label for one in results if one.validation is None and len(one.scores) > 1]
    if unknown:
        notes.append(
            f"{', '.join(unknown)}: no validation scores are stored, so the first run counts as "
            "the best."
        )
    documents = len(set(aligned.groups or ()))
    if 0 < documents < _FEW_DOCUMENTS:
        notes.append(
            f"{documents} documents are few: intervals and the bootstrap's p are too small; go by "
            f"the randomisation's p, which cannot be below {2 / 2**documents:.2g}."
        )
    return notes
