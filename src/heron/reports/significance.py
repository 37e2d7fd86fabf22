"""Significance tests of a sweep's systems against a baseline, for its report.

The tests are those of `heron compare`, with fewer draws. Systems are compared where all other
settings are equal: a sweep over curricula and encoders gets a table for each encoder.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from heron.base.cells import Table
from heron.base.errors import HeronError
from heron.base.run_folder import RunFolder
from heron.results.collect import RunRecord
from heron.results.groups import Group, group_runs, match_systems, without_first_runs

DRAWS = 2_000  # a report of a hundred runs must not take a minute


@dataclass(frozen=True, slots=True)
class Match:
    """Systems that differ only in the settings that are compared."""

    settings: Mapping[str, str]  # what sets this match apart from others, `{"encoder.freeze": "4"}`
    baseline: Group  # that the others are compared with
    groups: tuple[Group, ...]  # all, with the baseline

    @property
    def where(self) -> str:
        """The shared settings, for a title."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())


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
    groups = group_runs(without_first_runs(runs))
    missing: list[str] = []
    matches = _named(groups, against) if against else _by_curriculum(groups, missing)
    tables = {}
    for match in matches:
        found = _compare(match, split, missing)
        if isinstance(found, str):
            name = f"significance ({match.where})" if match.where else "significance"
            missing.append(f"{name}: {found}")
        else:
            tables[match.where] = found
    return tables, missing


def _named(groups: Sequence[Group], against: str) -> list[Match]:
    """Find the named baseline; if it fits several groups, make a table for each."""
    labels = [group.label for group in groups]
    names = [
        {str(name) for run in group.runs for name in (run.job, run.path, run.path.absolute())}
        for group in groups
    ]
    fitting = [groups[n] for n in match_systems(against, labels, names)]
    if len(fitting) == 1:
        return [Match({}, fitting[0], tuple(groups))]
    compared = {part.strip().partition("=")[0] for part in against.split(",")}
    return [
        Match(settings, baseline, tuple(same))
        for settings, same in split_groups(groups, lambda key: key not in compared)
        for baseline in same
        if baseline in fitting
    ]


def _by_curriculum(groups: Sequence[Group], missing: list[str]) -> list[Match]:
    """Match curricula with the one group without, trained on the same rows."""
    trained = [g for g in groups if g.runs[0].setting("baseline.name", "none") == "none"]
    matches = []
    named = ("curriculum", "experiment")
    for settings, same in split_groups(
        trained, lambda key: key not in named and not key.startswith("curriculum.")
    ):
        # Oversampling makes another baseline, whether or not it was swept over.
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


def _oversampling(group: Group) -> str:
    run = group.runs[0]
    how = str(run.setting("batching.oversample", "none"))
    return how if how == "none" else f"{how} {run.setting('batching.multipliers')}"


def split_groups(
    groups: Sequence[Group], is_shared: Callable[[str], bool]
) -> list[tuple[dict[str, str], list[Group]]]:
    """Split groups by the values of some settings, in the order of the groups."""
    apart: dict[tuple[tuple[str, str], ...], list[Group]] = {}
    for group in groups:
        shared = tuple((key, value) for key, value in group.settings.items() if is_shared(key))
        apart.setdefault(shared, []).append(group)
    return [(dict(shared), same) for shared, same in apart.items()]


def _compare(match: Match, split: str, missing: list[str]) -> Table | str:
    """Compare one match, or say why not; runs without predictions are added to `missing`."""
    # Start-up time: most reports compare nothing.
    from heron.results.comparing import CompareOptions, compare_runs, first_problem
    from heron.results.comparison_tables import systems_table

    name = f"significance ({match.where})" if match.where else "significance"
    done = [run for group in match.groups for run in group.runs if run.done]
    usable = [run for run in done if RunFolder(run.path).predictions(split).is_file()]
    absent = [run.job for run in done if run not in usable]
    missing += [f"{name}: {job} has no {split} predictions" for job in absent]
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
