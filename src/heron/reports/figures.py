"""The figures of a run and of a sweep, drawn without pyplot or a display.

A file is one PNG image. A page has a small SVG image for each panel, so that they fit on a phone;
the browser chooses fonts for the texts in them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from heron.base.cells import with_synthetic
from heron.metrics.names import is_copied, signed, with_copied
from heron.reports.artefacts import Artefacts, Curve
from heron.reports.fonts import with_fonts
from heron.reports.styles import BLUE, CENTRED, COUNT, FAINT, GREEN, INK, ORANGE, QUIET, STYLE
from heron.results.collect import RunRecord, headline_metrics

if TYPE_CHECKING:
    from heron.results.systems import System

_LINE_STYLES = ("--", ":")  # of extractive baselines, of which there are two
_SLANTED: Any = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
_LETTERS = 40  # of all class names, in a line below a panel
_DPI = 150
_LOSSES = (("train/loss", "train", QUIET, "--"), ("validation/loss", "validation", BLUE, "-"))
_MAP_POINTS = 20_000  # more points than this only hide each other
_PANEL = (4.3, 4.1)  # inches of a panel on a page
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "heron"}


class Panel(NamedTuple):
    """A panel on a page."""

    title: str
    image: bytes  # PNG or SVG


def png(figure: Figure) -> bytes:
    """Save a figure; the same figure gives the same bytes."""
    image = io.BytesIO()
    figure.set_dpi(_DPI)
    # `Figure.savefig` would draw twice, and a version in the metadata would change the bytes.
    with with_fonts(figure):
        FigureCanvasAgg(figure).print_png(image, metadata={"Software": None})
    return image.getvalue()


def svg(figure: Figure) -> Panel:
    """Save a figure whose texts stay texts; the same figure gives the same bytes."""
    image = io.BytesIO()
    figure.set_dpi(_DPI)  # of points
    with matplotlib.rc_context(_SVG), with_fonts(figure):
        FigureCanvasSVG(figure).print_svg(image, metadata={"Date": None, "Creator": None})

    titles = [axes.get_title(loc="left") for axes in figure.axes]
    return Panel(", ".join(filter(None, titles)), image.getvalue())


def run_figure(run: RunRecord, artefacts: Artefacts) -> bytes:
    """Draw a run's confusion matrix (or scores of texts by length), curves and data map.

    Where probabilities were stored, a second row shows reliability and class balance. A panel of
    the first row whose data is missing says so.

    Args:
        run: its name and the score that it monitors.
        artefacts: what is drawn.

    Returns:
        PNG bytes.
    """
    has_second_row = artefacts.reliability is not None
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(13, 8.2 if has_second_row else 4.4), layout="constrained")
        upper: Any = figure
        if has_second_row:
            rows: Any = figure.subfigures(2, 1, height_ratios=(4.4, 3.8))
            upper, lower = rows
            for draw, part in zip(_SECOND_ROW, lower.subfigures(1, 2), strict=True):
                draw(part, run, artefacts)

        parts = upper.subfigures(1, 3, width_ratios=(1.0, 1.05, 1.15))
        for draw, part in zip(_FIRST_ROW, parts, strict=True):
            draw(part, run, artefacts)

        add_title(figure, with_synthetic(run.job, run.synthetic))
        return png(figure)


def run_panels(run: RunRecord, artefacts: Artefacts) -> list[Panel]:
    """Draw the panels of `run_figure` for a page, each as an image of its own."""
    second_row = () if artefacts.reliability is None else _SECOND_ROW
    panels = []
    for draw in (*_FIRST_ROW, *second_row):
        with matplotlib.rc_context(STYLE):
            figure = Figure(figsize=_PANEL, layout="constrained")
            draw(figure, run, artefacts)
            panels.append(svg(figure))
    return panels


def _draw_predictions(part: Any, run: RunRecord, artefacts: Artefacts) -> None:
    """Draw the confusion matrix, or the scores of texts, into a figure or a part of one."""
    if artefacts.texts and artefacts.row_scores is not None:
        from heron.reports.text_panels import draw_texts  # start-up time

        draw_texts(part, run, artefacts, (BLUE, GREEN, QUIET))
    elif artefacts.texts:
        say_missing(part.subplots(), f"Scores, {artefacts.split}", "no predictions to score")
    else:
        _draw_confusion(part.subplots(), artefacts)


def _draw_curves(part: Any, run: RunRecord, artefacts: Artefacts) -> None:
    """Draw losses, and below them the monitored score."""
    losses, scores = part.subplots(2, 1, sharex=True)
    _draw_losses(losses, artefacts.curves)
    _draw_scores(scores, artefacts.curves, run.setting("trainer.monitor", "macro_f1"))


def say_missing(axes: Axes, title: str, reason: str) -> None:
    """Write into an empty panel what is missing."""
    axes.set_title(title)
    axes.set_axis_off()
    axes.text(0.5, 0.5, reason, color=QUIET, transform=axes.transAxes, **CENTRED)


def draw_grid(axes: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Draw faint lines at the ticks of an axis, behind all else."""
    axes.grid(axis=axis, color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)


