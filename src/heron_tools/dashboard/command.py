"""`heron dashboard DIR`: a page to explore a sweep, also as a W&B workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.terminal import print_lines
from heron.config.parsing import parse_options
from heron.results.collect import collect
from heron_tools.dashboard.page import write_dashboard


@dataclass
class DashboardOptions:
    """Options of `heron dashboard`."""

    run: Path  # folder of a sweep
    out: Path | None = None  # output folder; default `run`
    wandb: bool = False  # also save a W&B workspace of the sweep; needs an account
    entity: str | None = None  # the W&B user or team; default: the account's own


def run(arguments: Sequence[str]) -> int:
    """Run `heron dashboard DIR [out=DIR] [wandb=true] [entity=NAME]`; returns the exit code."""
    options = parse_options(DashboardOptions, arguments)
    print_lines(write_dashboard(options.run, options.out))
    if options.wandb:
        from heron_tools.dashboard.workspace import save_workspace  # start-up time

        name = options.run.resolve().name
        runs = collect(options.run)
        print_lines(save_workspace(name, runs, options.entity))
    return 0
