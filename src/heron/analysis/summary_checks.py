"""What `heron analyze` of summaries is told, checked before any data is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from heron.analysis.options import AnalyzeOptions
from heron.base.errors import ConfigError, nearest

if TYPE_CHECKING:
    from heron.analysis.published_statistics import PublishedStatistics
    from heron.config.data import DataConfig
    from heron.languages.morphology import Morphology

_ALWAYS = ("file", "line")  # side columns of every table


class Tools(NamedTuple):
    """What statistics need beside texts: who finds lemmas, and a paper's numbers, if any."""

    morphology: Morphology
    published: PublishedStatistics | None


def open_tools(options: AnalyzeOptions, config: DataConfig) -> Tools:
    """Open what `morphology=` and `published=` name, so that a wrong name is seen at once.

    Raises:
        ConfigError: an unknown backend, or one that cannot work here; no such published numbers.
        DataError: stored analyses that cannot be read.
    """
    from heron.analysis.published_statistics import published_statistics
    from heron.languages import get_language
    from heron.languages.morphology import load_morphology

    published = published_statistics(config.name, options.published)
    return Tools(load_morphology(options.morphology, get_language(config.language)), published)


def read_columns(config: DataConfig) -> list[str]:
    """List the side columns that articles come with, generated ones as well."""
    return [*config.columns.side, *_ALWAYS]


def check_columns(names: Sequence[str], config: DataConfig) -> None:
    """Refuse columns to tell sets of a data set apart by that are not read.

    Raises:
        ConfigError: names one.
    """
    known = read_columns(config)
    for name in names:
        if name not in known:
            raise no_column(name, known)


def check_slices(wanted: Sequence[str], analyses: Sequence[str], config: DataConfig) -> None:
    """Refuse what a run's summaries cannot be sliced by.

    Args:
        wanted: as `by=` names it.
        analyses: what every run has.
        config: the run's data set, whose side columns are the rest.

    Raises:
        ConfigError: neither an analysis nor a side column.
    """
    from heron.analysis.score_slices import side_values

    sides = dict.fromkeys(read_columns(config))
    for by in wanted:
        if by not in analyses:
            side_values([sides], by, analyses)


def no_column(name: str, known: Sequence[str]) -> ConfigError:
    """Say that there is no such column, and how there would be."""
    given = [each for each in known if each not in _ALWAYS]
    hint = nearest(name, given) or f" data.columns.side=[{name}] reads it"
    return ConfigError(f"by={name}: no column of that name is read.{hint}")
