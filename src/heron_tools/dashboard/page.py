"""The dashboard of a sweep as one HTML file without network access or libraries.

The best configuration is chosen on validation, never on test, by the mean of the monitored score
(`trainer.monitor`) over its finished runs.
"""

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heron.base.cells import SYNTHETIC, Summary, show
from heron.base.errors import ConfigError
from heron.base.files import write_file
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact, redacted
from heron.metrics.names import is_minimised, signed, with_copied
from heron.reports.pages import escape_json, render
from heron.reports.sweep import page_links, spent_table, title_of
from heron.results.best import best_of, tie_note
from heron.results.collect import RunRecord, collect, headline_metrics
from heron.results.systems import (
    System,
    copied_scores,
    count_states,
    group_runs,
    is_seed,
    natural,
    values_of,
    varying_keys,
    without_first_runs,
)
from heron_tools.dashboard.workspace import watched_score

SPLITS = ("validation", "test")
POINTS = 120  # maximum of a curve
_FORMAT = 1
# Groups of jobs and folders, which `repeat_command` leaves out.
_COMMAND_GROUPS = ("run", "hydra")
_DIGITS = 6  # significant, of every number on the page


def write_dashboard(folder: Path, out: Path | None = None) -> Path:
    """Write `dashboard.html` for a sweep, by default into its folder; returns the page's path."""
    target = out or folder
    runs = collect(folder)
    shown_runs = without_first_runs(runs)
    content = dashboard_data(folder.resolve().name, shown_runs, target)

    best = content["best"]
    if best is not None:
        scores = {}
        for split in SPLITS:
            summary = best[split]
            scores[split] = show(Summary(*summary)) if summary else None

        copied = [(name, split, show(value)) for name, split, value in best["copied"]]
        job = content["runs"][best["run"]]["job"]
        best = {**best, **scores, "copied": copied, "job": job}

    spent = spent_table(runs)
    page = render(
        "dashboard.html.j2",
        Path(__file__).parent / "templates",
        title=title_of(runs, folder),
        synthetic=content["synthetic"],
        states=count_states(shown_runs),
        first=len(runs) - len(shown_runs),
        linked=any(run["link"] for run in content["runs"]),
        best=best,
        monitor=content["monitor"],
        copied=bool(content["copied"]),
        tables=[spent] if spent else [],
        data=Markup(escape_json(content)),
    )
    return write_file(target / "dashboard.html", page)


def dashboard_data(title: str, runs: Sequence[RunRecord], folder: Path) -> dict[str, Any]:
    """Collect the data of the page's script, in JSON types; secrets are masked.

    Links to the pages of `runs` are relative to `folder`.

    Returns:
        `version`, `title`, `synthetic`, `keys` (varying settings), `seeds` (the keys that are
        seeds), `order` (values of each key, sorted), `metrics`, `monitor`, `minimised` (metrics
        where lower is better), `copied` (by metric, its names for lead-3 and the oracle), `runs`,
        `groups` (labels), `best`.
    """
    monitor = watched_score(runs)
    metrics = headline_metrics(runs)
    if monitor:
        stored = {name for run in runs for split in run.scores.values() for name in split}
        metrics = list(dict.fromkeys([*with_copied([monitor], stored), *metrics]))

    copied = {}
    for name in metrics:
        copies = with_copied([name], metrics)[1:]
        if copies:
            copied[name] = copies

    groups = group_runs(runs)
    group_numbers = {}
    for number, group in enumerate(groups):
        for run in group.runs:
            group_numbers[run.path] = number

    keys = varying_keys(runs)
    columns = {key: values_of(runs, key) for key in keys}
    links = page_links(runs, folder)
    run_data = []
    for row, run in enumerate(runs):
        data = _run(run, metrics)
        data["settings"] = [column[row] for column in columns.values()]
        data["group"] = group_numbers[run.path]
        data["link"] = links.get(run.job)
        run_data.append(data)

    content = {
        "version": _FORMAT,
        "title": title,
        "synthetic": SYNTHETIC if any(run.synthetic for run in runs) else "",
        "keys": keys,
        "seeds": [key for key in keys if is_seed(key)],
        "order": {key: sorted({*column}, key=natural) for key, column in columns.items()},
        "metrics": metrics,
        "monitor": monitor,
        "minimised": [name for name in metrics if is_minimised(name)],
        "copied": copied,
        "runs": run_data,
        "groups": [group.label for group in groups],
        "best": _best(title, groups, runs, monitor),
    }
    return dict(redacted(content))


