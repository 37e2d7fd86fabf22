"""The interactive data map: one HTML file that needs no network and no library.

Numbers travel as base64 of little-endian arrays, texts once each as JSON; `map_core.js` reads both.

Shape suffixes: N examples.
"""

import base64
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from heron.reports.map import BINS, CATEGORY_COLOURS, OTHER_COLOUR
from heron.reports.map_data import FEW, Column, MapData, Numbers, Texts
from heron.reports.pages import SHORTEST, clean_text, cut_text, escape_json, fit_length, render

MEGABYTES = 24  # of a page; larger ones open slowly and are refused by mail
_FORMAT = 1
_LONGEST = 2_000
_STOPS = 33  # colours of the scale; the page interpolates between them


def map_page(data: MapData, megabytes: float = MEGABYTES) -> str:
    """Build the page; the same data gives the same text.

    Longer texts are cut so that the page has at most `megabytes`; a note on the page says so.
    """
    content, notes = payload(data, megabytes)
    return render(
        "map.html.j2",
        title=data.title,
        synthetic=data.synthetic,
        runs=data.runs,
        total=len(data.guids),
        notes=notes,
        texts=data.texts is not None,
        data=Markup(escape_json(content)),
    )


def payload(data: MapData, megabytes: float = MEGABYTES) -> tuple[dict[str, Any], list[str]]:
    """Turn the data into JSON's own types; also returns the notes, with one on cut texts."""
    notes = list(data.notes)
    # Of cividis, from low to high: readable with any kind of colour vision.
    scale = matplotlib.colormaps["cividis"](np.linspace(0, 1, _STOPS))
    content: dict[str, Any] = {
        "version": _FORMAT,
        "title": data.title,
        "count": len(data.guids),
        "guids": [clean_text(guid) for guid in data.guids],
        "runs": [
            {
                "name": clean_text(run.name),
                "records": run.records,
                "values": {name: _pack(values_N, "f4") for name, values_N in run.values.items()},
                "predicted": None if run.predicted is None else _column(run.predicted),
            }
            for run in data.runs
        ],
        "statistics": list(dict.fromkeys(name for run in data.runs for name in run.values)),
        "columns": [_column(column) for column in data.columns],
        "scale": [matplotlib.colors.to_hex(colour) for colour in scale],
        "palette": [*CATEGORY_COLOURS],
        "other": OTHER_COLOUR,
        "few": FEW,
        "bins": BINS,
        "texts": None,
    }
    if data.texts is not None:
        room = int(megabytes * 1e6) - len(escape_json(content).encode()) - 60_000
        content["texts"], longest = _texts(data.texts, room)
        if longest:
            limits = f"the page's limits are {_LONGEST:,} characters and {megabytes:g} MB"
            notes.append(f"texts are cut after {longest:,} characters: {limits}")
        elif longest == 0:
            notes.append(f"texts are left out: a page of {megabytes:g} MB has no room for them")
    return content, notes


def _pack(values_N: NDArray[Any], kind: str) -> dict[str, str]:
    content = np.ascontiguousarray(values_N, f"<{kind}").tobytes()
    return {"type": kind, "data": base64.b64encode(content).decode()}


def _column(column: Column) -> dict[str, Any]:
    if isinstance(column, Numbers):
        return {"name": column.name, "kind": "numbers", "values": _pack(column.values_N, "f4")}
    names = [clean_text(name) for name in column.names]
    codes = _pack(column.codes_N, "i2" if len(names) < 2**15 else "i4")
    return {"name": column.name, "kind": "categories", "names": names, "codes": codes}


def _texts(texts: Texts, room: int) -> tuple[dict[str, Any] | None, int | None]:
    """Store each text once, and cut all at the length that fits into `room` bytes.

    Returns:
        The payload, and the length of cut texts (None if none was cut). None and 0 if no text fits.
    """
    place: dict[str, int] = {}

    def places(texts: Sequence[str | None]) -> dict[str, str]:
        """Give every distinct text a number, and each example the number of its text."""
        numbers = (-1 if text is None else place.setdefault(text, len(place)) for text in texts)
        return _pack(np.fromiter(numbers, np.int32, len(texts)), "i4")

    content: dict[str, Any] = {"strings": [], "first": places(texts.first)}
    content["second"] = places(texts.second) if any(texts.second) else None
    longest = fit_length(place, room - 12 * len(texts.first), _LONGEST)
    if longest is not None and longest < SHORTEST:
        return None, 0
    content["strings"] = [clean_text(cut_text(text, longest)) for text in place]
    return content | {"language": texts.language, "direction": texts.direction}, longest
