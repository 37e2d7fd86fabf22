"""The runs of a sweep in groups that differ in nothing but seeds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from heron.base.cells import Summary, summarize
from heron.base.errors import ConfigError, nearest
from heron.config.checks import INDECISIVE, NEUTRAL
from heron.config.keys import flatten
from heron.results.collect import RunRecord


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in nothing but their seeds.

    Args:
        settings: the values of the keys that vary between groups, `{"head": "ess"}`.
        runs: all runs of the group, finished or not.
    """

    settings: Mapping[str, str]
    runs: tuple[RunRecord, ...]

    @property
    def label(self) -> str:
        """The group's settings on one line."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items()) or "all runs"

    def values(self, split: str, metric: str) -> list[float]:
        """The metric in each finished run that has it."""
        scores = (run.scores.get(split, {}) for run in self.runs if run.done)
        return [split_scores[metric] for split_scores in scores if metric in split_scores]

    def summary(self, split: str, metric: str) -> Summary | None:
        """Mean, sample standard deviation and n over the finished runs."""
        return summarize(self.values(split, metric))


def group_runs(runs: Sequence[RunRecord]) -> list[Group]:
    """Group runs by everything that varies but seeds, ordered by their settings."""
    keys = [key for key in varying_keys(runs) if not is_seed(key)]
    groups: dict[tuple[str, ...], list[RunRecord]] = {}
    for run in runs:
        groups.setdefault(tuple(value_of(run, key) for key in keys), []).append(run)
    return [
        Group(dict(zip(keys, values, strict=True)), tuple(groups[values]))
        for values in sorted(groups, key=lambda values: [natural(value) for value in values])
    ]


def varying_keys(runs: Sequence[RunRecord]) -> list[str]:
    """Name the overridden keys whose values are not the same in all runs, in given order.

    Keys that cannot change a result (`paths`, `logger`, ...) are left out.
    """
    keys = dict.fromkeys(key for run in runs for key in run.overrides())
    return [key for key in keys if not _is_under(key, NEUTRAL) and len(_values(runs, key)) > 1]


def _values(runs: Sequence[RunRecord], key: str) -> set[str]:
    """List a key's values; the first runs of a curriculum have no experiment, which is none."""
    if key == "experiment":
        runs = [run for run in runs if run.setting(key) is not None]
    return {value_of(run, key) for run in runs}


def differing_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Name the keys, overridden or not, that can change a result and differ between runs.

    Seeds are left out, and so are keys that an older run does not have.
    """
    settings = [dict(flatten(run.config)) for run in runs if run.config]
    if not settings:
        return []
    return [
        key
        for key, value in settings[0].items()
        if all(key in each for each in settings)
        and any(each[key] != value for each in settings)
        and not _is_under(key, INDECISIVE)
        and not is_seed(key)
    ]


def _is_under(key: str, prefixes: Sequence[str]) -> bool:
    return any(f"{key}.".startswith(f"{prefix}.") for prefix in prefixes)


def is_seed(key: str) -> bool:
    """Whether a key only repeats a run: `seed`, or the seed of a draw (`data.sample.seed`).

    The seed of a generated corpus is none: it gives other rows.
    """
    return key.rpartition(".")[2] == "seed" and not key.startswith("data.generator.")


def value_of(run: RunRecord, key: str) -> str:
    """Read a key's value in a run, also where it was left at its default.

    The resolved value comes first, so that `3e-5` and `0.00003` are one setting; a config group
    (`head=ess`) resolves to a mapping, whose name is the override itself or the mapping's.
    """
    value = run.setting(key)
    if isinstance(value, Mapping):
        value = run.overrides().get(key) or value.get("name")
    return str(run.overrides().get(key, "–") if value is None else value)


def match_systems(
    against: str, labels: Sequence[str], names: Sequence[Collection[str]]
) -> list[int]:
    """Find the numbers of the systems that have a name, or else of those that have some settings.

    Args:
        against: a label, a run's name or path, or settings (`head=ess`).
        labels: of all systems.
        names: further names of each system.

    Raises:
        ConfigError: there is none.
    """
    wanted = against.rstrip("/")
    exact = [n for n, own in enumerate(names) if wanted in (labels[n], *own)]
    if exact:
        return exact
    # Labels of systems of several sweeps begin with the sweep's name.
    settings = [_parts(label) | _parts(label.rpartition(": ")[2]) for label in labels]
    if fitting := [n for n, own in enumerate(settings) if _parts(wanted) <= own]:
        return fitting
    known = [*labels, *(name for own in (*names, *settings) for name in own)]
    hint = nearest(against, known)
    raise ConfigError(f"against={against}: no such system.{hint} They are: {'; '.join(labels)}")


def _parts(label: str) -> set[str]:
    return {part.strip() for part in label.split(",")}


def natural(value: str) -> tuple[int, float, str]:
    """Give the key that sorts numbers by size, before words."""
    try:
        return (0, float(value), "")
    except ValueError:
        return (1, 0.0, value)
