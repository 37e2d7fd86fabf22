"""The runs of a sweep: groups that differ in nothing but seeds, states, scores to show."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heron.base.cells import Summary, summarize
from heron.base.errors import ConfigError, nearest
from heron.config.constraints import flatten
from heron.metrics.names import signed, with_copied
from heron.results.collect import RunRecord, headline_metrics
from heron.training.run_names import is_identifying, is_neutral

FOLD = "data.folds.fold"


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in nothing but their seeds."""

    # The values of the keys that vary between groups, `{"head": "ess"}`.
    settings: Mapping[str, str]
    runs: tuple[RunRecord, ...]  # all runs of the group, finished or not

    @property
    def label(self) -> str:
        """The group's settings on one line."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items()) or "all runs"

    def values(self, split: str, metric: str) -> list[float]:
        """The metric in each finished run that has it."""
        scores = (run.score(split, metric) for run in self.runs if run.done)
        return [score for score in scores if score is not None]

    def summary(self, split: str, metric: str) -> Summary | None:
        """Mean, sample standard deviation and n over the finished runs."""
        return summarize(self.values(split, metric))

    def best_run(self, metric: str) -> RunRecord | None:
        """The finished run with the best score on validation; None without a score."""
        scores = ((run, run.score("validation", metric)) for run in self.runs if run.done)
        scored = [(signed(metric, score), run) for run, score in scores if score is not None]
        return max(scored, key=lambda each: each[0], default=(0.0, None))[1]


def group_runs(runs: Sequence[RunRecord]) -> list[Group]:
    """Group runs by everything that varies but seeds, ordered by their settings."""
    keys = [key for key in varying_keys(runs) if not is_seed(key)]
    groups: dict[tuple[str, ...], list[RunRecord]] = {}
    columns = [values_of(runs, key) for key in keys]
    for number, run in enumerate(runs):
        groups.setdefault(tuple(column[number] for column in columns), []).append(run)
    return [
        Group(dict(zip(keys, values, strict=True)), tuple(groups[values]))
        for values in sorted(groups, key=lambda values: [natural(value) for value in values])
    ]


def without_first_runs(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Leave out the runs that were trained only because a curriculum needs their dynamics.

    They lie beside the runs of an experiment and have no experiment's name.
    """
    if not any(run.curriculum != "none" and run.setting("experiment") for run in runs):
        return list(runs)
    return [run for run in runs if run.curriculum != "none" or run.setting("experiment")]


def count_states(runs: Iterable[RunRecord]) -> str:
    """Count runs by state, `2 done, 1 failed`."""
    states = [run.state for run in runs]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))


def varying_keys(runs: Sequence[RunRecord]) -> list[str]:
    """Name the overridden keys whose values are not the same in all runs, in given order.

    Keys that cannot change a result (`paths`, `logger`, ...) are left out.
    """

    def values(key: str) -> set[str]:
        # The first runs of a curriculum have no experiment, which is no other value.
        known = [run for run in runs if key != "experiment" or run.setting(key) is not None]
        return set(values_of(known, key))

    keys = dict.fromkeys(key for run in runs for key in run.overrides())
    return [key for key in keys if not is_neutral(key) and len(values(key)) > 1]


