"""Exports of annotation tools as tables: Label Studio's JSON, JSON-MIN and CSV; doccano's spans.

A task of Label Studio is a row of data with annotations. An annotation has results, each with the
name of its tag in the labelling configuration; results with one id are about one region, such as a
span and the question that it answers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from heron.base.tables import FileTable, is_missing
from heron.data.offsets import count_utf16, from_utf16

# Column of the regions of a row: of each, its id and the values of its tags by name.
REGIONS = "heron: regions"
# Columns of JSON-MIN and CSV beside the data and the tags.
_FLAT = {"annotator", "annotation_id", "created_at", "updated_at", "lead_time"}

Region = tuple[str, dict[str, Any]]


def plain_table(table: FileTable) -> FileTable:
    """Turn an export of Label Studio into a table with a row for each task; others are kept.

    Its columns are those of the tasks' data, `id`, and one for each tag with which annotators have
    chosen classes. Where annotators disagree, that cell is a list. Spans are in `REGIONS`.
    Cancelled annotations and predictions are not read.
    """
    if table.rows and all(map(_is_task, table.rows)):
        rows = [_row_of_task(row) for row in table.rows]
        lines = table.lines
    elif set(table.columns) >= _FLAT:
        rows, lines = _joined_by_task(table)
    else:
        return table
    columns = dict.fromkeys(name for row in rows for name in row)
    for row in rows:
        row.update({name: None for name in columns if name not in row})
    return replace(table, columns=tuple(columns), rows=rows, lines=lines)


def _is_task(row: Mapping[str, Any]) -> bool:
    """Tell a task of Label Studio's JSON from other rows."""
    return isinstance(row.get("data"), Mapping) and isinstance(row.get("annotations"), list)


