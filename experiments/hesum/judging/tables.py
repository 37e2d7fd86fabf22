"""The tables of a study: ratings, agreement, correlations, errors.

Legend: R raters, U units (summaries).
Source: HeSum, Table 3 (means), section 4.1 (alpha), section 4.2 (correlations), Table 4 (errors).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Formatted, Interval, Row, Table, summarize
from heron_tools.annotation.measures import krippendorff_alpha
from heron_tools.statistics.rates import group_mean

from .correlation import FEWEST, Correlation, Floats, correlate
from .reading import SummaryRating
from .study import JudgedSummary, Metrics, Study

ALL = "all"  # criteria together

Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Ratings:
    """All usable answers, joined with the key.

    Args:
        study: from the key.
        answers: in the forms' order.
        units: U summaries, judged or not, by article, then in the order of the systems.
        values: ratings by criterion, float64 `[R, U]`; NaN: a rater has not rated a unit.
        ticks: ticks by kind of error, float64 `[R, U]`: 1 ticked, 0 not ticked, NaN: not checked.
            A rater who ticked nothing on the whole form, not even "no error", did not check for
            errors; other raters checked every summary that they have answered. Empty if no rater
            checked for errors.
    """

    study: Study
    answers: tuple[SummaryRating, ...]
    units: tuple[JudgedSummary, ...]
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

    def judged(self, answer: SummaryRating) -> JudgedSummary:
        """Find the summary of an answer."""
        items = self.study.items[answer.rater]
        return items[answer.item]


def unblind(study: Study, answers: Sequence[SummaryRating]) -> Ratings:
    """Join answers with the key, which names the system of each summary.

    Args:
        study: the key.
        answers: of all raters, as `read_forms` returns them.
    """
    units = []
    for guid in study.guids:
        for system in study.systems:
            units.append(JudgedSummary(guid, system))

    column_of = {unit: column for column, unit in enumerate(units)}
    row_of = {rater: row for row, rater in enumerate(study.items)}

    # NaN: not rated, or not checked for errors.
    nothing_RU = np.full((len(row_of), len(units)), np.nan)

    values = {question.name: nothing_RU.copy() for question in study.criteria}
    ticks = {}
    checkers = {answer.rater for answer in answers if answer.errors or answer.none}
    if checkers:
        ticks = {question.name: nothing_RU.copy() for question in study.errors}

    ratings = Ratings(study, tuple(answers), tuple(units), values, ticks)
    for answer in answers:
        row = row_of[answer.rater]
        column = column_of[ratings.judged(answer)]

        for name, rating in answer.ratings.items():
            values[name][row, column] = rating
        if answer.rater in checkers:
            for name, ticks_RU in ticks.items():
                ticks_RU[row, column] = name in answer.errors

    return ratings


def unit_means(values_RU: Floats) -> Floats:
    """Average over raters, `[U]`; NaN without ratings."""
    rated_RU = ~np.isnan(values_RU)
    counts_U = rated_RU.sum(axis=0)
    sums_U = np.where(rated_RU, values_RU, 0.0).sum(axis=0)
    return np.where(counts_U > 0, sums_U / np.maximum(counts_U, 1), np.nan)


def human_scores(ratings: Ratings) -> dict[str, Floats]:
    """Average over raters.

    Returns:
        `[U]` for each criterion, and `all`: the mean of all criteria, NaN for a summary that lacks
        ratings of a criterion.
    """
    means = {name: unit_means(values_RU) for name, values_RU in ratings.values.items()}
    if len(means) > 1:
        means[ALL] = np.mean(list(means.values()), axis=0)
    return means


def means_table(ratings: Ratings, seed: int) -> Table:
    """Average the ratings of each system (HeSum's Table 3).

    Returns:
        A row for each system: numbers of judged summaries and of ratings, and the mean of each
        criterion with its interval.
    """
    note = (
        "Means of all ratings, 1 to 5, higher is better. [low, high]: 95 %, bootstrap over whole "
        "articles; none if all ratings are of one article."
    )
    rows: Rows = []
    for system in ratings.study.systems:
        of_system_U = ratings.systems == system
        judged: set[int] = set()  # units
        count = 0
        means = []

        for values_RU in ratings.values.values():
            rater, unit = np.nonzero(~np.isnan(values_RU) & of_system_U)
            groups = [ratings.units[index].guid for index in unit]
            means.append(group_mean(values_RU[rater, unit], groups, seed))
            judged.update(unit.tolist())
            count += len(unit)

        rows.append((system, len(judged), count, *means))

    columns = ("system", "summaries", "ratings", *ratings.values)
    return Table("Mean ratings", columns, rows, note)


def differences_table(ratings: Ratings, seed: int) -> Table:
    """Compare each pair of systems by article, with ratings averaged over raters.

    Returns:
        A row for each pair: the number of articles, and the mean difference of each criterion
        with its interval.
    """
    note = (
        "Mean difference over the articles where both are rated. [low, high]: 95 %, by article; an "
        "interval without 0 is a difference at the .05 level, not corrected for multiple "
        "comparisons."
    )
    guids = ratings.study.guids
    systems = ratings.study.systems

    # Units are sorted by article, then in the study's order of systems.
    shape = (len(guids), len(systems))
    means = [unit_means(values_RU).reshape(shape) for values_RU in ratings.values.values()]

    rows: Rows = []
    for first, second in combinations(range(len(systems)), 2):
        name = f"{systems[first]} - {systems[second]}"
        articles = 0
        cells = []
        for means_AS in means:
            difference_A = means_AS[:, first] - means_AS[:, second]
            compared = int((~np.isnan(difference_A)).sum())
            articles = max(articles, compared)
            cells.append(group_mean(difference_A, guids, seed))
        rows.append((name, articles, *cells))

    columns = ("systems", "articles", *ratings.values)
    return Table("Differences of systems", columns, rows, note)


def agreement_table(ratings: Ratings, seed: int) -> Table:
    """Compute alpha for each criterion, for all together and for each kind of error.

    Returns:
        A row for each scale: alpha with its interval, and the numbers of summaries and ratings.
    """
    note = (
        "Krippendorff's alpha: 1 agreement, 0 chance; over summaries with at least two raters. "
        "Undefined (–) if there are none, or if all their ratings are equal. "
        "[low, high]: 95 %, by article."
    )
    scales = [(name, "interval", values_RU) for name, values_RU in ratings.values.items()]
    if len(ratings.values) > 1:
        together = np.hstack(list(ratings.values.values()))  # [R, criteria * U]
        scales.append((ALL, "interval", together))
        note += f" In {ALL}, each criterion of a summary is a unit of its own."
    scales += [(name, "nominal", ticks_RU) for name, ticks_RU in ratings.ticks.items()]

    rows: Rows = []
    for name, distance, values in scales:
        repeats = values.shape[1] // len(ratings.units)
        groups = ratings.groups * repeats
        alpha = krippendorff_alpha(values, distance, groups=groups, seed=seed)
        rows.append((name, distance, alpha.cell, alpha.n, alpha.labels))

    columns = ("what", "distance", "alpha", "summaries", "ratings")
    return Table("Agreement", columns, rows, note)


def pairs_table(ratings: Ratings) -> Table:
    """Compute alpha for each pair of raters, to find raters who use the scale differently.

    Returns:
        A row for each pair: the number of summaries that both rated, and alpha of each criterion.
    """
    note = "Krippendorff's alpha, interval. Undefined (–): no shared summary, or all ratings equal."
    raters = list(ratings.study.items)

    rows: Rows = []
    for first, second in combinations(range(len(raters)), 2):
        pair = [first, second]
        name = f"{raters[first]} and {raters[second]}"
        shared = 0
        alphas = []
        for values_RU in ratings.values.values():
            alpha = krippendorff_alpha(values_RU[pair])
            shared = max(shared, alpha.n)
            alphas.append(alpha.value)
        rows.append((name, shared, *alphas))

    columns = ("raters", "summaries both rated", *ratings.values)
    return Table("Agreement of every two raters", columns, rows, note)


def raters_table(ratings: Ratings) -> Table:
    """Describe each rater's ratings.

    Returns:
        A row for each rater: the numbers of summaries on the form and of rated ones, and mean and
        standard deviation of each criterion.
    """
    rows: Rows = []
    for index, (rater, items) in enumerate(ratings.study.items.items()):
        rated = 0
        for answer in ratings.answers:
            if answer.rater == rater and answer.ratings:
                rated += 1

        means = []
        for values_RU in ratings.values.values():
            own_U = values_RU[index]
            means.append(summarize(own_U[~np.isnan(own_U)].tolist()))
        rows.append((rater, len(items), rated, *means))

    columns = ("rater", "summaries given", "rated", *ratings.values)
    return Table("Raters", columns, rows, "Mean ± sd (ratings).")


def places_table(ratings: Ratings) -> Table:
    """Average ratings by position on the form, over which systems are balanced.

    Returns:
        A row for each position: mean and standard deviation of each criterion.
    """
    note = "Mean ± sd (ratings) of the summaries shown first, second, ..."
    rows: Rows = []
    for position in range(1, len(ratings.study.systems) + 1):
        ending = f"-{position}"
        shown = [answer.ratings for answer in ratings.answers if answer.item.endswith(ending)]

        means = []
        for name in ratings.values:
            values = [by_criterion[name] for by_criterion in shown if name in by_criterion]
            means.append(summarize(values))
        rows.append((position, *means))

    return Table("Ratings by place", ("place", *ratings.values), rows, note)


def correlations_table(ratings: Ratings, metrics: Metrics, seed: int) -> Table:
    """Correlate human with automatic scores, over summaries and over systems.

    Args:
        ratings: of people.
        metrics: automatic scores, by system and guid.
        seed: of the bootstrap.

    Returns:
        Two rows for each metric and criterion, one over summaries and one over systems.
    """
    note = (
        f"Human scores are means over raters; {ALL} is the mean of the criteria. n: summaries with "
        "both scores, or systems (means over such summaries). Undefined (–) for fewer than "
        f"{FEWEST} or if one score is constant. [low, high]: 95 %, by article. P-values assume "
        "n independent units, which summaries of one article are not, and are not "
        "corrected for multiple comparisons."
    )
    human = human_scores(ratings)
    scores_U = [metrics.get(unit.system, {}).get(unit.guid, {}) for unit in ratings.units]

    names: dict[str, None] = {}  # an ordered set
    for by_guid in metrics.values():
        for scores in by_guid.values():
            names.update(dict.fromkeys(scores))

    rows: Rows = []
    for name in names:
        metric_U = np.array([scores.get(name, np.nan) for scores in scores_U])
        for criterion, human_U in human.items():
            by_summary = correlate(human_U, metric_U, ratings.groups, seed=seed)
            by_system = _correlate_systems(ratings, human_U, metric_U)
            rows.append((name, criterion, "summary", *_correlation_cells(by_summary)))
            rows.append((name, criterion, "system", *_correlation_cells(by_system)))

    columns = ("metric", "criterion", "unit", "n", "Pearson r", "p", "Kendall tau-b", "p of tau")
    return Table("Human and automatic scores", columns, rows, note)


def _correlate_systems(ratings: Ratings, human_U: Floats, metric_U: Floats) -> Correlation:
    """Correlate the means of systems, over the summaries with both scores."""
    both_U = ~np.isnan(human_U + metric_U)
    human_means = []
    metric_means = []
    for system in ratings.study.systems:
        own_U = both_U & (ratings.systems == system)
        if own_U.any():
            human_means.append(human_U[own_U].mean())
            metric_means.append(metric_U[own_U].mean())
    return correlate(human_means, metric_means)


def _correlation_cells(correlation: Correlation) -> tuple[Cell, ...]:
    """Lay out n, Pearson's r and its p, Kendall's tau and its p."""
    r = correlation.pearson
    low = correlation.low
    high = correlation.high
    pearson: Cell = r
    if r is not None and low is not None and high is not None:
        pearson = Interval(r, min(low, r), max(high, r))
    pearson_p = _p_cell(correlation.pearson_p)
    kendall_p = _p_cell(correlation.kendall_p)
    return correlation.n, pearson, pearson_p, correlation.kendall, kendall_p


def _p_cell(value: float | None) -> Cell:
    if value is None:
        return None
    return Formatted(value, ".2g")


def errors_tables(ratings: Ratings) -> list[Table]:
    """Count summaries by kind of error and system (HeSum's Table 4).

    Returns:
        The counts of errors that most raters noticed, and of those that any rater noticed; no
        table if nobody checked for errors.
    """
    if not ratings.ticks:
        return []

    shares = {name: unit_means(ticks_RU) for name, ticks_RU in ratings.ticks.items()}
    checked_U = ~np.isnan(next(iter(shares.values())))
    by_most = {"summaries looked at": checked_U}
    by_any = {"summaries looked at": checked_U}
    for name, share_U in shares.items():
        by_most[name] = share_U > 0.5
        by_any[name] = share_U > 0

    note = "Counts of summaries. A rater who ticked nothing on the whole form is not counted."
    most = f"{note} More than half of those who looked: with one rater that one, with two both."
    return [
        _counts_table("Errors that most raters noticed", by_most, ratings, most),
        _counts_table("Errors that any rater noticed", by_any, ratings, note),
    ]


def _counts_table(
    title: str, hits: Mapping[str, npt.NDArray[np.bool_]], ratings: Ratings, note: str
) -> Table:
    """Count summaries by system.

    Args:
        title: of the table.
        hits: the counted summaries of each row, `[U]`.
        ratings: with the systems of the units.
        note: below the table.
    """
    systems = ratings.study.systems
    rows: Rows = []
    for name, hit_U in hits.items():
        counts = [int(hit_U[ratings.systems == system].sum()) for system in systems]
        rows.append((name, *counts))
    return Table(title, ("error", *systems), rows, note)