def differing_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Name the keys, overridden or not, that can change a result and differ between runs.

    Seeds are left out, and so are keys that an older run does not have.
    """
    settings = [dict(flatten(run.config)) for run in runs if run.config]
    return [
        key
        for key, value in (settings[0] if settings else {}).items()
        if all(key in each for each in settings)
        and any(each[key] != value for each in settings)
        and is_identifying(key)
        and not is_seed(key)
    ]


def is_seed(key: str) -> bool:
    """Whether a key only repeats a run: `seed`, the seed of a draw (`data.sample.seed`), the fold.

    The seed of a generated corpus is none: it gives other rows.
    """
    return key == FOLD or (
        key.rpartition(".")[2] == "seed" and not key.startswith("data.generator.")
    )


def values_of(runs: Sequence[RunRecord], key: str) -> list[str]:
    """Read a key's value in each run, also where it was left at its default.

    The resolved value comes first, so that `3e-5` and `0.00003` are one setting. A config group
    (`head=ess`) resolves to a mapping. Its name is the override of a run with equal settings, or
    else the mapping's own. A list is shown as a run with an equal one gives it, too.
    """
    values, typed = [run.setting(key) for run in runs], [run.overrides().get(key) for run in runs]
    words: dict[frozenset[tuple[str, str]], str] = {}
    for value, word in zip(values, typed, strict=True):
        if isinstance(value, Mapping | list) and word:
            words.setdefault(_content(key, value), word)
    found = []
    for value, word in zip(values, typed, strict=True):
        if isinstance(value, Mapping | list):
            own = value.get("name") if isinstance(value, Mapping) else str(value).replace("'", "")
            value = words.get(_content(key, value)) or own
        found.append(str((word or "–") if value is None else value))
    return found


def _content(key: str, values: Mapping[str, Any] | list[Any]) -> frozenset[tuple[str, str]]:
    """Collect the settings of a config group, without seeds; of a list the whole."""
    pairs = flatten({"": values} if isinstance(values, list) else values, f"{key}.")
    return frozenset((name, repr(value)) for name, value in pairs if not is_seed(name))


def match_systems(
    against: str, labels: Sequence[str], names: Sequence[Collection[str]]
) -> list[int]:
    """Find the numbers of the systems that have a name, or else of those that have some settings.

    `against` is a label, one of a system's further `names`, or settings (`head=ess`).

    Raises:
        ConfigError: there is none.
    """
    wanted = against.rstrip("/")
    exact = [n for n, own in enumerate(names) if wanted in (labels[n], *own)]
    if exact:
        return exact
    # Labels of systems of several sweeps begin with the sweep's name.
    settings = [_parts(label) | _parts(label.rpartition(": ")[2]) for label in labels]
    asked = set(map(_plain, _parts(wanted)))
    if fitting := [n for n, own in enumerate(settings) if asked <= set(map(_plain, own))]:
        return fitting
    known = [*labels, *(name for own in (*names, *settings) for name in own)]
    hint = nearest(against, known)
    raise ConfigError(f"against={against}: no such system.{hint} They are: {'; '.join(labels)}")


def _parts(label: str) -> set[str]:
    return {part.strip() for part in label.split(",")}


def _plain(setting: str) -> str:
    """Write a setting in one way: `1` and `1.0` are the same value, `true` and `True` as well."""
    key, _, value = setting.partition("=")
    if value.lower() in ("true", "false"):
        return f"{key}={value.lower()}"
    _, number, word = natural(value)
    return f"{key}={number}" if value and not word else setting


def natural(value: str) -> tuple[int, float, str]:
    """Give the key that sorts numbers by size, before words."""
    try:
        return (0, float(value), "")
    except ValueError:
        return (1, 0.0, value)


def copied_scores(runs: Iterable[RunRecord], split: str, metric: str) -> Mapping[str, float]:
    """Read the scores of copied sentences on the runs' split: `{"lead3_rouge1": fraction, ...}`.

    Every run of summaries stores it for each split, and every table and figure with a run's ROUGE
    shows it: an article's first three sentences may score higher than a system.

    Returns:
        Empty where no run stores it, or where the runs are not of the same articles.
    """
    found = [run.scores.get(split, {}) for run in runs]
    known = [{n: one[n] for n in with_copied([metric], one)[1:]} for one in found]
    stated = [one for one in known if one]
    return stated[0] if stated and all(one == stated[0] for one in stated) else {}


def watched_score(runs: Sequence[RunRecord]) -> str:
    """Name the score of `trainer.monitor`; the first headline score where no run names one."""
    named = (str(run.setting("trainer.monitor") or "") for run in runs)
    return next((name for name in named if name), next(iter(headline_metrics(runs)), ""))