def add_title(figure: Figure, title: str) -> None:
    """Write a title above all panels, at the left."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)


def _draw_confusion(axes: Axes, artefacts: Artefacts) -> None:
    """Shade each row by its share of the gold class, so that rare classes are seen too."""
    title = f"Confusion, {artefacts.split}"
    classes = artefacts.classes
    if not artefacts.predictions or not classes:
        say_missing(axes, title, "no predictions of classes")
        return

    counts_CC, columns = artefacts.confusion
    totals_C1 = counts_CC.sum(axis=1, keepdims=True)
    share_CC = counts_CC / np.maximum(totals_C1, 1)
    axes.imshow(share_CC, cmap="Blues", vmin=0, vmax=1)

    for (row, column), share in np.ndenumerate(share_CC):
        count = counts_CC[row, column]
        colour = INK
        if share > 0.55:  # a dark cell
            colour = "white"

        text = f"{count:,}\n{share:.0%}"
        axes.text(column, row, text, color=colour, fontsize=8, **CENTRED)

    axes.set_xticks(range(len(columns)), columns, **_SLANTED)
    axes.set_yticks(range(len(classes)), classes)
    axes.set(title=title, xlabel="predicted", ylabel="gold")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_losses(axes: Axes, curves: dict[str, Curve]) -> None:
    """Draw the losses of train and validation, or say that there are none."""
    if not any(name in curves for name, *_ in _LOSSES):
        say_missing(axes, "Loss", "no losses logged")
        return

    for name, label, colour, style in _LOSSES:
        if name in curves:
            _draw_curve(axes, curves[name], label, colour, style)

    axes.set_title("Loss")
    axes.legend(loc="best")


def _draw_scores(axes: Axes, curves: dict[str, Curve], monitor: str) -> None:
    """Draw the monitored validation score and mark its best epoch.

    Args:
        axes: of the panel.
        curves: what was logged, by name.
        monitor: the score, with or without `validation/`.
    """
    metric = monitor.removeprefix("validation/")
    title = f"Validation {metric}"
    curve = curves.get(f"validation/{metric}")
    if curve is None:
        say_missing(axes, title, "not logged")
        return

    _draw_curve(axes, curve, metric, ORANGE, "-")
    logged = [name.removeprefix("validation/") for name in curves]
    _, *copied = with_copied([metric], logged)
    for name, style in zip(copied, _LINE_STYLES, strict=False):
        _draw_level(axes, name, curves[f"validation/{name}"], style)

    ranks = [signed(metric, value) for value in curve.values]
    best = int(np.argmax(ranks))
    score = curve.values[best]
    point = (curve.epochs[best] + 1, score)
    axes.annotate(f"{score:.3f}", point, (0, 6), textcoords="offset points", ha="center")
    axes.set(title=title, xlabel="epoch")
    axes.margins(y=0.25)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_level(axes: Axes, name: str, curve: Curve, style: str) -> None:
    """Draw the score of an extractive baseline, which no training changes, as a line."""
    level = curve.values[-1]
    text = f"{name} {level:.3f}"
    right_end = axes.get_yaxis_transform()
    axes.axhline(level, color=QUIET, linestyle=style, linewidth=0.9)
    axes.annotate(
        text,
        (1, level),
        xytext=(-2, 2),
        xycoords=right_end,
        textcoords="offset points",
        ha="right",
        color=QUIET,
        fontsize=7,
    )


def _draw_curve(axes: Axes, curve: Curve, label: str, colour: str, style: str) -> None:
    """Draw a logged quantity over the epochs, counted from 1."""
    epochs = [epoch + 1 for epoch in curve.epochs]
    axes.plot(
        epochs,
        curve.values,
        style,
        color=colour,
        label=label,
        marker="o",
        markersize=3.5,
    )
    axes.set_xlim(epochs[0] - 0.5, epochs[-1] + 0.5)
    draw_grid(axes, "y")


def _draw_data_map(part: Any, run: RunRecord, artefacts: Artefacts) -> None:
    """Draw confidence against variability, coloured by correctness.

    Source: Swayamdipta et al. 2020, Dataset Cartography, Figure 1.
    """
    axes = part.subplots()
    data_map = artefacts.data_map
    if data_map is None:
        say_missing(axes, "Data map", "no training dynamics recorded")
        return

    # Positions at equal distances: deterministic, no seed needed.
    count = len(data_map)
    positions = np.linspace(0, count - 1, min(count, _MAP_POINTS))
    drawn = data_map.take(np.unique(positions.astype(np.int64)).tolist())
    points = axes.scatter(
        drawn["variability"],
        drawn["confidence"],
        c=drawn["correctness"],
        cmap="cividis",
        vmin=0,
        vmax=1,
        s=9,
        alpha=0.7,
        linewidths=0,
        rasterized=True,
    )
    axes.figure.colorbar(points, ax=axes, label="correctness (fraction of epochs)", pad=0.02)
    axes.set(xlim=(-0.01, 0.51), ylim=(-0.02, 1.02))
    axes.set(xlabel="variability", ylabel="confidence")

    records = int(max(data_map["visits"], default=0))
    epochs = "1 epoch" if records == 1 else f"{records} epochs"
    axes.set_title(f"Data map, {count:,} examples, {epochs}")
    for height, name in ((0.96, "← easy to learn"), (0.03, "← hard to learn")):
        axes.text(0.5, height, name, ha="right", color=QUIET, style="italic")


def _draw_reliability(part: Any, run: RunRecord, artefacts: Artefacts) -> None:
    """Draw each bin's accuracy and the gap to its confidence, and below it the number of rows.

    Source: Guo et al. 2017, On Calibration of Modern Neural Networks, Figure 1.
    """
    bins = artefacts.reliability
    assert bins is not None
    upper, lower = part.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    lefts = bins.edges[:-1]
    widths = np.diff(bins.edges)
    lower.bar(lefts, bins.count, widths, align="edge", color=QUIET, lw=0)
    lower.set(xlabel="confidence: probability of the predicted class", ylabel="rows")
    lower.yaxis.set_major_locator(MaxNLocator(3, integer=True))

    used = bins.count > 0
    left = lefts[used]
    width = widths[used]
    accuracy = bins.accuracy[used]
    confidence = bins.confidence[used]
    upper.bar(
        left,
        accuracy,
        width,
        align="edge",
        color=BLUE,
        alpha=0.75,
        linewidth=0,
        label="accuracy",
    )
    upper.bar(
        left,
        -bins.gap[used],
        width,
        accuracy,
        align="edge",
        facecolor="none",
        edgecolor=ORANGE,
        hatch="///",
        linewidth=0.6,
        label="gap to confidence",
    )
    upper.plot(confidence, confidence, "o", color=INK, markersize=3, label="confidence")
    upper.plot([0, 1], [0, 1], "--", color=QUIET, linewidth=0.8)

    rows = max(bins.count.sum(), 1)
    ece = float(np.abs(bins.gap) @ bins.count / rows)
    upper.set(xlim=(0, 1), ylim=(0, 1), ylabel="accuracy")
    upper.set_title(f"Reliability, {artefacts.split}: calibration error {ece:.3f}")
    upper.legend(loc="upper left")


def _draw_balance(part: Any, run: RunRecord, artefacts: Artefacts) -> None:
    """Draw how often each class is the gold one, and how often it is predicted."""
    axes = part.subplots()
    counts_CC, _ = artefacts.confusion
    total = max(counts_CC.sum(), 1)
    classes = artefacts.classes
    positions = np.arange(len(classes))
    gold_C = counts_CC.sum(axis=1)
    predicted_C = counts_CC.sum(axis=0)[: len(classes)]
    sides = (
        (-0.2, gold_C, "gold", QUIET),
        (0.2, predicted_C, "predicted", BLUE),
    )

    for offset, counts_C, label, colour in sides:
        centres = positions + offset
        shares = counts_C / total
        bars = axes.bar(centres, shares, 0.38, color=colour, label=label)

        texts = [f"{count:,}" for count in counts_C]
        axes.bar_label(bars, texts, **COUNT)

    is_long = sum(map(len, classes)) > _LETTERS
    axes.set_xticks(positions, classes, **(_SLANTED if is_long else {}))
    axes.set(title=f"Class balance, {artefacts.split}", ylabel="share of rows")
    axes.margins(y=0.25)  # room for the legend above the bars
    axes.legend(loc="upper right", ncols=2)


_FIRST_ROW = (_draw_predictions, _draw_curves, _draw_data_map)
_SECOND_ROW = (_draw_reliability, _draw_balance)


def sweep_figure(runs: Sequence[RunRecord]) -> bytes:
    """Draw each group's mean ± sample sd and its runs, a panel for each of up to four test scores.

    Returns:
        PNG bytes.
    """
    from heron.results.systems import group_runs  # not for a run's figure

    groups = group_runs(runs)
    present = headline_metrics(runs)
    metrics = [metric for metric in present if not is_copied(metric)][:4]
    columns = max(len(metrics), 1)
    is_synthetic = any(run.synthetic for run in runs)

    with matplotlib.rc_context(STYLE):
        width = 2.2 + 2.9 * columns
        height = 1.3 + 0.42 * len(groups)
        figure = Figure(figsize=(width, height), layout="constrained")
        panels = figure.subplots(1, columns, sharey=True, squeeze=False)[0]
        if not metrics:
            say_missing(panels[0], "test: scores", "no run has scores yet")
        for axes, metric in zip(panels, metrics, strict=False):
            _, *copied = with_copied([metric], present)
            _draw_groups(axes, groups, metric)
            _draw_copied(axes, groups, copied)

        title = "test: mean ± sd over seeds (diamonds), each run below it (dots)"
        add_title(figure, with_synthetic(title, is_synthetic))
        return png(figure)


def sweep_panels(runs: Sequence[RunRecord]) -> list[Panel]:
    """Draw the panels of `sweep_figure` for a page, each as an image of its own."""
    from heron.results.systems import group_runs  # not for a run's figure

    groups = group_runs(runs)
    present = headline_metrics(runs)
    longest = max((len(group.label) for group in groups), default=0)
    size = (max(_PANEL[0], 2.6 + 0.075 * longest), 1.3 + 0.42 * len(groups))
    panels = []
    for metric in [name for name in present if not is_copied(name)][:4]:
        _, *copied = with_copied([metric], present)
        with matplotlib.rc_context(STYLE):
            figure = Figure(figsize=size, layout="constrained")
            axes = figure.subplots()
            _draw_groups(axes, groups, metric)
            _draw_copied(axes, groups, copied)
            axes.set_title(f"test {metric}")
            axes.set_xlabel("mean ± sd of seeds; dots: runs")
            panels.append(svg(figure))
    return panels


def _draw_groups(axes: Axes, groups: Sequence[System], metric: str) -> None:
    """Draw a row for each group: its mean ± sd, and below it the score of each run."""
    for row, group in enumerate(groups):
        summary = group.summary("test", metric)
        if summary is None:
            continue

        scores = group.values("test", metric)
        heights = np.full(len(scores), row + 0.24)
        axes.plot(
            scores,
            heights,
            "o",
            color=BLUE,
            alpha=0.45,
            markersize=4,
            markeredgewidth=0,
        )

        sd = summary.sd or 0  # a single run has none
        axes.errorbar(
            summary.mean,
            row,
            xerr=sd,
            fmt="D",
            color=BLUE,
            markersize=5,
            capsize=3,
        )

    count = len(groups)
    labels = [group.label for group in groups]
    axes.set_yticks(range(count), labels)
    axes.set_ylim(count - 0.5, -0.5)  # the first group at the top
    axes.set_title(metric)
    # The labels of more ticks would overlap.
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    draw_grid(axes, "x")


def _draw_copied(axes: Axes, groups: Sequence[System], names: Sequence[str]) -> None:
    """Draw a line in each group's row at the score of each extractive baseline."""
    for name, style in zip(names, _LINE_STYLES, strict=False):
        label: str | None = name
        for row, group in enumerate(groups):
            summary = group.summary("test", name)
            if summary is None:
                continue

            mean = summary.mean
            ends = (row - 0.5, row + 0.5)
            axes.plot((mean, mean), ends, style, color=QUIET, linewidth=1.2, label=label)
            label = None  # one line in the legend for all rows

    _, labels = axes.get_legend_handles_labels()
    if labels:
        depth = 0.35 / len(groups)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -depth), fontsize=7)
