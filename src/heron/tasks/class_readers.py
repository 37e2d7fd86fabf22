"""Rows of tables of the tasks with classes: a marked event pair, two texts, or one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from heron.data import REMOVERS
from heron.data.config import PHRASES, DataConfig
from heron.data.markers import MarkerError, Markers, event_markers, parse_marked
from heron.data.rows import Format, Reader, RowReader, Texts, open_table


def marked_text(reader: RowReader, row: Mapping[str, Any], line: int, markers: Markers) -> Texts:
    """Read one row: the text without markers, and the spans of both events.

    Args:
        reader: collects the problems.
        row: the cells by column.
        line: its number, for messages.
        markers: start and end of event 1, of event 2.
    """
    text = reader.text(row, line, reader.config.columns.text)
    if not text:
        return "", None, ()
    try:
        plain, spans = parse_marked(text, markers)
    except MarkerError as error:
        start_1, end_1, start_2, end_2 = markers
        form = f"mark two events: {start_1} … {end_1} … {start_2} … {end_2}"
        fix = (form, "see data.language and data.markers")
        shown = text if len(text) <= 60 else f"{text[:59]}…"
        reader.problem(line, f"{error}: '{shown}'", fix)
        return "", None, ()
    return plain, None, spans


def one_text(reader: RowReader, row: Mapping[str, Any], line: int) -> Texts:
    """Read one row: its text, in the case that `data.normalize_case` asks for."""
    text = reader.text(row, line, reader.config.columns.text)
    if reader.config.normalize_case == "lower":
        text = text.lower()
    return text, None, ()


def open_pairs(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables with two texts in each row; `files` may hold linking phrases."""
    remove = None
    if PHRASES in files:
        remove = REMOVERS[config.phrases](files[PHRASES], config)
    return open_table(partial(pair_texts, remove=remove), config, files)


def pair_texts(
    reader: RowReader, row: Mapping[str, Any], line: int, remove: Callable[[str], str] | None
) -> Texts:
    """Read the two texts of a row; removes phrases from the second, then changes the case.

    `data.normalize_case=lower` lower-cases both texts, `capitalize` capitalizes the second.

    Args:
        reader: collects the problems.
        row: the cells by column.
        line: its number, for messages.
        remove: removes linking phrases; None keeps them.
    """
    columns = reader.config.columns
    second_column = str(columns.text_pair)
    text = reader.text(row, line, columns.text)
    text_pair = reader.text(row, line, second_column)
    if text_pair and remove:
        text_pair = remove(text_pair)
        if not text_pair:
            message = f"'{second_column}' consists of linking phrases only"
            reader.problem(line, message, ("remove the row", "data.phrases=none"))

    case = reader.config.normalize_case
    if case == "lower":
        return text.lower(), text_pair.lower(), ()
    if case == "capitalize":
        text_pair = text_pair.capitalize()
    return text, text_pair, ()


MARKED_TABLE = Format(
    lambda config, files: open_table(
        partial(marked_text, markers=event_markers(config)), config, files
    )
)
PAIR_TABLE = Format(open_pairs)
TEXT_TABLE = Format(partial(open_table, one_text))
