"""The dashboard of a sweep as one HTML file that needs no network and no library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from heron.base.cells import Summary, show
from heron.base.pages import escape_json, render
from heron.reports.dashboard_data import SPLITS, dashboard_data
from heron.reports.sweep import spent_table
from heron.results.collect import RunRecord, count_states, without_first_runs


def dashboard_page(title: str, runs: Sequence[RunRecord], folder: Path) -> str:
    """Build the page.

    Args:
        title: the sweep's name.
        runs: all its runs, finished or not.
        folder: where the page will lie; links to the runs' own pages begin there.

    Returns:
        HTML; the same runs give the same text.
    """
    chosen = without_first_runs(runs)
    content = dashboard_data(title, chosen, folder)
    best = content["best"]
    if best is not None:
        shown = {split: show(Summary(*best[split])) for split in SPLITS if best[split]}
        best = {"test": None, **best, **shown, "job": content["runs"][best["run"]]["job"]}
        best["copied"] = [(name, split, show(value)) for name, split, value in best["copied"]]
    spent = spent_table(runs)
    return render(
        "dashboard.html.j2",
        title=content["title"],
        synthetic=content["synthetic"],
        states=count_states(chosen),
        first=len(runs) - len(chosen),
        linked=any(run["link"] for run in content["runs"]),
        best=best,
        monitor=content["monitor"],
        copied=bool(content["copied"]),
        tables=[spent] if spent else [],
        data=Markup(escape_json(content)),
    )
