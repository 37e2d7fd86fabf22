"""Systems: runs, or prediction files, that differ in nothing but seeds and folds; how to find them.

A sweep is grouped into systems by the settings that vary in it. On a command line, systems are
named by runs, sweeps, globs of them, and prediction files.
"""

import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heron.base.cells import Summary, summarize
from heron.base.errors import ConfigError, nearest
from heron.base.tables import SUFFIXES, table_format, table_stem
from heron.config.constraints import flatten
from heron.metrics.names import signed, with_copied
from heron.results.best import Complexity, best_of, complexity
from heron.results.collect import PredictionFile, RunRecord, collect, is_run
from heron.training.run_names import is_identifying, is_neutral

FOLD = "data.folds.fold"
_HASH = re.compile("-[0-9a-f]{8}$")


@dataclass(frozen=True, slots=True)
class System:
    """Runs that differ in nothing but their seeds and folds; a prediction file counts as a run."""

    # The values of the keys that vary between systems, `{"head": "ess"}`.
    settings: Mapping[str, str]
    runs: tuple[RunRecord, ...]  # all runs of the system, finished or not
    name: str = ""  # its label; default: its settings
    words: frozenset[str] = frozenset()  # its further names, beside those of its runs

    @property
    def label(self) -> str:
        """The system's name, or its settings on one line."""
        return self.name or settings_line(self.settings) or "all runs"

    def setting(self, key: str, default: Any = None) -> Any:
        """Look up a configuration key of its first run; see `RunRecord.setting`."""
        return self.runs[0].setting(key, default)

    @property
    def done(self) -> tuple[RunRecord, ...]:
        """The finished runs."""
        return tuple(run for run in self.runs if run.done)

    @property
    def names(self) -> set[str]:
        """What it may be called on a command line, beside its label."""
        paths = (path for run in self.runs for path in (run.path, run.path.absolute()))
        return {*self.words, *(run.job for run in self.runs), *map(str, paths)}

    @property
    def seeds(self) -> tuple[str, ...]:
        """Each run's seed and the overridden seeds of draws; of several files, their names."""
        alone = len(self.runs) == 1
        return tuple(_seed(run) if run.config else "" if alone else run.job for run in self.runs)

    def values(self, split: str, metric: str) -> list[float]:
        """The metric in each finished run that has it."""
        scores = (run.score(split, metric) for run in self.done)
        return [score for score in scores if score is not None]

    def summary(self, split: str, metric: str) -> Summary | None:
        """Mean, sample standard deviation and n over the finished runs."""
        return summarize(self.values(split, metric))

    def best_run(self, metric: str) -> RunRecord | None:
        """The finished run with the best score on validation; None without a score."""
        best, score = best_runs(self.done, metric) if self.done else ([0], None)
        return None if score is None else self.done[best[0]]

    @property
    def complexity(self) -> Complexity:
        """See `heron.results.best.complexity`."""
        run = self.runs[0]
        baseline = str(run.setting("baseline.name", "none"))
        return complexity(baseline, run.curriculum, len(run.overrides()))


def settings_line(settings: Mapping[str, str]) -> str:
    """Write settings on one line."""
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def best_runs(runs: Sequence[RunRecord], metric: str) -> tuple[list[int], float | None]:
    """Find the runs that are best on validation (without scores, the first), and their score.

    They are chosen by the metric, or by a run's `trainer.monitor` where the metric is not stored.
    """
    scores: list[float | None] = []
    ranks: list[float | None] = []
    for run in runs:
        name, score = metric, run.score("validation", metric)
        if score is None:
            name = str(run.setting("trainer.monitor", metric))
            score = run.score("validation", name)
        scores.append(score)
        ranks.append(None if score is None else signed(name, score))
    best = best_of(ranks) or [0]
    return best, scores[best[0]]


