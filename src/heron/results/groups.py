"""The runs of a sweep in groups: what varied between them, and which scores head a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heron.base.cells import Summary, summarize
from heron.config.checks import INDECISIVE, NEUTRAL
from heron.config.keys import flatten
from heron.results.collect import RunRecord
from heron.results.copied import with_copied

SPLITS = ("test", "validation")

_HEADLINE = ("macro_f1", "weighted_f1", "relaxed_macro_f1", "relaxed_weighted_f1", "accuracy")
_OF_ANSWERS = ("f1", "exact_match", "no_answer_accuracy")  # and each language's own two
_OF_SUMMARIES = ("rouge1", "rouge2", "rougeL", "bertscore_f1")


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


def varying_keys(runs: Sequence[RunRecord]) -> list[str]:
    """Name the overridden keys whose values are not the same in all runs, in given order.

    Keys that cannot change a result (`paths`, `logger`, ...) are left out.
    """
    keys = dict.fromkeys(key for run in runs for key in run.overrides())
    return [key for key in keys if not _is_neutral(key) and len(_values(runs, key)) > 1]


def _values(runs: Sequence[RunRecord], key: str) -> set[str]:
    """List a key's values; a run that curricula learnt from has no experiment, which is none."""
    if key == "experiment":
        runs = [run for run in runs if run.setting(key) is not None]
    return {value_of(run, key) for run in runs}


def _is_neutral(key: str) -> bool:
    return any(f"{key}.".startswith(f"{neutral}.") for neutral in NEUTRAL)


def differing_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Name the keys, typed or not, that can change a result and are not the same in all runs.

    Seeds are left out, and so are keys that an older run does not know.
    """
    settings = [dict(flatten(run.config)) for run in runs if run.config]
    shared = (
        [key for key in settings[0] if all(key in each for each in settings)] if settings else []
    )
    return [
        key
        for key in shared
        if not any(f"{key}.".startswith(f"{each}.") for each in INDECISIVE)
        and not is_seed(key)
        and any(each[key] != settings[0][key] for each in settings)
    ]


def is_seed(key: str) -> bool:
    """Whether a key only repeats a run: `seed`, or the seed of a draw (`data.sample.seed`).

    The seed of a generated corpus does not: its rows are others.
    """
    return key.rpartition(".")[2] == "seed" and not key.startswith("data.generator.")


def value_of(run: RunRecord, key: str) -> str:
    """What `key` is in this run, also where it was left at its default.

    The resolved value comes first, so that `3e-5` and `0.00003` are one setting; a config group
    (`head=ess`) resolves to a mapping, whose name is the override itself or the mapping's.
    """
    value = run.setting(key)
    if isinstance(value, Mapping):
        value = run.overrides().get(key) or value.get("name")
    return str(run.overrides().get(key, "–") if value is None else value)


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


def natural(value: str) -> tuple[int, float, str]:
    """Sort numbers by size and before words."""
    try:
        return (0, float(value), "")
    except ValueError:
        return (1, 0.0, value)


def headline_metrics(runs: Iterable[RunRecord]) -> list[str]:
    """Name the scores that head a report: the known ones present, else all that are not parts.

    What `trainer.monitor` and `task.metrics` name is among them.
    """
    runs = list(runs)
    present = dict.fromkeys(name for run in runs for of in run.scores.values() for name in of)
    known = headline_of(present)
    named = dict.fromkeys(str(run.setting("trainer.monitor")) for run in runs)
    named |= dict.fromkeys(name for run in runs for name in run.setting("task.metrics") or ())
    return [*known, *(name for name in named if name in present and name not in known)]


def watched_score(runs: Sequence[RunRecord]) -> str:
    """Name the score that the runs watch; the first headline score where they do not say."""
    named = (str(run.setting("trainer.monitor") or "") for run in runs)
    return next((name for name in named if name), next(iter(headline_metrics(runs)), ""))


def headline_of(names: Iterable[str]) -> list[str]:
    """Name the scores that head a report, of all the names that there are.

    Behind each ROUGE stands what copying sentences reaches in it.
    """
    present = dict.fromkeys(names)
    known = [name for name in _HEADLINE if name in present]
    if not known and "rouge1" in present:
        return with_copied([name for name in _OF_SUMMARIES if name in present], present)
    if not known and "exact_match" in present:
        answers = [name for name in present if name in _OF_ANSWERS or _is_of_language(name)]
        return sorted(answers, key=lambda name: (_is_of_language(name), not name.endswith("f1")))
    return known or [name for name in present if is_whole(name)]


def _is_of_language(name: str) -> bool:
    """Tell `he_f1` and `he_exact_match` from `answerable_f1`."""
    prefix, _, rest = name.partition("_")
    return rest in ("f1", "exact_match") and prefix != "answerable"


def is_whole(metric: str) -> bool:
    """Whether a metric is a score of the whole split, not of one class nor an interval's bound."""
    return "/" not in metric and not metric.endswith(("_low", "_high"))


def count_states(runs: Iterable[RunRecord]) -> str:
    """Count runs by state, `2 done, 1 failed`."""
    states = [run.state for run in runs]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))
