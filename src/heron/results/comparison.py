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

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Formatted, Interval, Table, summarize
from heron.base.errors import ConfigError
from heron.metrics.names import COPIED_NOTE
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
from heron.results.outcomes import Outcomes, Settings
from heron.results.systems import System, best_runs

_FEW_DOCUMENTS = 20


@dataclass(frozen=True, slots=True)
class SeedPair:
    """A system's run and score beside the baseline's of the same seed; `0 / 3`: seeds 0 and 3.

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

    `best` is the number of the run that is best on validation (the first without such scores),
    `validation` its score there, and `tied` the numbers of other runs with this score.
    """

    label: str
    names: tuple[str, ...]
    seeds: tuple[str, ...]
    scores: tuple[float, ...]
    best: int
    validation: float | None
    tied: tuple[int, ...] = ()
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
    notes: tuple[str, ...]  # printed below the comparison
    # Of summaries, scores of extractive baselines on the runs' split, such as `lead3_rouge1`; empty
    # where no run stores them.
    copied: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Runs:
    """The K runs of one system: their result, and the outcomes of their rows (see `Outcomes`)."""

    result: SystemResult
    outcome_KN: npt.NDArray
    right_KN: Booleans | None


def compare_systems(
    systems: Sequence[System], outcomes: Outcomes, settings: Settings, against: int = 0
) -> Comparison:
    """Compare every system with the one of number `against`.

    `outcomes` has the runs of all systems, one system after the other.

    Raises:
        ConfigError: there is only one system.
    """
    if len(systems) < 2:
        only = ", ".join(one.label for one in systems)
        raise ConfigError(
            f"there is one system only ({only}): name two, or a sweep that varies more than seeds"
        )
    every = _split(systems, outcomes, settings.metric)
    results = [one.result for one in every]
    baseline, base = every[against], results[against]
    others = [number for number in range(len(every)) if number != against]
    differences = [
        _test(*_same_seeds_first(every[number], baseline), outcomes, settings) for number in others
    ]
    corrected = holm([randomization.p for _, randomization in differences])
    for number, difference, p_holm in zip(others, differences, corrected, strict=True):
        one, own = every[number], results[number]
        several = min(len(own.scores), len(base.scores)) > 1
        found = AgainstBaseline(
            *difference,
            p_holm,
            p_holm <= settings.alpha,
            _mcnemar(one, own.best, baseline, base.best),
            mann_whitney(own.scores, base.scores) if several else None,
            tuple(
                SeedPair(
                    " / ".join(dict.fromkeys(filter(None, (own.seeds[i], base.seeds[j])))),
                    own.scores[i],
                    base.scores[j],
                    *_test(one.outcome_KN[i], baseline.outcome_KN[j], outcomes, settings),
                    _mcnemar(one, i, baseline, j),
                )
                for i, j in pair_runs(own.seeds, base.seeds)
            ),
        )
        results[number] = replace(own, against=found)
    right_SN = [one.right_KN[one.result.best] for one in every if one.right_KN is not None]
    return Comparison(
        settings,
        base.label,
        tuple(results),
        outcomes.right,
        cochran_q(np.stack(right_SN, axis=1)) if right_SN else None,
        len(outcomes.guids),
        len(set(outcomes.groups)) if outcomes.groups else None,
        (*outcomes.notes, *_notes(results, outcomes)),
    )


