"""Compare two recordings: every file as lines of text, bit for bit but for what is listed here."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatch
from itertools import zip_longest
from pathlib import Path

import pyarrow.parquet as pq

# Files that are not looked at, and why.
IGNORED = {
    "record.json": "seconds of the recording",
    "bytecode/*": "Python's, to start faster",
    "steps/*.err": "warnings and errors are prose; that a command fails is in its exit code",
    "work/cache/*": "made again where it is missing, and laid out as heron likes",
}
# Files that must be there in both recordings; what is in them may differ.
ONLY_THERE = {
    "*.ckpt": "a pickle of heron's own classes; the weights are compared in model/",
    "*/.lock": "held by a process, empty",
    "*/study.journal": "Optuna's own, with times and process ids; its trials are run folders",
}
# What a clock, the machine or the repository says: keys of JSON (or places, from /), columns of
# CSV, terms of HTML. `steps` is how far a run was when its status was last written, every 5 s.
CLOCK = {
    *("seconds", "time", "heartbeat", "peak_rss_mb", "peak rss mb", "/steps"),
    *("git", "heron", "versions", "python", "machine"),
}
_TERMS = "|".join(CLOCK).replace("/", "")
_STATES = "done|pruned|failed"  # of a job; how long it took stands beside
# The same in texts, and what to read instead.
REPLACED = {
    r"\b\d+(\.\d+)? (s|min)\b": "<time>",
    r"(?<![\w.])/[^\s\"'<>]{0,200}?/work\b": "<work>",
    rf"<dt>({_TERMS})</dt>\s*<dd>.*?</dd>": "",
    rf"(?m)^({_STATES})(.*\d+ of \d+ +)\d+\.\d": r"\1\2<seconds>",  # heron sweep
    rf"(>({_STATES})</td>\n<td class=\"number\") data-value=\"[\d.]+\">[\d.]+": (
        r"\1><minutes>"  # the page of a sweep
    ),
    r"\"seconds\":[\d.]+": "<seconds>",  # in the data of a dashboard
}
SHOWN = 3  # places of a file
AROUND = 60  # characters before and after a difference


def compare(
    before: Path, after: Path, allow: Sequence[str] = (), without: Sequence[str] = ()
) -> int:
    """Print what differs between two recordings.

    Args:
        before: a recording.
        after: another one.
        allow: globs of files that may differ.
        without: patterns of lines to leave out, in all files.

    Returns:
        1 where a file differs that `allow` does not name, else 0.
    """
    for folder in (before, after):
        if not (folder / "record.json").is_file():
            raise SystemExit(f"{folder} is no finished recording")
    names, allowed = sorted(_files(before) | _files(after)), 0
    found: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        differences = tuple(differ(before / name, after / name, without))
        if differences and any(fnmatch(name, glob) for glob in allow):
            allowed += 1
        elif differences:
            found.setdefault(differences, []).append(name)
    for differences, (first, *others) in found.items():
        alike = f" and {len(others)} files more, such as {others[0]}" if others else ""
        print(f"{first}{alike}", *differences, sep="\n  ")
    differing = sum(map(len, found.values()))
    print(f"{len(names)} files compared, {differing} differ, {allowed} may differ and do")
    return 1 if found else 0


def _files(folder: Path) -> set[str]:
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {path for path in paths if not any(fnmatch(path, glob) for glob in IGNORED)}


def differ(before: Path, after: Path, without: Sequence[str] = ()) -> list[str]:
    """List the first differences of two files, `without` some lines; empty where there are none."""
    for path, name in ((before, "before"), (after, "after")):
        if not path.is_file():
            return [f"missing {name}"]
    if any(fnmatch(str(before), glob) for glob in ONLY_THERE):
        return []
    if before.read_bytes() == after.read_bytes():
        return []
    left_out = re.compile("|".join(without) or r"(?!)")
    old, new = ([line for line in _lines(p) if not left_out.search(line)] for p in (before, after))
    if old == new:
        return []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    changed = [part[1:] for part in matcher.get_opcodes() if part[0] != "equal"]
    shown: list[str] = []
    for first, last, start, stop in changed[:SHOWN]:
        for one, other in list(zip_longest(old[first:last], new[start:stop]))[:SHOWN]:
            shown += _cut(one or "", other or "")
    rest = len(changed) - SHOWN
    return [*shown, f"... and in {rest} more places"] if rest > 0 else shown


def _cut(one: str, other: str) -> tuple[str, str]:
    """Cut two lines to where they first differ."""
    pairs = enumerate(zip_longest(one, other))
    place = next(number for number, (a, b) in pairs if a != b)
    part = slice(max(0, place - AROUND), place + AROUND)
    return f"- {one[part]}", f"+ {other[part]}"


def _lines(path: Path) -> Iterator[str]:
    """Read a file as lines of text, without what differs by clock and machine."""
    data = path.read_bytes()
    if path.suffix == ".parquet":
        yield from _parquet(path)
        return
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield f"sha256 {hashlib.sha256(data).hexdigest()}"
        return
    if path.suffix == ".json":
        yield from _json(json.loads(text), "")
    elif path.suffix == ".csv":
        yield from _csv(text)
    else:
        yield from _plain(text).replace("><", ">\n<").splitlines()


def _plain(text: str) -> str:
    for pattern, replacement in REPLACED.items():
        text = re.sub(pattern, replacement, text)
    return text


def _parquet(path: Path) -> Iterator[str]:
    table = pq.read_table(path)
    yield from (f"column {field.name}: {field.type}" for field in table.schema)
    yield f"metadata: {table.schema.metadata}"
    for number, row in enumerate(table.to_pylist()):
        name = row.get("guid", number)
        yield from (f"row {name}, {column}: {value!r}" for column, value in row.items())


def _json(value: object, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key in value:
            if key not in CLOCK and f"{place}/{key}" not in CLOCK:
                yield from _json(value[key], f"{place}/{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _json(each, f"{place}/{number}")
    else:
        yield f"{place} = {_plain(value) if isinstance(value, str) else repr(value)}"


def _csv(text: str) -> Iterator[str]:
    rows = list(csv.reader(text.splitlines(keepends=True)))
    for number, row in enumerate(rows):
        for name, cell in zip_longest(rows[0], row, fillvalue=""):
            if name not in CLOCK or number == 0:
                yield f"row {number}, {name}: {_plain(cell)}"
