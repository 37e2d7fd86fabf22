"""Rows of a table with two marked events to texts with spans."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from heron.config.data import DataConfig
from heron.data.markers import MarkerError, Markers, event_markers, parse_marked
from heron.data.rows import Format, Reader, RowReader, Texts, open_table


def open_marked(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables with one marked event pair in each row."""
    return open_table(partial(marked_text, markers=event_markers(config)), config, files)


def marked_text(reader: RowReader, row: Mapping[str, Any], line: int, markers: Markers) -> Texts:
    """Read one row: the text without markers, and the spans of both events."""
    text = reader.text(row, line, reader.config.columns.text)
    if not text:
        return "", None, ()
    try:
        plain, spans = parse_marked(text, markers)
    except MarkerError as error:
        start_1, end_1, start_2, end_2 = markers
        shown = f"{start_1} … {end_1} … {start_2} … {end_2}"
        fix = (f"mark two events: {shown}", "see data.language and data.markers")
        reader.problem(line, f"{error}: '{_shorten(text)}'", fix)
        return "", None, ()
    return plain, None, spans


def _shorten(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


MARKED_TABLE = Format(open_marked)
