"""Single-text classification: which class does a text have?"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heron.base.registry import Registry
from heron.data import Rules
from heron.data.config import DataConfig, changed_keys, second_text_problems
from heron.data.rows import Format, Reader, RowReader, Texts, open_table
from heron.tasks.task import About, ClassTask


def open_texts(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables with one text in each row."""
    return open_table(one_text, config, files)


def one_text(reader: RowReader, row: Mapping[str, Any], line: int) -> Texts:
    """Read one row: its text, in the case that `data.normalize_case` asks for."""
    text = reader.text(row, line, reader.config.columns.text)
    return text.lower() if reader.config.normalize_case == "lower" else text, None, ()


def one_text_problems(config: DataConfig) -> Iterator[str]:
    """Check that a data set names no second text, and nothing that changes only that one."""
    yield from second_text_problems(config, is_needed=False)
    changed = changed_keys(config, "phrases")
    if config.normalize_case == "capitalize":
        changed.append("data.normalize_case=capitalize")
    for key in changed:
        yield f"{key} changes the second text; data.task=classification has one text"


FORMATS: Registry[Format] = Registry("data format")
FORMATS.register("text_table", Format(open_texts))

TASK = ClassTask(
    forms=("text",),
    formats=FORMATS,
    head="text",
    rules=Rules(long_forms=("text",), data_problems=one_text_problems),
    about=About(hub_name="text-classification", does="chooses the class of a text"),
)