def pair_runs(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the runs of two systems by their seeds.

    A system of one run (a deterministic one, a file) is paired with each run of the other. Where
    no seed is shared, runs are paired in order.
    """
    if len(first) == 1 or len(second) == 1:
        return [(i, j) for i in range(len(first)) for j in range(len(second))]
    left: dict[str, list[int]] = {}  # several of one seed if each fold is a run
    for j, seed in enumerate(second):
        left.setdefault(seed, []).append(j)
    shared = [(i, left[seed].pop(0)) for i, seed in enumerate(first) if left.get(seed)]
    return shared or list(zip(range(len(first)), range(len(second)), strict=False))


def _split(systems: Sequence[System], outcomes: Outcomes, metric: str) -> list[_Runs]:
    """Divide the outcomes by system; score each run, and choose the best one on validation."""
    ends = accumulate((len(system.runs) for system in systems), initial=0)
    found = []
    for system, (start, end) in zip(systems, pairwise(ends), strict=True):
        outcome_KN = outcomes.outcome_FN[start:end]
        right_KN = None if outcomes.right_FN is None else outcomes.right_FN[start:end]
        scores_K, _ = outcomes.pair(outcome_KN, outcome_KN[:1]).scores(outcomes.score)
        (best, *tied), validation = best_runs(system.runs, metric)
        result = SystemResult(
            system.label,
            tuple(run.job for run in system.runs),
            system.seeds,
            tuple(map(float, scores_K)),
            best,
            validation,
            tuple(tied),
        )
        found.append(_Runs(result, outcome_KN, right_KN))
    return found


def _test(
    first_KN: npt.NDArray, second_JN: npt.NDArray, outcomes: Outcomes, settings: Settings
) -> tuple[Bootstrap, Randomization]:
    """Test the difference of two systems, or of two runs, by drawing and swapping rows."""
    units = outcomes.pair(first_KN, second_JN)
    drawn = {"draws": settings.draws, "seed": settings.seed}
    return (
        paired_bootstrap(units, outcomes.score, level=1 - settings.alpha, **drawn),
        approximate_randomization(units, outcomes.score, **drawn),
    )


def _mcnemar(one: _Runs, i: int, other: _Runs, j: int) -> McNemar | None:
    if one.right_KN is None or other.right_KN is None:
        return None
    return mcnemar(one.right_KN[i], other.right_KN[j])


def _same_seeds_first(one: _Runs, baseline: _Runs) -> tuple[npt.NDArray, npt.NDArray]:
    """Order the runs so that runs of one seed have the same place; none is dropped."""
    pairs = pair_runs(one.result.seeds, baseline.result.seeds)
    first, second = (
        list(dict.fromkeys([*(pair[place] for pair in pairs), *range(len(each.outcome_KN))]))
        for place, each in enumerate((one, baseline))
    )
    return one.outcome_KN[first], baseline.outcome_KN[second]


def _notes(results: Sequence[SystemResult], outcomes: Outcomes) -> list[str]:
    """Warn of best runs chosen without a validation score, and of few documents."""
    notes = []
    unknown = [one.label for one in results if one.validation is None and len(one.scores) > 1]
    if unknown:
        notes.append(
            f"{', '.join(unknown)}: no validation scores are stored, so its first run counts as "
            "the best."
        )
    for result in results:
        if result.tied:
            seeds = ", ".join(result.seeds[place] for place in (result.best, *result.tied))
            notes.append(
                f"A tie: the seeds {seeds} of {result.label} score the same on validation; the "
                "first counts as the best."
            )
    documents = len(set(outcomes.groups or ()))
    if documents == 1:
        notes.append("All rows are of one document: no interval, no test; see resample=row.")
    elif 0 < documents < _FEW_DOCUMENTS:
        notes.append(
            f"{documents} documents are few: intervals and the bootstrap's p are too small; go by "
            f"the randomisation's p, which cannot be below {2 / 2**documents:.2g}."
        )
    return notes


def answers(comparison: Comparison) -> list[str]:
    """Say in a sentence of each system whether it is better than the baseline."""
    units = comparison.rows if comparison.groups is None else comparison.groups
    on = f"{units:,} {'row' if comparison.groups is None else 'document'}{'s' * (units > 1)}"
    found = []
    for result in comparison.systems:
        if tested := result.against:
            ahead, p = tested.bootstrap, tested.p_holm
            word = "is not significantly different from"
            if tested.significant:
                word = "is better than" if ahead.difference > 0 else "is worse than"
            by = f"{ahead.difference:+.3f} [{ahead.low:.3f}, {ahead.high:.3f}], p = {p:.2g}"
            if units == 1:
                word, by = "cannot be tested against", f"{ahead.difference:+.3f}"
            what = f"{result.label} {word} {comparison.baseline}"
            found.append(f"{what}: {comparison.settings.metric} {by}, on {on}")
    return found


def tables(comparison: Comparison, split: str) -> list[Table]:
    """Build all tables: systems, further tests, seed by seed."""
    return [systems_table(comparison, split), tests_table(comparison), seeds_table(comparison)]


def _p(test: Any) -> Cell:
    """Show the p-value of a test, if it was done; p-values span orders of magnitude."""
    return None if test is None else Formatted(test.p, ".2g")


def _difference(found: Bootstrap, comparison: Comparison) -> Cell:
    if comparison.groups == 1:
        return found.difference
    return Interval(found.difference, found.low, found.high)


def systems_table(comparison: Comparison, split: str) -> Table:
    """Show each system beside the baseline: mean ± sd, best run, difference, p-values."""
    metric = comparison.settings.metric
    rows: list[tuple[Cell, ...]] = []
    for result in comparison.systems:
        tested: list[Cell] = [None] * 5
        if found := result.against:
            p = _p(found.randomization), Formatted(found.p_holm, ".2g")
            tested = [_difference(found.bootstrap, comparison), *p]
            tested += [_p(found.bootstrap), _p(found.mcnemar)]
        scores = result.label, summarize(result.scores), result.scores[result.best]
        rows.append((*scores, *tested))
    rows += [(name, value, *[None] * 6) for name, value in comparison.copied.items()]
    title = f"{split}: {metric} against {comparison.baseline}, {comparison.rows:,} rows"
    tests = ("difference", "p", "p (Holm)", "p (bootstrap)", "p (McNemar)")
    return Table(title, ("system", metric, "best", *tests), tuple(rows), _note(comparison))


def _note(comparison: Comparison) -> str:
    settings = comparison.settings
    unit = "rows" if comparison.groups is None else f"{comparison.groups:,} whole documents"
    notes = [
        f"{settings.metric}: mean ± sample sd (runs); best: the run that is best on validation, or "
        f"the first. Difference of the means, p: {unit} are resampled ([low, high], "
        f"{1 - settings.alpha:.0%}; bootstrap) or swapped between the systems (p, approximate "
        f"randomisation), each with the predictions of all seeds; {settings.draws:,} draws. Holm: "
        f"p corrected for the number of comparisons ({len(comparison.systems) - 1}); at most "
        f"{settings.alpha:g} is significant.",
        f"McNemar: exact, rows right or wrong ({comparison.right}) in the best runs, taken to be "
        "independent."
        if comparison.right
        else "Rows are not right or wrong: no McNemar, no Cochran's Q.",
        *([f"{COPIED_NOTE} On the whole split, not tested."] if comparison.copied else []),
        *comparison.notes,
    ]
    return " ".join(notes)


def tests_table(comparison: Comparison) -> Table:
    """Show Cochran's Q over all systems, and Mann-Whitney over the seeds' scores."""
    rows: list[tuple[Cell, ...]] = []
    if found := comparison.cochran_q:
        systems = f"all {len(comparison.systems)} systems, best on validation"
        statistic = f"Q({found.degrees}) = {found.statistic:.2f}"
        unit = "a row, right or wrong"
        rows.append(("Cochran's Q", systems, unit, f"{found.n:,}", statistic, _p(found), None))
    for result in comparison.systems:
        if ranks := result.against and result.against.mann_whitney:
            systems = f"{result.label} / {comparison.baseline}"
            n, statistic = f"{ranks.n_first}, {ranks.n_second}", f"U = {ranks.statistic:g}"
            p = _p(ranks), Formatted(ranks.smallest_p, ".2g")
            unit = "a run (one seed of a system)"
            rows.append(("Mann-Whitney U", systems, unit, n, statistic, *p))
    note = (
        "Least p: no result of so few runs can be smaller. Cochran's Q takes rows to be "
        "independent."
    )
    columns = ("test", "systems", "unit", "n", "statistic", "p", "least p")
    return Table("Further tests", columns, tuple(rows), note)


def seeds_table(comparison: Comparison) -> Table:
    """Show each run beside the baseline's of the same seed; nothing here is corrected."""
    tests = ("difference", "p (randomisation)", "p (bootstrap)", "p (McNemar)")
    columns = ("system", "seed", comparison.settings.metric, comparison.baseline, *tests)
    rows: list[tuple[Cell, ...]] = []
    for result in comparison.systems:
        for pair in result.against.per_seed if result.against else ():
            scores = (result.label, pair.seed or "–", pair.score, pair.baseline)
            p = _p(pair.randomization), _p(pair.bootstrap), _p(pair.mcnemar)
            rows.append((*scores, _difference(pair.bootstrap, comparison), *p))
    several = any(len(result.scores) > 1 for result in comparison.systems)
    note = "Same seed with same seed; these p-values are not corrected for their number."
    return Table("Seed by seed", columns, tuple(rows) if several else (), note)


def to_json(comparison: Comparison, split: str) -> dict[str, Any]:
    """Turn a comparison into JSON's own types, named as in the dataclasses."""
    values = dataclasses.asdict(comparison)
    for system, result in zip(values["systems"], comparison.systems, strict=True):
        summary = summarize(result.scores)
        system |= summary._asdict() if summary else {}
    return {"split": split, **values}
