"""`python -m tests.benchmarks.training`: heron's training step beside the Hugging Face Trainer's.

Real TRC text, one encoder, one machine, interleaved: every round runs each rival once, each in a
fresh process, and begins with another one. See README.md here for what is compared and how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from heron.base.cells import Cell, Formatted, Table
from heron.base.terminal import tracked
from heron.config.constraints import Count, OneOf

from .frame import Found, Headline, Times, find, main, measure_apart, ratios
from .rivals import RIVALS

_NEEDED = "trc/training-data/split/train.csv"
TRAINER, OWN = "the best of the Trainer's settings", "the better of its precisions"
BEST = {
    TRAINER: [name for name, rival in RIVALS.items() if rival.framework == "trainer"],
    OWN: ["heron_fp32", "heron_bf16"],
}
# heron's way, a rival, how many times as fast it has to be. The window head has to reach 38
# where the processor multiplies fast in bf16.
BARS = (
    ("heron", TRAINER, 1.5),
    ("heron", OWN, 0.97),
    ("heron", "trainer", None),
    ("heron_window", "trainer", 18.0),
)


@dataclass
class Options:
    """Options of the benchmark."""

    encoder: Path | None = None  # folder of a BERT-like encoder; default `HERON_ENCODER`
    data: Path | None = None  # the folder of `trc/`; default `HERON_DATA`
    rivals: list[Annotated[str, OneOf(*RIVALS)]] = field(default_factory=lambda: list(RIVALS))
    rounds: Count = 3  # measurements of each rival, each on another epoch's plan
    steps: Count = 4  # timed ones of each measurement; one more comes first
    threads: Count = 1
    overrides: list[str] = field(default_factory=list)  # configuration of heron's rivals
    cache: Path = Path("cache")  # of tokenized features
    out: Path = Path("runs/benchmark.json")


def run(options: Options) -> Found:
    """Measure all rivals."""
    encoder, data = find(options, encoder="config.json", data=_NEEDED)
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in options.rivals}
    shared = (f"encoder={encoder}", f"data={data}", f"cache={options.cache.resolve()}")
    shared += (f"steps={options.steps}", f"threads={options.threads}")
    shared += (f"overrides={','.join(options.overrides)}",)
    plan = []
    for index in range(options.rounds):
        first = index % len(options.rivals)
        plan += [(index, name) for name in options.rivals[first:] + options.rivals[:first]]
    for index, name in tracked(plan, "measuring"):
        words = (*shared, f"rival={name}", f"seed={index}")
        found = measure_apart("tests.benchmarks.rivals", *words, threads=options.threads)
        rounds[name].append(found)
    record = {"encoder": encoder.name, "rounds": rounds}
    title = f"1,000 pairs of TRC, {options.threads} thread(s), medians of {options.rounds} rounds"
    return Found(record, [table(title, rounds)], headlines(rounds))


def table(title: str, rounds: dict[str, list[dict[str, Any]]]) -> Table:
    """Set the rivals side by side, medians over the rounds."""

    def middle(measured: Sequence[dict[str, Any]], key: str, form: str) -> Cell:
        found = [each[key] for each in measured if each[key] is not None]
        return Formatted(median(found), form) if found else None

    columns = {"cpu_seconds": ".1f", "seconds": ".1f", "padding_efficiency": ".3f"}
    columns |= {"gemm_share": ".0%"}
    rows = [
        (RIVALS[name].title, *(middle(of, key, form) for key, form in columns.items()))
        for name, of in rounds.items()
    ]
    names = ("", "processor s", "s", "padding efficiency", "of GEMM peak")
    return Table(title, names, tuple(rows))


def headlines(rounds: dict[str, list[dict[str, Any]]]) -> list[Headline]:
    """Compare heron's default with the Trainer's best settings and with its own, per round."""
    times: Times = {name: [each["cpu_seconds"] for each in of] for name, of in rounds.items()}
    for title, names in BEST.items():
        present = [times[name] for name in names if name in times]
        if present:
            times[title] = [min(each) for each in zip(*present, strict=True)]
    return [
        Headline(RIVALS[way].title, rival, ratios(times, rival, way), bar)
        for way, rival, bar in BARS
        if {way, rival} <= times.keys()
    ]


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
