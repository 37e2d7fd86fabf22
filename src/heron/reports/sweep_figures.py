"""Figures of a sweep as PNG bytes; `heron.reports.figures` has colours and style."""

from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from heron.base.cells import with_synthetic
from heron.metrics.names import is_copied, with_copied
from heron.reports.figures import BLUE, FAINT, QUIET, STYLE, png, say_missing
from heron.results.collect import RunRecord, headline_metrics
from heron.results.systems import System, group_runs


def sweep_figure(runs: Sequence[RunRecord], split: str = "test") -> bytes:
    """Draw mean ± sample sd and the runs of each group, a panel for each of four scores.

    Returns PNG bytes.
    """
    groups = group_runs(runs)
    present = headline_metrics(runs)
    metrics = [metric for metric in present if not is_copied(metric)][:4]
    with matplotlib.rc_context(STYLE):
        height = 1.3 + 0.42 * len(groups)
        figure = Figure(figsize=(2.2 + 2.9 * max(len(metrics), 1), height), layout="constrained")
        panels = figure.subplots(1, max(len(metrics), 1), sharey=True, squeeze=False)[0]
        if not metrics:
            say_missing(panels[0], f"{split}: scores", "no run has scores yet")
        for axes, metric in zip(panels, metrics, strict=False):
            _draw_groups(axes, groups, split, metric)
            _draw_copied(axes, groups, split, with_copied([metric], present)[1:])
        title = with_synthetic(
            f"{split}: mean ± sd over seeds (diamonds), each run below it (dots)",
            any(run.synthetic for run in runs),
        )
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _draw_groups(axes: Axes, groups: Sequence[System], split: str, metric: str) -> None:
    for row, group in enumerate(groups):
        values, summary = group.values(split, metric), group.summary(split, metric)
        if summary is None:
            continue
        below = [row + 0.24] * len(values)
        axes.plot(values, below, "o", color=BLUE, alpha=0.45, markersize=4, mew=0)
        axes.errorbar(
            summary.mean, row, xerr=summary.sd or 0, fmt="D", color=BLUE, markersize=5, capsize=3
        )
    axes.xaxis.set_major_locator(MaxNLocator(4))  # the labels of more ticks would overlap
    axes.set_yticks(range(len(groups)), [group.label for group in groups])
    axes.set(title=metric, ylim=(len(groups) - 0.5, -0.5))
    axes.grid(axis="x", color=FAINT, linewidth=0.8)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)


def _draw_copied(axes: Axes, groups: Sequence[System], split: str, names: Sequence[str]) -> None:
    """Draw a line in each group's row at the score of each baseline that copies sentences."""
    for name, style in zip(names, ("--", ":"), strict=False):
        label: str | None = name
        for row, group in enumerate(groups):
            if summary := group.summary(split, name):
                place = [row - 0.5, row + 0.5]
                axes.plot([summary.mean] * 2, place, style, color=QUIET, linewidth=1.2, label=label)
                label = None  # one line in the legend for all rows
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.35 / len(groups)), fontsize=7)
