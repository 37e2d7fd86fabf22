"""Find the systems named on a command line: runs, sweeps, globs of them, prediction files."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heron.base.errors import ConfigError, nearest
from heron.base.tables import SUFFIXES, table_format, table_stem
from heron.results.collect import RunRecord, collect, is_run
from heron.results.groups import Group, group_runs, is_seed, match_systems, natural
from heron.results.predictions import predictions_file

_HASH = re.compile("-[0-9a-f]{8}$")


@dataclass(frozen=True, slots=True)
class Source:
    """One file of predictions."""

    name: str  # the run's, or the file's without its suffix
    path: Path  # the predictions
    seed: str = ""  # seeds of the run, or the file's name; empty for the only file of a system
    record: RunRecord | None = None  # the run that wrote the file, if any


@dataclass(frozen=True, slots=True)
class System:
    """Runs that differ in nothing but their seeds, ordered by seed."""

    label: str  # its name in tables
    sources: tuple[Source, ...]  # its predictions
    # Its other names: jobs, paths, the word on the command line.
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """The runs or files of a word."""

    word: str
    runs: tuple[RunRecord, ...] = ()
    files: tuple[Path, ...] = ()


def find_systems(words: Sequence[str], split: str) -> tuple[list[System], list[str]]:
    """Find the systems in the order that they are named; also returns notes on runs left out.

    A word is a run folder, a sweep folder, a prediction file, a glob, or the beginning of the
    names of several runs. Runs named one by one are one system if they differ in seeds only. The
    runs of one word are grouped by themselves, so that two sweeps of the same settings stay apart.

    Raises:
        ConfigError: a word names nothing, or a finished run has no predictions of the split.
    """
    found = [_find(word) for word in words]
    alone = [one for one in found if _is_one_run(one)]
    notes: list[str] = []
    systems: list[System] = []
    for one in found:
        if _is_one_run(one):
            if one is alone[0]:
                runs = tuple(run for other in alone for run in other.runs)
                systems += _one_by_one(runs, split, notes)
            continue
        systems += systems_of(one.runs, split, notes, name=_stem(one.word))
        if one.files:
            systems.append(_of_files(one))
    return _with_unique_labels(systems), notes


def systems_of(
    runs: Sequence[RunRecord], split: str, notes: list[str], *, name: str = ""
) -> list[System]:
    """Group runs into systems; unfinished runs are left out, with a line in `notes`.

    `name` is the label of a single system; default: the runs' name without seeds.

    Raises:
        ConfigError: a finished run has no predictions of the split.
    """
    groups = group_runs(runs) if runs else []
    systems = []
    for group in groups:
        label = group.label if group.settings else name or _without_seed(group.runs[0])
        system = _system(label, group, split, notes, {name} if len(groups) == 1 else set())
        systems += [system] if system.sources else []
    return systems


def find_baseline(systems: Sequence[System], against: str | None) -> int:
    """Find the number of the baseline: `against` as in `match_systems`, None for the first system.

    Raises:
        ConfigError: none has this name, or several have.
    """
    if against is None:
        return 0
    labels = [system.label for system in systems]
    matching = match_systems(against, labels, [system.names for system in systems])
    if len(matching) > 1:
        several = "; ".join(labels[n] for n in matching)
        raise ConfigError(f"against={against} fits several systems: {several}; name one in full")
    return matching[0]


def _find(word: str) -> Found:
    """Find the runs or files of a word."""
    path = Path(word).expanduser()
    if path.is_file():
        return Found(word, files=(_table(path),))
    if path.is_dir():
        return Found(word, tuple(collect(path)))
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
        hint = nearest(path.name, beside) if beside else ""
        # Without a close name, nearest() would list the folder.
        hint = hint if "Did you mean" in hint else ""
        raise ConfigError(f"{word}: no such run, sweep or file.{hint}")
    return Found(word, tuple(runs), tuple(map(_table, files)))


def _table(path: Path) -> Path:
    if table_format(path) not in SUFFIXES:
        raise ConfigError(f"{path}: not a file of predictions; allowed: {', '.join(SUFFIXES)}")
    return path


def _is_one_run(found: Found) -> bool:
    return len(found.runs) == 1 and found.runs[0].path == Path(found.word).expanduser()


def _one_by_one(runs: Sequence[RunRecord], split: str, notes: list[str]) -> list[System]:
    """Group runs that were named one by one; the same seed twice is two systems."""
    systems: list[System] = []
    for system in systems_of(runs, split, notes):
        seeds = [source.seed for source in system.sources]
        if len(set(seeds)) == len(seeds):
            systems.append(system)
            continue
        for source in system.sources:
            label = f"{source.path.parents[2].name}/{source.name}"
            names = frozenset({source.name, *_paths(source)})
            systems.append(System(label, (source,), names))
    order = {run.path: number for number, run in enumerate(runs)}
    return sorted(systems, key=lambda system: min(map(order.__getitem__, _folders(system))))


def _folders(system: System) -> list[Path]:
    return [source.record.path for source in system.sources if source.record]


def _system(label: str, group: Group, split: str, notes: list[str], names: Iterable[str]) -> System:
    """Take the finished runs of a group, ordered by seed."""
    sources = []
    for run in group.runs:
        if not run.done:
            notes.append(f"{run.job} is left out: {run.state}")
            continue
        path = predictions_file(run.path, split)
        sources.append(Source(run.job, path, _seed(run), run))
    sources.sort(key=lambda source: [natural(part) for part in source.seed.split("/")])
    known = {name for source in sources for name in (source.name, *_paths(source))}
    return System(label, tuple(sources), frozenset({*names, *known} - {""}))


def _paths(source: Source) -> tuple[str, ...]:
    return (str(source.record.path),) if source.record else (str(source.path),)


def _seed(run: RunRecord) -> str:
    """Join a run's seed and the overridden seeds of draws."""
    others = [key for key in run.overrides() if is_seed(key) and key != "seed"]
    return "/".join(str(run.setting(key, "")) for key in ("seed", *others))


def _of_files(found: Found) -> System:
    """Make one system of the files that a word names; each file is a run."""
    several = len(found.files) > 1
    sources = [
        Source(table_stem(path), path, table_stem(path) if several else "") for path in found.files
    ]
    names = {found.word, *(source.name for source in sources), *map(str, found.files)}
    return System(_stem(found.word), tuple(sources), frozenset(names))


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
    source = system.sources[0]
    folder = (source.record.path if source.record else source.path).absolute().parent
    return folder.parent.name if folder.name == "predictions" else folder.name
