"""`python -m tests.benchmarks.training`: heron's training step beside the Hugging Face Trainer's.

Real TRC text, one encoder, one machine, interleaved: every round runs each rival once, each in a
fresh process, and begins with another one. See README.md here for what is compared and how.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from heron.base.errors import ConfigError, HeronError, nearest
from heron.base.files import write_json
from heron.base.libraries import processor
from heron.config.options import parse_options

from .headlines import Headline
from .names import BASELINE, OURS, RIVALS, WINDOW
from .processes import wide_console

TARGET = 1.5  # heron over the Trainer's best precision and order of batches
NEAR = 0.97  # heron's default over the best of its precisions
# The window head over the Trainer with dynamic padding, where bf16 is slow and where it is fast.
WINDOW_TARGETS = (18.0, 38.0)
_ROOT = Path(__file__).parents[2]
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
    rivals: list[str] = field(default_factory=lambda: list(RIVALS))
    rounds: int = 3
    steps: int = 4
    threads: int = 1
    overrides: list[str] = field(default_factory=list)
    cache: Path = Path("cache")
    out: Path = Path("runs/benchmark.json")


def run(arguments: Sequence[str], console: Console) -> int:
    """Measure all rivals, print the table, write the JSON file; returns the exit code."""
    options = parse_options(Options, arguments)
    for name in options.rivals:
        if name not in RIVALS:
            raise ConfigError(f"rivals={name}: no such rival.{nearest(name, RIVALS)}")
    encoder = options.encoder or _from_environment("HERON_ENCODER")
    data = options.data or _from_environment("HERON_DATA")
    absent = missing(encoder, data)
    if absent:
        console.print("benchmark skipped:", *absent, sep="\n  ", markup=False, soft_wrap=True)
        return 0
    assert encoder is not None
    assert data is not None
    rounds = measure_all(options, encoder, data, console)
    console.print(table(rounds, options))
    console.print(verdict(rounds))
    write_json(options.out, report(rounds, options, encoder.name))
    console.print(f"every measurement: {options.out}", markup=False)
    return 0


def missing(encoder: Path | None, data: Path | None) -> list[str]:
    """Say what the benchmark needs and cannot find."""
    absent = []
    if encoder is None or not (encoder / "config.json").is_file():
        absent.append(f"no encoder ({encoder}): set HERON_ENCODER or encoder= to its folder")
    if data is None or not (data / _NEEDED).is_file():
        absent.append(f"no {_NEEDED} ({data}): set HERON_DATA or data= to the folder of trc/")
    return absent


def measure_all(options: Options, encoder: Path, data: Path, console: Console) -> Rounds:
    """Run every rival in every round."""
    rounds: Rounds = {name: [] for name in options.rivals}
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=options.rounds * len(options.rivals))
        for index in range(options.rounds):
            first = index % len(options.rivals)
            for name in options.rivals[first:] + options.rivals[:first]:
                progress.update(task, description=f"round {index + 1}: {RIVALS[name].title}")
                rounds[name].append(_measure(name, index, options, encoder, data))
                progress.advance(task)
    return rounds


def _measure(name: str, seed: int, options: Options, encoder: Path, data: Path) -> dict[str, Any]:
    """Measure one rival in a fresh process."""
    words = [
        *(f"rival={name}", f"encoder={encoder.resolve()}", f"data={data.resolve()}"),
        f"cache={options.cache.resolve()}",
        *(f"steps={options.steps}", f"threads={options.threads}", f"seed={seed}"),
        f"overrides={','.join(options.overrides)}",
    ]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(options.threads),
        # A thread that spins while another is preempted burns the time it is measured by.
        "GOMP_SPINCOUNT": "1000",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
    }
    command = [sys.executable, "-m", "tests.benchmarks.rivals", *words]
    done = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise HeronError(f"{name} failed:\n{done.stderr[-2000:]}")
    measurement: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
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
    result = Table(title=title)
    result.add_column("", no_wrap=True)
    for column in ("pairs / CPU s", "pairs / s", "padding efficiency", "of GEMM peak", "ratio"):
        result.add_column(column, justify="right", min_width=5)
    for name, measured in rounds.items():
        ratio = "-"
        if BASELINE in rounds:
            ratio = f"{median(ratios(rounds, name, 'samples_per_cpu_second')):.2f}"
        result.add_row(
            RIVALS[name].title,
            f"{_median(measured, 'samples_per_cpu_second'):.2f}",
            f"{_median(measured, 'samples_per_second'):.2f}",
            f"{_median(measured, 'padding_efficiency'):.3f}",
            _share(measured),
            ratio,
        )
    return result


def _share(measured: Sequence[dict[str, Any]]) -> str:
    shares = [each["gemm_share"] for each in measured if each.get("gemm_share") is not None]
    return f"{median(shares):.0%}" if shares else "-"


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


def report(rounds: Rounds, options: Options, encoder: str) -> dict[str, Any]:
    """Collect settings, versions, medians and every measurement."""
    packages = ("torch", "transformers", "accelerate", "pytorch-lightning", "heron-nlu")
    kept = ("rounds", "steps", "threads", "overrides")
    return {
        "encoder": encoder,
        "settings": {name: asdict(options)[name] for name in kept},
        "processor": processor(),
        "headlines": [asdict(each) for each in headlines(rounds)],
        "versions": {package: version(package) for package in packages},
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


def _from_environment(name: str) -> Path | None:
    return Path(os.environ[name]) if os.environ.get(name) else None


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1:], wide_console()))
    except HeronError as error:
        sys.exit(f"benchmark: {error}")
