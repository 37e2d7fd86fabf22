"""Label Studio: tasks and labelling configuration for import, and reading its export.

An annotator marks a span of the paragraph and writes a question into the span's field. So two
results with one id (the region's) are an answer and its question. Import and export use files, so
Label Studio's library is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from heron.base.errors import Problem, raise_all
from heron.base.files import fingerprint, read_yaml
from heron.base.tables import is_missing, read_table
from heron.base.terminal import say
from heron.data.annotation_tools import (
    Region,
    annotations_of,
    flat_value,
    is_span,
    read_span,
    spans_use_utf16,
)
from heron.data.config import SPLITS
from heron.data.examples import Span
from heron.languages import get_language
from heron.tasks.qa.answers import trim

from .articles import Paragraph

# Names of tags in the configuration.
ANSWER = "answer"
QUESTION = "question"
CONTEXT = "context"
_FIX = "export the project as JSON, JSON-MIN or CSV"

Annotation = tuple[str, list[Region]]  # annotator, and the regions with a span or a question


@dataclass(frozen=True, slots=True)
class AnnotatedQuestion:
    """One region of an export: a question with its marked span, either of which may be missing."""

    where: str  # file, line and task, for messages
    task: str  # Label Studio's number of the task
    annotator: str
    id: str  # stable, made from paragraph, annotator and region
    paragraph: Paragraph
    question: str  # stripped; empty if none was written
    # character offsets in the paragraph, without outer blanks; None without a marked span
    span: tuple[int, int] | None
    marked: str | None  # the span's text as the tool has it, where the paragraph has another one

    @property
    def answer(self) -> str:
        """The text at the span."""
        if self.span is None:
            return ""
        start, end = self.span
        return self.paragraph.text[start:end]


@dataclass(frozen=True, slots=True)
class AnnotatedTask:
    """A paragraph and what annotators have made of it."""

    where: str  # file, line and task, for messages
    number: str  # Label Studio's
    paragraph: Paragraph
    made: list[Annotation]

    def regions(self) -> Iterator[tuple[str, Region]]:
        """Yield each region with its annotator."""
        for annotator, regions in self.made:
            for region in regions:
                yield annotator, region


@dataclass(frozen=True, slots=True)
class Export:
    """Annotators' questions, and the numbers of all tasks and of tasks without a question."""

    questions: list[AnnotatedQuestion]
    tasks: int
    open: int


def make_tasks(paragraphs: Sequence[Paragraph], seed: int) -> list[dict[str, Any]]:
    """Write paragraphs as tasks, in a random order.

    Args:
        paragraphs: of all splits.
        seed: of the order.

    Returns:
        Tasks as Label Studio imports them.

    Source: ParaShoot, section 2.2.
    """
    tasks = []
    ordered = sorted(paragraphs, key=lambda paragraph: fingerprint(seed, "order", paragraph.id))
    for paragraph in ordered:
        data = {
            "paragraph": paragraph.id,
            "title": paragraph.title,
            CONTEXT: paragraph.text,
            "split": paragraph.split,
        }
        tasks.append({"data": data})
    return tasks


def wording(language: str) -> Mapping[str, Any]:
    """Find annotators' instructions: in wording.yaml, in the language's YAML, or in English."""
    shipped = read_yaml(Path(__file__).with_name("wording.yaml"))
    words = shipped.get(language)
    path = get_language(language).wording
    if not words and path:
        words = read_yaml(path).get("annotators")
    if not words:
        say(
            f"language={language}: annotators read English; translate labelling.xml and "
            "instructions.txt, or write `annotators:` into the language's YAML, as "
            "experiments/parashoot/corpus/wording.yaml has it"
        )
        words = shipped["en"]
    return dict(words)


