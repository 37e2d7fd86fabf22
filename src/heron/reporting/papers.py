"""Set a sweep beside a paper's printed numbers, which live in `experiments/<paper>/published.yaml`.

A run asks for a view with its configuration key `report`, such as `trc/table4`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.errors import ConfigError, nearest
from heron.reporting.cells import Cell, Formatted, Summary, Table
from heron.reporting.collect import RunRecord, read_yaml
from heron.reporting.tables import Group, group_runs

# Settings that a paper's table spells out in its rows and columns.
_PLACED = ("encoder", "encoder.name", "head", "head.name", "report", "experiment")


@dataclass(frozen=True, slots=True)
class FractionCurve:
    """One metric over growing shares of the training data.

    Args:
        label: metric and settings, for the legend.
        points: (share of the training data, fraction; mean ± sd over seeds), ascending.
    """

    label: str
    points: tuple[tuple[float, Summary], ...]


@dataclass(frozen=True, slots=True)
class PaperView:
    """A paper's tables with ours beside, by file name; curves where it is a figure."""

    tables: Mapping[str, Table]
    curves: tuple[FractionCurve, ...] = ()
    title: str = ""
    note: str = ""


def find_published(report: str, roots: Sequence[Path] | None = None) -> Path | None:
    """Find the published numbers that a `report` value such as `trc/table4` needs.

    Args:
        report: `<paper>/<view>`.
        roots: folders that may hold `experiments/`; default: the working directory, then the
            repository this package is installed from.

    Returns:
        The path of `experiments/<paper>/published.yaml`, or None if no root has it.
    """
    if roots is None:
        roots = (Path.cwd(), Path(__file__).resolve().parents[3])
    paper = report.partition("/")[0]
    paths = (root / "experiments" / paper / "published.yaml" for root in roots)
    return next((path for path in paths if path.is_file()), None)


def paper_view(report: str, runs: Sequence[RunRecord], path: Path) -> PaperView:
    """Build the view that `report` names.

    Runs on other data than the paper's (generated text above all) are left out and named.

    Args:
        report: `<paper>/<view>`.
        runs: the runs of a sweep, finished or not; only finished ones count.
        path: the paper's published numbers.

    Raises:
        ConfigError: the file is not readable, or has no such view.
    """
    published = read_yaml(path)
    views = published.get("views", {}) if isinstance(published, dict) else {}
    view = report.partition("/")[2]
    if view not in views:
        raise ConfigError(
            f"report={report}: {path.name} has no view '{view}'.{nearest(view, views)}"
        )
    data = published["data"]
    ours = [run for run in runs if run.setting("data.name") == data and not run.synthetic]
    note = _left_out(len(runs) - len(ours))
    groups = group_runs(ours)
    figures = published.get("figures", {})
    if view in figures:
        return _figure_view(view, figures[view], groups, note)
    tables = {
        name: _score_table(published["tables"][name], published["encoders"], groups, note)
        for name in views[view]
    }
    return PaperView(tables)


def _left_out(count: int) -> str:
    return f"{count} run{'s' * (count > 1)} on other data left out." if count else ""


def _score_table(
    table: Mapping[str, Any],
    encoders: Mapping[str, str],
    groups: Sequence[Group],
    note: str,
) -> Table:
    """Put each published score beside ours; an encoder or head the paper lacks gets its own row."""
    metrics = table["metrics"]
    rows: list[tuple[Cell, ...]] = []
    placed = [(_encoder(group, encoders), _setting(group, "head.name"), group) for group in groups]
    printed = [(encoder, head) for encoder, heads in table["rows"].items() for head in heads]
    for encoder, head in dict.fromkeys(printed + [(name, head) for name, head, _ in placed]):
        scores = table["rows"].get(encoder, {}).get(head, {})
        matches = [group for name, its_head, group in placed if (name, its_head) == (encoder, head)]
        candidates: list[Group | None] = [*matches] or [None]
        for group in candidates:
            others = _other_settings(group) if group else ""
            pairs = (_pair(scores.get(part), group, metrics[part]) for part in metrics)
            rows.append((f"{encoder} {others}".strip(), head, *(cell for p in pairs for cell in p)))
    columns = [column for part in metrics for column in (f"{part} F1, paper", "heron", "Δ")]
    caption = f"heron: mean ± sample sd (number of runs); Δ: heron - paper. {note}".strip()
    return Table(table["title"], ("encoder", "head", *columns), tuple(rows), caption)


def _pair(published: float | None, group: Group | None, metric: str) -> tuple[Cell, Cell, Cell]:
    """Published, ours and the difference; the paper's two decimals are kept as printed."""
    ours = group.summary("test", metric) if group else None
    if published is None:
        return None, ours, None
    change = Formatted(ours.mean - published, "+.3f") if ours else None
    return Formatted(published, ".2f"), ours, change


def _encoder(group: Group, encoders: Mapping[str, str]) -> str:
    """The paper's name of a group's encoder, or the last part of an id or path of our own."""
    name = _setting(group, "encoder.name")
    return encoders.get(name) or name.rstrip("/").rpartition("/")[2]


def _setting(group: Group, key: str) -> str:
    return str(group.runs[0].setting(key, "–"))


def _other_settings(group: Group, but: Sequence[str] = ()) -> str:
    others = {key: value for key, value in group.settings.items() if key not in (*_PLACED, *but)}
    return ", ".join(f"{key}={value}" for key, value in others.items())


def _figure_view(
    name: str, figure: Mapping[str, Any], groups: Sequence[Group], note: str
) -> PaperView:
    """Draw each metric over the share of training data, one curve for every other setting."""
    share = figure["share"]
    points: dict[tuple[str, str], dict[float, Summary]] = {}
    for group in groups:
        fraction = float(group.runs[0].setting(share, 1.0))
        for metric in figure["metrics"]:
            summary = group.summary("test", metric)
            if summary:
                label = _other_settings(group, but=(share,))
                points.setdefault((metric, label), {})[fraction] = summary
    curves = tuple(
        FractionCurve(f"{metric} {label}".strip(), tuple(sorted(by_share.items())))
        for (metric, label), by_share in points.items()
    )
    note = f"{figure['note']} {note}".strip()
    table = _share_table(figure, curves, note)
    return PaperView({name: table}, curves, figure["title"], note)


def _share_table(figure: Mapping[str, Any], curves: Sequence[FractionCurve], note: str) -> Table:
    published_sd = {float(key): value for key, value in figure["published_sd"].items()}
    ours = [dict(curve.points) for curve in curves]
    shares = sorted({*published_sd, *(share for curve in ours for share in curve)})
    rows: list[tuple[Cell, ...]] = []
    for share in shares:
        sd = Formatted(published_sd[share], ".2f") if share in published_sd else None
        rows.append((f"{share:.0%}", sd, *(curve.get(share) for curve in ours)))
    columns = ("share of train", "paper's sd", *(curve.label for curve in curves))
    return Table(figure["title"], columns, tuple(rows), note)
