"""Systems: runs, or prediction files, that differ in nothing but seeds and folds; how to find them.

A sweep is grouped into systems by the settings that vary in it. On a command line, systems are
named by runs, sweeps, globs of them, and prediction files.
"""

import glob
import os
import re
from collections import Counter
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

    @property
    def done(self) -> tuple[RunRecord, ...]:
        """The finished runs."""
        return tuple(run for run in self.runs if run.done)

    @property
    def names(self) -> set[str]:
        """What it may be called on a command line, beside its label."""
        names = set(self.words)
        for run in self.runs:
            names |= {run.job, str(run.path), str(run.path.absolute())}
        return names

    @property
    def seeds(self) -> tuple[str, ...]:
        """Each run's seed and the overridden seeds of draws; of several files, their names."""
        seeds = []
        for run in self.runs:
            if run.config:
                seeds.append(_seed(run))
            elif len(self.runs) == 1:
                seeds.append("")
            else:
                seeds.append(run.job)

        return tuple(seeds)

    def values(self, split: str, metric: str) -> list[float]:
        """The metric in each finished run that has it."""
        scores = (run.score(split, metric) for run in self.done)
        return [score for score in scores if score is not None]

    def summary(self, split: str, metric: str) -> Summary | None:
        """Mean, sample standard deviation and n over the finished runs."""
        return summarize(self.values(split, metric))

    def best_run(self, metric: str) -> RunRecord | None:
        """The finished run with the best score on validation; None without a score."""
        if not self.done:
            return None
        best, score = best_runs(self.done, metric)
        return None if score is None else self.done[best[0]]

    @property
    def complexity(self) -> Complexity:
        """See `heron.results.best.complexity`."""
        run = self.runs[0]
        return complexity(run.baseline, run.curriculum, len(run.overrides()))


def settings_line(settings: Mapping[str, str]) -> str:
    """Write settings on one line, `head=ess, seed=0`."""
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def best_runs(runs: Sequence[RunRecord], metric: str) -> tuple[list[int], float | None]:
    """Find the runs that are best on validation.

    They are chosen by the metric, or by a run's `trainer.monitor` where the metric is not stored.

    Returns:
        The numbers of the best runs (without scores, of the first run), and their score.
    """
    scores = []
    ranks = []
    for run in runs:
        name = metric
        score = run.score("validation", metric)
        if score is None:
            name = str(run.setting("trainer.monitor", metric))
            score = run.score("validation", name)

        scores.append(score)
        ranks.append(None if score is None else signed(name, score))

    best = best_of(ranks) or [0]
    return best, scores[best[0]]


def group_runs(runs: Sequence[RunRecord]) -> list[System]:
    """Group runs by everything that varies but seeds.

    Returns:
        The systems, ordered by the values of their settings; the runs of each in given order.
    """
    keys = [key for key in varying_keys(runs) if not is_seed(key)]
    columns = [values_of(runs, key) for key in keys]
    groups: dict[tuple[str, ...], list[RunRecord]] = {}
    for number, run in enumerate(runs):
        values = tuple(column[number] for column in columns)
        groups.setdefault(values, []).append(run)

    systems = []
    for values in sorted(groups, key=_natural_values):
        settings = dict(zip(keys, values, strict=True))
        systems.append(System(settings, tuple(groups[values])))

    return systems


def _natural_values(values: Sequence[str]) -> list[tuple[int, float, str]]:
    return [natural(value) for value in values]


def split_systems(
    systems: Sequence[System], is_shared: Callable[[str], bool]
) -> list[tuple[dict[str, str], list[System]]]:
    """Split systems by the values of some settings, in their order.

    Args:
        systems: of one sweep.
        is_shared: whether a key's values are to be the same within a part.

    Returns:
        For each part: the shared settings, and its systems.
    """
    parts: dict[tuple[tuple[str, str], ...], list[System]] = {}
    for system in systems:
        items = system.settings.items()
        shared = tuple((key, value) for key, value in items if is_shared(key))
        parts.setdefault(shared, []).append(system)

    return [(dict(shared), same) for shared, same in parts.items()]


def find_systems(words: Sequence[str]) -> list[System]:
    """Find the systems in the order that they are named.

    A word is a run folder, a sweep folder, a prediction file, a glob, or the beginning of the
    names of several runs. Runs named one by one are one system if they differ in seeds only. The
    runs of one word are grouped by themselves, so that two sweeps of the same settings stay apart.

    Raises:
        ConfigError: a word names nothing.
    """
    systems: list[System] = []
    single: list[RunRecord] = []  # runs that are named one by one, by their folders
    first_single = 0  # number of systems before them
    for word in words:
        runs, files = _find(word)
        if [run.path for run in runs] == [Path(word).expanduser()]:
            if not single:
                first_single = len(systems)
            single += runs
            continue

        name = _stem(word)
        groups = named_systems(runs, name) if runs else []
        words_of = frozenset([name] if len(groups) == 1 else [])
        systems += [replace(system, words=words_of) for system in groups]
        if files:
            records = [PredictionFile(file, {}, {"state": "done"}, {}) for file in files]
            systems.append(System({}, tuple(records), name, frozenset([word])))

    systems[first_single:first_single] = _one_by_one(single)
    return _with_unique_labels(systems)


