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

from heron.base.errors import Problem, raise_all
from heron.base.files import fingerprint, read_yaml
from heron.base.tables import read_table
from heron.base.terminal import say
from heron.data.config import SPLITS
from heron.languages import get_language

from .articles import Paragraph

ANSWER, QUESTION, CONTEXT = "answer", "question", "context"  # names of tags in the configuration
_FIX = "export the project as JSON (not JSON-MIN, CSV or another format)"


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
    marked: str | None  # the span's text as stored by the tool, or None

    @property
    def answer(self) -> str:
        """The text at the span."""
        if self.span is None:
            return ""
        start, end = self.span
        return self.paragraph.text[start:end]


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
    """Read JSON exports of one project or several.

    Cancelled annotations are skipped; drafts and predictions are not read.

    Raises:
        DataError: files or tasks of another format, or an article in two splits; names all.
    """
    problems: list[Problem] = []
    questions: list[AnnotatedQuestion] = []
    tasks = open_tasks = 0
    splits: dict[str, tuple[str, str]] = {}  # by title: its split, and the place of its first task
    for path in paths:
        table = read_table(path, bad_rows="report")
        problems += table.problems
        for index, row in enumerate(table.rows):
            number = row.get("id", index + 1)
            where = f"{table.where(index)} (task {number})"
            try:
                paragraph = _paragraph(row)
                of_task = _annotations(row, where, paragraph)
            except ValueError as error:
                problems.append(Problem(where, str(error), _FIX))
                continue

            tasks += 1
            if not of_task:
                open_tasks += 1
            questions += of_task

            title, split = paragraph.title, paragraph.split
            first_split, first_where = splits.setdefault(title, (split, where))
            if split != first_split:
                problem = f"'{title}' is in {split} here, in {first_split} in {first_where}"
                fix = "one article in one split: do not mix tasks of two samples"
                problems.append(Problem(where, problem, fix))

    raise_all(problems)
    return Export(questions, tasks, open_tasks)


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


def _annotations(
    row: Mapping[str, Any], where: str, paragraph: Paragraph
) -> list[AnnotatedQuestion]:
    """Read the questions of a task; raises ValueError for another format."""
    annotations = row.get("annotations")
    if not isinstance(annotations, list):
        raise ValueError("no list 'annotations'")

    task = str(row.get("id", ""))
    questions = []
    for annotation in annotations:
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
            raise ValueError("an annotation without a list 'result'")
        if annotation.get("was_cancelled"):
            continue

        annotator = _annotator(annotation.get("completed_by"))
        for region_id, region in _regions(annotation["result"]).items():
            question_id = fingerprint(paragraph.id, annotator, region_id)[:16]
            names = (where, task, annotator, question_id)
            questions.append(_question(region, names, paragraph))
    return questions


def _annotator(user: Any) -> str:
    """Name an annotator, by mail address or number."""
    if isinstance(user, dict):
        return str(user.get("email") or user.get("id"))
    return str(user or "")


def _regions(results: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Join the results of each region: the values of its answer and question, by its id."""
    regions: dict[str, dict[str, Any]] = {}
    for result in results:
        name = result.get("from_name") if isinstance(result, dict) else None
        if name not in (ANSWER, QUESTION):
            continue
        value = result.get("value")
        if not isinstance(value, dict):
            raise ValueError(f"a result of {name} without a 'value'")
        region = regions.setdefault(str(result.get("id")), {})
        region[name] = value
    return regions


def _question(
    region: Mapping[str, Any], names: tuple[str, str, str, str], paragraph: Paragraph
) -> AnnotatedQuestion:
    """Read a region.

    Args:
        region: the values of its answer and its question, either of which may be missing.
        names: file and line, task, annotator, and id of the question.
        paragraph: that the answer is marked in.
    """
    text = region.get(QUESTION, {}).get("text") or ""
    if isinstance(text, list):
        text = " ".join(map(str, text))
    question = " ".join(str(text).split())

    answer = region.get(ANSWER)
    if answer is None:
        return AnnotatedQuestion(*names, paragraph, question, span=None, marked=None)
    span = _span(paragraph.text, answer)
    marked = answer.get("text")
    if not isinstance(marked, str):
        marked = None
    return AnnotatedQuestion(*names, paragraph, question, span, marked)


def _span(context: str, value: Mapping[str, Any]) -> tuple[int, int]:
    """Read a span, without outer blanks.

    Some versions of Label Studio count UTF-16 units, in which an emoji is two: if the stored text
    is only found at such offsets, they are used.

    Args:
        context: the paragraph.
        value: `start`, `end` and `text` of a result.

    Returns:
        Start and (exclusive) end, in characters.

    Raises:
        ValueError: the offsets are no whole numbers.
    """
    try:
        start, end = int(value["start"]), int(value["end"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"a span without whole numbers 'start' and 'end': {value!r:.60}"
        ) from error

    text = value.get("text")
    if isinstance(text, str) and context[start:end] != text:
        low, high = _from_utf16(context, start), _from_utf16(context, end)
        if context[low:high] == text:
            start, end = low, high

    start, end = max(start, 0), min(end, len(context))
    while start < end and context[start].isspace():
        start += 1
    while start < end and context[end - 1].isspace():
        end -= 1
    return start, max(start, end)


def _from_utf16(text: str, offset: int) -> int:
    """Count the characters before an offset in UTF-16 units."""
    units = text.encode("utf-16-le")[: 2 * offset]
    return len(units.decode("utf-16-le", "ignore"))
