"""Ratings with their systems: arrays that agreement and correlation are computed of.

Legend: R raters, U units (an article's summary by one system), M metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.judging.reading import Answer
from heron.judging.study import Judged, Study

ALL = "all"  # criteria together

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ratings:
    """All usable answers, un-blinded.

    Args:
        study: what was asked.
        answers: in the forms' order.
        units: U, by article and then in the order of the systems; those nobody has judged as well.
        values: for each criterion float64 `[R, U]`, NaN where a rater has not rated a unit.
        ticks: for each kind of error float64 `[R, U]`: 1 ticked, 0 not; NaN where a rater has not
            looked. A rater who has ticked nothing at all, not even that there is no error, has not
            looked; others have looked at every summary that they say anything of. Empty where
            nobody has looked.
    """

    study: Study
    answers: tuple[Answer, ...]
    units: tuple[Judged, ...]
    values: dict[str, Floats]
    ticks: dict[str, Floats]

    @property
    def groups(self) -> list[str]:
        """U guids: summaries of one article are drawn together."""
        return [unit.guid for unit in self.units]

    @property
    def systems(self) -> npt.NDArray[np.str_]:
        """U names of systems."""
        return np.asarray([unit.system for unit in self.units], dtype=str)

    def judged(self, answer: Answer) -> Judged:
        """Tell what an answer is about."""
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


def stacked(ratings: Ratings) -> tuple[Floats, list[str]]:
    """Put all criteria side by side: `[R, criteria * U]` and the articles, a name each."""
    return np.hstack(list(ratings.values.values())), ratings.groups * len(ratings.values)


def unit_means(values_RU: Floats) -> Floats:
    """Average over raters, `[U]`; NaN where nobody has rated."""
    given_RU = ~np.isnan(values_RU)
    counts_U = given_RU.sum(axis=0)
    sums_U = np.where(given_RU, values_RU, 0.0).sum(axis=0)
    return np.where(counts_U > 0, sums_U / np.maximum(counts_U, 1), np.nan)


def human_scores(ratings: Ratings) -> dict[str, Floats]:
    """Average over raters, for each criterion `[U]`; under `all` the mean of all criteria.

    A summary that lacks a criterion has no mean of all: it would be one of other criteria.
    """
    means = {name: unit_means(values_RU) for name, values_RU in ratings.values.items()}
    if len(means) > 1:
        means[ALL] = np.mean(list(means.values()), axis=0)
    return means