def named_systems(runs: Sequence[RunRecord], name: str = "") -> list[System]:
    """Group runs into systems; a single one is called `name`, or by its runs without seeds."""
    systems = []
    for system in group_runs(runs):
        if not system.settings:
            system = replace(system, name=name or _without_seed(system.runs[0]))
        systems.append(system)
    return systems


def match_systems(against: str, systems: Sequence[System]) -> list[int]:
    """Find the systems that `against` names, or whose settings it lists.

    Args:
        against: a label, one of a system's further names, or settings (`head=ess`).
        systems: to choose from.

    Returns:
        The numbers of the systems that fit.

    Raises:
        ConfigError: there is none.
    """
    wanted = against.rstrip("/")
    exact = []
    for number, system in enumerate(systems):
        if wanted == system.label or wanted in system.names:
            exact.append(number)

    if exact:
        return exact

    fitting = []
    all_settings: list[str] = []
    wanted_settings = set(map(_plain, _parts(wanted)))
    for number, system in enumerate(systems):
        # Labels of systems of several sweeps begin with the sweep's name.
        _, _, without_sweep = system.label.rpartition(": ")
        settings = _parts(system.label) | _parts(without_sweep)
        if wanted_settings <= set(map(_plain, settings)):
            fitting.append(number)
        all_settings += settings

    if fitting:
        return fitting

    labels = [system.label for system in systems]
    names = [name for system in systems for name in system.names]
    hint = nearest(against, [*labels, *names, *all_settings])
    listed = "; ".join(labels)
    raise ConfigError(f"against={against}: no such system.{hint} They are: {listed}")


def _find(word: str) -> tuple[list[RunRecord], list[Path]]:
    """Find the runs and files that an argument names.

    Raises:
        ConfigError: there are none.
    """
    path = Path(word).expanduser()
    if path.is_file():
        return [], [path]
    if path.is_dir():
        return collect(path), []

    # "[" is no wildcard: names of runs hold lists, [6,8].
    pattern = glob.escape(str(path)).replace("[*]", "*").replace("[?]", "?")
    if "*" not in pattern and "?" not in pattern:
        pattern += "*"

    folders = []
    files = []
    for match in map(Path, sorted(glob.glob(pattern))):
        if match.is_dir():
            folders.append(match)
        elif table_format(match) in SUFFIXES:
            files.append(match)

    is_sweep = len(folders) == 1 and not files
    runs = []
    for folder in folders:
        if is_sweep or is_run(folder):
            runs += collect(folder)

    if not runs and not files:
        siblings = os.listdir(path.parent) if path.parent.is_dir() else []
        hint = nearest(path.name, siblings)
        raise ConfigError(f"{word}: no such run, sweep or file.{hint}")

    return runs, files


def _one_by_one(runs: Sequence[RunRecord]) -> list[System]:
    """Group runs that were named one by one; the same seed twice is two systems."""
    systems = []
    for system in named_systems(runs):
        folds = [run.setting(FOLD) for run in system.runs]
        draws = set(zip(system.seeds, folds, strict=True))
        if len(draws) == len(system.runs):
            systems.append(system)
            continue

        by_name = {}
        for run in system.runs:
            sweep = run.path.absolute().parent.name
            by_name[f"{sweep}/{run.job}"] = run

        systems += [System({}, (run,), name) for name, run in by_name.items()]

    order = [run.path for run in runs]
    return sorted(systems, key=lambda system: min(order.index(run.path) for run in system.runs))


def _seed(run: RunRecord) -> str:
    """Join a run's seed and the overridden seeds of draws."""
    keys = ["seed"]
    for key in run.overrides():
        if is_seed(key) and key not in ("seed", FOLD):
            keys.append(key)
    return "/".join(str(run.setting(key, "")) for key in keys)


def _stem(word: str) -> str:
    """Shorten a path, glob or prefix to a name for a table."""
    path = Path(word)
    name = table_stem(path) if table_format(path) in SUFFIXES else path.name
    return name.replace("*", "").strip("-_,. ") or path.parent.name or word