def labelling_config(language: str) -> str:
    """Write the project's labelling configuration.

    Source: ParaShoot, section 2.2 and Figure 1: title, paragraph, a slot for the question; the
    answer is marked with the mouse.
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
    """Read exports of one project or several: JSON, JSON-MIN or CSV.

    Cancelled annotations are skipped; drafts and predictions are not read. The offsets of a file
    are in characters or UTF-16 units, whichever fits its spans.

    Raises:
        DataError: files or tasks of another format, or an article in two splits; names all.
    """
    problems: list[Problem] = []
    questions: list[AnnotatedQuestion] = []
    tasks = 0
    open_tasks = 0
    splits: dict[str, tuple[str, str]] = {}  # by title: its split, and the place of its first task
    for path in paths:
        of_file = _read_tasks(path, problems)
        in_utf16 = spans_use_utf16(_spans(of_file))

        for task in of_file:
            of_task = []
            for annotator, region in task.regions():
                question_id = fingerprint(task.paragraph.id, annotator, region.id)[:16]
                names = (task.where, task.number, annotator, question_id)
                of_task.append(_question(region, names, task.paragraph, in_utf16))

            tasks += 1
            if not of_task:
                open_tasks += 1
            questions += of_task

            title = task.paragraph.title
            split = task.paragraph.split
            first_split, first_where = splits.setdefault(title, (split, task.where))
            if split != first_split:
                problem = f"'{title}' is in {split} here, in {first_split} in {first_where}"
                fix = "one article in one split: do not mix tasks of two samples"
                problems.append(Problem(task.where, problem, fix))

    raise_all(problems)
    return Export(questions, tasks, open_tasks)


def _read_tasks(path: Path, problems: list[Problem]) -> list[AnnotatedTask]:
    """Read the tasks of a file; those of another format are added to `problems`."""
    table = read_table(path, bad_rows="report")
    problems += table.problems

    tasks = []
    for index, row in enumerate(table.rows):
        number = str(row.get("id", index + 1))
        where = f"{table.where(index)} (task {number})"
        try:
            tasks.append(AnnotatedTask(where, number, _paragraph(row), _annotations(row)))
        except ValueError as error:
            problems.append(Problem(where, str(error), _FIX))
    return tasks


def _spans(tasks: Sequence[AnnotatedTask]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every marked span with its paragraph's text."""
    for task in tasks:
        for _, region in task.regions():
            if ANSWER in region.tags:
                yield task.paragraph.text, region.tags[ANSWER]


def _paragraph(row: Mapping[str, Any]) -> Paragraph:
    """Read the paragraph of a task; a ValueError says what is wrong with it."""
    data = row.get("data", row)  # JSON-MIN and CSV have them in the row
    if not isinstance(data, dict):
        raise ValueError("'data' is no mapping: it is no task of Label Studio")

    cells = [data.get(name) for name in ("paragraph", "title", CONTEXT, "split")]
    if not all(isinstance(cell, str) and cell for cell in cells):
        raise ValueError("its data needs paragraph, title, context and split, as in tasks.json")

    paragraph = Paragraph(*map(str, cells))
    if paragraph.split not in SPLITS:
        raise ValueError(f"split '{paragraph.split}': one of {', '.join(SPLITS)}")
    return paragraph


def _annotations(row: Mapping[str, Any]) -> list[Annotation]:
    """Read annotators and regions of a task; raises ValueError for another format."""
    if "data" not in row:
        if is_missing(row.get("annotation_id")):
            return []
        return [(_annotator(row.get("annotator")), _flat_regions(row))]

    if not isinstance(row.get("annotations"), list):
        raise ValueError("no list 'annotations'")
    made = []
    for user, regions in annotations_of(row):
        asked = [region for region in regions if region.tags.keys() & {ANSWER, QUESTION}]
        for region in asked:
            _check_span(region.tags.get(ANSWER))
        made.append((_annotator(user), asked))
    return made


def _flat_regions(row: Mapping[str, Any]) -> list[Region]:
    """Join the spans and the questions of a row of JSON-MIN or CSV by their order."""
    spans = flat_value(row.get(ANSWER)) or []
    questions = flat_value(row.get(QUESTION)) or []
    if not isinstance(questions, list):
        questions = [questions]
    if len(spans) != len(questions):
        raise ValueError("another number of spans than of questions, which only JSON can pair")

    regions = []
    for number, span in enumerate(spans):
        _check_span(span)
        tags = {ANSWER: span, QUESTION: {"text": questions[number]}}
        regions.append(Region(f"{row['annotation_id']} {number}", tags))
    return regions


def _check_span(value: Any) -> None:
    """Refuse a span whose offsets are no whole numbers by a ValueError."""
    if value is not None and not is_span(value):
        raise ValueError(f"a span without whole numbers 'start' and 'end': {value!r:.60}")


def _annotator(user: Any) -> str:
    """Name an annotator, by mail address or number."""
    if isinstance(user, dict):
        return str(user.get("email") or user.get("id"))
    return str(user or "")


def _question(
    region: Region,
    names: tuple[str, str, str, str],
    paragraph: Paragraph,
    in_utf16: bool,
) -> AnnotatedQuestion:
    """Read a region.

    Args:
        region: the values of its answer and its question, either of which may be missing.
        names: file and line, task, annotator, and id of the question.
        paragraph: that the answer is marked in.
        in_utf16: whether offsets count UTF-16 units.
    """
    text = region.tags.get(QUESTION, {}).get("text") or ""
    if isinstance(text, list):
        text = " ".join(map(str, text))
    question = " ".join(str(text).split())

    answer = region.tags.get(ANSWER)
    if answer is None:
        return AnnotatedQuestion(*names, paragraph, question, span=None, marked=None)
    marked = read_span(paragraph.text, answer, in_utf16)
    span = trim(paragraph.text, Span(max(marked.start, 0), max(marked.end, 0)))
    unlike = None if marked.is_there else marked.text
    return AnnotatedQuestion(*names, paragraph, question, span, unlike)
