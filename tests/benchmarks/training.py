"""`python -m tests.benchmarks.training`: heron's training step beside the Hugging Face Trainer's.

Real TRC text, one encoder, one machine, interleaved: every round runs each rival once, each in a
fresh process, and begins with another one. See README.md here for what is compared and how.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from heron.base.cells import Cell, Formatted, Table
from heron.base.progress import tracked
from heron.config.constraints import Count, OneOf

from .frame import Found, Headline, call, find, main
from .names import BASELINE, OURS, RIVALS, WINDOW

TARGET = 1.5  # heron over the Trainer's best precision and order of batches
NEAR = 0.97  # heron's default over the best of its precisions
# The window head over the Trainer with dynamic padding, where bf16 is slow and where it is fast.
WINDOW_TARGETS = (18.0, 38.0)
_NEEDED = "trc/training-data/split/train.csv"

Rounds = dict[str, list[dict[str, Any]]]  # rival: its measurements, one per round


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        encoder: folder of a BERT-like encoder; `HERON_ENCODER` where absent.
        data: folder that holds `trc/`; `HERON_DATA` where absent.
        rivals: who competes; the ratio needs the first.
        rounds: measurements of each rival, each on another epoch's plan.
        steps: timed steps in each measurement; one more comes first, untimed.
        threads: CPU threads.
        overrides: configuration of heron's rivals, as in `overrides=encoder.attention=eager`.
        cache: where tokenized features are kept.
        out: JSON file with every measurement.
    """

    encoder: Path | None = None
    data: Path | None = None
    rivals: list[Annotated[str, OneOf(*RIVALS)]] = field(default_factory=lambda: list(RIVALS))
    rounds: Count = 3
    steps: Count = 4
    threads: Count = 1
    overrides: list[str] = field(default_factory=list)
    cache: Path = Path("cache")
    out: Path = Path("runs/benchmark.json")


def run(options: Options) -> Found:
    """Measure all rivals."""
    encoder, data = find(options, encoder="config.json", data=_NEEDED)
    rounds = measure_all(options, encoder, data)
    return Found(report(rounds, encoder.name), [table(rounds, options)], [verdict(rounds)])


def measure_all(options: Options, encoder: Path, data: Path) -> Rounds:
    """Run every rival in every round."""
    rounds: Rounds = {name: [] for name in options.rivals}
    plan = []
    for index in range(options.rounds):
        first = index % len(options.rivals)
        plan += [(index, name) for name in options.rivals[first:] + options.rivals[:first]]
    for index, name in tracked(plan, "measuring"):
        rounds[name].append(_measure(name, index, options, encoder, data))
    return rounds


def _measure(name: str, seed: int, options: Options, encoder: Path, data: Path) -> dict[str, Any]:
    """Measure one rival in a fresh process."""
    words = [
        *(f"rival={name}", f"encoder={encoder}", f"data={data}"),
        f"cache={options.cache.resolve()}",
        *(f"steps={options.steps}", f"threads={options.threads}", f"seed={seed}"),
        f"overrides={','.join(options.overrides)}",
    ]
    said = call("tests.benchmarks.rivals", *words, threads=options.threads)
    measurement: dict[str, Any] = json.loads(said.splitlines()[-1])
    return measurement


def ratios(rounds: Rounds, name: str, key: str) -> list[float]:
    """Divide a rival's speed by the baseline's, round by round: load changes between rounds."""
    return [
        ours[key] / theirs[key] for ours, theirs in zip(rounds[name], rounds[BASELINE], strict=True)
    ]


def table(rounds: Rounds, options: Options) -> Table:
    """Set the rivals side by side, medians over the rounds."""
    plural = "s" if options.threads > 1 else ""
    title = f"TRC training, {options.threads} thread{plural}, medians of {options.rounds} rounds"
    rows = [
        (
            RIVALS[name].title,
            Formatted(_median(measured, "samples_per_cpu_second"), ".2f"),
            Formatted(_median(measured, "samples_per_second"), ".2f"),
            Formatted(_median(measured, "padding_efficiency"), ".3f"),
            _share(measured),
            Formatted(median(ratios(rounds, name, "samples_per_cpu_second")), ".2f")
            if BASELINE in rounds
            else None,
        )
        for name, measured in rounds.items()
    ]
    columns = ("pairs / CPU s", "pairs / s", "padding efficiency", "of GEMM peak", "ratio")
    return Table(title, ("", *columns), tuple(rows))


def _share(measured: Sequence[dict[str, Any]]) -> Cell:
    shares = [each["gemm_share"] for each in measured if each.get("gemm_share") is not None]
    return Formatted(median(shares), ".0%") if shares else None


def headlines(rounds: Rounds) -> list[Headline]:
    """Compare heron's default with the Trainer's best settings and with its own, per round."""
    key = "samples_per_cpu_second"
    trainers = [name for name in rounds if RIVALS[name].framework == "trainer"]
    own = [name for name in ("heron_fp32", "heron_bf16") if name in rounds]
    found = []

    def best(names: Sequence[str], number: int) -> float:
        return max(float(rounds[name][number][key]) for name in names)

    is_fast = len(own) == 2 and rounds[own[1]][0][key] > rounds[own[0]][0][key]
    for name, bar, window_bar in ((OURS, TARGET, None), (WINDOW, None, WINDOW_TARGETS[is_fast])):
        if name in rounds and trainers:
            speeds = [float(each[key]) for each in rounds[name]]
            ratios_N = [speed / best(trainers, n) for n, speed in enumerate(speeds)]
            rival = f"the best of {len(trainers)} settings of the Trainer"
            found.append(Headline(RIVALS[name].title, rival, ratios_N, bar))
            if BASELINE in rounds:
                title = RIVALS[BASELINE].title
                speed_ups = ratios(rounds, name, key)
                found.append(Headline(RIVALS[name].title, title, speed_ups, window_bar))
    if OURS in rounds and own:
        ratios_N = [float(each[key]) / best(own, n) for n, each in enumerate(rounds[OURS])]
        found.append(Headline(RIVALS[OURS].title, "the best of its precisions", ratios_N, NEAR))
    return found


def verdict(rounds: Rounds) -> str:
    """Say what heron reaches, and its targets."""
    found = headlines(rounds)
    if not found:
        return f"no verdict: it needs the rivals {BASELINE} and {OURS}"
    return "\n".join(str(each) for each in found)


def report(rounds: Rounds, encoder: str) -> dict[str, Any]:
    """Collect what `make bench-all` shows, medians and every measurement."""
    return {
        "encoder": encoder,
        "headlines": [asdict(each) for each in headlines(rounds)],
        "rivals": {
            name: {
                "title": RIVALS[name].title,
                "median": {key: _median(measured, key) for key in _SPEEDS},
                "rounds": measured,
            }
            for name, measured in rounds.items()
        },
    }


_SPEEDS = ("samples_per_cpu_second", "samples_per_second", "padding_efficiency")


def _median(measured: Sequence[dict[str, Any]], key: str) -> float:
    return median(measurement[key] for measurement in measured)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
