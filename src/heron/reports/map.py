"""A data map as a figure, and as a page to explore: one HTML file without network or library.

The figure is a scatter of variability and confidence beside three histograms. In the page, numbers
are base64 of little-endian arrays, each text is stored once, as JSON; `map_core.js` reads both.

Shape suffixes: N examples, M drawn points.

Source: Swayamdipta et al. 2020, Dataset Cartography, Figure 1; the RoNLI paper, Figure 1.
"""

import base64
import io
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from heron.base.files import write_file
from heron.base.run_folder import RunFolder, folder_inside
from heron.reports.figures import add_title, draw_grid
from heron.reports.fonts import with_fonts
from heron.reports.map_data import (
    FEW,
    Categories,
    Column,
    ExampleTexts,
    MapData,
    MapRun,
    Numbers,
    map_run,
    read_mapped,
    take,
)
from heron.reports.pages import SHORTEST, clean_text, cut_text, escape_json, fit_length, render
from heron.reports.styles import BLUE, CENTRED, GREEN, INK, PURPLE, QUIET, STYLE

POINTS = 25_000  # more points than this only hide each other
BINS = 20
FORMATS = ("png", "pdf")

# Okabe and Ito's palette, and a marker for each colour: bands can be told apart in grey as well.
CATEGORY_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
OTHER_COLOUR = "#9ca3af"
_MARKERS = ("o", "s", "^", "D", "X", "P", "v")
_REGIONS = ((0.84, 0.5, "ambiguous"), (0.2, 0.93, "easy to learn"), (0.2, 0.07, "hard to learn"))
_BOX = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": QUIET}
# The bright end of the scale is left out: yellow on white paper is not seen.
_BRIGHTEST = 0.8


class Bands(NamedTuple):
    """A legend of names and colours, and each point's index in it (int64 [N], -1 for none)."""

    title: str
    names: tuple[str, ...]
    colours: tuple[str, ...]
    index_N: NDArray[np.int64]


def map_figure(title: str, run: MapRun, colour: Column | None = None) -> Figure:
    """Draw the data map of one run.

    Args:
        title: is completed by the numbers of examples and of drawn points.
        run: of N examples; those with neither confidence nor variability are left out.
        colour: the column that colours the points; None: correctness.
    """
    confidence_N = run.values["confidence"]
    variability_N = run.values["variability"]
    seen_N = np.isfinite(confidence_N) & np.isfinite(variability_N)
    count = seen_N.sum()
    chosen_M = sample_points(np.flatnonzero(seen_N))
    drawn = "" if len(chosen_M) == count else f", {len(chosen_M):,} of them drawn"
    records = "1 record" if run.records == 1 else f"{run.records} records"
    shown = bands(colour or Numbers("correctness", run.values["correctness"]))

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 6.2), layout="constrained")
        panels: Any = figure.subfigures(1, 2, width_ratios=(2.5, 1.0))
        left, right = panels
        _draw_points(left.subplots(), run, shown, chosen_M, shown.index_N[seen_N])
        _draw_histograms(right.subplots(3, 1), run, seen_N)
        add_title(figure, f"{title}: {count:,} examples{drawn}, {records}")

    return figure


def save_figure(figure: Figure, form: str, dpi: int = 200, colours: int | None = None) -> bytes:
    """Save a figure; the same figure gives the same bytes.

    Args:
        figure: of matplotlib.
        form: `png` or `pdf`.
        dpi: dots per inch; in a `pdf` only the points have them.
        colours: 2 to 256 make a smaller `png`.
    """
    image = io.BytesIO()
    # Names of programs and the time of day would make every file a different one.
    unset = {"png": ("Software",), "pdf": ("Creator", "Producer", "CreationDate")}[form]
    with matplotlib.rc_context({**STYLE, "pdf.fonttype": 42}), with_fonts(figure):
        figure.savefig(image, format=form, dpi=dpi, metadata=dict.fromkeys(unset))

    if colours is None:
        return image.getvalue()

    picture = Image.open(image).convert("RGB")
    quantized = picture.quantize(colours, dither=Image.Dither.NONE)
    reduced = io.BytesIO()
    quantized.save(reduced, format="png", optimize=True)

    return reduced.getvalue()


