"""`python -m tests.benchmarks.all`: every benchmark, and one table of what heron reaches.

Each benchmark is a process of its own and writes its file into `out=`; one that is there already
is not measured again (`again=true` does). See README.md here for what each compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import torch

from heron.base.cells import Table, to_markdown
from heron.base.files import read_json, write_file
from heron.base.libraries import processor
from heron.config.constraints import Count, OneOf

from .frame import Found, Headline, call, main

# Modules, and how their measurements are repeated. Those that need minutes come last.
ROUNDS = ("rounds={rounds}",)
BENCHMARKS = {
    **dict.fromkeys(("rouge", "span_scores", "significance"), ROUNDS),
    "recorder": (),
    **dict.fromkeys(("tokenizing", "cartography", "prompting"), ROUNDS),
    "generation": ("rounds=1",),
    "training": ROUNDS,
    "frozen_cache": ("seeds=1",),
}


@dataclass
class Options:
    """Options of the table."""

    only: list[Annotated[str, OneOf(*BENCHMARKS)]] = field(default_factory=list)  # default: all
    rounds: Count = 3  # of those that repeat their measurements
    again: bool = False  # measure also what is in `out` already
    out: Path = Path("runs/benchmarks")  # of the benchmarks' files and of `table.md`


def run(options: Options) -> Found:
    """Measure what is missing, and write the table."""
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows, absent = [], []
    for name in options.only or BENCHMARKS:
        path = out / f"{name}.json"
        if options.again or not path.is_file():
            print(f"bench-all: {path}", flush=True)
            words = (word.format(rounds=options.rounds) for word in BENCHMARKS[name])
            call(f"tests.benchmarks.{name}", f"out={path}", *words, shown=True)
        if path.is_file():
            rows += [Headline(**each).cells() for each in read_json(path)["headlines"]]
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
