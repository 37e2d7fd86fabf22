"""Compare systems on the same rows with a baseline: differences, intervals, tests.

The protocol of the papers: several seeds of each system, mean and standard deviation of their
scores, and the run that is best on validation. Three units are tested, and kept apart:

- rows (or whole documents), each drawn or swapped with all seeds of both systems: the headline.
  `bootstrap` gives the interval of the difference of means, `randomization` its p-value, `p_holm`
  that p-value corrected for the number of systems;
- rows of two single runs: same seed with same seed (`per_seed`), and best on validation with best
  on validation (`mcnemar`, `cochran_q`; right or wrong only);
- runs: Mann-Whitney over the seeds' scores, which says whether other seeds would differ, on these
  rows, and needs four seeds each before p can fall below .05.

Stacking the seeds as if each row and seed were an observation of its own would count every row
several times and make p-values too small; nothing here does so.

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
    Booleans,
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
    """A system's run beside the baseline's of the same seed.

    Args:
        seed: what names the pair; `0 / 3` where the seeds differ.
        score: of the system's run.
        baseline: of the baseline's.
        bootstrap: rows are drawn.
        randomization: rows are swapped.
        mcnemar: rows right or wrong, exact; None where they are neither.
    """

    seed: str
    score: float
    baseline: float
    bootstrap: Bootstrap
    randomization: Randomization
    mcnemar: McNemar | None


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """A system's difference to the baseline.

    Args:
        bootstrap: interval and p of the difference of mean scores; rows with all their seeds.
        randomization: p of the same difference; rows are swapped with all their seeds.
        p_holm: the randomisation's p, corrected for the number of systems.
        significant: whether `p_holm` is at most alpha.
        mcnemar: of the two runs that are best on validation; None where rows are not right or
            wrong.
        mann_whitney: over the scores of the seeds; None where a system has one run.
        per_seed: each pair of runs.
    """

    bootstrap: Bootstrap
    randomization: Randomization
    p_holm: float
    significant: bool
    mcnemar: McNemar | None
    mann_whitney: MannWhitney | None
    per_seed: tuple[SeedPair, ...]


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system's scores.

    Args:
        label: its name.
        names: its runs, K.
        seeds: what sets them apart, K.
        scores: of each run, K fractions.
        best: the number of the run that is best on validation; the first run where no validation
            scores are stored.
        validation: that run's score on validation, or None.
        against: None for the baseline itself.
    """

    label: str
    names: tuple[str, ...]
    seeds: tuple[str, ...]
    scores: tuple[float, ...]
    best: int
    validation: float | None
    against: AgainstBaseline | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was compared.

    Args:
        settings: how.
        baseline: its label.
        systems: all, in the order given, the baseline among them.
        right: what makes a row right, `accuracy` or `exact_match`; None: nothing does.
        cochran_q: over the best run of every system; None where rows are not right or wrong.
        rows: how many rows.
        groups: how many groups they are in; None where rows are drawn.
        notes: what the reader must know.
        copied: of summaries, what copying sentences of the articles reaches on the runs' split,
            such as `lead3_rouge1`; empty where no run says it.
    """

    settings: Settings
    baseline: str
    systems: tuple[SystemResult, ...]
    right: str | None
    cochran_q: CochranQ | None
    rows: int
    groups: int | None
    notes: tuple[str, ...]
    copied: Mapping[str, float] = field(default_factory=dict)


def compare_systems(
    aligned: Aligned, settings: Settings | None = None, against: int = 0
) -> Comparison:
    """Compare every system with one of them.

    Args:
        aligned: from `heron.results.alignment.align`.
        settings: how, as for `align`; default `Settings()`.
        against: the number of the baseline.

    Raises:
        ConfigError: one system only.
    """
    settings = settings or Settings()
    if len(aligned.systems) < 2:
        only = ", ".join(system.label for system in aligned.systems)
        raise ConfigError(
            f"there is one system only ({only}): name two, or a sweep that varies more than seeds"
        )
    results = [_result(system, aligned) for system in aligned.systems]
    others = [number for number in range(len(results)) if number != against]
    first = _Test(aligned, settings, results, against)
    differences = {number: first.bootstrap_and_randomization(number) for number in others}
    corrected = holm([randomization.p for _, randomization in differences.values()])
    for number, p_holm in zip(others, corrected, strict=True):
        bootstrap, randomization = differences[number]
        found = AgainstBaseline(
            bootstrap,
            randomization,
            p_holm,
            p_holm <= settings.alpha,
            first.mcnemar(number),
            first.mann_whitney(number),
            first.per_seed(number),
        )
        results[number] = replace(results[number], against=found)
    return Comparison(
        settings,
        results[against].label,
        tuple(results),
        aligned.scoring.right,
        _cochran_q(aligned, results),
        len(aligned.guids),
        len(set(aligned.groups)) if aligned.groups else None,
        (*aligned.notes, *_notes(results, aligned)),
    )


def pair_runs(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the runs of two systems: same seed with same seed.

    A system of one run (a deterministic one, a file) stands beside each run of the other. Where
    no seed is shared, runs are paired in order.
    """
    if len(first) == 1 or len(second) == 1:
        return [(i, j) for i in range(len(first)) for j in range(len(second))]
    shared = [(i, second.index(seed)) for i, seed in enumerate(first) if seed in second]
    return shared or list(zip(range(len(first)), range(len(second)), strict=False))