def sample_points(rows: NDArray[np.int64], seed: int = 0) -> NDArray[np.int64]:
    """Draw at most `POINTS` rows, each as likely as any other.

    Args:
        rows: numbers of rows, in ascending order.
        seed: of the draw.

    Returns:
        The drawn numbers, in ascending order.
    """
    if len(rows) <= POINTS:
        return rows

    chosen = np.random.default_rng(seed).choice(len(rows), POINTS, replace=False)
    return rows[np.sort(chosen)]


def bands(column: Column) -> Bands:
    """Sort a column's values into at most seven bands with a colour each.

    Few distinct numbers get a band each. Correctness is cut into bands of equal width, other
    numbers into bands of equally many examples, because skewed numbers would all fall into one
    otherwise. The most frequent categories get a band each; all others share a grey one.
    """
    return _number_bands(column) if isinstance(column, Numbers) else _category_bands(column)


def _category_bands(column: Categories) -> Bands:
    """Give the most frequent categories a band each, and all others the last one."""
    codes_N = column.codes_N.astype(np.int64)
    count = len(column.names)
    most = len(CATEGORY_COLOURS)
    if count <= most:
        colours = CATEGORY_COLOURS[:count]
        return Bands(column.name, column.names, colours, codes_N)

    last = most - 1
    has_value_N = codes_N >= 0
    counts = np.bincount(codes_N[has_value_N], minlength=count)
    by_count = np.argsort(-counts, kind="stable")
    kept = np.sort(by_count[:last])

    band_of_code = np.full(count, last)
    band_of_code[kept] = np.arange(last)
    index_N = np.where(has_value_N, band_of_code[codes_N], -1)

    names = [column.names[code] for code in kept]
    others = f"{count - last} others"
    colours = CATEGORY_COLOURS[:last]
    return Bands(column.name, (*names, others), (*colours, OTHER_COLOUR), index_N)


def _number_bands(column: Numbers) -> Bands:
    """Give each of few distinct numbers a band, or else cut the numbers into ranges."""
    values_N = column.values_N.astype(np.float64)
    is_finite_N = np.isfinite(values_N)
    finite = values_N[is_finite_N]
    distinct = np.unique(finite)

    if len(distinct) <= FEW:
        names = [f"{value:.2g}" for value in distinct]
        index_N = np.searchsorted(distinct, values_N)
    else:
        if column.name == "correctness":
            edges = np.linspace(0, 1, FEW)
        else:
            edges = _quantiles(finite, distinct)

        names = [f"{low:.2g} – {high:.2g}" for low, high in itertools.pairwise(edges)]
        above_N = np.searchsorted(edges, values_N, "right")
        index_N = np.clip(above_N - 1, 0, len(names) - 1)

    index_N = np.where(is_finite_N, index_N, -1)
    colours = _scale(len(names), _BRIGHTEST)
    return Bands(column.name, tuple(names), colours, index_N)


