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
from heron.results.scoring import Scoring, Settings

_FEW_DOCUMENTS = 20


@dataclass(frozen=True, slots=True)
class SeedPair:
    """A system's run and score beside the baseline's of the same seed; `0 / 3` where they differ.

    `mcnemar` is None where rows are not right or wrong.
    """

    seed: str
    score: float
    baseline: float
    bootstrap: Bootstrap
    randomization: Randomization
    mcnemar: McNemar | None


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
    """One system's K runs and their scores, fractions; `against` is None for the baseline itself.

    `best` is the number of the run that is best on validation (the first without such scores), and
    `validation` its score there.
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
    """Several systems compared with a baseline."""

    settings: Settings  # the metric and the parameters of the tests
    baseline: str  # its label
    systems: tuple[SystemResult, ...]  # all, in the order given, the baseline among them
    right: str | None  # the score that is 1 for a right row, `accuracy` or `exact_match`; or None
    # Over the best run of every system; None where rows are not right or wrong.
    cochran_q: CochranQ | None
    # rows, groups: their number; groups are None where rows are drawn.
    rows: int
    groups: int | None
    notes: tuple[str, ...]  # for readers
    # Of summaries, what copying sentences reaches on the runs' split, such as `lead3_rouge1`; empty
    # where no run stores it.
    copied: Mapping[str, float] = field(default_factory=dict)


def compare_systems(aligned: Aligned, settings: Settings, against: int = 0) -> Comparison:
    """Compare every system with the one of number `against`.

    Raises:
        ConfigError: there is only one system.
    """
    systems = aligned.systems
    if len(systems) < 2:
        only = ", ".join(one.system.label for one in systems)
        raise ConfigError(
            f"there is one system only ({only}): name two, or a sweep that varies more than seeds"
        )
    results = [_result(one, aligned.scoring) for one in systems]
    baseline, rows = systems[against], _RowTests(aligned, settings)
    others = [number for number in range(len(results)) if number != against]
    differences = [rows.test(*_same_seeds_first(systems[number], baseline)) for number in others]
    corrected = holm([randomization.p for _, randomization in differences])
    for number, difference, p_holm in zip(others, differences, corrected, strict=True):
        one, scores = systems[number], (results[number].scores, results[against].scores)
        several = min(map(len, scores)) > 1
        found = AgainstBaseline(
            *difference,
            p_holm,
            p_holm <= settings.alpha,
            _mcnemar(one, one.best, baseline, baseline.best),
            mann_whitney(*scores) if several else None,
            tuple(
                SeedPair(
                    " / ".join(dict.fromkeys(filter(None, (one.seeds[i], baseline.seeds[j])))),
                    scores[0][i],
                    scores[1][j],
                    *rows.test(one.outcome_KN[i], baseline.outcome_KN[j]),
                    _mcnemar(one, i, baseline, j),
                )
                for i, j in pair_runs(one.seeds, baseline.seeds)
            ),
        )
        results[number] = replace(results[number], against=found)
    right_SN = [one.right_KN[one.best] for one in systems if one.right_KN is not None]
    return Comparison(
        settings,
        results[against].label,
        tuple(results),
        aligned.scoring.right,
        cochran_q(np.stack(right_SN, axis=1)) if right_SN else None,
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
    left: dict[str, list[int]] = {}  # of one seed several, where each fold is a run
    for j, seed in enumerate(second):
        left.setdefault(seed, []).append(j)
    shared = [(i, left[seed].pop(0)) for i, seed in enumerate(first) if left.get(seed)]
    return shared or list(zip(range(len(first)), range(len(second)), strict=False))


@dataclass(frozen=True, slots=True)
class _RowTests:
    """The tests that draw and swap rows, or groups of them."""

    aligned: Aligned
    settings: Settings

    def test(
        self, first_KN: npt.NDArray, second_JN: npt.NDArray
    ) -> tuple[Bootstrap, Randomization]:
        """Test the difference of two systems, or of two runs."""
        scoring, settings = self.aligned.scoring, self.settings
        units = scoring.pair(first_KN, second_JN, self.aligned.groups)
        drawn = {"draws": settings.draws, "seed": settings.seed}
        return (
            paired_bootstrap(units, scoring.score, level=1 - settings.alpha, **drawn),
            approximate_randomization(units, scoring.score, **drawn),
        )


def _mcnemar(one: SystemOutcomes, i: int, other: SystemOutcomes, j: int) -> McNemar | None:
    if one.right_KN is None or other.right_KN is None:
        return None
    return mcnemar(one.right_KN[i], other.right_KN[j])


def _result(one: SystemOutcomes, scoring: Scoring) -> SystemResult:
    scores_K, _ = scoring.pair(one.outcome_KN, one.outcome_KN[:1]).scores(scoring.score)
    names = tuple(source.name for source in one.system.sources)
    scores = tuple(map(float, scores_K))
    return SystemResult(one.system.label, names, one.seeds, scores, one.best, one.validation)


def _same_seeds_first(
    system: SystemOutcomes, baseline: SystemOutcomes
) -> tuple[npt.NDArray, npt.NDArray]:
    """Order the runs so that runs of one seed have the same place; all runs stay."""
    pairs = pair_runs(system.seeds, baseline.seeds)
    first, second = (
        list(dict.fromkeys([*(pair[place] for pair in pairs), *range(len(one.seeds))]))
        for place, one in enumerate((system, baseline))
    )
    return system.outcome_KN[first], baseline.outcome_KN[second]


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
