"""A sweep's systems tested against a baseline, as its report shows them.

The tests are those of `heron compare`, with fewer draws. Systems are compared where all else is
equal: a sweep over curricula and encoders gets a table for each encoder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from heron.base.cells import Table
from heron.base.errors import ConfigError, DataError, HeronError, nearest
from heron.base.run_folder import RunFolder
from heron.results.collect import RunRecord, without_first_runs
from heron.results.groups import Group, group_runs

DRAWS = 2_000  # a report of a hundred runs must not take a minute


@dataclass(frozen=True, slots=True)
class Match:
    """Systems that differ in nothing but what is compared.

    Args:
        settings: what they share and other matches do not, `{"encoder.freeze": "4"}`.
        baseline: what the others are compared with.
        groups: all of them, the baseline as well.
    """

    settings: Mapping[str, str]
    baseline: Group
    groups: tuple[Group, ...]

    @property
    def where(self) -> str:
        """The shared settings, to be put behind a title."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())


def significance_tables(
    runs: Sequence[RunRecord], split: str, against: str | None = None
) -> tuple[dict[str, Table], list[str]]:
    """Test a sweep's systems against a baseline.

    Args:
        runs: of one sweep, finished or not.
        split: which of their predictions.
        against: the baseline: settings (`curriculum=none`), a run's name or its path. Default: the
            runs without a curriculum that have the curricula's oversampling; without curricula
            there is no default.

    Returns:
        Tables by the settings that their systems share (empty where there is one table), and what
        could not be compared.

    Raises:
        ConfigError: no run is as `against` says.
    """
    groups = group_runs(without_first_runs(runs))
    missing: list[str] = []
    matches = _named(groups, against) if against else _by_curriculum(groups, missing)
    tables = {match.where: _compare(match, split, missing) for match in matches}
    return {where: table for where, table in tables.items() if table}, missing


def _named(groups: Sequence[Group], against: str) -> list[Match]:
    """Find the baseline that somebody names; one in each table where it fits several groups."""
    wanted = against.rstrip("/")
    exact = [group for group in groups if wanted in _names(group)]
    parts = {part.strip() for part in wanted.split(",")}
    fitting = exact or [group for group in groups if parts <= _parts(group.settings)]
    if not fitting:
        labels = [group.label for group in groups]
        hint = nearest(against, [*labels, *(part for g in groups for part in _parts(g.settings))])
        raise ConfigError(f"against={against}: no such system.{hint} They are: {'; '.join(labels)}")
    if len(fitting) == 1:
        return [Match({}, fitting[0], tuple(groups))]
    compared = {part.partition("=")[0] for part in parts}
    return [
        Match(settings, baseline, same)
        for settings, same in _apart(groups, lambda key: key not in compared)
        for baseline in same
        if baseline in fitting
    ]


def _names(group: Group) -> set[str]:
    names = {str(name) for run in group.runs for name in (run.job, run.path, run.path.absolute())}
    return {group.label, *names}


def _parts(settings: Mapping[str, str]) -> set[str]:
    return {f"{key}={value}" for key, value in settings.items()}


def _by_curriculum(groups: Sequence[Group], missing: list[str]) -> list[Match]:
    """Put curricula beside the one group that has none and is trained on the same rows."""
    trained = [g for g in groups if g.runs[0].setting("baseline.name", "none") == "none"]
    matches = []
    for settings, same in _apart(trained, lambda key: not _is_curriculum(key)):
        # Repeated rows are another baseline, whether or not the repeats were swept over.
        for rows in dict.fromkeys(map(_oversampling, same)):
            alike = [group for group in same if _oversampling(group) == rows]
            curricula = [group for group in alike if group.runs[0].curriculum != "none"]
            without = [group for group in alike if group not in curricula]
            if curricula and len(without) == 1:
                matches.append(Match(settings, without[0], (without[0], *curricula)))
            elif curricula and without:
                labels = "; ".join(group.label for group in without)
                missing.append(
                    f"significance: several groups have no curriculum ({labels}); "
                    "name one with against="
                )
    return matches


def _is_curriculum(key: str) -> bool:
    return key in ("curriculum", "experiment") or key.startswith("curriculum.")


def _oversampling(group: Group) -> str:
    run = group.runs[0]
    how = str(run.setting("batching.oversample", "none"))
    return how if how == "none" else f"{how} {run.setting('batching.multipliers')}"


def _apart(
    groups: Sequence[Group], is_shared: Callable[[str], bool]
) -> Iterable[tuple[dict[str, str], tuple[Group, ...]]]:
    """Part groups by the settings that those in one table must share."""
    apart: dict[tuple[tuple[str, str], ...], list[Group]] = {}
    for group in groups:
        shared = tuple((key, value) for key, value in group.settings.items() if is_shared(key))
        apart.setdefault(shared, []).append(group)
    return [(dict(shared), tuple(same)) for shared, same in apart.items()]


def _compare(match: Match, split: str, missing: list[str]) -> Table | None:
    """Compare one match; what stands in the way is named, and never stops the report."""
    # Reports without a comparison, most of them, do without the time that this takes to import.
    from heron.results.comparing import CompareOptions, compare_runs
    from heron.results.comparison_tables import systems_table

    name = f"significance{f' ({match.where})' if match.where else ''}"
    usable = [run for group in match.groups for run in group.runs if _is_usable(run, split)]
    absent = [r.job for g in match.groups for r in g.runs if r.done and not _is_usable(r, split)]
    missing += [f"{name}: {job} has no {split} predictions" for job in absent]
    baseline = [run for run in match.baseline.runs if _is_usable(run, split)]
    if not baseline:
        missing.append(f"{name}: no finished run of the baseline, {match.baseline.label}")
        return None
    if len(usable) == len(baseline):
        missing.append(f"{name}: no finished run beside the baseline, {match.baseline.label}")
        return None
    options = CompareOptions(split=split, draws=DRAWS)
    try:
        comparison = compare_runs(usable, against=baseline[0].job, options=options)
    except HeronError as error:
        problems = error.problems if isinstance(error, DataError) else [error]
        missing.append(f"{name}: {problems[0] if problems else error}")
        return None
    table = systems_table(comparison, split)
    notes = [table.note]
    if found := comparison.cochran_q:
        notes.append(
            "Cochran's Q over the best runs of all systems, right or wrong: "
            f"Q({found.degrees}) = {found.statistic:.1f}, p = {found.p:.2g}."
        )
    notes.append("heron compare shows the tests over seeds as well, with more draws.")
    title = f"{table.title}, where {match.where}" if match.where else table.title
    return dataclasses.replace(table, title=title, note=" ".join(notes))


def _is_usable(run: RunRecord, split: str) -> bool:
    return run.done and RunFolder(run.path).predictions(split).is_file()
