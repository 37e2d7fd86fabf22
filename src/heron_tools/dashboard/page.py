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
from heron.reports.sweep import page_links, spent_table
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
    folder = Path(folder)
    runs = collect(folder)
    target = Path(out) if out else folder
    chosen, title = without_first_runs(runs), folder.resolve().name
    content = dashboard_data(title, chosen, target)
    best = content["best"]
    if best is not None:
        shown = {split: show(Summary(*best[split])) for split in SPLITS if best[split]}
        best = {"test": None, **best, **shown, "job": content["runs"][best["run"]]["job"]}
        best["copied"] = [(name, split, show(value)) for name, split, value in best["copied"]]
    spent = spent_table(runs)
    page = render(
        "dashboard.html.j2",
        Path(__file__).parent / "templates",
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
    keys, metrics, monitor = varying_keys(runs), headline_metrics(runs), watched_score(runs)
    present = {name for run in runs for split in run.scores.values() for name in split}
    watched = with_copied([monitor], present) if monitor else []
    metrics = list(dict.fromkeys([*watched, *metrics]))
    links = page_links(runs, folder)
    groups = group_runs(runs)
    columns = {key: values_of(runs, key) for key in keys}
    settings = [[column[number] for column in columns.values()] for number in range(len(runs))]
    place = {run.path: number for number, group in enumerate(groups) for run in group.runs}
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
        "copied": {name: found for name in metrics if (found := with_copied([name], metrics)[1:])},
        "runs": [
            {
                **_run(run, metrics),
                "settings": own,
                "group": place[run.path],
                "link": links.get(run.job),
            }
            for run, own in zip(runs, settings, strict=True)
        ],
        "groups": [group.label for group in groups],
        "best": _best(title, groups, runs, monitor),
    }
    return dict(redacted(content))


def curves(path: Path, metrics: Sequence[str]) -> dict[str, list[list[float | None]]]:
    """Read a run's losses and the given validation scores; empty without a readable file.

    Returns:
        `{"train/loss": [[step, value], ...]}`, at most `POINTS` points each, the last one always.
    """
    wanted = ["train/loss", "validation/loss", *(f"validation/{name}" for name in metrics)]
    found: dict[str, list[list[float | None]]] = {name: [] for name in wanted}
    try:
        rows = RunFolder(path.parent).read_metrics()
    except ConfigError:
        return {}
    for row in rows:
        for name in row.keys() & found.keys() if "step" in row else ():
            found[name].append([int(row["step"]), _rounded(row[name])])
    for name, points in found.items():
        if len(points) > POINTS:
            step = (len(points) - 1) / (POINTS - 1)
            found[name] = [points[round(place * step)] for place in range(POINTS)]
    return {name: points for name, points in found.items() if points}


def repeat_command(title: str, group: System) -> str:
    """Write the command that trains a group's runs again, in a new sweep.

    Only overrides of the command line are repeated; secrets in them are masked.
    """
    seeds: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for run in group.runs:
        for word in map(str, run.status.get("overrides", ())):
            typed, _, value = word.partition("=")
            key = typed.lstrip("+~")
            if is_seed(key):
                seeds.setdefault(typed, []).append(value)
            elif key.split(".")[0] not in _COMMAND_GROUPS:
                words[key] = word  # with its `+` or `~`
    several = {key: ",".join(sorted({*each}, key=natural)) for key, each in seeds.items()}
    # An unquoted comma would make a sweep over two values.
    sweep = f"'{title}-again'" if "," in title else f"{title}-again"
    flag = ["-m"] if any("," in value for value in several.values()) else []
    drawn = [f"{key}={value}" for key, value in several.items()]
    parts = ["heron", "train", *flag, *words.values(), *drawn, f"run.sweep={sweep}"]
    return redact(shlex.join(parts))


def _run(run: RunRecord, metrics: Sequence[str]) -> dict[str, Any]:
    error = str(run.status.get("error") or "").strip()
    total = run.ledger.get("total", {})
    return {
        "job": run.job,
        "state": run.state,
        "error": error.splitlines()[0][:300] if error else "",
        "seconds": _rounded(run.status.get("seconds")),
        "steps": _rounded(total.get("steps")),
        "tokens": _rounded(total.get("tokens")),
        "scores": {
            split: [_rounded(run.scores.get(split, {}).get(name)) for name in metrics]
            for split in SPLITS
        },
        "curves": curves(run.path / "metrics.csv", metrics),
    }


def _best(
    title: str, groups: Sequence[System], runs: Sequence[RunRecord], monitor: str
) -> dict[str, Any] | None:
    """Choose by the mean of the monitored score on validation; in a tie, the simplest group."""
    summaries = [group.summary("validation", monitor) for group in groups]
    means = [None if each is None else signed(monitor, each.mean) for each in summaries]
    best = best_of(means, [group.complexity for group in groups])
    if not best:
        return None
    number, *tied = best
    group, summary = groups[number], summaries[number]
    test, single = group.summary("test", monitor), group.best_run(monitor)
    return {
        "group": number,
        "label": group.label,
        "tie": tie_note(group.label, [groups[place].label for place in tied]),
        "run": next(place for place, run in enumerate(runs) if run is single),
        "validation": list(map(_rounded, summary or ())),
        "test": list(map(_rounded, test)) if test else None,
        "copied": [
            [name, split, _rounded(value)]
            for split in SPLITS
            for name, value in copied_scores(group.runs, split, monitor).items()
        ],
        "command": repeat_command(title, group),
        "uneven": len({each.n for each in summaries if each}) > 1,
    }


def _rounded(value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(f"{value:.{_DIGITS}g}")
