"""Label Studio: tasks and labelling configuration for import, and reading its export.

An annotator marks a span of the paragraph and writes a question into the span's field. So two
results with one id (the region's) are an answer and its question. Import and export use files, so
Label Studio's library is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from heron.base.errors import DataError, Problem
from heron.base.files import fingerprint, read_yaml
from heron.base.tables import read_table
from heron.base.terminal import say
from heron.data.config import SPLITS
from heron.languages import get_language

from .articles import Paragraph

ANSWER, QUESTION, CONTEXT = "answer", "question", "context"  # names of tags in the configuration
_FIX = "export the project as JSON (not JSON-MIN, CSV or another format)"


@dataclass(frozen=True, slots=True)
class Asked:
    """One region of an export: a question with its marked span, either of which may be missing."""

    where: str  # file, line and task, for messages
    task: str  # Label Studio's number of the task
    annotator: str
    id: str  # stable, made from paragraph, annotator and region
    paragraph: Paragraph
    question: str  # stripped; empty if none was written
    # character offsets in the paragraph, without outer blanks; None without a marked span
    span: tuple[int, int] | None
    marked: str | None  # the span's text as stored by the tool, or None

    @property
    def answer(self) -> str:
        """The text at the span."""
        return self.paragraph.text[slice(*self.span)] if self.span else ""


@dataclass(frozen=True, slots=True)
class Export:
    """Annotators' questions, and the number of open tasks."""

    asked: list[Asked]
    tasks: int
    open: int


def make_tasks(paragraphs: Sequence[Paragraph], seed: int) -> list[dict[str, Any]]:
    """Write paragraphs as tasks, in a random order (ParaShoot, section 2.2)."""
    ordered = sorted(paragraphs, key=lambda one: fingerprint(seed, "order", one.id))
    return [
        {
            "data": {
                "paragraph": one.id,
                "title": one.title,
                CONTEXT: one.text,
                "split": one.split,
            }
        }
        for one in ordered
    ]


def wording(language: str) -> Mapping[str, Any]:
    """Find annotators' instructions: in wording.yaml, in the language's YAML, or in English."""
    known = read_yaml(Path(__file__).with_name("wording.yaml"))
    path = get_language(language).wording
    found = known.get(language) or (read_yaml(path) if path else {}).get("annotators")
    if not found:
        say(
            f"language={language}: annotators read English; translate labelling.xml and "
            "instructions.txt, or write `annotators:` into the language's YAML, as "
            "experiments/parashoot/corpus/wording.yaml has it"
        )
    return dict(found or known["en"])


def labelling_config(language: str) -> str:
    """Write the project's labelling configuration.

    Source: ParaShoot, section 2.2 and Figure 1: title, paragraph, a slot for the question; the
    the answer is marked with the mouse.
    """
    words = wording(language)
    direction = get_language(language).direction
    view = ElementTree.Element("View", style=f"direction: {direction}; text-align: start;")
    ElementTree.SubElement(view, "Header", value="$title")
    labels = ElementTree.SubElement(view, "Labels", name=ANSWER, toName=CONTEXT)
    ElementTree.SubElement(labels, "Label", value=words["label"], background="#0072B2")
    # `symbol` also marks parts of words, for answers after a prefix.
    ElementTree.SubElement(view, "Text", name=CONTEXT, value=f"${CONTEXT}", granularity="symbol")
    ElementTree.SubElement(
        view,
        "TextArea",
        name=QUESTION,
        toName=CONTEXT,
        perRegion="true",
        required="true",
        maxSubmissions="1",
        editable="true",
        rows="1",
        placeholder=words["placeholder"],
    )
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def read_exports(paths: Sequence[Path]) -> Export:
    """Read JSON exports of one project or several.

    Cancelled annotations are skipped; drafts and predictions are not read.

    Raises:
        DataError: files or tasks of another format, or an article in two splits; names all.
    """
    problems: list[Problem] = []
    asked: list[Asked] = []
    tasks = left = 0
    splits: dict[str, tuple[str, str]] = {}  # by title: its split, and the place of its first task
    for path in paths:
        table = read_table(path, bad_rows="report")
        problems += table.problems
        for index, row in enumerate(table.rows):
            where = f"{table.where(index)} (task {row.get('id', index + 1)})"
            try:
                paragraph = _paragraph(row)
                found = _annotations(row, where, paragraph)
            except ValueError as error:
                problems.append(Problem(where, str(error), _FIX))
                continue
            tasks += 1
            left += not found
            asked += found
            split, first = splits.setdefault(paragraph.title, (paragraph.split, where))
            if split != paragraph.split:
                what = f"'{paragraph.title}' is in {paragraph.split} here, in {split} in {first}"
                fix = "one article in one split: do not mix tasks of two samples"
                problems.append(Problem(where, what, fix))
    if problems:
        raise DataError(problems)
    return Export(asked, tasks, left)


