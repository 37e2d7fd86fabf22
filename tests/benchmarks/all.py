"""`python -m tests.benchmarks.all`: every benchmark, and one table of what heron reaches.

Each benchmark is a process of its own and writes its file into `out=`; one that is there already
is not measured again (`again=true` does). See README.md here for what each compares.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import torch

from heron.base.cells import Table
from heron.base.errors import ConfigError, HeronError, nearest
from heron.base.files import read_json, write_file
from heron.base.libraries import processor
from heron.base.terminal import print_tables
from heron.config.compose import compose
from heron.config.options import parse_options
from heron.models.precision import rates

from .generation import TRAINER
from .headlines import Headline
from .processes import ROOT, environment, folder

Found = dict[str, Any]  # what a benchmark has written


@dataclass
class Options:
    """Options of the table.

    Args:
        only: benchmarks to run, by the name of their module; default: all.
        rounds: of those that repeat their measurements.
        again: measure also what is in `out` already.
        out: folder of the benchmarks' files and of `table.md`.
    """

    only: list[str] = field(default_factory=list)
    rounds: int = 3
    again: bool = False
    out: Path = Path("runs/benchmarks")


def _rounds(times: Found, rival: str, ours: str) -> list[float]:
    return [a / b for a, b in zip(times[rival], times[ours], strict=True)]


def _rouge(found: Found) -> list[Headline]:
    rivals = {"plain": "a plain re-statement of XL-Sum's fork", "fork": "XL-Sum's fork itself"}
    return [
        Headline(f"ROUGE, {size}, texts {seen}", title, _rounds(times, rival, way), bar)
        for size, bar in (("title", 15.0), ("short", 15.0), ("article", 20.0))
        for times in [found["seconds"][size]]
        for way, seen in (("heron, first pass", "seen first"), ("heron", "seen before"))
        for rival, title in rivals.items()
        if rival in times
    ]


def _spans(found: Found) -> list[Headline]:
    return [
        Headline(f"exact match and F1, {pairs} answers", "the official loop", ratios, 6.0)
        for pairs, times in found["seconds"].items()
        for ratios in [_rounds(times, "official_loop", "heron")]
    ]


def _significance(found: Found) -> list[Headline]:
    ratios = _rounds(found["seconds"], "sklearn_loop", "heron")
    return [Headline("paired bootstrap", "a scikit-learn loop", ratios, 500.0)]


def _token_loss(found: Found) -> list[Headline]:
    return [
        Headline(f"loss over {int(words):,} words", "torch", _rounds(times, "torch", "heron"))
        for words, times in found["seconds"].items()
    ]


def _generation(found: Found) -> list[Headline]:
    rows = []
    for case, times in found["seconds"].items():
        rows.append(
            Headline(f"summaries, {case}", "one by one", _rounds(times, "one by one", "heron"))
        )
        if rivals := [way for way in times if way.startswith(TRAINER)]:
            best = min(rivals, key=lambda way: median(times[way]))
            rows.append(Headline("the same", best, _rounds(times, best, "heron"), 1.3))
    return rows


def _prompting(found: Found) -> list[Headline]:
    rival = "generated one by one"
    times = found["seconds"]
    first = next(iter(times))
    return [
        Headline("answers by likelihood", rival, _rounds(times, first, "heron, likelihood"), 6.0),
        Headline("answers written", rival, _rounds(times, first, "heron, written")),
    ]


def _cartography(found: Found) -> list[Headline]:
    ratios = [found["ratio"]["total"]]
    return [Headline("dynamics to statistics", "line by line", ratios, 100.0)]


def _recorder(found: Found) -> list[Headline]:
    return [
        Headline(f"recorder, {name}", "a step", [spent], 0.05, "ms")
        for name, (_, spent) in found["ms"].items()
    ]


def _cache(found: Found) -> list[Headline]:
    seconds = found["seconds"]
    job = seconds["grid"] / seconds["jobs"]
    return [
        Headline("a job of a grid on stored vectors", "", [job], 0.7, "s"),
        Headline("the same", "encoding every epoch", [seconds["anew_job"] / job]),
    ]


def _tokenizing(found: Found) -> list[Headline]:
    works = {
        "tokenize": (f"tokenizing {found['pairs']:,} pairs", 3.0),
        "open": ("opening them", 50.0),
    }
    return [
        Headline(work, "`datasets.map`", _rounds(found["seconds"][part], "datasets", "heron"), bar)
        for part, (work, bar) in works.items()
    ]


def _training(found: Found) -> list[Headline]:
    return [Headline(**each) for each in found["headlines"]]


# Module: what its file says, and its own words. Those that need minutes come last.
BENCHMARKS: dict[str, tuple[Callable[[Found], list[Headline]], Sequence[str]]] = {
    "rouge": (_rouge, ("rounds",)),
    "span_scores": (_spans, ("rounds",)),
    "significance": (_significance, ("rounds",)),
    "token_loss": (_token_loss, ("rounds",)),
    "recorder": (_recorder, ()),
    "tokenizing": (_tokenizing, ("rounds",)),
    "cartography": (_cartography, ("rounds",)),
    "prompting": (_prompting, ("rounds",)),
    "generation": (_generation, ("rounds",)),
    "training": (_training, ("rounds",)),
    "frozen_cache": (_cache, ()),
}


def run(arguments: Sequence[str]) -> int:
    """Measure what is missing, print and write the table; returns the exit code."""
    options = parse_options(Options, arguments)
    if unknown := [name for name in options.only if name not in BENCHMARKS]:
        raise ConfigError(f"only={unknown[0]}: no such benchmark.{nearest(unknown[0], BENCHMARKS)}")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows, absent = [], []
    for name in options.only or BENCHMARKS:
        read, words = BENCHMARKS[name]
        path = out / f"{name}.json"
        if options.again or not path.is_file():
            print(f"bench-all: {name}", flush=True)
            command = [sys.executable, "-m", f"tests.benchmarks.{name}", f"out={path}"]
            command += [f"rounds={options.rounds}"] if "rounds" in words else []
            done = subprocess.run(command, cwd=ROOT, env=environment(1), check=False)
            if done.returncode:
                raise HeronError(f"{name} failed, see above; the others are kept in {out}")
        if path.is_file():
            rows += [each.cells() for each in read(read_json(path))]
        else:
            absent.append(name)  # it has said what it needs
    columns = ("work", "rival", "measured", "spread", "bar")
    note = f"{machine()}. Medians over rounds, each measured side by side; processor time."
    note += f" Not measured, for want of data or an encoder: {', '.join(absent)}." if absent else ""
    table = Table("What heron reaches", columns, tuple(rows), note)
    print_tables([table])
    lines = ["| " + " | ".join(row) + " |" for row in (columns, ["---"] * len(columns), *rows)]
    print(write_file(out / "table.md", "\n".join([*lines, "", note, ""])))
    return 0


def machine() -> str:
    """Name the processor, its measured rates at an encoder's shapes, and graphics cards."""
    encoder = folder(None, "HERON_ENCODER")
    words = [f"encoder={encoder}"] if encoder and encoder.is_dir() else []
    found = rates(compose([*words, "trainer.threads=1", "trainer.accelerator=cpu"]))
    listed = ", ".join(f"{name} {rate:g}" for name, rate in found.items())
    cards = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
    return "; ".join([processor(), *cards, f"GFLOP/s a thread: {listed}"])


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1:]))
    except HeronError as error:
        sys.exit(f"benchmark: {error}")
