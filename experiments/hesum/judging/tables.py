"""The tables of a study: ratings, agreement, correlations, errors.

Legend: R raters, U units (summaries).
Source: HeSum, Table 3 (means), section 4.1 (alpha), section 4.2 (correlations), Table 4 (errors).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Formatted, Interval, Table, summarize
from heron_tools.annotation.measures import krippendorff_alpha
from heron_tools.statistics.rates import group_mean

from .correlation import FEWEST, Correlation, correlate
from .reading import Answer
from .study import Judged, Study

Metrics = Mapping[str, Mapping[str, Mapping[str, float]]]  # by system, guid, name
ALL = "all"  # criteria together

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ratings:
    """All usable answers, joined with the key.

    Args:
        study: from the key.
        answers: in the forms' order.
        units: U units, by article, then in the order of the systems, judged or not.
        values: by criterion, float64 `[R, U]`; NaN: a rater has not rated a unit.
        ticks: by kind of error, float64 `[R, U]`: 1 ticked, 0 not, NaN: not checked. A rater who
            ticked nothing on the whole form, not even "no error", did not check for errors; others
            checked every summary with any answer of theirs. Empty if no rater checked for
            errors.
    """

    study: Study
    answers: tuple[Answer, ...]
    units: tuple[Judged, ...]
    values: dict[str, Floats]
    ticks: dict[str, Floats]

    @property
    def groups(self) -> list[str]:
        """U guids: summaries of one article are resampled together."""
        return [unit.guid for unit in self.units]

    @property
    def systems(self) -> npt.NDArray[np.str_]:
        """U names of systems."""
        return np.asarray([unit.system for unit in self.units], dtype=str)

    def judged(self, answer: Answer) -> Judged:
        """Find the summary of an answer."""
        return self.study.items[answer.rater][answer.item]


def unblind(study: Study, answers: Sequence[Answer]) -> Ratings:
    """Join answers with the key."""
    units = tuple(Judged(guid, system) for guid in study.guids for system in study.systems)
    place = {unit: index for index, unit in enumerate(units)}
    raters = {rater: index for index, rater in enumerate(study.items)}
    shape = (len(raters), len(units))
    values = {one.name: np.full(shape, np.nan) for one in study.criteria}
    looked = {answer.rater for answer in answers if answer.errors or answer.none}
    ticks = {one.name: np.full(shape, np.nan) for one in study.errors if looked}
    for answer in answers:
        cell = raters[answer.rater], place[study.items[answer.rater][answer.item]]
        for name, rating in answer.ratings.items():
            values[name][cell] = rating
        if answer.rater in looked:
            for name, ticks_RU in ticks.items():
                ticks_RU[cell] = name in answer.errors
    return Ratings(study, tuple(answers), units, values, ticks)


def unit_means(values_RU: Floats) -> Floats:
    """Average over raters, `[U]`; NaN without ratings."""
    given_RU = ~np.isnan(values_RU)
    counts_U = given_RU.sum(axis=0)
    sums_U = np.where(given_RU, values_RU, 0.0).sum(axis=0)
    return np.where(counts_U > 0, sums_U / np.maximum(counts_U, 1), np.nan)


def human_scores(ratings: Ratings) -> dict[str, Floats]:
    """Average over raters, `[U]` for each criterion, and `all`: the mean of all criteria.

    A summary that lacks ratings of a criterion has no `all`.
    """
    means = {name: unit_means(values_RU) for name, values_RU in ratings.values.items()}
    if len(means) > 1:
        means[ALL] = np.mean(list(means.values()), axis=0)
    return means


def means_table(ratings: Ratings, seed: int) -> Table:
    """Average the ratings of each system (HeSum's Table 3)."""
    rows: list[tuple[Cell, ...]] = []
    for system in ratings.study.systems:
        own_U = ratings.systems == system
        cells: list[Cell] = []
        for values_RU in ratings.values.values():
            rater, unit = np.nonzero(~np.isnan(values_RU) & own_U)
            groups = [ratings.units[one].guid for one in unit]
            cells.append(group_mean(values_RU[rater, unit], groups, seed))
        judged = np.stack([~np.isnan(one[:, own_U]) for one in ratings.values.values()])
        rows.append((system, int(judged.any(axis=(0, 1)).sum()), int(judged.sum()), *cells))
    columns = ("system", "summaries", "ratings", *ratings.values)
    note = (
        "Means of all ratings, 1 to 5, higher is better. [low, high]: 95 %, bootstrap over whole "
        "articles; none if all ratings are of one article."
    )
    return Table("Mean ratings", columns, tuple(rows), note)


def differences_table(ratings: Ratings, seed: int) -> Table:
    """Compare each pair of systems by article, with ratings averaged over raters."""
    guids, systems = ratings.study.guids, ratings.study.systems
    # Units are sorted by article, then in the study's order of systems.
    means = [unit_means(v).reshape(len(guids), len(systems)) for v in ratings.values.values()]
    rows: list[tuple[Cell, ...]] = []
    for first, second in combinations(range(len(systems)), 2):
        gaps = [means_AS[:, first] - means_AS[:, second] for means_AS in means]
        cells = [group_mean(gap_A, guids, seed) for gap_A in gaps]
        articles = max(int((~np.isnan(gap_A)).sum()) for gap_A in gaps)
        rows.append((f"{systems[first]} - {systems[second]}", articles, *cells))
    note = (
        "Mean difference over the articles where both are rated. [low, high]: 95 %, by article; an "
        "interval without 0 is a difference at the .05 level, not corrected for multiple "
        "comparisons."
    )
    columns = ("systems", "articles", *ratings.values)
    return Table("Differences of systems", columns, tuple(rows), note)


def agreement_table(ratings: Ratings, seed: int) -> Table:
    """Compute alpha for each criterion, for all together and for each kind of error."""
    together = len(ratings.values) > 1
    every = np.hstack(list(ratings.values.values()))  # [R, criteria * U]
    rows: list[tuple[Cell, ...]] = []
    for name, values_RU, distance in (
        *((name, values_RU, "interval") for name, values_RU in ratings.values.items()),
        *([(ALL, every, "interval")] if together else []),
        *((name, ticks_RU, "nominal") for name, ticks_RU in ratings.ticks.items()),
    ):
        groups = ratings.groups * (values_RU.shape[1] // len(ratings.units))
        found = krippendorff_alpha(values_RU, distance, groups=groups, seed=seed)
        rows.append((name, distance, found.cell, found.n, found.labels))
    note = (
        "Krippendorff's alpha: 1 agreement, 0 chance; over summaries with at least two raters. "
        "Undefined (–) if there are none, or if all their ratings are equal. "
        "[low, high]: 95 %, by article."
    )
    if together:
        note += f" In {ALL}, each criterion of a summary is a unit of its own."
    columns = ("what", "distance", "alpha", "summaries", "ratings")
    return Table("Agreement", columns, tuple(rows), note)


def _interval(value: float | None, low: float | None, high: float | None) -> Cell:
    if value is None or low is None or high is None:
        return value
    return Interval(value, min(low, value), max(high, value))


def pairs_table(ratings: Ratings) -> Table:
    """Compute alpha for each pair of raters, to find raters who use the scale differently."""
    rows: list[tuple[Cell, ...]] = []
    for pair in combinations(range(len(ratings.study.items)), 2):
        found = [krippendorff_alpha(one[list(pair)]) for one in ratings.values.values()]
        names = [list(ratings.study.items)[one] for one in pair]
        shared = max(one.n for one in found)
        rows.append((" and ".join(names), shared, *(one.value for one in found)))
    columns = ("raters", "summaries both rated", *ratings.values)
    note = "Krippendorff's alpha, interval. Undefined (–): no shared summary, or all ratings equal."
    return Table("Agreement of every two raters", columns, tuple(rows), note)


def raters_table(ratings: Ratings) -> Table:
    """Show the number, mean and standard deviation of each rater's ratings."""
    rows: list[tuple[Cell, ...]] = []
    for index, (rater, items) in enumerate(ratings.study.items.items()):
        given = [one[index][~np.isnan(one[index])] for one in ratings.values.values()]
        rated = sum(1 for answer in ratings.answers if answer.rater == rater and answer.ratings)
        means = [summarize(one.tolist()) for one in given]
        rows.append((rater, len(items), rated, *means))
    note = "Mean ± sd (ratings)."
    columns = ("rater", "summaries given", "rated", *ratings.values)
    return Table("Raters", columns, tuple(rows), note)


def places_table(ratings: Ratings) -> Table:
    """Show ratings by position on the form; systems are balanced over positions."""
    rows: list[tuple[Cell, ...]] = []
    for place in range(1, len(ratings.study.systems) + 1):
        here = [one for one in ratings.answers if one.item.endswith(f"-{place}")]
        means: list[Cell] = []
        for name in ratings.values:
            means.append(summarize([a.ratings[name] for a in here if name in a.ratings]))
        rows.append((place, *means))
    note = "Mean ± sd (ratings) of the summaries shown first, second, ..."
    return Table("Ratings by place", ("place", *ratings.values), tuple(rows), note)


def correlations_table(ratings: Ratings, metrics: Metrics, seed: int) -> Table:
    """Correlate human with automatic scores, over summaries and over systems."""
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(n for by in metrics.values() for one in by.values() for n in one):
        metric_U = np.array(
            [metrics.get(u.system, {}).get(u.guid, {}).get(name, np.nan) for u in ratings.units]
        )
        for criterion, human_U in human_scores(ratings).items():
            for unit, found in _by_unit(ratings, human_U, metric_U, seed):
                cells = _interval(found.pearson, found.low, found.high), _p(found.pearson_p)
                rows.append(
                    (name, criterion, unit, found.n, *cells, found.kendall, _p(found.kendall_p))
                )
    note = (
        f"Human scores are means over raters; {ALL} is the mean of the criteria. n: summaries with "
        "both scores, or systems (means over such summaries). Undefined (–) for fewer than "
        f"{FEWEST} or if one score is constant. [low, high]: 95 %, by article. P-values assume "
        "n independent units, which summaries of one article are not, and are not "
        "corrected for multiple comparisons."
    )
    columns = ("metric", "criterion", "unit", "n", "Pearson r", "p", "Kendall tau-b", "p of tau")
    return Table("Human and automatic scores", columns, tuple(rows), note)


def _by_unit(
    ratings: Ratings, human_U: Floats, metric_U: Floats, seed: int
) -> Iterator[tuple[str, Correlation]]:
    yield "summary", correlate(human_U, metric_U, ratings.groups, seed=seed)
    both_U = ~np.isnan(human_U) & ~np.isnan(metric_U)
    own = [both_U & (ratings.systems == system) for system in ratings.study.systems]
    means = [[values_U[one].mean() for one in own if one.any()] for values_U in (human_U, metric_U)]
    yield "system", correlate(*means)


def _p(value: float | None) -> Cell:
    return None if value is None else Formatted(value, ".2g")


def errors_tables(ratings: Ratings) -> list[Table]:
    """Count summaries by kind of error and system (HeSum's Table 4): by most raters, or any."""
    if not ratings.ticks:
        return []
    shares = {name: unit_means(ticks_RU) for name, ticks_RU in ratings.ticks.items()}
    looked_U = ~np.isnan(next(iter(shares.values())))

    def count(title: str, least: float, note: str) -> Table:
        hits = {name: share_U > least for name, share_U in shares.items()}
        rows: list[tuple[Cell, ...]] = [
            (name, *(int((hit_U & (ratings.systems == one)).sum()) for one in systems))
            for name, hit_U in {"summaries looked at": looked_U, **hits}.items()
        ]
        return Table(title, ("error", *systems), tuple(rows), note)

    systems = ratings.study.systems
    note = "Counts of summaries. A rater who ticked nothing on the whole form is not counted."
    most = f"{note} More than half of those who looked: with one rater that one, with two both."
    return [
        count("Errors that most raters noticed", 0.5, most),
        count("Errors that any rater noticed", 0, note),
    ]