def group_runs(runs: Sequence[RunRecord]) -> list[System]:
    """Group runs by everything that varies but seeds, ordered by their settings."""
    keys = [key for key in varying_keys(runs) if not is_seed(key)]
    groups: dict[tuple[str, ...], list[RunRecord]] = {}
    columns = [values_of(runs, key) for key in keys]
    for number, run in enumerate(runs):
        groups.setdefault(tuple(column[number] for column in columns), []).append(run)
    return [
        System(dict(zip(keys, values, strict=True)), tuple(groups[values]))
        for values in sorted(groups, key=lambda values: [natural(value) for value in values])
    ]


def split_systems(
    systems: Sequence[System], is_shared: Callable[[str], bool]
) -> list[tuple[dict[str, str], list[System]]]:
    """Split systems by the values of some settings, in their order."""
    apart: dict[tuple[tuple[str, str], ...], list[System]] = {}
    for system in systems:
        shared = tuple((key, value) for key, value in system.settings.items() if is_shared(key))
        apart.setdefault(shared, []).append(system)
    return [(dict(shared), same) for shared, same in apart.items()]


def find_systems(words: Sequence[str]) -> list[System]:
    """Find the systems in the order that they are named.

    A word is a run folder, a sweep folder, a prediction file, a glob, or the beginning of the
    names of several runs. Runs named one by one are one system if they differ in seeds only. The
    runs of one word are grouped by themselves, so that two sweeps of the same settings stay apart.

    Raises:
        ConfigError: a word names nothing.
    """
    found = [(word, *_find(word)) for word in words]
    alone = [r[0] for word, r, _ in found if [run.path for run in r] == [Path(word).expanduser()]]
    systems: list[System] = []
    for word, runs, files in found:
        if len(runs) == 1 and any(runs[0] is run for run in alone):
            systems += _one_by_one(alone) if runs[0] is alone[0] else []
            continue
        groups = named_systems(runs, _stem(word)) if runs else []
        words_of = frozenset({_stem(word)} if len(groups) == 1 else ())
        systems += [replace(system, words=words_of) for system in groups]
        if files:
            records = (PredictionFile(file, {}, {"state": "done"}, {}) for file in files)
            systems.append(System({}, tuple(records), _stem(word), frozenset({word})))
    return _with_unique_labels(systems)


def named_systems(runs: Sequence[RunRecord], name: str = "") -> list[System]:
    """Group runs into systems; a single one is called `name`, or by its runs without seeds."""
    return [
        system if system.settings else replace(system, name=name or _without_seed(system.runs[0]))
        for system in group_runs(runs)
    ]


def match_systems(against: str, systems: Sequence[System]) -> list[int]:
    """Find the indices of the systems that `against` names, or whose settings it lists.

    `against` is a label, one of a system's further names, or settings (`head=ess`).

    Raises:
        ConfigError: there is none.
    """
    wanted, labels = against.rstrip("/"), [system.label for system in systems]
    if exact := [n for n, own in enumerate(systems) if wanted in (own.label, *own.names)]:
        return exact
    # Labels of systems of several sweeps begin with the sweep's name.
    settings = [_parts(label) | _parts(label.rpartition(": ")[2]) for label in labels]
    asked = set(map(_plain, _parts(wanted)))
    if fitting := [n for n, own in enumerate(settings) if asked <= set(map(_plain, own))]:
        return fitting
    names = (name for system in systems for name in system.names)
    hint = nearest(against, [*labels, *names, *(name for own in settings for name in own)])
    raise ConfigError(f"against={against}: no such system.{hint} They are: {'; '.join(labels)}")


def _find(word: str) -> tuple[list[RunRecord], list[Path]]:
    """Find the runs and files that an argument names."""
    path = Path(word).expanduser()
    if path.is_file():
        return [], [path]
    if path.is_dir():
        return collect(path), []
    text = str(path)
    # "[" is no wildcard: names of runs hold lists, [6,8].
    pattern = glob.escape(text).replace("[*]", "*").replace("[?]", "?")
    pattern += "" if set(text) & set("*?") else "*"
    matches = [Path(match) for match in sorted(glob.glob(pattern))]
    folders = [match for match in matches if match.is_dir()]
    files = [match for match in matches if match.is_file() and table_format(match) in SUFFIXES]
    runs = [run for match in folders if is_run(match) for run in collect(match)]
    if not runs and not files and len(folders) == 1:
        runs = collect(folders[0])
    if not runs and not files:
        beside = os.listdir(path.parent) if path.parent.is_dir() else []
        hint = nearest(path.name, beside)
        raise ConfigError(f"{word}: no such run, sweep or file.{hint}")
    return runs, files


