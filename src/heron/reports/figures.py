"""The figures of a run and of a sweep as PNG bytes; drawn without pyplot or a display.

heron's own labels are English: matplotlib draws Hebrew letters, but from left to right.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from heron.base.cells import with_synthetic
from heron.metrics.calibration import ReliabilityBins
from heron.metrics.names import is_copied, signed, with_copied
from heron.reports.artefacts import Artefacts, Curve
from heron.results.collect import RunRecord, headline_metrics
from heron.results.frame import Frame

if TYPE_CHECKING:
    from heron.results.systems import System

# Okabe and Ito's palette: distinguishable with any kind of colour vision, and in grey.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, QUIET, FAINT = "#1f2937", "#6b7280", "#e5e7eb"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE)

STYLE: Any = {
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": "#9ca3af",
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "legend.frameon": False,
    "figure.facecolor": "white",
}
_DPI = 150
_LOSSES = (("train/loss", "train", QUIET, "--"), ("validation/loss", "validation", BLUE, "-"))
_MAP_POINTS = 20_000  # more points than this only hide each other


def png(figure: Figure) -> bytes:
    """Save a figure; the same figure gives the same bytes."""
    image = io.BytesIO()
    figure.set_dpi(_DPI)
    # `Figure.savefig` would draw twice, and a version in the metadata would change the bytes.
    FigureCanvasAgg(figure).print_png(image, metadata={"Software": None})
    return image.getvalue()


def run_figure(run: RunRecord, artefacts: Artefacts) -> bytes:
    """Draw a run's confusion matrix (or scores of texts by length), curves and data map.

    Where probabilities were stored, a second row shows reliability and class balance. A panel of
    the first row whose data is missing says so. Returns PNG bytes.
    """
    second = artefacts.reliability is not None
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(13, 8.2 if second else 4.4), layout="constrained")
        sheet: Any = figure.subfigures(2, 1, height_ratios=(4.4, 3.8)) if second else [figure]
        panels: Any = sheet[0].subfigures(1, 3, width_ratios=(1.0, 1.05, 1.15))
        left, middle, right = panels
        if artefacts.texts and artefacts.row_scores is not None:
            from heron.reports.text_panels import draw_texts  # start-up time

            draw_texts(left, run, artefacts, (BLUE, GREEN, QUIET))
        elif artefacts.texts:
            say_missing(left.subplots(), f"Scores, {artefacts.split}", "no predictions to score")
        else:
            _draw_confusion(left.subplots(), artefacts)
        losses, scores = middle.subplots(2, 1, sharex=True)
        _draw_losses(losses, artefacts.curves)
        _draw_scores(scores, artefacts.curves, run.setting("trainer.monitor", "macro_f1"))
        _draw_data_map(right.subplots(), artefacts.data_map)
        if artefacts.reliability is not None:
            left, right = sheet[1].subfigures(1, 2, width_ratios=(1.0, 1.0))
            upper, lower = left.subplots(2, 1, sharex=True, height_ratios=(3, 1))
            _draw_reliability(upper, lower, artefacts.reliability, artefacts.split)
            _draw_balance(right.subplots(), artefacts)
        title = with_synthetic(run.job, run.synthetic)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def say_missing(axes: Axes, title: str, what: str) -> None:
    """Write into an empty panel what is missing."""
    axes.set_title(title)
    axes.set_axis_off()
    axes.text(0.5, 0.5, what, ha="center", va="center", color=QUIET, transform=axes.transAxes)


def _draw_confusion(axes: Axes, artefacts: Artefacts) -> None:
    """Shade each row by its share of the gold class, so that rare classes are seen too."""
    title, classes = f"Confusion, {artefacts.split}", artefacts.classes
    if not artefacts.predictions or not classes:
        return say_missing(axes, title, "no predictions of classes")
    counts_CC, columns = artefacts.confusion
    share_CC = counts_CC / np.maximum(counts_CC.sum(axis=1, keepdims=True), 1)
    axes.imshow(share_CC, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right")
    axes.set_yticks(range(len(classes)), classes)
    axes.set(title=title, xlabel="predicted", ylabel="gold")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (row, column), share in np.ndenumerate(share_CC):
        colour = "white" if share > 0.55 else INK
        text = f"{counts_CC[row, column]:,}\n{share:.0%}"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
    return None


def _draw_losses(axes: Axes, curves: dict[str, Curve]) -> None:
    if not any(name in curves for name, *_ in _LOSSES):
        return say_missing(axes, "Loss", "no losses logged")
    for name, label, colour, style in _LOSSES:
        if name in curves:
            _draw_curve(axes, curves[name], label, colour, style)
    axes.set_title("Loss")
    axes.legend(loc="best")
    return None


def _draw_scores(axes: Axes, curves: dict[str, Curve], monitor: str) -> None:
    """Draw the monitored validation score and mark its best epoch."""
    metric = monitor.removeprefix("validation/")
    curve = curves.get(f"validation/{metric}")
    if curve is None:
        return say_missing(axes, f"Validation {metric}", "not logged")
    _draw_curve(axes, curve, metric, ORANGE, "-")
    copied = with_copied([metric], (name.removeprefix("validation/") for name in curves))[1:]
    for name, style in zip(copied, ("--", ":"), strict=False):
        level = curves[f"validation/{name}"].values[-1]
        axes.axhline(level, color=QUIET, linestyle=style, linewidth=0.9)
        end = axes.get_yaxis_transform()
        text: Any = {"ha": "right", "color": QUIET, "fontsize": 7}
        axes.annotate(f"{name} {level:.3f}", (1, level), (-2, 2), end, "offset points", **text)
    best = int(np.argmax([signed(metric, value) for value in curve.values]))
    place = (curve.epochs[best] + 1, curve.values[best])
    axes.annotate(f"{place[1]:.3f}", place, (0, 6), textcoords="offset points", ha="center")
    axes.set(title=f"Validation {metric}", xlabel="epoch")
    axes.margins(y=0.25)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return None


def _draw_curve(axes: Axes, curve: Curve, label: str, colour: str, style: str) -> None:
    epochs = [epoch + 1 for epoch in curve.epochs]
    axes.plot(epochs, curve.values, style, color=colour, label=label, marker="o", markersize=3.5)
    axes.set_xlim(epochs[0] - 0.5, epochs[-1] + 0.5)
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)


def _draw_data_map(axes: Axes, data_map: Frame | None) -> None:
    """Draw confidence against variability, coloured by correctness.

    Source: Swayamdipta et al. 2020, Dataset Cartography, Figure 1.
    """
    if data_map is None:
        return say_missing(axes, "Data map", "no training dynamics recorded")
    # Positions at equal distances: deterministic, no seed needed.
    last, most = len(data_map) - 1, min(len(data_map), _MAP_POINTS)
    chosen = np.unique(np.linspace(0, last, most).astype(np.int64))
    style: Any = {"cmap": "cividis", "vmin": 0, "vmax": 1, "s": 9, "alpha": 0.7, "linewidths": 0}
    names = "variability", "confidence", "correctness"
    x, y, colour = (np.asarray(data_map[name])[chosen] for name in names)
    points = axes.scatter(x, y, c=colour, **style)
    axes.figure.colorbar(points, ax=axes, label="correctness (fraction of epochs)", pad=0.02)
    axes.set(xlim=(-0.01, 0.51), ylim=(-0.02, 1.02), xlabel="variability", ylabel="confidence")
    records = int(max(data_map["visits"], default=0))
    epochs = f"{records} epoch{'s' * (records != 1)}"
    axes.set_title(f"Data map, {len(data_map):,} examples, {epochs}")
    for height, name in ((0.96, "← easy to learn"), (0.03, "← hard to learn")):
        axes.text(0.5, height, name, ha="right", color=QUIET, style="italic")
    return None


def _draw_reliability(axes: Axes, lower: Axes, bins: ReliabilityBins, split: str) -> None:
    """Draw each bin's accuracy, and the gap to its confidence.

    Source: Guo et al. 2017, On Calibration of Modern Neural Networks, Figure 1.
    """
    used = bins.count > 0
    left, width = bins.edges[:-1][used], np.diff(bins.edges)[used]
    accuracy, confidence, gap = bins.accuracy[used], bins.confidence[used], bins.gap[used]
    axes.bar(left, accuracy, width, align="edge", color=BLUE, alpha=0.75, label="accuracy", lw=0)
    hatched: Any = {"facecolor": "none", "edgecolor": ORANGE, "hatch": "///", "linewidth": 0.6}
    axes.bar(left, -gap, width, accuracy, align="edge", label="gap to confidence", **hatched)
    axes.plot(confidence, confidence, "o", color=INK, markersize=3, label="confidence")
    axes.plot([0, 1], [0, 1], "--", color=QUIET, linewidth=0.8)
    ece = float(np.abs(bins.gap) @ bins.count / max(bins.count.sum(), 1))
    axes.set(xlim=(0, 1), ylim=(0, 1), ylabel="accuracy")
    axes.set_title(f"Reliability, {split}: expected calibration error {ece:.3f}")
    axes.legend(loc="upper left")
    widths = np.diff(bins.edges)
    lower.bar(bins.edges[:-1], bins.count, widths, align="edge", color=QUIET, lw=0)
    lower.set(xlabel="confidence: probability of the predicted class", ylabel="rows")
    lower.yaxis.set_major_locator(MaxNLocator(3, integer=True))


def _draw_balance(axes: Axes, artefacts: Artefacts) -> None:
    """Draw how often each class is the gold one, and how often it is predicted."""
    counts_CC, _ = artefacts.confusion
    total = max(counts_CC.sum(), 1)
    places = np.arange(len(artefacts.classes))
    gold = (-0.2, counts_CC.sum(axis=1), "gold", QUIET)
    predicted = (0.2, counts_CC.sum(axis=0)[: len(places)], "predicted", BLUE)
    for offset, counts_C, label, colour in (gold, predicted):
        bars = axes.bar(places + offset, counts_C / total, 0.38, color=colour, label=label)
        axes.bar_label(bars, [f"{count:,}" for count in counts_C], fontsize=8, padding=2)
    axes.set_xticks(places, artefacts.classes)
    axes.set(title=f"Class balance, {artefacts.split}", ylabel="share of rows")
    axes.margins(y=0.25)  # room for the legend above the bars
    axes.legend(loc="upper right", ncols=2)


def sweep_figure(runs: Sequence[RunRecord], split: str = "test") -> bytes:
    """Draw each group's mean ± sample sd and its runs, one panel for each of up to four scores.

    Returns PNG bytes.
    """
    from heron.results.systems import group_runs  # not for a run's figure

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
    """Draw a line in each group's row at the score of each extractive baseline."""
    for name, style in zip(names, ("--", ":"), strict=False):
        label: str | None = name
        for row, group in enumerate(groups):
            if summary := group.summary(split, name):
                place = [row - 0.5, row + 0.5]
                axes.plot([summary.mean] * 2, place, style, color=QUIET, linewidth=1.2, label=label)
                label = None  # one line in the legend for all rows
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.35 / len(groups)), fontsize=7)
