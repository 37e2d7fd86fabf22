"""The harness of every benchmark: ways side by side in rounds, their table, bars, a JSON file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from heron.base.cells import Cell, Formatted, Table, show
from heron.base.errors import HeronError, os_error_text
from heron.base.files import write_json
from heron.base.terminal import print_tables
from heron.config.parsing import parse_options

ROOT = Path(__file__).parents[2]
_PACKAGES = ("numpy", "torch", "transformers", "accelerate", "pytorch-lightning", "heron-nlu")

Times = dict[str, list[float]]  # way: its seconds, one number per round


@dataclass(frozen=True)
class Headline:
    """How many times as fast heron is as a rival.

    Args:
        work: what heron does.
        rival: who or what does the same.
        ratios: the rival's time over heron's, one per round; rounds are measured side by side.
        bar: the ratio that heron has to reach; None where there is none.
        unit: `times` faster, or the unit of `ratios` where they are heron's own time and the bar is
            the longest that is good enough.
    """

    work: str
    rival: str
    ratios: Sequence[float]
    bar: float | None = None
    unit: str = "times"

    def __str__(self) -> str:
        """Say it in one line."""
        return " | ".join(self.cells())

    def cells(self) -> tuple[str, ...]:
        """Lay it out: work, rival, median, lowest and highest, and whether the bar is reached."""
        low, middle, high = (show(number(of(self.ratios))) for of in (min, median, max))
        bar = ""
        if self.bar is not None:
            sign, least = ("≥", self.bar) if self.unit == "times" else ("≤", -self.bar)
            found = median(self.ratios) if self.unit == "times" else -median(self.ratios)
            bar = f"{sign} {self.bar:g}: {'reached' if found >= least else 'missed'}"
        return self.work, self.rival, f"{middle} {self.unit}", f"{low} to {high}", bar


@dataclass(frozen=True)
class Found:
    """What a benchmark has found.

    Args:
        record: what is written to `out=`, beside headlines, options, versions and processor; no
            file if empty.
        tables: printed first.
        headlines: what `make bench-all` shows of it; printed below the tables.
        lines: printed last.
        code: the exit code.
    """

    record: dict[str, Any] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    headlines: Sequence[Headline] = ()
    lines: Sequence[object] = ()
    code: int = 0


class AbsentError(HeronError):
    """What a benchmark needs is not there: it is skipped, which is no failure."""


def main(
    schema: type, benchmark: Callable[[Any], Found], words: Sequence[str] | None = None
) -> int:
    """Read the options, measure, print what was found, write and name the JSON file.

    Args:
        schema: dataclass of the options; its constraints are checked.
        benchmark: measures.
        words: the command line's words, `key=value`; default: this process's.

    Returns:
        The exit code: the benchmark's, 2 after a user's mistake, 0 where it is skipped.
    """
    words = sys.argv[1:] if words is None else words
    try:
        options: Any = parse_options(schema, words)
        found = benchmark(options)
        print_tables(found.tables)
        for line in (*found.headlines, *found.lines):
            print(line)
        if found.record:
            headlines = [asdict(each) for each in found.headlines]
            kept = {**found.record, "headlines": headlines, **_circumstances(options)}
            write_json(options.out, kept)
            print(options.out)
        return found.code
    except AbsentError as error:
        print(f"benchmark skipped:\n  {error}")
        return 0
    except (HeronError, OSError) as error:
        said = os_error_text(error, words) if isinstance(error, OSError) else error
        print(f"benchmark: {said}", file=sys.stderr)
        return 2


def _circumstances(options: Any) -> dict[str, Any]:
    from heron.base.libraries import processor  # torch: no library is imported before a measurement

    given = {key: str(v) if isinstance(v, Path) else v for key, v in asdict(options).items()}
    versions = {"python": sys.version.split()[0], **{name: version(name) for name in _PACKAGES}}
    return {"options": given, "versions": versions, "processor": processor()}


def time_rounds(
    ways: Mapping[str, Callable[[], Any]],
    rounds: int,
    check: Callable[[dict[str, Any]], None] = lambda results: None,
    clock: Callable[[], float] = time.process_time,
) -> Times:
    """Run every way once a round; returns processor seconds, which others disturb least.

    Args:
        ways: what is timed, by name.
        rounds: how often each runs.
        check: compares what the ways of a round returned.
        clock: reads other seconds.
    """
    times: Times = {name: [] for name in ways}
    for _ in range(rounds):
        results = {}
        for name, way in ways.items():
            began = clock()
            results[name] = way()
            times[name].append(clock() - began)
        check(results)
    return times


def ratios(times: Times, rival: str, way: str) -> list[float]:
    """Divide a rival's seconds by a way's within each round: load changes between rounds."""
    return [theirs / ours for theirs, ours in zip(times[rival], times[way], strict=True)]


def set_beside(
    title: str,
    cases: Mapping[str, Times],
    *rivals: str,
    bars: Mapping[str, Mapping[str, float | None]] | None = None,
) -> Found:
    """Set the ways of each case side by side: median seconds, and times as fast as the rivals.

    Args:
        title: what all do.
        cases: the seconds of their ways.
        rivals: the ways that the others are compared with.
        bars: by case, the ways that are headlines, and how many times as fast they have to be.
    """
    rows: list[tuple[Cell, ...]] = [
        (
            case,
            way,
            number(median(times[way])),
            *(number(median(ratios(times, rival, way))) for rival in rivals),
        )
        for case, times in cases.items()
        for way in times
    ]
    columns = ("", "way", "processor s", *(f"times {rival}" for rival in rivals))
    headlines = [
        Headline(f"{title}, {case}: {way}", rival, ratios(cases[case], rival, way), bar)
        for case, ways in (bars or {}).items()
        for way, bar in ways.items()
        for rival in rivals
    ]
    return Found({"seconds": dict(cases)}, [Table(title, columns, tuple(rows))], headlines)


def number(value: float) -> Formatted:
    """Show three digits, or all before the point."""
    return Formatted(value, ".0f" if value >= 100 else ".3g")


def environment(threads: int) -> dict[str, str]:
    """Set up a measuring process: so many threads, no network, no fight over cores."""
    paths = [str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        # A thread that spins while another is preempted burns the time it is measured by.
        "GOMP_SPINCOUNT": "1000",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(paths),
    }


def call(module: str, *words: object, threads: int = 1, shown: bool = False) -> str:
    """Run `python -m module` in a fresh process; returns what it printed, empty if it is `shown`.

    Raises:
        HeronError: it failed; with the end of what it said.
    """
    command = [sys.executable, "-m", module, *map(str, words)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(threads), capture_output=not shown, text=True
    )
    if done.returncode:
        said = "see above" if shown else f"\n{done.stderr[-2000:]}"
        raise HeronError(f"{' '.join(command[2:])} failed: {said}")
    return done.stdout or ""


def measure_apart(module: str, *words: object, threads: int = 1) -> Any:
    """Run a benchmark in a fresh process, where it prints what it has measured as JSON."""
    return json.loads(call(module, *words, threads=threads).splitlines()[-1])


def folder(given: Path | None, variable: str) -> Path | None:
    """Take the folder that was given, or else the one that an environment variable names."""
    if given is None and os.environ.get(variable):
        given = Path(os.environ[variable])
    return given.resolve() if given else None


def find(options: Any, **files: str) -> list[Path]:
    """Find the folders that options name, by default `HERON_ENCODER` and `HERON_DATA`.

    Args:
        options: with `encoder` or `data`.
        files: what the folder of each has to hold.

    Raises:
        AbsentError: what is missing, and how to say where it is.
    """
    variables = {name: f"HERON_{name.upper()}" for name in files}
    found = {name: folder(getattr(options, name), variables[name]) for name in files}
    absent = [
        f"no {file or name} ({found[name]}): set {variables[name]} or {name}= to its folder"
        for name, file in files.items()
        if not (place := found[name]) or not (place / file).exists()
    ]
    if absent:
        raise AbsentError("\n  ".join(absent))
    return [place for place in found.values() if place]