def _paragraph(row: Mapping[str, Any]) -> Paragraph:
    data = row.get("data")
    if not isinstance(data, dict):
        raise ValueError("no 'data': it is no task of Label Studio")
    cells = [data.get(name) for name in ("paragraph", "title", CONTEXT, "split")]
    if not all(isinstance(cell, str) and cell for cell in cells):
        raise ValueError("its data needs paragraph, title, context and split, as in tasks.json")
    paragraph = Paragraph(*map(str, cells))
    if paragraph.split not in SPLITS:
        raise ValueError(f"split '{paragraph.split}': one of {', '.join(SPLITS)}")
    return paragraph


def _annotations(row: Mapping[str, Any], where: str, paragraph: Paragraph) -> list[Asked]:
    annotations = row.get("annotations")
    if not isinstance(annotations, list):
        raise ValueError("no list 'annotations'")
    found = []
    for annotation in annotations:
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
            raise ValueError("an annotation without a list 'result'")
        if annotation.get("was_cancelled"):
            continue
        by = annotation.get("completed_by")
        annotator = str(by.get("email") or by.get("id") if isinstance(by, dict) else by or "")
        regions: dict[str, dict[str, Any]] = {}
        for result in annotation["result"]:
            if isinstance(result, dict) and result.get("from_name") in (ANSWER, QUESTION):
                value = result.get("value")
                if not isinstance(value, dict):
                    raise ValueError(f"a result of {result['from_name']} without a 'value'")
                region = regions.setdefault(str(result.get("id")), {})
                region[result["from_name"]] = value
        for name, region in regions.items():
            own = fingerprint(paragraph.id, annotator, name)[:16]
            task = str(row.get("id", ""))
            found.append(_asked(region, (where, task, annotator, own), paragraph))
    return found


def _asked(
    region: Mapping[str, Any], names: tuple[str, str, str, str], paragraph: Paragraph
) -> Asked:
    written = region.get(QUESTION, {}).get("text") or ""
    question = " ".join(map(str, written)) if isinstance(written, list) else str(written)
    value = region.get(ANSWER)
    span = None if value is None else _span(paragraph.text, value)
    text = None if value is None else value.get("text")
    marked = text if isinstance(text, str) else None
    return Asked(*names, paragraph, " ".join(question.split()), span, marked)


def _span(context: str, value: Mapping[str, Any]) -> tuple[int, int]:
    """Read a span, without outer blanks.

    Some versions of Label Studio count UTF-16 units, in which an emoji is two: if the stored text
    is only found at such offsets, they are used.
    """
    try:
        start, end = int(value["start"]), int(value["end"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"a span without whole numbers 'start' and 'end': {value!r:.60}"
        ) from error
    text = value.get("text")
    if isinstance(text, str) and context[start:end] != text:
        units = context.encode("utf-16-le")
        places = [len(units[: 2 * n].decode("utf-16-le", "ignore")) for n in (start, end)]
        if context[slice(*places)] == text:
            start, end = places
    start, end = max(start, 0), min(end, len(context))
    while start < end and context[start].isspace():
        start += 1
    while start < end and context[end - 1].isspace():
        end -= 1
    return start, max(start, end)
