"""Temporal relations: which of two marked events of a text comes first?"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from heron.base.registry import on_demand
from heron.data import Rules
from heron.data.config import DataConfig
from heron.data.markers import MarkerError, Markers, event_markers, parse_marked
from heron.data.rows import Format, Reader, RowReader, Texts, open_table
from heron.tasks.config import Config
from heron.tasks.task import (
    CLASS_FORMATS,
    About,
    ClassScores,
    ClassTask,
    class_data_problems,
)


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


def added_tokens(config: Config) -> tuple[str, ...]:
    """List the event markers if the head reads them."""
    return event_markers(config.data) if config.head.input == "marked" else ()


def relation_problems(config: Config) -> Iterator[str]:
    """Check that events are marked, and that decoded classes can contradict each other."""
    if config.data.format == "pair_table":
        yield "data.format=pair_table marks no events; task=relation needs data.format=marked_table"
    others = [label for label in config.data.label_order if label not in RELATIONS]
    if config.task.decoding and others:
        yield f"task.decoding={config.task.decoding} knows {', '.join(RELATIONS)}, not {others[0]}"


def data_problems(config: DataConfig) -> Iterator[str]:
    """List settings of a data set that do not work with marked events."""
    yield from class_data_problems(config)
    # Not `changed_keys`: its default is a relation data set, which is checked here.
    changes = {"normalize_case": config.normalize_case, "phrases": config.phrases}
    for key in (key for key, value in changes.items() if value != "none"):
        yield f"data.{key}: not for data.task=relation, whose events are counted in the text"


RELATIONS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")
MARKED_TABLE = Format(open_marked)

TASK = ClassTask(
    forms=("marked", "window"),
    formats=CLASS_FORMATS,
    head="ess",
    rules=Rules(
        keys=("head.distance", "task.decoding"),
        problems=relation_problems,
        data_problems=data_problems,
    ),
    features=on_demand("heron.tasks.relation.features:relation_features"),
    feature_options=lambda config, training: event_markers(config.data),
    added_tokens=added_tokens,
    headline=on_demand("heron.tasks.relation.scores:relation_headline"),
    scores=partial(
        ClassScores,
        usual_labels=RELATIONS,
        decode=on_demand("heron.tasks.relation.decoding:decode_windows"),
    ),
    about=About(
        hub_name="text-classification",
        does="tells which of two marked events of a text comes first",
    ),
)
