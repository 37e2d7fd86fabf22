"""`python -m tests.benchmarks.all`: every benchmark, and one table of what heron reaches.

Each benchmark is a process of its own and writes its file into `out=`; one that is there already
is not measured again (`again=true` does). See README.md here for what each compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import torch

from heron.base.cells import Table
from heron.base.files import read_json, write_file
from heron.base.libraries import processor
from heron.base.table_files import to_markdown
from heron.config.constraints import Count, OneOf

from .frame import Found, Headline, Times, call, main, ratios
from .generation import TRAINER

Written = dict[str, Any]  # what a benchmark has written


@dataclass
class Options:
    """Options of the table.

    Args:
        only: benchmarks to run, by the name of their module; default: all.
        rounds: of those that repeat their measurements.
        again: measure also what is in `out` already.
        out: folder of the benchmarks' files and of `table.md`.
    """

    only: list[Annotated[str, OneOf(*BENCHMARKS)]] = field(default_factory=list)
    rounds: Count = 3
    again: bool = False
    out: Path = Path("runs/benchmarks")


def _beside(
    work: str, title: str, times: Times, rival: str, bar: float | None = None, way: str = "heron"
) -> Headline:
    """Set one of heron's ways beside a rival."""
    return Headline(work, title, ratios(times, rival, way), bar)


def _rouge(found: Written) -> list[Headline]:
    rivals = {"plain": "a plain re-statement of XL-Sum's fork", "fork": "XL-Sum's fork itself"}
    return [
        _beside(f"ROUGE, {size}, texts {seen}", title, times, rival, bar, way)
        for size, bar in (("title", 15.0), ("short", 15.0), ("article", 20.0))
        for times in [found["seconds"][size]]
        for way, seen in (("heron, first pass", "seen first"), ("heron", "seen before"))
        for rival, title in rivals.items()
        if rival in times
    ]


def _spans(found: Written) -> list[Headline]:
    return [
        _beside(
            f"exact match and F1, {n} answers", "the official loop", times, "official_loop", 6.0
        )
        for n, times in found["seconds"].items()
    ]


def _significance(found: Written) -> list[Headline]:
    times = found["seconds"]
    return [_beside("paired bootstrap", "a scikit-learn loop", times, "sklearn_loop", 500.0)]


def _token_loss(found: Written) -> list[Headline]:
    return [
        _beside(f"loss over {int(words):,} words", "torch", times, "torch")
        for words, times in found["seconds"].items()
    ]


def _generation(found: Written) -> list[Headline]:
    rows = []
    for case, times in found["seconds"].items():
        rows.append(_beside(f"summaries, {case}", "one by one", times, "one by one"))
        if rivals := [way for way in times if way.startswith(TRAINER)]:
            best = min(rivals, key=lambda way: median(times[way]))
            rows.append(_beside("the same", best, times, best, 1.3))
    return rows


def _prompting(found: Written) -> list[Headline]:
    title, times = "generated one by one", found["seconds"]
    first = next(iter(times))
    return [
        _beside("answers by likelihood", title, times, first, 6.0, "heron, likelihood"),
        _beside("answers written", title, times, first, None, "heron, written"),
    ]


def _cartography(found: Written) -> list[Headline]:
    return [Headline("dynamics to statistics", "line by line", [found["ratio"]["total"]], 100.0)]


def _recorder(found: Written) -> list[Headline]:
    return [
        Headline(f"recorder, {name}", "a step", [spent], 0.05, "ms")
        for name, (_, spent) in found["ms"].items()
    ]


def _cache(found: Written) -> list[Headline]:
    seconds = found["seconds"]
    job = seconds["grid"] / seconds["jobs"]
    return [
        Headline("a head-only job, 2 x 128 units", "", [seconds["narrow_job"]], 0.7, "s"),
        Headline("a job of the grid", "encoding every epoch", [seconds["anew_job"] / job]),
    ]


def _tokenizing(found: Written) -> list[Headline]:
    times = found["seconds"]
    work = f"tokenizing {found['pairs']:,} pairs"
    return [
        _beside(work, "`datasets.map`", times["tokenize"], "datasets", 3.0),
        _beside("opening them", "`datasets.map`", times["open"], "datasets"),
        _beside("opening them, with imports", "the same", times["import"], "datasets", 50.0),
    ]


def _training(found: Written) -> list[Headline]:
    return [Headline(**each) for each in found["headlines"]]


# Module: what its file says. Those that need minutes come last.
BENCHMARKS: dict[str, Callable[[Written], list[Headline]]] = {
    "rouge": _rouge,
    "span_scores": _spans,
    "significance": _significance,
    "token_loss": _token_loss,
    "recorder": _recorder,
    "tokenizing": _tokenizing,
    "cartography": _cartography,
    "prompting": _prompting,
    "generation": _generation,
    "training": _training,
    "frozen_cache": _cache,
}
# Of those that are not measured `rounds` times: their words.
_WORDS = {"recorder": (), "frozen_cache": ("seeds=1",), "generation": ("rounds=1",)}


def run(options: Options) -> Found:
    """Measure what is missing, and write the table."""
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows, absent = [], []
    for name in options.only or BENCHMARKS:
        path = out / f"{name}.json"
        if options.again or not path.is_file():
            print(f"bench-all: {path}", flush=True)
            words = _WORDS.get(name, (f"rounds={options.rounds}",))
            call(f"tests.benchmarks.{name}", f"out={path}", *words, shown=True)
        if path.is_file():
            rows += [each.cells() for each in BENCHMARKS[name](read_json(path))]
        else:
            absent.append(name)  # it has said what it needs
    note = f"{machine()}. Medians over rounds, each measured side by side; processor time."
    note += f" Not measured, for want of data or an encoder: {', '.join(absent)}." if absent else ""
    columns = ("work", "rival", "measured", "spread", "bar")
    table = Table("What heron reaches", columns, tuple(rows), note)
    return Found(tables=[table], lines=[write_file(out / "table.md", to_markdown(table))])


def machine() -> str:
    """Name the processor and graphics cards."""
    cards = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
    return "; ".join([processor(), *cards])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
