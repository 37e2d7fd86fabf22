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
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Formatted, Interval, Row, Table, summarize
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
        only = ", ".join(system.label for system in systems)
        raise ConfigError(
            f"there is one system only ({only}): name two, or a sweep that varies more than seeds"
        )

    runs = _split(systems, outcomes, settings.metric)
    results = [of_system.result for of_system in runs]
    baseline = runs[against]
    others = [number for number in range(len(runs)) if number != against]

    tests = []
    for number in others:
        first_KN, second_JN = _same_seeds_first(runs[number], baseline)
        tests.append(_test(first_KN, second_JN, outcomes, settings))

    corrected = holm([randomization.p for _, randomization in tests])
    for number, test, p_holm in zip(others, tests, corrected, strict=True):
        own = results[number]
        base = baseline.result
        several = len(own.scores) > 1 and len(base.scores) > 1
        tested = AgainstBaseline(
            *test,
            p_holm,
            p_holm <= settings.alpha,
            _mcnemar(runs[number], own.best, baseline, base.best),
            mann_whitney(own.scores, base.scores) if several else None,
            _seed_pairs(runs[number], baseline, outcomes, settings),
        )
        results[number] = replace(own, against=tested)

    best_SN = []
    for of_system in runs:
        if of_system.right_KN is not None:
            best_SN.append(of_system.right_KN[of_system.result.best])

    return Comparison(
        settings,
        baseline.result.label,
        tuple(results),
        outcomes.right,
        cochran_q(np.stack(best_SN, axis=1)) if best_SN else None,
        len(outcomes.guids),
        len(set(outcomes.groups)) if outcomes.groups else None,
        (*outcomes.notes, *_notes(results, outcomes)),
    )


def _seed_pairs(
    runs: _Runs, baseline: _Runs, outcomes: Outcomes, settings: Settings
) -> tuple[SeedPair, ...]:
    """Test each run of a system against the baseline's run of the same seed."""
    own = runs.result
    base = baseline.result
    pairs = []
    for i, j in pair_runs(own.seeds, base.seeds):
        seeds = dict.fromkeys([own.seeds[i], base.seeds[j]])
        bootstrap, randomization = _test(
            runs.outcome_KN[i], baseline.outcome_KN[j], outcomes, settings
        )
        pair = SeedPair(
            " / ".join(filter(None, seeds)),
            own.scores[i],
            base.scores[j],
            bootstrap,
            randomization,
            _mcnemar(runs, i, baseline, j),
        )
        pairs.append(pair)

    return tuple(pairs)


