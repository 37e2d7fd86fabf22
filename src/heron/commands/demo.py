"""`heron demo`: train and report on the built-in corpus, offline, in under a minute."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.commands import train
from heron.config.parsing import parse_options
from heron.training.compose import compose
from heron.training.run_names import run_path


@dataclass
class DemoOptions:
    """Options of `heron demo`."""

    out: Path = Path("runs")  # where the run folder goes


def run(arguments: Sequence[str]) -> int:
    """Train, score and report; returns the exit code."""
    options = parse_options(DemoOptions, arguments)
    print("Training on chronicle: synthetic Hebrew narratives, not a research result.", flush=True)
    words = ["experiment=demo", f"paths.runs={options.out}"]
    code = train.run(words)
    if code:
        return code

    folder = run_path(compose(words), words)
    run = shlex.quote(str(folder))
    typed = shlex.join(words)
    report = folder / "report.html"
    print(f"""
Next:
  heron map run={run}    # which examples are easy, ambiguous or hard
  heron noise run={run}    # labels that look wrong
  heron train -m {typed} head=window,ess,emp    # other heads

Open {report} in a browser.""")
    return 0