def _quantiles(values: NDArray[np.float64], distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut numbers into ranges of equally many; of the distinct ones where most are equal."""
    parts = np.linspace(0, 1, FEW)
    edges = np.unique(np.quantile(values, parts))
    if len(edges) < FEW // 2:
        edges = np.unique(np.quantile(distinct, parts))
    return edges


def _scale(count: int, brightest: float = 1.0) -> tuple[str, ...]:
    """Take colours of cividis, from low to high: readable with any kind of colour vision."""
    colours = matplotlib.colormaps["cividis"](np.linspace(0, brightest, count))
    return tuple(matplotlib.colors.to_hex(colour) for colour in colours)


def _draw_points(
    axes: Axes, run: MapRun, shown: Bands, chosen_M: NDArray[np.int64], all_N: NDArray[np.int64]
) -> None:
    """Draw the scatter, the largest band first, so that it does not hide the others.

    The legend counts all examples (`all_N` are their bands), drawn or not.
    """
    x_M = run.values["variability"][chosen_M]
    y_M = run.values["confidence"][chosen_M]
    index_M = shown.index_N[chosen_M]
    sizes = np.array([np.sum(all_N == band) for band in range(len(shown.names))])
    largest_first = np.argsort(-sizes, kind="stable")
    area = 14 if len(chosen_M) < 5_000 else 7
    handles = {}

    for depth, band in enumerate([-1, *largest_first.tolist()]):
        colour = OTHER_COLOUR
        marker = "."
        if band >= 0:
            colour = shown.colours[band]
            marker = _MARKERS[band]

        is_of_band_M = index_M == band
        handles[band] = axes.scatter(
            x_M[is_of_band_M],
            y_M[is_of_band_M],
            s=area,
            color=colour,
            marker=marker,
            zorder=2 + depth / 100,
            alpha=0.65,
            linewidths=0,
            rasterized=True,  # viewers are slow to show 25,000 vector points
        )

    names = {}
    for band, name in enumerate(shown.names):
        names[band] = f"{name}  ({sizes[band]:,})"

    without_value = np.sum(all_N == -1)
    if without_value:
        names[-1] = f"no value  ({without_value:,})"

    entries = [handles[band] for band in names]
    axes.legend(
        entries,
        list(names.values()),
        title=shown.title,
        loc="upper right",
        frameon=True,
        framealpha=0.85,
        markerscale=1.6,
        fontsize=8,
    )

    widest = 1.02 * float(np.max(x_M, initial=0))
    axes.set(xlim=(-0.01, max(0.51, widest)), ylim=(-0.02, 1.02))
    axes.set(xlabel="variability", ylabel="confidence")
    draw_grid(axes)
    for x, y, name in _REGIONS:
        axes.text(x, y, name, transform=axes.transAxes, color=INK, zorder=4, bbox=_BOX, **CENTRED)


def _draw_histograms(panels: Sequence[Axes], run: MapRun, seen_N: NDArray[np.bool_]) -> None:
    """Draw how often each statistic has which value."""
    colours = {"confidence": PURPLE, "variability": BLUE, "correctness": GREEN}
    for axes, (name, colour) in zip(panels, colours.items(), strict=True):
        values = run.values[name][seen_N].astype(np.float64)
        edges = histogram_edges(name, values, run.records)
        axes.hist(values, bins=edges.tolist(), color=colour)
        axes.set(xlabel=name, ylabel="examples")
        axes.yaxis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))
        draw_grid(axes, "y")


def histogram_edges(name: str, values: NDArray[np.float64], records: int) -> NDArray[np.float64]:
    """Choose a histogram's bins: one for each count of right records, else `BINS` equal ones.

    Args:
        name: the statistic.
        values: its finite values, float64 [N].
        records: number of records of dynamics.

    Returns:
        The edges of the bins.
    """
    if name == "correctness" and records < BINS:
        middles = np.arange(records + 2)
        return (middles - 0.5) / max(records, 1)

    highest = 1.0
    if name == "variability":
        highest = max(0.5, float(np.max(values, initial=0)))

    return np.linspace(0, highest, BINS + 1)


def draw_map(folder: RunFolder, path: Path | None = None) -> Path:
    """Draw a run's map, unless the file is newer than all records of dynamics.

    Args:
        folder: of the run.
        path: of the PNG file; None: `map/map.png` in the run folder.

    Returns:
        The file's path.
    """
    path = path or folder_inside(folder.path, "map") / "map.png"
    records = folder.dynamics(0).parent.glob("epoch=*")
    newest = max((record.stat().st_mtime for record in records), default=0)
    if not path.is_file() or path.stat().st_mtime < newest:
        mapped = read_mapped(folder.path)
        figure = map_figure(mapped.name, map_run(mapped))
        write_file(path, save_figure(figure, "png"))

    return path


MEGABYTES = 24  # of a page; larger ones open slowly and mail refuses them
_WHOLE = 4 * POINTS  # examples that a page holds; of more it has a sample of `POINTS`
_SAMPLE_MEGABYTES = 6
_FORMAT = 1
_LONGEST = 2_000
_STOPS = 33  # colours of the scale; the page interpolates between them


def map_page(data: MapData, megabytes: float | None = None) -> str:
    """Build the page; the same data gives the same text.

    Of very many examples it has a sample drawn at random. Longer texts are cut so that the page is
    not too large. Notes on the page say so.

    Args:
        data: what the page shows.
        megabytes: most of a page; None: 24, and 6 for a sample.
    """
    total = len(data.guids)
    limit = MEGABYTES
    if total > _WHOLE:
        limit = _SAMPLE_MEGABYTES
        rows_M = sample_points(np.arange(total))
        note = f"{len(rows_M):,} of them, drawn at random, are shown; map.csv has all"
        data = take(data, rows_M)._replace(notes=(*data.notes, note))

    content, notes = payload(data, megabytes or limit)
    return render(
        "map.html.j2",
        title=data.title,
        synthetic=data.synthetic,
        runs=data.runs,
        total=total,
        notes=notes,
        texts=data.texts is not None,
        data=Markup(escape_json(content)),
    )


def payload(data: MapData, megabytes: float = MEGABYTES) -> tuple[dict[str, Any], list[str]]:
    """Turn the data into JSON's own types, as `map_core.js` reads them.

    Args:
        data: what the page shows.
        megabytes: most of a page; texts are cut to fit.

    Returns:
        The content of the page, and the notes, with one on cut texts.
    """
    runs = []
    for run in data.runs:
        predicted = None if run.predicted is None else _column(run.predicted)
        values = {name: _pack(values_N, "f4") for name, values_N in run.values.items()}
        runs.append(
            {
                "name": clean_text(run.name),
                "records": run.records,
                "values": values,
                "predicted": predicted,
            }
        )

    content: dict[str, Any] = {
        "version": _FORMAT,
        "title": data.title,
        "count": len(data.guids),
        "guids": [clean_text(guid) for guid in data.guids],
        "runs": runs,
        "statistics": list(dict.fromkeys(name for run in data.runs for name in run.values)),
        "columns": [_column(column) for column in data.columns],
        "scale": _scale(_STOPS),
        "palette": CATEGORY_COLOURS,
        "other": OTHER_COLOUR,
        "few": FEW,
        "bins": BINS,
        "texts": None,
    }
    notes = list(data.notes)

    if data.texts is not None:
        used = len(escape_json(content).encode()) + 60_000
        content["texts"], longest = _texts(data.texts, int(megabytes * 1e6) - used)
        if longest:
            limits = f"the page's limits are {_LONGEST:,} characters and {megabytes:g} MB"
            notes.append(f"texts are cut after {longest:,} characters: {limits}")
        elif longest == 0:
            notes.append(f"texts are left out: a page of {megabytes:g} MB has no room for them")

    return content, notes


def _pack(values_N: NDArray[Any], kind: str) -> dict[str, str]:
    """Write an array as base64 of little-endian numbers of a kind, such as `f4`."""
    content = np.ascontiguousarray(values_N, f"<{kind}").tobytes()
    return {"type": kind, "data": base64.b64encode(content).decode()}


def _column(column: Column) -> dict[str, Any]:
    """Write a column in JSON's types."""
    if isinstance(column, Numbers):
        return {"name": column.name, "kind": "numbers", "values": _pack(column.values_N, "f4")}
    names = [clean_text(name) for name in column.names]
    codes = _pack(column.codes_N, "i2" if len(names) < 2**15 else "i4")
    return {"name": column.name, "kind": "categories", "names": names, "codes": codes}


def _texts(texts: ExampleTexts, room: int) -> tuple[dict[str, Any] | None, int | None]:
    """Store each text once, and cut all at the length that fits into `room` bytes.

    Returns:
        The payload, and the length of cut texts (None if none was cut). None and 0 if no text fits.
    """
    number_of: dict[str, int] = {}

    def numbers(column: Sequence[str | None]) -> dict[str, str]:
        """Give every distinct text a number, and each example the number of its text."""
        numbers_N = []
        for text in column:
            number = -1 if text is None else number_of.setdefault(text, len(number_of))
            numbers_N.append(number)
        return _pack(np.array(numbers_N), "i4")

    first = numbers(texts.first)
    second = numbers(texts.second) if any(texts.second) else None
    longest = fit_length(number_of, room - 12 * len(texts.first), _LONGEST)
    if longest is not None and longest < SHORTEST:
        return None, 0

    content: dict[str, Any] = {
        "strings": [clean_text(cut_text(text, longest)) for text in number_of],
        "first": first,
        "second": second,
        "language": texts.language,
        "direction": texts.direction,
    }

    return content, longest