def pair_runs(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the runs of two systems by their seeds.

    A system of one run (a deterministic one, a file) is paired with each run of the other. Where
    no seed is shared, runs are paired in order.

    Args:
        first, second: the seeds of each system's runs.

    Returns:
        The numbers of both runs of each pair.
    """
    first_runs = range(len(first))
    second_runs = range(len(second))
    if len(first) == 1 or len(second) == 1:
        return list(product(first_runs, second_runs))

    unpaired: dict[str, list[int]] = {}  # several of one seed if each fold is a run
    for j, seed in enumerate(second):
        unpaired.setdefault(seed, []).append(j)

    pairs = []
    for i, seed in enumerate(first):
        if unpaired.get(seed):
            j = unpaired[seed].pop(0)
            pairs.append((i, j))

    return pairs or list(zip(first_runs, second_runs, strict=False))


def _split(systems: Sequence[System], outcomes: Outcomes, metric: str) -> list[_Runs]:
    """Divide the outcomes by system; score each run, and choose the best one on validation."""
    runs = []
    start = 0
    for system in systems:
        own = slice(start, start + len(system.runs))
        start = own.stop
        outcome_KN = outcomes.outcome_FN[own]
        right_KN = None if outcomes.right_FN is None else outcomes.right_FN[own]
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
        runs.append(_Runs(result, outcome_KN, right_KN))

    return runs


def _test(
    first_KN: npt.NDArray, second_JN: npt.NDArray, outcomes: Outcomes, settings: Settings
) -> tuple[Bootstrap, Randomization]:
    """Test the difference of two systems, or of two runs, by drawing and swapping rows."""
    units = outcomes.pair(first_KN, second_JN)
    score = outcomes.score
    draws: Any = {"draws": settings.draws, "seed": settings.seed}
    bootstrap = paired_bootstrap(units, score, level=1 - settings.alpha, **draws)
    return bootstrap, approximate_randomization(units, score, **draws)


def _mcnemar(runs: _Runs, i: int, others: _Runs, j: int) -> McNemar | None:
    """Test run i of a system against run j of another, by their right rows."""
    if runs.right_KN is None or others.right_KN is None:
        return None
    return mcnemar(runs.right_KN[i], others.right_KN[j])


def _same_seeds_first(runs: _Runs, baseline: _Runs) -> tuple[npt.NDArray, npt.NDArray]:
    """Order the runs so that runs of one seed have the same place; none is dropped."""
    pairs = pair_runs(runs.result.seeds, baseline.result.seeds)
    first = dict.fromkeys([i for i, _ in pairs])
    first |= dict.fromkeys(range(len(runs.outcome_KN)))
    second = dict.fromkeys([j for _, j in pairs])
    second |= dict.fromkeys(range(len(baseline.outcome_KN)))
    return runs.outcome_KN[list(first)], baseline.outcome_KN[list(second)]


def _notes(results: Sequence[SystemResult], outcomes: Outcomes) -> list[str]:
    """Warn of best runs chosen without a validation score, and of few documents."""
    notes = []
    unscored = []
    for result in results:
        if result.validation is None and len(result.scores) > 1:
            unscored.append(result.label)

    if unscored:
        notes.append(
            f"{', '.join(unscored)}: no validation scores are stored, so its first run counts as "
            "the best."
        )

    for result in results:
        if result.tied:
            seeds = ", ".join(result.seeds[number] for number in (result.best, *result.tied))
            notes.append(
                f"A tie: the seeds {seeds} of {result.label} score the same on validation; the "
                "first counts as the best."
            )

    documents = len(set(outcomes.groups or ()))
    if documents == 1:
        notes.append("All rows are of one document: no interval, no test; see resample=row.")
    elif 0 < documents < _FEW_DOCUMENTS:
        least_p = 2 / 2**documents
        notes.append(
            f"{documents} documents are few: intervals and the bootstrap's p are too small; go by "
            f"the randomisation's p, which cannot be below {least_p:.2g}."
        )

    return notes


def answers(comparison: Comparison) -> list[str]:
    """Say in a sentence for each system whether it is better than the baseline."""
    count = comparison.rows
    unit = "row"
    if comparison.groups is not None:
        count = comparison.groups
        unit = "document"

    units = f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"
    metric = comparison.settings.metric
    baseline = comparison.baseline

    sentences = []
    for result in comparison.systems:
        tested = result.against
        if tested is None:
            continue
        bootstrap = tested.bootstrap
        difference = f"{bootstrap.difference:+.3f}"
        if count == 1:
            relation = "cannot be tested against"
        else:
            interval = f"[{bootstrap.low:.3f}, {bootstrap.high:.3f}]"
            difference += f" {interval}, p = {tested.p_holm:.2g}"
            relation = "is not significantly different from"
            if tested.significant:
                relation = "is better than" if bootstrap.difference > 0 else "is worse than"

        sentences.append(f"{result.label} {relation} {baseline}: {metric} {difference}, on {units}")

    return sentences


def tables(comparison: Comparison, split: str) -> list[Table]:
    """Build all tables: systems, further tests, seed by seed."""
    return [systems_table(comparison, split), tests_table(comparison), seeds_table(comparison)]


def _p(test: Any) -> Cell:
    """Show the p-value of a test with two digits; None where there was no test."""
    return None if test is None else Formatted(test.p, ".2g")


def _difference(bootstrap: Bootstrap, comparison: Comparison) -> Cell:
    """Show a difference, with its interval unless all rows are of one document."""
    if comparison.groups == 1:
        return bootstrap.difference
    return Interval(bootstrap.difference, bootstrap.low, bootstrap.high)


def systems_table(comparison: Comparison, split: str) -> Table:
    """Show each system beside the baseline: mean ± sd, best run, difference, p-values."""
    metric = comparison.settings.metric
    rows: list[Row] = []
    for result in comparison.systems:
        cells: list[Cell] = [None] * 5
        tested = result.against
        if tested:
            cells = [
                _difference(tested.bootstrap, comparison),
                _p(tested.randomization),
                Formatted(tested.p_holm, ".2g"),
                _p(tested.bootstrap),
                _p(tested.mcnemar),
            ]

        mean = summarize(result.scores)
        best = result.scores[result.best]
        rows.append((result.label, mean, best, *cells))

    for name, score in comparison.copied.items():
        rows.append((name, score, *[None] * 6))

    title = f"{split}: {metric} against {comparison.baseline}, {comparison.rows:,} rows"
    tests = ("difference", "p", "p (Holm)", "p (bootstrap)", "p (McNemar)")
    columns = ("system", metric, "best", *tests)
    return Table(title, columns, rows, _note(comparison))


def _note(comparison: Comparison) -> str:
    """Explain the columns of `systems_table`."""
    settings = comparison.settings
    unit = "rows" if comparison.groups is None else f"{comparison.groups:,} whole documents"
    comparisons = len(comparison.systems) - 1
    level = 1 - settings.alpha
    notes = [
        f"{settings.metric}: mean ± sample sd (runs); best: the run that is best on validation, or "
        f"the first. Difference of the means, p: {unit} are resampled ([low, high], {level:.0%}; "
        "bootstrap) or swapped between the systems (p, approximate randomisation), each with the "
        f"predictions of all seeds; {settings.draws:,} draws. Holm: p corrected for the number of "
        f"comparisons ({comparisons}); at most {settings.alpha:g} is significant."
    ]

    if comparison.right:
        notes.append(
            f"McNemar: exact, rows right or wrong ({comparison.right}) in the best runs, taken to "
            "be independent."
        )
    else:
        notes.append("Rows are not right or wrong: no McNemar, no Cochran's Q.")

    if comparison.copied:
        notes.append(f"{COPIED_NOTE} On the whole split, not tested.")

    return " ".join([*notes, *comparison.notes])


def tests_table(comparison: Comparison) -> Table:
    """Show Cochran's Q over all systems, and Mann-Whitney over the seeds' scores."""
    rows: list[Row] = []
    cochran = comparison.cochran_q
    if cochran:
        systems = f"all {len(comparison.systems)} systems, best on validation"
        statistic = f"Q({cochran.degrees}) = {cochran.statistic:.2f}"
        unit = "a row, right or wrong"
        n = f"{cochran.n:,}"
        rows.append(("Cochran's Q", systems, unit, n, statistic, _p(cochran), None))

    for result in comparison.systems:
        ranks = result.against and result.against.mann_whitney
        if ranks:
            systems = f"{result.label} / {comparison.baseline}"
            unit = "a run (one seed of a system)"
            n = f"{ranks.n_first}, {ranks.n_second}"
            statistic = f"U = {ranks.statistic:g}"
            least_p = Formatted(ranks.smallest_p, ".2g")
            rows.append(("Mann-Whitney U", systems, unit, n, statistic, _p(ranks), least_p))

    note = (
        "Least p: no result of so few runs can be smaller. Cochran's Q takes rows to be "
        "independent."
    )
    columns = ("test", "systems", "unit", "n", "statistic", "p", "least p")

    return Table("Further tests", columns, rows, note)


def seeds_table(comparison: Comparison) -> Table:
    """Show each run beside the baseline's of the same seed; nothing here is corrected."""
    rows = []
    several = any(len(result.scores) > 1 for result in comparison.systems)
    for result in comparison.systems:
        if result.against is None or not several:
            continue
        for pair in result.against.per_seed:
            row = (
                result.label,
                pair.seed or "–",
                pair.score,
                pair.baseline,
                _difference(pair.bootstrap, comparison),
                _p(pair.randomization),
                _p(pair.bootstrap),
                _p(pair.mcnemar),
            )
            rows.append(row)

    tests = ("difference", "p (randomisation)", "p (bootstrap)", "p (McNemar)")
    columns = ("system", "seed", comparison.settings.metric, comparison.baseline, *tests)
    note = "Same seed with same seed; these p-values are not corrected for their number."
    return Table("Seed by seed", columns, rows, note)


def to_json(comparison: Comparison, split: str) -> dict[str, Any]:
    """Turn a comparison into JSON's own types, named as in the dataclasses.

    Each system gets the mean and the sample sd of its scores, too.
    """
    values = dataclasses.asdict(comparison)
    for system, result in zip(values["systems"], comparison.systems, strict=True):
        summary = summarize(result.scores)
        system |= summary._asdict() if summary else {}

    return {"split": split, **values}
