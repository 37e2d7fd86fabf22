"""`heron dashboard DIR`: a page to explore a sweep with, and the same in a W&B workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.files import write_file
from heron.config.options import parse_folder
from heron.reports.dashboard import dashboard_page
from heron.results.collect import collect, is_run


@dataclass
class DashboardOptions:
    """Options of `heron dashboard`."""

    folder: Path  # of a sweep
    out: Path | None = None  # default: into `folder`
    wandb: bool = False  # save a W&B workspace of the sweep too; needs an account
    entity: str | None = None  # the W&B user or team; default: the account's own


def run(arguments: Sequence[str]) -> int:
    """Run `heron dashboard DIR [out=DIR] [wandb=true] [entity=NAME]`; returns the exit code."""
    options = parse_folder(
        DashboardOptions, arguments, "name a sweep: heron dashboard runs/<sweep>"
    )
    print(write_dashboard(options.folder, options.out))
    if options.wandb:
        from heron.reports.workspace import save_workspace  # start-up time

        name, runs = options.folder.resolve().name, collect(options.folder)
        print(save_workspace(name, runs, options.entity))
    return 0


def write_dashboard(folder: Path, out: Path | None = None) -> Path:
    """Write `dashboard.html` for a sweep, by default into its folder; returns the page's path.

    Raises:
        ConfigError: `folder` holds no runs, or is a single run.
    """
    folder = Path(folder)
    runs = collect(folder)
    if is_run(folder):
        raise ConfigError(
            f"{folder} is one run; a dashboard compares the runs of a sweep. Name the folder above "
            "it, or see `heron report` for this one"
        )
    target = Path(out) if out else folder
    page = dashboard_page(folder.resolve().name, runs, target)
    return write_file(target / "dashboard.html", page)
