"""heron's training step beside the Hugging Face Trainer's: real TRC text, one encoder, one machine.

Every round runs each rival once, each in a fresh process, and begins with another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Annotated, Any

from heron.base.cells import Cell, Formatted, Table
from heron.base.terminal import tracked
from heron.config.constraints import Count, OneOf

from .apart import apart, needed
from .frame import Found, Out, Row, Times, ratios
from .rivals import RIVALS
from .steps import measure

TRAINER, OWN = "the best of the Trainer's settings", "the better of its precisions"
BEST = {
    TRAINER: [name for name, rival in RIVALS.items() if rival.framework == "trainer"],
    OWN: ["heron_fp32", "heron_bf16"],
}
# heron's way, a rival, and the limit. The window head has to reach 38 where the processor
# multiplies fast in bf16.
LIMITS = (
    ("heron", TRAINER, "≥ 1.5"),
    ("heron", OWN, "≥ 0.97"),
    ("heron", "trainer", ""),
    ("heron_window", "trainer", "≥ 18"),
)
COLUMNS = {"cpu_seconds": ".1f", "seconds": ".1f", "padding_efficiency": ".3f", "gemm_share": ".0%"}


@dataclass
class Options(Out):
    """Options of the benchmark."""

    rivals: list[Annotated[str, OneOf(*RIVALS)]] = field(default_factory=lambda: list(RIVALS))
    rounds: Count = 3  # measurements of each rival, each on another epoch's plan
    steps: Count = 4  # timed ones of each measurement; one more comes first
    threads: Count = 1
    overrides: list[str] = field(default_factory=list)  # configuration of heron's rivals


def run(options: Options) -> Found:
    """Measure all rivals."""
    needs = {"HERON_ENCODER": "config.json", "HERON_DATA": "trc/training-data/split/train.csv"}
    encoder, data = needed(**needs)
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in options.rivals}
    shared = [f"encoder={encoder}", f"paths.data={data}", f"trainer.threads={options.threads}"]
    shared += options.overrides
    plan = []
    for index in range(options.rounds):
        first = index % len(options.rivals)
        plan += [(index, name) for name in options.rivals[first:] + options.rivals[:first]]
    for index, name in tracked(plan, "measuring"):
        given = (name, options.steps, [*shared, f"seed={index}"])
        rounds[name].append(apart(measure, *given, threads=options.threads))
    title = f"1,000 pairs of TRC, {options.threads} thread(s), medians of {options.rounds} rounds"
    return Found(compare(rounds), [table(title, rounds)], {"rounds": rounds})


def table(title: str, rounds: dict[str, list[dict[str, Any]]]) -> Table:
    """Set the rivals side by side, medians over the rounds."""

    def middle(measured: Sequence[dict[str, Any]], key: str) -> Cell:
        found = [each[key] for each in measured if each[key] is not None]
        return Formatted(median(found), COLUMNS[key]) if found else None

    rows = [
        (RIVALS[name].title, *(middle(of, key) for key in COLUMNS)) for name, of in rounds.items()
    ]
    return Table(title, ("", *(key.replace("_", " ") for key in COLUMNS)), tuple(rows))


def compare(rounds: dict[str, list[dict[str, Any]]]) -> list[Row]:
    """Compare heron's default with the Trainer's best settings and with its own, per round."""
    times: Times = {name: [each["cpu_seconds"] for each in of] for name, of in rounds.items()}
    for title, names in BEST.items():
        present = [times[name] for name in names if name in times]
        if present:
            times[title] = [min(each) for each in zip(*present, strict=True)]
    return [
        Row(RIVALS[way].title, rival, ratios(times, rival, way), limit=limit)
        for way, rival, limit in LIMITS
        if {way, rival} <= times.keys()
    ]