@dataclass(frozen=True, slots=True)
class _Test:
    """The tests of one system against the baseline."""

    aligned: Aligned
    settings: Settings
    results: list[SystemResult]
    against: int

    def bootstrap_and_randomization(
        self, number: int, run: int | None = None, beside: int | None = None
    ) -> tuple[Bootstrap, Randomization]:
        """Test all runs of both systems, or `run` of the system and `beside` of the baseline."""
        system, baseline = self.aligned.systems[number], self.aligned.systems[self.against]
        first_KN, second_JN = system.outcome_KN, baseline.outcome_KN
        if run is None:
            first_KN, second_JN = _same_seeds_first(system, baseline)
        else:
            first_KN, second_JN = first_KN[run], second_JN[beside]
        aligned, settings = self.aligned, self.settings
        units = aligned.scoring.pair(first_KN, second_JN, aligned.groups)
        score = aligned.scoring.score
        drawn = {"draws": settings.draws, "seed": settings.seed}
        return (
            paired_bootstrap(units, score, level=1 - settings.alpha, **drawn),
            approximate_randomization(units, score, **drawn),
        )

    def mcnemar(
        self, number: int, run: int | None = None, beside: int | None = None
    ) -> McNemar | None:
        """Test `run` and `beside`, row by row; default: the runs that are best on validation."""
        results = self.results
        first_KN = self.aligned.systems[number].right_KN
        second_JN = self.aligned.systems[self.against].right_KN
        if first_KN is None or second_JN is None:
            return None
        return mcnemar(
            first_KN[results[number].best if run is None else run],
            second_JN[results[self.against].best if beside is None else beside],
        )

    def mann_whitney(self, number: int) -> MannWhitney | None:
        """Test the scores of the seeds; None where either system has one run only."""
        first, second = self.results[number].scores, self.results[self.against].scores
        if min(len(first), len(second)) < 2:
            return None
        return mann_whitney(first, second, inputs="per_seed_scores")

    def per_seed(self, number: int) -> tuple[SeedPair, ...]:
        """Test each pair of runs by itself."""
        first, second = self.results[number], self.results[self.against]
        pairs = []
        for i, j in pair_runs(first.seeds, second.seeds):
            seeds = dict.fromkeys(filter(None, (first.seeds[i], second.seeds[j])))
            bootstrap, randomization = self.bootstrap_and_randomization(number, i, j)
            right = self.mcnemar(number, i, j)
            scores = first.scores[i], second.scores[j]
            pairs.append(SeedPair(" / ".join(seeds), *scores, bootstrap, randomization, right))
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


def _cochran_q(aligned: Aligned, results: Sequence[SystemResult]) -> CochranQ | None:
    """Test the best run of every system, row by row."""
    right_SN: list[Booleans] = [
        system.right_KN[result.best]
        for system, result in zip(aligned.systems, results, strict=True)
        if system.right_KN is not None
    ]
    return cochran_q(np.stack(right_SN, axis=1)) if right_SN else None


def _same_seeds_first(
    system: SystemOutcomes, baseline: SystemOutcomes
) -> tuple[npt.NDArray, npt.NDArray]:
    """Order the runs so that those of one seed have the same place; all runs stay."""
    pairs = pair_runs(system.seeds, baseline.seeds)
    orders = []
    for runs, place in ((system.outcome_KN, 0), (baseline.outcome_KN, 1)):
        paired = dict.fromkeys(pair[place] for pair in pairs)
        orders.append(runs[list({**paired, **dict.fromkeys(range(len(runs)))})])
    return orders[0], orders[1]


def _notes(results: Sequence[SystemResult], aligned: Aligned) -> list[str]:
    """Say where no validation score chose the best run, and where there are few documents."""
    notes = []
    blind = [
        result.label for result in results if result.validation is None and len(result.scores) > 1
    ]
    if blind:
        names = ", ".join(blind)
        notes.append(
            f"{names}: no validation scores are stored, so the first run stands for the best."
        )
    documents = len(set(aligned.groups or ()))
    if 0 < documents < _FEW_DOCUMENTS:
        notes.append(
            f"{documents} documents are few: intervals and the bootstrap's p are too small; go by "
            f"the randomisation's p, which cannot be below {2 / 2**documents:.2g}."
        )
    return notes
