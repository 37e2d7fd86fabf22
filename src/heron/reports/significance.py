"""Significance tests of a sweep's systems against a baseline, for its report.

The tests are those of `heron compare`, with fewer draws. Systems are compared where all other
settings are equal: a sweep over curricula and encoders gets a table for each encoder.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from heron.base.cells import Table
from heron.base.errors import HeronError
from heron.base.run_folder import RunFolder
from heron.results.collect import RunRecord
from heron.results.systems import (
    System,
    group_runs,
    match_systems,
    settings_line,
    split_systems,
    without_first_runs,
)

DRAWS = 2_000  # a report of a hundred runs must not take a minute


class Match(NamedTuple):
    """Systems that differ only in the settings that are compared."""

    where: str  # the settings that set this match apart from others, `encoder.freeze=4`
    baseline: System  # that the others are compared with
    systems: Sequence[System]  # all, with the baseline


def significance_tables(
    runs: Sequence[RunRecord], split: str, against: str | None = None
) -> tuple[dict[str, Table], list[str]]:
    """Test a sweep's systems against a baseline.

    The baseline is named by `against`: settings (`curriculum=none`), a run's name or its path.
    Default: the runs without a curriculum and with the curricula's oversampling.

    Returns:
        Tables by their systems' shared settings (empty where there is one table), and the reasons
        why others could not be compared.

    Raises:
        ConfigError: no run is as `against` says.
    """
    systems = group_runs(without_first_runs(runs))
    missing: list[str] = []
    matches = _named(systems, against) if against else _by_curriculum(systems, missing)
    tables = {}
    for match in matches:
        found = _compare(match, split, missing)
        if isinstance(found, str):
            missing.append(f"{_title(match)}: {found}")
        else:
            tables[match.where] = found
    return tables, missing


def _title(match: Match) -> str:
    return f"significance ({match.where})" if match.where else "significance"


def _named(systems: Sequence[System], against: str) -> list[Match]:
    """Find the named baseline; if it fits several systems, make a table for each."""
    fitting = [systems[n] for n in match_systems(against, systems)]
    if len(fitting) == 1:
        return [Match("", fitting[0], systems)]
    compared = {part.strip().partition("=")[0] for part in against.split(",")}
    return [
        Match(settings_line(settings), baseline, same)
        for settings, same in split_systems(systems, lambda key: key not in compared)
        for baseline in same
        if baseline in fitting
    ]


def _by_curriculum(systems: Sequence[System], missing: list[str]) -> list[Match]:
    """Match curricula with the one system without, trained on the same rows."""
    trained = [one for one in systems if one.runs[0].setting("baseline.name", "none") == "none"]
    matches = []
    named = ("curriculum", "experiment")
    for settings, same in split_systems(
        trained, lambda key: key not in named and not key.startswith("curriculum.")
    ):
        # Oversampling makes another baseline, whether or not it was swept over.
        for rows in dict.fromkeys(map(_oversampling, same)):
            alike = [one for one in same if _oversampling(one) == rows]
            curricula = [one for one in alike if one.runs[0].curriculum != "none"]
            without = [one for one in alike if one not in curricula]
            if curricula and len(without) == 1:
                matches.append(Match(settings_line(settings), without[0], (*without, *curricula)))
            elif curricula and without:
                labels = "; ".join(one.label for one in without)
                missing.append(
                    f"significance: several groups have no curriculum ({labels}); "
                    "name one with against="
                )
    return matches


def _oversampling(system: System) -> str:
    run = system.runs[0]
    how = str(run.setting("batching.oversample", "none"))
    return how if how == "none" else f"{how} {run.setting('batching.multipliers')}"


def _compare(match: Match, split: str, missing: list[str]) -> Table | str:
    """Compare one match, or say why not; runs without predictions are added to `missing`."""
    # Start-up time: most reports compare nothing.
    from heron.results.comparing import CompareOptions, compare_runs, first_problem
    from heron.results.comparison_tables import systems_table

    done = [run for system in match.systems for run in system.done]
    usable = [run for run in done if RunFolder(run.path).predictions(split).is_file()]
    absent = [run.job for run in done if run not in usable]
    missing += [f"{_title(match)}: {job} has no {split} predictions" for job in absent]
    baseline = [run for run in match.baseline.runs if run in usable]
    if not baseline:
        return f"no finished run of the baseline, {match.baseline.label}"
    if len(usable) == len(baseline):
        return f"no finished run beside the baseline, {match.baseline.label}"
    options = CompareOptions(split=split, draws=DRAWS)
    try:
        comparison = compare_runs(usable, against=baseline[0].job, options=options)
    except HeronError as error:
        return first_problem(error)
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