def _without_seed(run: RunRecord) -> str:
    """Take the hash and the seeds from a run's name; the sweep's name where nothing is left."""
    parts = []
    for part in _HASH.sub("", run.job).split(","):
        key, _, _ = part.partition("=")
        if not is_seed(key):
            parts.append(part)
    return ",".join(parts) or run.path.absolute().parent.name


def _with_unique_labels(systems: Sequence[System]) -> list[System]:
    """Put the folder's name before labels that several systems have."""
    labels = [system.label for system in systems]
    renamed = []
    for system, label in zip(systems, labels, strict=True):
        home = _home(system)
        is_repeated = labels.count(label) > 1 and label != home
        renamed.append(replace(system, name=f"{home}: {label}" if is_repeated else label))
    return renamed


def _home(system: System) -> str:
    """Name the sweep, or a file's folder (of a run's predictions, the run)."""
    folder = system.runs[0].path.absolute().parent
    return folder.parent.name if folder.name == "predictions" else folder.name


def without_first_runs(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Leave out the runs that were trained only because a curriculum needs their dynamics.

    They lie beside the runs of an experiment and have no experiment's name.
    """
    others = []
    of_experiment = False
    for run in runs:
        has_curriculum = run.curriculum != "none"
        has_experiment = run.setting("experiment")
        if has_curriculum or has_experiment:
            others.append(run)
        if has_curriculum and has_experiment:
            of_experiment = True

    return others if of_experiment else list(runs)


def count_states(runs: Iterable[RunRecord]) -> str:
    """Count runs by state, `2 done, 1 failed`."""
    states = Counter(run.state for run in runs)
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items()))


def varying_keys(runs: Sequence[RunRecord]) -> list[str]:
    """Name the overridden keys whose values are not the same in all runs, in given order.

    Keys that cannot change a result (`paths`, `logger`, ...) are left out.
    """
    overridden = dict.fromkeys(key for run in runs for key in run.overrides())
    keys = []
    for key in overridden:
        if is_neutral(key):
            continue
        known = runs
        if key == "experiment":
            # The first runs of a curriculum have no experiment, which is no other value.
            known = [run for run in runs if run.setting(key) is not None]

        if len(set(values_of(known, key))) > 1:
            keys.append(key)

    return keys


def differing_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Name the keys, overridden or not, that can change a result and differ between runs.

    Seeds are left out, and so are keys that only some of the runs have.
    """
    configs = [dict(flatten(run.config)) for run in runs if run.config]
    if not configs:
        return []

    first, *others = configs
    keys = []
    for key, value in first.items():
        if is_seed(key) or not is_identifying(key):
            continue
        is_shared = all(key in config for config in others)
        if is_shared and any(config[key] != value for config in others):
            keys.append(key)

    return keys


def is_seed(key: str) -> bool:
    """Whether a key only repeats a run: a seed (`seed`, `data.sample.seed`) or the fold.

    The seed of a generated corpus is none: it gives other rows.
    """
    if key.startswith("data.generator."):
        return False
    return key == FOLD or key.rpartition(".")[2] == "seed"


def values_of(runs: Sequence[RunRecord], key: str) -> list[str]:
    """Read a key's value in each run, also where it was left at its default.

    The resolved value comes first, so that `3e-5` and `0.00003` are one setting. A config group
    (`head=ess`) resolves to a mapping. Its name is the override of a run with equal settings, or
    else the mapping's own. A list is shown as in an override with an equal one.
    """
    resolved = [run.setting(key) for run in runs]
    overrides = [run.overrides().get(key) for run in runs]
    names: dict[frozenset[tuple[str, str]], str] = {}
    for value, override in zip(resolved, overrides, strict=True):
        if isinstance(value, Mapping | list) and override:
            names.setdefault(_content(key, value), override)

    values = []
    for value, override in zip(resolved, overrides, strict=True):
        if value is None:
            value = override or "–"
        elif isinstance(value, Mapping):
            value = names.get(_content(key, value)) or value.get("name")
        elif isinstance(value, list):
            value = names.get(_content(key, value)) or str(value).replace("'", "")

        values.append("–" if value is None else str(value))

    return values


def _content(key: str, values: Mapping[str, Any] | list[Any]) -> frozenset[tuple[str, str]]:
    """Collect the settings of a config group, without seeds, or all of a list."""
    group = {"": values} if isinstance(values, list) else values
    settings = set()
    for name, value in flatten(group, f"{key}."):
        if not is_seed(name):
            settings.add((name, repr(value)))
    return frozenset(settings)


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
    """Return a sort key: numbers by size, then words."""
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
    stored = []
    for run in runs:
        scores = run.scores.get(split, {})
        _, *names = with_copied([metric], scores)
        if names:
            stored.append({name: scores[name] for name in names})

    if stored and all(scores == stored[0] for scores in stored):
        return stored[0]

    return {}