def _one_by_one(runs: Sequence[RunRecord]) -> list[System]:
    """Group runs that were named one by one; the same seed twice is two systems."""
    systems: list[System] = []
    for system in named_systems(runs):
        folds = (run.setting(FOLD) for run in system.runs)
        if len({*zip(system.seeds, folds, strict=True)}) == len(system.runs):
            systems.append(system)
            continue
        named = {f"{run.path.absolute().parent.name}/{run.job}": run for run in system.runs}
        systems += [System({}, (run,), name) for name, run in named.items()]
    order = {run.path: number for number, run in enumerate(runs)}
    return sorted(systems, key=lambda one: min(order[run.path] for run in one.runs))


def _seed(run: RunRecord) -> str:
    others = [key for key in run.overrides() if is_seed(key) and key not in ("seed", FOLD)]
    return "/".join(str(run.setting(key, "")) for key in ("seed", *others))


def _stem(word: str) -> str:
    """Shorten a path, glob or prefix to a name for a table."""
    path = Path(word)
    name = table_stem(path) if table_format(path) in SUFFIXES else path.name
    return name.replace("*", "").strip("-_,. ") or path.parent.name or word


def _without_seed(run: RunRecord) -> str:
    """Name a run's settings: its name without the hash and the seeds, or else its sweep."""
    parts = _HASH.sub("", run.job).split(",")
    kept = [part for part in parts if not is_seed(part.partition("=")[0])]
    return ",".join(kept) or run.path.absolute().parent.name


def _with_unique_labels(systems: Sequence[System]) -> list[System]:
    """Put the folder's name before labels that several systems have."""
    labels = [system.label for system in systems]
    return [
        replace(system, name=f"{_home(system)}: {label}")
        if labels.count(label) > 1 and label != _home(system)
        else replace(system, name=label)
        for system, label in zip(systems, labels, strict=True)
    ]


def _home(system: System) -> str:
    """Name the sweep, or a file's folder (of a run's predictions, the run)."""
    folder = system.runs[0].path.absolute().parent
    return folder.parent.name if folder.name == "predictions" else folder.name


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
    """Whether a key only repeats a run: a seed (`seed`, `data.sample.seed`) or the fold.

    The seed of a generated corpus is none: it gives other rows.
    """
    return key == FOLD or (
        key.rpartition(".")[2] == "seed" and not key.startswith("data.generator.")
    )


def values_of(runs: Sequence[RunRecord], key: str) -> list[str]:
    """Read a key's value in each run, also where it was left at its default.

    The resolved value comes first, so that `3e-5` and `0.00003` are one setting. A config group
    (`head=ess`) resolves to a mapping. Its name is the override of a run with equal settings, or
    else the mapping's own. A list is shown as in an override with an equal one.
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
    """Collect the settings of a config group, without seeds, or all of a list."""
    pairs = flatten({"": values} if isinstance(values, list) else values, f"{key}.")
    return frozenset((name, repr(value)) for name, value in pairs if not is_seed(name))


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
    """Read the extractive baselines on the runs' split: `{"lead3_rouge1": fraction, ...}`.

    Every run of summaries stores them for each split, and every table and figure with a run's ROUGE
    shows them: an article's first three sentences may score higher than a system.

    Returns:
        Empty where no run stores them, or where the runs are not of the same articles.
    """
    found = [run.scores.get(split, {}) for run in runs]
    known = [{n: one[n] for n in with_copied([metric], one)[1:]} for one in found]
    stated = [one for one in known if one]
    return stated[0] if stated and all(one == stated[0] for one in stated) else {}