def curves(path: Path, metrics: Sequence[str]) -> dict[str, list[list[float | None]]]:
    """Read a run's losses and the given validation scores; empty without a readable file.

    Returns:
        `{"train/loss": [[step, value], ...]}`, at most `POINTS` points each, the last one always.
    """
    try:
        rows = RunFolder(path.parent).read_metrics()
    except ConfigError:
        return {}

    curves = {}
    for name in ("train/loss", "validation/loss", *(f"validation/{name}" for name in metrics)):
        points = []
        for row in rows:
            if name in row and "step" in row:
                points.append([int(row["step"]), _rounded(row[name])])

        if len(points) > POINTS:
            step = (len(points) - 1) / (POINTS - 1)
            points = [points[round(number * step)] for number in range(POINTS)]
        if points:
            curves[name] = points

    return curves


def repeat_command(title: str, group: System) -> str:
    """Write the command that trains a group's runs again, in a new sweep.

    Only overrides of the command line are repeated; secrets in them are masked.
    """
    seeds: dict[str, set[str]] = {}
    settings = {}
    for run in group.runs:
        for override in map(str, run.status.get("overrides", ())):
            prefixed_key, _, value = override.partition("=")
            key = prefixed_key.lstrip("+~")
            if is_seed(key):
                seeds.setdefault(prefixed_key, set()).add(value)
            elif key.split(".")[0] not in _COMMAND_GROUPS:
                settings[key] = override  # with its `+` or `~`

    command = ["heron", "train"]
    seed_overrides = []
    for key, values in seeds.items():
        seed_overrides.append(f"{key}={','.join(sorted(values, key=natural))}")

    if any("," in override for override in seed_overrides):
        command.append("-m")

    command += [*settings.values(), *seed_overrides]

    sweep = f"{title}-again"
    if "," in sweep:  # an unquoted comma would make a sweep over two values
        sweep = f"'{sweep}'"

    command.append(f"run.sweep={sweep}")
    return redact(shlex.join(command))


def _run(run: RunRecord, metrics: Sequence[str]) -> dict[str, Any]:
    """Lay out what the page shows of a run; scores are in the order of `metrics`."""
    error = str(run.status.get("error") or "").strip()
    total = run.ledger.get("total", {})

    scores = {}
    for split in SPLITS:
        split_scores = run.scores.get(split, {})
        scores[split] = [_rounded(split_scores.get(name)) for name in metrics]

    return {
        "job": run.job,
        "state": run.state,
        "error": error.splitlines()[0][:300] if error else "",
        "seconds": _rounded(run.status.get("seconds")),
        "steps": _rounded(total.get("steps")),
        "tokens": _rounded(total.get("tokens")),
        "scores": scores,
        "curves": curves(run.path / "metrics.csv", metrics),
    }


def _best(
    title: str, groups: Sequence[System], runs: Sequence[RunRecord], monitor: str
) -> dict[str, Any] | None:
    """Choose the group with the best mean on validation; in a tie, the simplest.

    Args:
        title: the sweep's name.
        groups: runs that differ in their seed only.
        runs: all runs.
        monitor: the score to compare by.
    """
    means = []
    sizes = set()
    for group in groups:
        summary = group.summary("validation", monitor)
        means.append(signed(monitor, summary.mean) if summary else None)
        if summary:
            sizes.add(summary.n)

    best = best_of(means, [group.complexity for group in groups])
    if not best:
        return None

    number, *tied = best
    group = groups[number]
    best_run = group.best_run(monitor)
    copied = []
    for split in SPLITS:
        for name, value in copied_scores(group.runs, split, monitor).items():
            copied.append([name, split, _rounded(value)])

    validation = group.summary("validation", monitor)
    test = group.summary("test", monitor)
    return {
        "group": number,
        "label": group.label,
        "tie": tie_note(group.label, [groups[tied_number].label for tied_number in tied]),
        "run": next(row for row, run in enumerate(runs) if run is best_run),
        "validation": list(map(_rounded, validation or ())),
        "test": list(map(_rounded, test)) if test else None,
        "copied": copied,
        "command": repeat_command(title, group),
        "uneven": len(sizes) > 1,
    }


def _rounded(value: Any) -> float | int | None:
    """Round a number to `_DIGITS` significant digits; None for anything else, and NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if isinstance(value, int):
        return value
    return float(f"{value:.{_DIGITS}g}")
