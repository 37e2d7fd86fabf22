"""Rows of a table with two texts, the second one without its linking phrase where that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from heron.config.data import DataConfig
from heron.data.rows import PHRASES, Format, Reader, RowReader, Texts, open_table
from heron.tasks.nli.phrases import Phrases, read_phrases


def open_pairs(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables with two texts in each row; `files` may hold linking phrases.

    Raises:
        DataError: the list of phrases cannot be read.
    """
    phrases = read_phrases(files[PHRASES], config) if PHRASES in files else None
    return open_table(partial(pair_texts, phrases=phrases), config, files)


def pair_texts(
    reader: RowReader, row: Mapping[str, Any], line: int, phrases: Phrases | None
) -> Texts:
    """Read one row: both texts, in the case that `data.normalize_case` asks for."""
    columns, case = reader.config.columns, reader.config.normalize_case
    second = str(columns.text_pair)
    text, text_pair = reader.text(row, line, columns.text), reader.text(row, line, second)
    if text_pair and phrases:
        text_pair = phrases.remove(text_pair)
        if not text_pair:
            what = f"'{second}' is nothing but linking phrases"
            reader.problem(line, what, ("remove the row", "data.phrases.remove=none"))
    if case == "lower":
        return text.lower(), text_pair.lower(), ()
    return text, text_pair.capitalize() if case == "capitalize" else text_pair, ()


PAIR_TABLE = Format(open_pairs)
