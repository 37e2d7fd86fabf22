"""`heron demo`: train and report on the built-in corpus, offline, in under a minute."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.commands import train
from heron.config.parsing import parse_options


@dataclass
class DemoOptions:
    """Options of `heron demo`."""

    out: Path = Path("runs")  # where the run folder goes


def run(arguments: Sequence[str]) -> int:
    """Train, score and report; returns the exit code."""
    options = parse_options(DemoOptions, arguments)
    print("Training on chronicle: synthetic Hebrew narratives, not a research result.", flush=True)
    code = train.run(["experiment=demo", f"paths.runs={options.out}"])
    if code == 0:
        print(
            "\nNext: open report.html above in a browser, then\n"
            "  heron train -m head=ess,emp,seq_cls seed=0,1     compare the paper's three heads\n"
            "  heron train --help                               every way to train"
        )
    return code
