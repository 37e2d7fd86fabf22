"""`heron build matres`: MATRES's relations put into the texts of TempEval-3.

Source: Ning, Wu and Roth, "A Multi-Axis Annotation Scheme for Event Temporal Relations" (labels);
UzZaman et al., "SemEval-2013 Task 1: TempEval-3" (texts, TimeML). Neither is part of heron.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from heron.base.cells import Cell, Table
from heron.base.errors import DataError, Problem
from heron.base.progress import tracked
from heron.base.tables import write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.options import parse_options
from heron.data.examples import Span
from heron.data.markers import Markers, mark
from heron.languages import get_language

from .tables import LABELS
from .tables import MATRES as PARTS

SPLITS = {"train": ("timebank", "aquaint"), "test": ("platinum",)}  # as its authors use it
COLUMNS = ("guid", "document", "text", "label")
# A sentence ends at ., ! or ? before a space and a capital, or at an empty line.
_SENTENCE = re.compile(r".+?(?:[.!?][\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z])|(?=\n\s*\n)|\Z)", re.DOTALL)


@dataclass
class MatresOptions:
    """Options of `heron build matres`."""

    relations: Path  # folder with timebank.txt, aquaint.txt and platinum.txt
    texts: list[Path]  # folders with the .tml files of TempEval-3, in any depth
    out: Path


@dataclass(frozen=True, slots=True)
class TimeML:
    """A document: its text, its sentences, and its events by the number of their instance."""

    text: str
    sentences: Sequence[Span]
    events: Mapping[str, Span]


def run(arguments: Sequence[str]) -> int:
    """Write train.csv and test.csv, which `data=matres` reads; returns the exit code."""
    options = parse_options(MatresOptions, arguments)
    lines = {name: read_relations(options.relations / f"{name}.txt") for name in PARTS}
    places = {path.stem: path for folder in options.texts for path in folder.rglob("*.tml")}
    named = {line[0] for part in lines.values() for line in part}
    if missing := sorted(named - set(places)):
        folders = ", ".join(map(str, options.texts))
        what = f"{len(missing)} of {len(named)} documents are missing, such as {missing[0]}.tml"
        raise DataError(Problem(folders, what, "TimeBank, AQUAINT and Platinum of TempEval-3"))
    documents = {name: read_timeml(places[name]) for name in tracked(sorted(named), "reading")}
    rows: list[tuple[Cell, ...]] = []
    problems: list[Problem] = []
    for split, parts in SPLITS.items():
        found = []
        for name in parts:
            path = options.relations / f"{name}.txt"
            for number, line in enumerate(lines[name], 1):
                try:
                    found.append(place(line, documents[line[0]]))
                except ValueError as error:
                    fix = f"an event of {places[line[0]]}"
                    problems.append(Problem(f"{path}:{number}", str(error), fix))
        columns = dict(zip(COLUMNS, zip(*found, strict=True), strict=True)) if found else {}
        counts = Counter(each[-1] for each in found)
        rows.append((split, len(found), *(counts[label] for label in LABELS.values())))
        if not problems:
            write_table(options.out / f"{split}.csv", {n: list(c) for n, c in columns.items()})
    if problems:
        raise DataError(problems)
    print_tables([Table("MATRES", ("split", "pairs", *LABELS.values()), tuple(rows))])
    print_lines(options.out / "train.csv", options.out / "test.csv")
    return 0


def read_relations(path: Path) -> list[list[str]]:
    """Read document, both words, both instances and label of each line.

    Raises:
        DataError: the file is missing, or lines have another form; names each.
    """
    try:
        lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(Problem(str(path), f"cannot be read: {error}", "MATRES's file")) from error
    allowed = list(LABELS.values())
    problems = [
        Problem(f"{path}:{number}", "not document, 2 words, 2 numbers, label", ", ".join(allowed))
        for number, line in enumerate(lines, 1)
        if len(line) != 6 or line[5] not in allowed
    ]
    if problems:
        raise DataError(problems)
    return lines


def read_timeml(path: Path) -> TimeML:
    """Read the text and the verb events of a TimeML document.

    Raises:
        DataError: it is no TimeML.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise DataError(Problem(str(path), f"cannot be read: {error}", "TimeML")) from error
    body = root.find("TEXT")
    if body is None:
        raise DataError(Problem(str(path), "has no TEXT", "TimeML of TempEval-3"))
    text, spans = "", {}
    for element, opens in _walk(body):
        if opens:
            start, text = len(text), text + (element.text or "")
            if element.tag == "EVENT":
                spans[element.get("eid")] = Span(start, start + len("".join(element.itertext())))
        else:
            text += element.tail or ""
    events = {
        str(made.get("eiid")).removeprefix("ei"): spans[made.get("eventID")]
        for made in root.iter("MAKEINSTANCE")
        if made.get("eventID") in spans
    }
    return TimeML(text, [Span(*m.span()) for m in _SENTENCE.finditer(text)], events)


def _walk(body: ElementTree.Element) -> list[tuple[ElementTree.Element, bool]]:
    """List where elements open and close, in the order of the text."""
    found = [(body, True)]
    for child in body:
        found += _walk(child)
        found.append((child, False))
    return found


def place(line: Sequence[str], document: TimeML) -> tuple[str, str, str, str]:
    """Mark both events of a relation in the sentences from the first to the last of them.

    Returns:
        guid (document and both instances), document, text with markers, label.

    Raises:
        ValueError: the document has no such event, or another word there.
    """
    name, *words, first, second, label = line
    for number, word in zip((first, second), words, strict=True):
        if number not in document.events:
            raise ValueError(f"no event ei{number} ('{word}')")
    spans = [document.events[number] for number in (first, second)]
    for word, span in zip(words, spans, strict=True):
        if word.casefold() not in (there := document.text[slice(*span)]).casefold():
            raise ValueError(f"'{word}' is '{there}' in the text")
    low, high = min(spans).start, max(spans).end
    inside = [each for each in document.sentences if each.start < high and each.end > low]
    start, end = min(inside[0].start, low), max(inside[-1].end, high)
    text = document.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    places = [Span(a - start, b - start) for a, b in spans]
    marked = mark(text, places, Markers(*get_language("en").event_markers)).text
    return f"{name}.{first}.{second}", name, " ".join(marked.split()), label