def annotations_of(row: Mapping[str, Any]) -> Iterator[tuple[Any, list[Region]]]:
    """Yield who has made each annotation of a task, as JSON has it, and its regions."""
    for annotation in row["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        regions: dict[str, dict[str, Any]] = {}
        for result in annotation.get("result") or ():
            name, value = result.get("from_name"), result.get("value")
            if name and isinstance(value, Mapping):  # others relate regions
                region = regions.setdefault(str(result.get("id")), {})
                region[name] = value
        yield annotation.get("completed_by"), list(regions.items())


def _row_of_task(row: Mapping[str, Any]) -> dict[str, Any]:
    """Join the annotations of a task."""
    regions: list[Region] = []
    choices: dict[str, list[Any]] = {}
    is_annotated = False
    for _, of_annotator in annotations_of(row):
        is_annotated = True
        regions += of_annotator
        for _, region in of_annotator:
            for name, value in region.items():
                if "choices" in value:
                    choices.setdefault(name, []).append(_class_of(value))
    joined = {**row["data"], "id": row.get("id")}
    joined |= {name: _agreed(classes) for name, classes in choices.items()}
    joined[REGIONS] = regions if is_annotated else None
    return joined


def _class_of(value: Any) -> Any:
    """Read chosen classes: one, or a list of several."""
    if isinstance(value, Mapping) and "choices" in value:
        value = value["choices"]
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _agreed(values: Sequence[Any]) -> Any:
    """Reduce annotators' values to the one that all have; otherwise a list of those that differ."""
    different = []
    for value in values:
        if value not in different:
            different.append(value)
    return different[0] if len(different) == 1 else different


def _joined_by_task(table: FileTable) -> tuple[list[dict[str, Any]], list[int]]:
    """Join the rows of JSON-MIN or CSV, one for each annotation, by task; with their lines.

    Rows with spans are kept: a question may be in a cell of its own.
    """
    tasks: dict[Any, list[dict[str, Any]]] = {}
    lines: dict[Any, int] = {}
    for number, row in enumerate(table.rows):
        cells = {name: flat_value(cell) for name, cell in row.items()}
        cells[REGIONS] = flat_regions(cells)
        task = row.get("id")
        key = (task, None if task and not cells[REGIONS] else number)
        tasks.setdefault(key, []).append(cells)
        lines.setdefault(key, table.lines[number])

    rows = []
    for of_task in tasks.values():
        first = of_task[0]
        joined = {}
        for name in first:
            if name not in _FLAT:
                joined[name] = _agreed([_class_of(cells[name]) for cells in of_task])
        joined[REGIONS] = None if is_missing(first["annotation_id"]) else first[REGIONS]
        rows.append(joined)
    return rows, list(lines.values())


def flat_value(cell: Any) -> Any:
    """Read a cell of JSON-MIN or CSV, which writes lists and mappings as JSON."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except ValueError:  # a text that begins so
            return cell
    return cell


def flat_regions(row: Mapping[str, Any]) -> list[Region]:
    """Read the regions of a row of JSON-MIN or CSV, which have no ids.

    Texts of a tag belong to the spans in their order, where there are as many.
    """
    spans: dict[str, list[Any]] = {}
    for name, value in row.items():
        if isinstance(value, list) and value and all(map(is_span, value)):
            spans[name] = value
    count = max(map(len, spans.values()), default=0)
    regions: list[Region] = [(str(number), {}) for number in range(count)]
    for name, value in row.items():
        values = spans.get(name)
        if values is None and isinstance(value, list) and len(value) == count:
            values = [{"text": [text]} for text in value]
        for (_, region), of_span in zip(regions, values or (), strict=False):
            region[name] = of_span
    return regions


def is_span(value: Any) -> bool:
    """Tell whether a value is a marked span; a text about one may have its offsets, too."""
    if not isinstance(value, Mapping) or isinstance(value.get("text"), list):
        return False
    return isinstance(value.get("start"), int) and isinstance(value.get("end"), int)


def rendered(text: str) -> str:
    r"""Write a text as Label Studio shows it: single blanks, and line breaks as `\n` or blanks."""
    return " ".join(text.replace("\\n", " ").split())


def counts_utf16(spans: Iterator[tuple[str, Mapping[str, Any]]]) -> bool:
    """Tell whether the spans of an export, each with its context, count UTF-16 units."""
    offsets = []
    for context, span in spans:
        text = span.get("text")
        if isinstance(text, str):
            offsets.append((context, text, span["start"]))
    return count_utf16(offsets, _shows)


def _shows(context: str, text: str, start: int) -> bool:
    return rendered(context[max(start, 0) :]).startswith(rendered(text))


def read_span(context: str, span: Mapping[str, Any], in_utf16: bool) -> tuple[str, int, int, bool]:
    """Read a span.

    Args:
        context: the text that it is marked in.
        span: its `start`, `end` and perhaps its `text`, as shown to the annotator.
        in_utf16: whether the export counts UTF-16 units. Where the text is not there, the other
            unit is tried.

    Returns:
        The text, start and (exclusive) end in characters, and whether the text is there.
    """
    start, end = span["start"], span["end"]
    text = span.get("text")
    by_character = (start, end)
    by_unit = (from_utf16(context, start), from_utf16(context, end))
    places = [by_unit, by_character] if in_utf16 else [by_character, by_unit]
    for first, last in places:
        there = context[max(first, 0) : max(last, 0)]
        if not isinstance(text, str) or rendered(text) == rendered(there):
            return there, first, last, True
    return str(text), *places[0], False


def doccano_regions(row: Mapping[str, Any]) -> list[Region] | None:
    """Read the spans of doccano: `label` with `[start, end, name]`, or `entities`; None: none."""
    regions: list[Region] = []
    for entity in row.get("entities") or ():
        span = {"start": entity["start_offset"], "end": entity["end_offset"]}
        regions.append((str(entity["id"]), {"label": span}))
    labels = row.get("label")
    for label in labels if isinstance(labels, list) else ():
        if not isinstance(label, list) or len(label) != 3:
            return None
        start, end, _ = label
        regions.append((str(len(regions)), {"label": {"start": start, "end": end}}))
    return regions


def question_table(table: FileTable, context: str, question: str, guid: str) -> FileTable:
    """Turn the regions of a table into questions with `answers`; other tables are kept.

    A region with a text of its own, such as a question that the annotator wrote, is a question;
    otherwise all spans of a row answer the row's question.

    Args:
        table: an export of Label Studio (see `plain_table`) or of doccano.
        context, question, guid: names of columns.
    """
    if REGIONS not in table.columns:
        rows = [{**row, REGIONS: doccano_regions(row)} for row in table.rows]
        if not any(row[REGIONS] for row in rows):
            return table
        table = replace(table, rows=rows)

    in_utf16 = counts_utf16(_spans(table.rows, context))
    tags = {REGIONS, *_tags(table.rows)}
    questions: dict[Any, dict[str, Any]] = {}
    lines: dict[Any, int] = {}
    for row, line in zip(table.rows, table.lines, strict=True):
        for asked in _questions(row, tags, context, question, in_utf16):
            key = (row.get("id", line), asked.get(question))
            if key in questions and asked["answers"]:  # of another annotator
                answers = questions[key]["answers"] or []
                questions[key]["answers"] = [*answers, *asked["answers"]]
            asked.setdefault(guid, asked.get("id"))
            questions.setdefault(key, asked)
            lines.setdefault(key, line)
    rows = list(questions.values())
    columns = dict.fromkeys(name for row in rows for name in row)
    return replace(table, columns=tuple(columns), rows=rows, lines=list(lines.values()))


def _tags(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names of the tags of every region."""
    for row in rows:
        for _, region in row[REGIONS] or ():
            yield from region


def _spans(
    rows: Sequence[Mapping[str, Any]], context: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every span with its context."""
    for row in rows:
        for _, region in row[REGIONS] or ():
            for value in region.values():
                if is_span(value) and isinstance(row.get(context), str):
                    yield row[context], value


def _questions(
    row: Mapping[str, Any], tags: Collection[str], context: str, question: str, in_utf16: bool
) -> Iterator[dict[str, Any]]:
    """Yield the questions of a row, each with its answers; None: not annotated."""
    shared = {name: cell for name, cell in row.items() if name not in tags or name == question}
    regions = row[REGIONS]
    if regions is None:
        yield {**shared, "answers": None}
        return

    text = str(row.get(context))
    answers = []
    for region_id, region in regions:
        of_region = []
        for value in region.values():
            if is_span(value):
                answer, start, _, _ = read_span(text, value, in_utf16)
                of_region.append({"text": answer, "answer_start": start})
        asked = region_text(region)
        if asked:
            guid = f"{row.get('id')}-{region_id}"
            yield {**shared, "id": guid, question: asked, "answers": of_region}
        else:
            answers += of_region
    if answers or isinstance(shared.get(question), str):
        yield {**shared, "answers": answers}


def region_text(region: Mapping[str, Any]) -> str:
    """Read what an annotator has written about a region; empty for nothing."""
    for value in region.values():
        text = value.get("text")
        if isinstance(text, list):
            return " ".join(" ".join(map(str, text)).split())
    return ""
