"""Exports of annotation tools as tables: Label Studio's JSON, JSON-MIN and CSV; doccano's spans.

A task of Label Studio is a row of data with annotations. An annotation has results, each with the
name of its tag in the labelling configuration. Results with one id are about one region, such as a
span and the question that it answers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from heron.base.tables import FileTable, is_missing, plain_value
from heron.base.terminal import say
from heron.data.offsets import count_utf16, from_utf16, in_characters

REGIONS = "heron: regions"  # column with the regions of a row; None where nobody has annotated it
# Columns of JSON-MIN and CSV beside the data and the tags.
_OF_ANNOTATION = {"annotator", "annotation_id", "created_at", "updated_at", "lead_time"}


class Region(NamedTuple):
    """What an annotator has said about one span or, without a span, about a text."""

    id: str
    tags: dict[str, Any]  # Label Studio's values by the name of the tag

    def span(self) -> Mapping[str, Any] | None:
        """Find the marked span; None without one."""
        return next(filter(is_span, self.tags.values()), None)

    def classes(self) -> dict[str, Any]:
        """Read the chosen classes by the name of the tag: one, or a list of several."""
        chosen = {name: value["choices"] for name, value in self.tags.items() if "choices" in value}
        return {name: plain_value(choices) for name, choices in chosen.items()}

    def text(self) -> str:
        """Read what the annotator has written; empty for nothing."""
        for value in self.tags.values():
            text = value.get("text")
            if isinstance(text, list):
                return " ".join(" ".join(map(str, text)).split())
        return ""


class AnnotatedSpan(NamedTuple):
    """A marked span of a context."""

    text: str  # as the context has it; if it is not there, as the tool shows it
    start: int  # in characters
    end: int  # exclusive
    is_there: bool


def is_span(value: Any) -> bool:
    """Tell whether a value is a marked span.

    What an annotator wrote about a span (`text` is a list) may have its offsets, but is none.
    """
    if not isinstance(value, Mapping) or isinstance(value.get("text"), list):
        return False
    return isinstance(value.get("start"), int) and isinstance(value.get("end"), int)


def plain_table(table: FileTable) -> FileTable:
    """Turn an export of Label Studio into a table; other tables are kept.

    There is a row for each task, or for each annotation that marks a span or, in JSON, writes a
    text. Columns are those of the data, `id`, and one for each tag with which annotators have
    chosen classes; where annotators differ, its cell is a list. Spans are in `REGIONS`. Cancelled
    annotations and predictions are not read.
    """
    if table.rows and all(map(_is_task, table.rows)):
        read = _annotated_rows
    elif set(table.columns) >= _OF_ANNOTATION:
        read = _flat_rows
    else:
        return table

    groups = defaultdict(list)  # the rows that are joined
    lines: dict[Any, int] = {}
    for line, row in zip(table.lines, table.rows, strict=True):
        for cells in read(row):
            task = f"line {line}" if is_missing(cells.get("id")) else cells["id"]
            own_key = len(lines) if cells[REGIONS] else None  # those with regions are never joined
            groups[task, own_key].append(cells)
            lines.setdefault((task, own_key), line)

    rows = [_join(group) for group in groups.values()]
    columns = dict.fromkeys(name for row in rows for name in row)
    absent = dict.fromkeys(columns)
    rows = [absent | row for row in rows]
    return replace(table, columns=tuple(columns), rows=rows, lines=list(lines.values()))


def _is_task(row: Mapping[str, Any]) -> bool:
    """Tell a task of Label Studio's JSON from other rows."""
    return isinstance(row.get("data"), Mapping) and isinstance(row.get("annotations"), list)


