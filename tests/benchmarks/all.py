"""`make bench-all`: the benchmarks, each as a process of its own, and one table of their rows.

One whose file is in `out=` already is not measured again (`again=true` does).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from heron.base.cells import to_markdown
from heron.base.files import read_json, write_file
from heron.config.constraints import OneOf

from .apart import call
from .frame import Found, Out, table

# By module, the options with which all of them take half an hour on one free core; those that need
# minutes come last. None: only measured alone.
BENCHMARKS: dict[str, str | None] = {
    "rouge": "",
    "significance": "",
    "dynamics": "",
    "prompting": "rounds=1",
    "tokenizing": "rounds=2",
    "generation": "rounds=1",
    "cache": "share=0.1 seeds=1",
    "scale": "rows=10000,100000 jobs=10,100",
    "training": "rounds=2 steps=2",
    "defaults": None,
    "devices": None,
    "gpu": None,
}


@dataclass
class Options(Out):
    """Options of the table."""

    only: list[Annotated[str, OneOf(*BENCHMARKS)]] = field(default_factory=list)  # default: most
    again: bool = False  # measure also what is in `out` already


def run(options: Options) -> Found:
    """Measure what is missing, and write the table."""
    kept, absent = {}, []
    for name in options.only or [name for name, words in BENCHMARKS.items() if words is not None]:
        path = options.out.resolve() / f"{name}.json"
        if options.again or not path.is_file():
            print(f"bench-all: {path}", flush=True)
            words = (BENCHMARKS[name] or "").split()
            print(call("tests.benchmarks", name, f"out={path.parent}", *words), flush=True)
        if path.is_file():
            kept[name] = read_json(path)
        else:
            absent.append(name)  # it has said what it needs
    found = table("What heron reaches", kept)
    write_file(options.out / "table.md", to_markdown(found))
    if absent:
        print(f"Not measured, for want of data or an encoder: {', '.join(absent)}")
    return Found(tables=[found])
