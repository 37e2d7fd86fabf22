"""Rows of a table with a text and its class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heron.config.data import DataConfig
from heron.data.rows import Format, Reader, RowReader, Texts, open_table


def open_texts(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables with one text in each row."""
    return open_table(one_text, config, files)


def one_text(reader: RowReader, row: Mapping[str, Any], line: int) -> Texts:
    """Read one row: its text, in the case that `data.normalize_case` asks for."""
    text = reader.text(row, line, reader.config.columns.text)
    return text.lower() if reader.config.normalize_case == "lower" else text, None, ()


TEXT_TABLE = Format(open_texts)