def _join(of_task: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the annotations of a task: of each column the value, or a list of those that differ."""
    joined = {}
    for name in dict.fromkeys(name for cells in of_task for name in cells):
        different: list[Any] = []
        for cells in of_task:
            value = cells.get(name)
            if name in cells and value not in different:
                different.append(value)
        joined[name] = different[0] if len(different) == 1 else different
    return joined


def _annotated_rows(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of each annotation of a task in JSON; of a task without any, its data."""
    shared = {**row["data"], "id": row.get("id"), REGIONS: None}
    annotations = list(annotations_of(row))
    if not annotations:
        yield shared

    for _, regions in annotations:
        cells = dict(shared)
        for region in regions:
            cells |= region.classes()
        cells[REGIONS] = [region for region in regions if region.span() or region.text()]
        yield cells


def annotations_of(row: Mapping[str, Any]) -> Iterator[tuple[Any, list[Region]]]:
    """Yield who has made each annotation of a task, as JSON has it, and its regions."""
    for annotation in row["annotations"]:
        if not annotation.get("was_cancelled"):
            results = annotation.get("result") or ()
            yield annotation.get("completed_by"), _regions(results)


def _regions(results: Iterable[Mapping[str, Any]]) -> list[Region]:
    """Join the results of each region; results that relate regions are left out."""
    regions: dict[str, Region] = {}
    for result in results:
        name = result.get("from_name")
        value = result.get("value")
        if name and isinstance(value, Mapping):
            key = str(result.get("id"))
            region = regions.setdefault(key, Region(key, {}))
            region.tags[name] = value
    return list(regions.values())


def _flat_rows(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of a row of JSON-MIN or CSV, which is an annotation."""
    cells = {}
    for name, cell in row.items():
        if name not in _OF_ANNOTATION:
            cells[name] = flat_value(cell)
    regions = flat_regions(cells)
    if regions:
        yield {**cells, REGIONS: regions}
    else:
        plain = {name: plain_value(cell) for name, cell in cells.items()}
        yield {**plain, REGIONS: None if is_missing(row["annotation_id"]) else []}


def flat_value(cell: Any) -> Any:
    """Read a cell of JSON-MIN or CSV, which writes lists and mappings as JSON."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except ValueError:  # a text that begins so
            return cell
    return cell


def flat_regions(cells: Mapping[str, Any]) -> list[Region]:
    """Read the regions of a row of JSON-MIN or CSV, which have no ids.

    A tag's texts belong to the spans in their order if there are as many; otherwise to none.
    """
    spans: dict[str, list[Any]] = {}
    texts: dict[str, list[Any]] = {}
    for name, value in cells.items():
        if not isinstance(value, list):
            continue
        if value and all(map(is_span, value)):
            spans[name] = value
        else:
            texts[name] = value

    count = max(map(len, spans.values()), default=0)
    regions = []
    for number in range(count):
        tags: dict[str, Any] = {}
        for name, values in spans.items():
            if number < len(values):
                tags[name] = values[number]
        for name, values in texts.items():
            if len(values) == count:
                tags[name] = {"text": [values[number]]}
        regions.append(Region(str(number), tags))

    return regions


def rendered(text: str) -> str:
    r"""Make a text comparable with what Label Studio shows: white space and `\n` are one blank."""
    return " ".join(text.replace("\\n", " ").split())


def spans_use_utf16(spans: Iterable[tuple[str, Mapping[str, Any]]]) -> bool:
    """Tell whether the spans of an export, each with its context, count UTF-16 units."""
    offsets = []
    for context, span in spans:
        text = span.get("text")
        if isinstance(text, str):
            offsets.append((context, text, span["start"]))
    return count_utf16(offsets, _shows)


def _shows(context: str, text: str, start: int) -> bool:
    return rendered(context[max(start, 0) :]).startswith(rendered(text))


def read_span(context: str, span: Mapping[str, Any], in_utf16: bool) -> AnnotatedSpan:
    """Read a span.

    Args:
        context: the text that it is marked in.
        span: its `start`, `end` and perhaps its `text`, as shown to the annotator.
        in_utf16: whether the export counts UTF-16 units. Where the text is not there, the other
            unit is tried.
    """
    start = span["start"]
    end = span["end"]
    text = span.get("text")
    places = [(start, end), (from_utf16(context, start), from_utf16(context, end))]
    if in_utf16:
        places.reverse()
    for first, last in places:
        there = context[max(first, 0) : max(last, 0)]
        if not isinstance(text, str) or rendered(text) == rendered(there):
            return AnnotatedSpan(there, first, last, is_there=True)
    return AnnotatedSpan(str(text), *places[0], is_there=False)


def question_table(table: FileTable, context: str, question: str, guid: str) -> FileTable:
    """Turn the regions of a table into questions with `answers`; other tables are kept.

    A region with a text of its own, such as a question that the annotator wrote, is a question;
    otherwise all spans of a row answer the row's question. Several annotators' answers to one
    question of a task are its answers.

    Args:
        table: an export of Label Studio (see `plain_table`) or of doccano.
        context, question, guid: names of columns.
    """
    rows = table.rows
    if REGIONS not in table.columns:
        regions = _doccano_regions(table, context)
        if not any(regions):
            return table
        rows = [{**row, REGIONS: of_row} for row, of_row in zip(rows, regions, strict=True)]

    in_utf16 = spans_use_utf16(_spans(rows, context))
    questions: dict[Any, dict[str, Any]] = {}
    lines: dict[Any, int] = {}
    tags: set[str] = set()
    for row, line in zip(rows, table.lines, strict=True):
        for region in row[REGIONS] or ():
            tags.update(region.tags)
        for cells in _questions(row, context, question, in_utf16):
            key = (row.get("id", line), cells.get(question))
            answers = cells["answers"]
            first = questions.setdefault(key, {guid: cells.get("id"), **cells})
            lines.setdefault(key, line)
            if answers and first["answers"] != answers:
                first["answers"] = [*(first["answers"] or ()), *answers]

    columns = dict.fromkeys(chain.from_iterable(questions.values()))
    for name in (REGIONS, *tags):
        if name != question:
            columns.pop(name, None)

    absent = dict.fromkeys(columns)
    rows_of_questions = [absent | cells for cells in questions.values()]
    numbers = list(lines.values())
    return replace(table, columns=tuple(columns), rows=rows_of_questions, lines=numbers)


def _doccano_regions(table: FileTable, context: str) -> list[list[Region]]:
    """Read each row's spans of doccano, which counts UTF-16 units, or graphemes in that mode."""
    numbers: list[int] = []
    spans: list[tuple[str, int, int]] = []
    for number, row in enumerate(table.rows):
        for start, end in _doccano_spans(row):
            numbers.append(number)
            spans.append((str(row.get(context)), start, end))

    unit, places = in_characters(spans)
    if places != [(start, end) for _, start, end in spans]:
        say(f"{table.path}: offsets count {unit}")

    regions: list[list[Region]] = [[] for _ in table.rows]
    for number, (start, end) in zip(numbers, places, strict=True):
        of_row = regions[number]
        name = str(len(of_row))
        value = {"label": {"start": start, "end": end}}
        of_row.append(Region(name, value))
    return regions


def _doccano_spans(row: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield the spans of doccano: `entities`, or `[start, end, name]`, as spaCy has them, too."""
    for column in ("entities", "label"):
        marks = row.get(column)
        for mark in marks if isinstance(marks, list) else ():
            start = end = None
            if isinstance(mark, Mapping):
                start = mark.get("start_offset")
                end = mark.get("end_offset")
            elif isinstance(mark, list) and len(mark) == 3:
                start, end, _ = mark
            if isinstance(start, int) and isinstance(end, int):
                yield start, end


def _spans(
    rows: Sequence[Mapping[str, Any]], context: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every span with its context."""
    for row in rows:
        for region in row[REGIONS] or ():
            span = region.span()
            if span and isinstance(row.get(context), str):
                yield row[context], span


def _questions(
    row: Mapping[str, Any], context: str, question: str, in_utf16: bool
) -> Iterator[dict[str, Any]]:
    """Yield the questions of a row, each with its answers; None: not annotated."""
    regions = row[REGIONS]
    if regions is None:
        yield {**row, "answers": None}
        return

    answers = []
    for region in regions:
        of_region = []
        span = region.span()
        if span:
            marked = read_span(str(row.get(context)), span, in_utf16)
            of_region.append({"text": marked.text, "answer_start": marked.start})
        text = region.text()
        if text:
            guid = f"{row.get('id')}-{region.id}"
            yield {**row, "id": guid, question: text, "answers": of_region}
        else:
            answers += of_region
    if answers or isinstance(row.get(question), str):
        yield {**row, "answers": answers}
