"""The interactive data map: one HTML file that needs no network and no library.

Numbers travel as base64 of little-endian arrays, texts once each as JSON; `map_core.js` reads both.

Shape suffixes: N examples.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib
import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from heron.reports.map import BINS, CATEGORY_COLOURS, OTHER_COLOUR
from heron.reports.map_data import FEW, Categories, Column, MapData, MapRun, Numbers, Texts

MEGABYTES = 24  # of a page; larger ones open slowly and are refused by mail
_FORMAT = 1
_SHORTEST = 40  # characters; a text cut to less says nothing
_LONGEST = 2_000
_STOPS = 33  # colours of the scale; the page interpolates between them

# `<` ends the script element ("</script>") or opens a comment; the other two end a JSON line in
# older engines. Escapes mean the same to a JSON reader.
_ESCAPED = "<>&\u2028\u2029"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS: dict[str, Any] = {"f4": np.dtype("<f4"), "i4": np.dtype("<i4"), "i2": np.dtype("<i2")}


def map_page(data: MapData, megabytes: float = MEGABYTES) -> str:
    """Build the page.

    Args:
        data: one run, or two to compare.
        megabytes: how large the page may be; longer texts are cut to fit, and the page says so.

    Returns:
        HTML; the same data gives the same text.
    """
    content, notes = payload(data, megabytes)
    environment = Environment(
        loader=PackageLoader("heron.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("map.html.j2").render(
        title=data.title,
        synthetic=data.synthetic,
        runs=data.runs,
        total=len(data.guids),
        notes=notes,
        texts=data.texts is not None,
        data=Markup(escape_json(content)),
    )


def payload(data: MapData, megabytes: float = MEGABYTES) -> tuple[dict[str, Any], list[str]]:
    """Turn the data into JSON's own types; `read_payload` reads it back.

    Returns:
        The payload, and the data's notes with what had to be cut.
    """
    notes = list(data.notes)
    names = dict.fromkeys(name for run in data.runs for name in run.values)
    content: dict[str, Any] = {
        "version": _FORMAT,
        "title": data.title,
        "count": len(data.guids),
        "guids": [clean_text(guid) for guid in data.guids],
        "runs": [_run(run) for run in data.runs],
        "statistics": list(names),
        "columns": [_column(column) for column in data.columns],
        "scale": _scale(),
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


def escape_json(value: Any) -> str:
    """Write JSON that can stand inside a script element, whatever the strings hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub(f"[{_ESCAPED}]", lambda match: f"\\u{ord(match.group()):04x}", text)


def read_payload(page: str) -> dict[str, Any]:
    """Read back what a page holds."""
    match = re.search(r'<script type="application/json" id="map-data">(.*?)</script>', page, re.S)
    if match is None:
        raise ValueError("the page holds no data map")
    return dict(json.loads(match.group(1)))


def unpack(block: dict[str, str]) -> NDArray[Any]:
    """Read one array of a payload."""
    return np.frombuffer(base64.b64decode(block["data"]), _KINDS[block["type"]])


def _pack(values_N: NDArray[Any], kind: str) -> dict[str, str]:
    content = np.ascontiguousarray(values_N, _KINDS[kind]).tobytes()
    return {"type": kind, "data": base64.b64encode(content).decode()}


def _run(run: MapRun) -> dict[str, Any]:
    return {
        "name": clean_text(run.name),
        "records": run.records,
        "values": {name: _pack(values_N, "f4") for name, values_N in run.values.items()},
        "predicted": None if run.predicted is None else _column(run.predicted),
    }


def _column(column: Column) -> dict[str, Any]:
    if isinstance(column, Numbers):
        return {"name": column.name, "kind": "numbers", "values": _pack(column.values_N, "f4")}
    return {
        "name": column.name,
        "kind": "categories",
        "names": [clean_text(name) for name in column.names],
        "codes": _codes(column),
    }


def _codes(column: Categories) -> dict[str, str]:
    return _pack(column.codes_N, "i2" if len(column.names) < 2**15 else "i4")


def _scale() -> list[str]:
    """Colours from low to high. Cividis is read alike with any kind of colour vision."""
    colours = matplotlib.colormaps["cividis"](np.linspace(0, 1, _STOPS))
    return [matplotlib.colors.to_hex(colour) for colour in colours]


def _texts(texts: Texts, room: int) -> tuple[dict[str, Any] | None, int | None]:
    """Store each text once, and cut all at the length that fits into `room` bytes.

    Returns:
        The payload (None where nothing fits), and the length that texts were cut at (0 where
        nothing fits, None where none was cut).
    """
    place: dict[str, int] = {}
    first_N = _places(texts.first, place)
    second_N = _places(texts.second, place) if any(texts.second) else None
    longest = fit_length(place, room - 12 * len(first_N))
    if longest is not None and longest < _SHORTEST:
        return None, 0
    stored = [clean_text(cut_text(text, longest)) for text in place]
    content = {
        "strings": stored,
        "first": _pack(first_N, "i4"),
        "second": None if second_N is None else _pack(second_N, "i4"),
        "language": texts.language,
        "direction": texts.direction,
    }
    return content, longest


def _places(texts: Sequence[str | None], place: dict[str, int]) -> NDArray[np.int32]:
    """Give every distinct text a number, and each example the number of its text."""
    numbers = (-1 if text is None else place.setdefault(text, len(place)) for text in texts)
    return np.fromiter(numbers, np.int32, len(texts))


def fit_length(texts: Iterable[str], room: int, most: int = _LONGEST) -> int | None:
    """Find the longest cut (up to `most` characters) with which texts fit into `room` bytes.

    None: they need no cut.
    """
    texts = list(texts)
    lengths = np.array([len(text) for text in texts], np.int64)
    longest = int(lengths.max(initial=0))
    stored = _stored(texts, None)
    if longest <= most and stored <= room:
        return None
    width = stored / max(int(lengths.sum()), 1)  # bytes a character, on average
    low, high = 0, min(longest, most)
    while low < high:
        middle = (low + high + 1) // 2
        fits = float(np.minimum(lengths, middle).sum() * width) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    # The average misleads where the long texts are in another alphabet than the short ones.
    while low >= _SHORTEST and _stored(texts, low) > room:
        low = int(0.95 * low)
    return low


def _stored(texts: Iterable[str], longest: int | None) -> int:
    """How many bytes texts take in the page."""
    return len(escape_json([clean_text(cut_text(text, longest)) for text in texts]).encode())


def cut_text(text: str, longest: int | None) -> str:
    """Cut a text after `longest` characters, the last of them an ellipsis; None keeps it whole."""
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def clean_text(text: str) -> str:
    """Replace halves of character pairs, which UTF-8 cannot hold."""
    return _LONE_SURROGATE.sub("\ufffd", text)
