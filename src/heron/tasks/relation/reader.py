"""Rows of a table with one marked event pair each."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from heron.data.config import DataConfig
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
        shown = text if len(text) <= 60 else f"{text[:59]}…"
        form = f"mark two events: {start_1} … {end_1} … {start_2} … {end_2}"
        reader.problem(line, f"{error}: '{shown}'", (form, "see data.language and data.markers"))
        return "", None, ()
    return plain, None, spans


MARKED_TABLE = Format(open_marked)
