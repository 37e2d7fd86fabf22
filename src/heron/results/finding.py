"""Find the systems named on a command line: runs, sweeps, globs of them, prediction files."""

import glob
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heron.base.errors import ConfigError, nearest
from heron.base.tables import SUFFIXES, table_format, table_stem
from heron.results.collect import RunRecord, collect, is_run
from heron.results.frame import predictions_file
from heron.results.groups import FOLD, group_runs, is_seed, match_systems, natural

_HASH = re.compile("-[0-9a-f]{8}$")


@dataclass(frozen=True, slots=True)
class Source:
    """One file of predictions, of a run or (`record` is None) of any system."""

    name: str  # the run's, or the file's without its suffix
    path: Path  # the file
    # The same seeds' files of the other folds of a cross-validation: together they have all rows.
    folds: tuple[Path, ...] = ()
    seed: str = ""  # seeds of the run, or the file's name; empty for the only file of a system
    record: RunRecord | None = None  # the run that wrote the file

    @property
    def home(self) -> Path:
        """The run's folder, or the file."""
        return self.record.path if self.record else self.path


@dataclass(frozen=True, slots=True)
class System:
    """Runs that differ in nothing but their seeds, ordered by seed."""

    label: str  # its name in tables
    sources: tuple[Source, ...]  # its predictions
    # Its other names: jobs, paths, the word on the command line.
    names: frozenset[str] = frozenset()


def records_of(systems: Iterable[System]) -> list[RunRecord]:
    """List the runs of systems, in order; files have none."""
    return [source.record for system in systems for source in system.sources if source.record]


def find_systems(words: Sequence[str], split: str) -> tuple[list[System], list[str]]:
    """Find the systems in the order that they are named; also returns notes on runs left out.

    A word is a run folder, a sweep folder, a prediction file, a glob, or the beginning of the
    names of several runs. Runs named one by one are one system if they differ in seeds only. The
    runs of one word are grouped by themselves, so that two sweeps of the same settings stay apart.

    Raises:
        ConfigError: a word names nothing, or a finished run has no predictions of the split.
    """
    found = [(Path(word).expanduser(), word, *_find(word)) for word in words]
    alone = [runs[0] for path, _, runs, _ in found if [run.path for run in runs] == [path]]
    notes: list[str] = []
    systems: list[System] = []
    for path, word, runs, files in found:
        if [run.path for run in runs] != [path]:
            systems += systems_of(runs, split, notes, name=_stem(word))
            systems += [_of_files(word, files)] if files else []
        elif runs[0] is alone[0]:
            systems += _one_by_one(alone, split, notes)
    return _with_unique_labels(systems), notes


def systems_of(
    runs: Sequence[RunRecord], split: str, notes: list[str], *, name: str = ""
) -> list[System]:
    """Group finished runs into systems; the others are left out, with a line in `notes`.

    `name` is the label of a single system; default: the runs' name without seeds.

    Raises:
        ConfigError: a finished run has no predictions of the split.
    """
    groups = group_runs(runs) if runs else []
    systems = []
    for group in groups:
        label = group.label if group.settings else name or _without_seed(group.runs[0])
        notes += [f"{run.job} is left out: {run.state}" for run in group.runs if not run.done]
        sources = [
            Source(run.job, predictions_file(run.path, split), seed=_seed(run), record=run)
            for run in group.runs
            if run.done
        ]
        sources.sort(key=lambda s: ([natural(n) for n in s.seed.split("/")], _setting(s, FOLD)))
        sources = _joined_folds(sources, split, notes)
        names = {text for source in sources for text in (source.name, str(source.home))}
        names |= {name} - {""} if len(groups) == 1 else set()
        systems += [System(label, tuple(sources), frozenset(names))] if sources else []
    return systems


def find_baseline(systems: Sequence[System], against: str | None) -> int:
    """Find the baseline's number by `match_systems`; None takes the first system."""
    if against is None:
        return 0
    labels = [system.label for system in systems]
    matching = match_systems(against, labels, [system.names for system in systems])
    if len(matching) > 1:
        several = "; ".join(labels[n] for n in matching)
        raise ConfigError(f"against={against} fits several systems: {several}; name one in full")
    return matching[0]


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


def _one_by_one(runs: Sequence[RunRecord], split: str, notes: list[str]) -> list[System]:
    """Group runs that were named one by one; the same seed twice is two systems."""
    systems: list[System] = []
    for system in systems_of(runs, split, notes):
        if len({source.seed for source in system.sources}) == len(system.sources):
            systems.append(system)
            continue
        for source in system.sources:
            label = f"{source.path.parents[2].name}/{source.name}"
            systems.append(System(label, (source,), frozenset({source.name, str(source.home)})))
    order = {run.path: number for number, run in enumerate(runs)}
    return sorted(systems, key=lambda one: min(order[source.home] for source in one.sources))


def _seed(run: RunRecord) -> str:
    """Join a run's seed and the overridden seeds of draws."""
    others = [key for key in run.overrides() if is_seed(key) and key not in ("seed", FOLD)]
    return "/".join(str(run.setting(key, "")) for key in ("seed", *others))


def _joined_folds(sources: Sequence[Source], split: str, notes: list[str]) -> list[Source]:
    """Join runs on validation that differ in nothing but their fold; a note names absent folds."""
    joined: dict[str, list[Source]] = {}
    for source in sources:
        count = _folds(source) if split == "validation" else 0
        joined.setdefault(source.seed if count else str(source.home), []).append(source)
    lacking: dict[str, list[str]] = {}
    for members in joined.values():
        count = _folds(members[0])
        absent = set(range(count)) - {_setting(member, FOLD) for member in members}
        if split == "validation" and absent:
            listed = ", ".join(map(str, sorted(absent)))
            said = f"of its {count} folds there is none of {listed}"
            lacking.setdefault(said, []).append(members[0].name)
    for said, (name, *others) in lacking.items():
        same = f" (the same for {len(others)} other run{'s' * (len(others) > 1)})"
        notes.append(f"{name}: {said}{same if others else ''}.")
    return [
        replace(first, folds=tuple(source.path for source in rest))
        for first, *rest in joined.values()
    ]


def _folds(source: Source) -> int:
    return int(_setting(source, "data.folds.count"))


def _setting(source: Source, key: str) -> int:
    return int(source.record.setting(key) or 0) if source.record else 0


def _of_files(word: str, files: Sequence[Path]) -> System:
    """Make one system of the files that an argument names; each file is a run."""
    stems = [table_stem(path) for path in files]
    sources = [
        Source(stem, path, seed=stem if len(files) > 1 else "")
        for stem, path in zip(stems, files, strict=True)
    ]
    return System(_stem(word), tuple(sources), frozenset({word, *stems, *map(str, files)}))


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
    """Tell systems of one label apart: by their folder's name in front, or else a number."""
    labels = [system.label for system in systems]
    told = [
        f"{_home(system)}: {label}" if labels.count(label) > 1 and label != _home(system) else label
        for system, label in zip(systems, labels, strict=True)
    ]
    counted = [
        f"{label} ({told[: n + 1].count(label)})" if told.count(label) > 1 else label
        for n, label in enumerate(told)
    ]
    return [replace(system, label=label) for system, label in zip(systems, counted, strict=True)]


def _home(system: System) -> str:
    """Name the sweep, or a file's folder (of a run's predictions, the run)."""
    folder = system.sources[0].home.absolute().parent
    return folder.parent.name if folder.name == "predictions" else folder.name
