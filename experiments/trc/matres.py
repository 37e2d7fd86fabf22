"""`heron build matres`: MATRES's relations, marked in the texts of TempEval-3.

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
from heron.base.terminal import print_lines, print_tables, tracked
from heron.config.parsing import parse_options
from heron.data.examples import Span
from heron.data.manifests import write_built
from heron.data.markers import Markers, mark
from heron.languages import get_language

from .tables import LABELS
from .tables import MATRES as PARTS

SPLITS = {"train": ("timebank", "aquaint"), "test": ("platinum",)}  # as in its paper
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
    """A document: its text, its sentences, and its events by instance number."""

    text: str
    sentences: Sequence[Span]
    events: Mapping[str, Span]
    unnumbered: Sequence[Span]  # events without an instance

    def event(self, number: str, word: str) -> Span:
        """Find an event by its number, or by its word if it has no instance.

        Raises:
            ValueError: there is none, or more than one; or the number has another word.
        """
        spans = [self.events[number]] if number in self.events else self.unnumbered
        found = [span for span in spans if word.casefold() in self.text[slice(*span)].casefold()]
        if len(found) == 1:
            return found[0]
        if number in self.events:
            raise ValueError(f"'{word}' is '{self.text[slice(*spans[0])]}' in the text")
        what = f"{len(found)} events '{word}' without an instance"
        raise ValueError(f"no event instance ei{number}, and {what}")


def run(arguments: Sequence[str]) -> int:
    """Write train.csv and test.csv, which `data=matres` reads; returns the exit code."""
    options = parse_options(MatresOptions, arguments)
    lines = {name: read_relations(options.relations / f"{name}.txt") for name in PARTS}
    places = {path.stem: path for folder in options.texts for path in folder.rglob("*.tml")}
    named = {line[0] for part in lines.values() for line in part}
    if missing := sorted(named - set(places)):
        folders = ", ".join(map(str, options.texts))
        what = f"{len(missing)} of {len(named)} documents are missing, such as {missing[0]}.tml"
        raise DataError(folders, what, "TimeBank, AQUAINT and Platinum of TempEval-3")
    documents = {name: read_timeml(places[name]) for name in tracked(sorted(named), "reading")}
    rows: list[tuple[Cell, ...]] = []
    problems: list[Problem] = []
    by_word = 0
    paths: list[Path] = []
    for split, parts in SPLITS.items():
        found = []
        before = len(problems)
        for name in parts:
            path = options.relations / f"{name}.txt"
            for number, line in enumerate(lines[name], 1):
                document = documents[line[0]]
                try:
                    found.append(place(line, document))
                except ValueError as error:
                    fix = f"an event of {places[line[0]]}"
                    problems.append(Problem(f"{path}:{number}", str(error), fix))
                    continue
                by_word += not {*line[3:5]} <= document.events.keys()
        if not found:
            raise DataError(problems or [Problem(split, "no relation", " and ".join(parts))])
        written = dict(zip(COLUMNS, map(list, zip(*found, strict=True)), strict=True))
        counts = Counter(each[-1] for each in found)
        left_out = len(problems) - before
        rows.append((split, len(found), *(counts[n] for n in LABELS.values()), left_out))
        documents_used = sorted({line[0] for name in parts for line in lines[name]})
        paths += write_built(
            options.out / f"{split}.csv",
            written,
            "heron build matres",
            [options.relations / f"{name}.txt" for name in parts]
            + [places[name] for name in documents_used],
            {"events that the texts lack": left_out},
        )
    notes = [f"Found by its word, without an instance of the text: {by_word:,}."] if by_word else []
    notes += [f"Left out: {problem}." for problem in problems[:3]]
    columns = ("split", "pairs", *LABELS.values(), "left out")
    print_tables([Table("MATRES", columns, tuple(rows), " ".join(notes))])
    print_lines(*paths)
    return 0


def read_relations(path: Path) -> list[list[str]]:
    """Read document, both words, both instances and label of each line.

    Raises:
        DataError: the file is missing, or lines have another format; names each.
    """
    try:
        lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(str(path), f"cannot be read: {error}", "MATRES's file") from error
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
        raise DataError(str(path), f"cannot be read: {error}", "TimeML") from error
    body = root.find("TEXT")
    if body is None:
        raise DataError(str(path), "has no TEXT", "TimeML of TempEval-3")
    text, spans = "", {}
    for element, opens in _walk(body):
        if opens:
            start, text = len(text), text + (element.text or "")
            if element.tag == "EVENT":
                spans[element.get("eid")] = Span(start, start + len("".join(element.itertext())))
        else:
            text += element.tail or ""
    made = {
        str(each.get("eiid")).removeprefix("ei"): each.get("eventID")
        for each in root.iter("MAKEINSTANCE")
        if each.get("eventID") in spans
    }
    events = {number: spans[name] for number, name in made.items()}
    unnumbered = [span for name, span in spans.items() if name not in made.values()]
    return TimeML(text, [Span(*m.span()) for m in _SENTENCE.finditer(text)], events, unnumbered)


def _walk(body: ElementTree.Element) -> list[tuple[ElementTree.Element, bool]]:
    """List the start and end of each element, in the order of the text."""
    found = [(body, True)]
    for child in body:
        found += _walk(child)
        found.append((child, False))
    return found


def place(line: Sequence[str], document: TimeML) -> tuple[str, str, str, str]:
    """Mark both events of a relation, in the sentences from the first to the last event.

    Returns:
        guid (document and both instances), document, text with markers, label.

    Raises:
        ValueError: the document has no such event, or another word at it.
    """
    name, *words, first, second, label = line
    spans = [document.event(*event) for event in zip((first, second), words, strict=True)]
    low, high = min(spans).start, max(spans).end
    inside = [each for each in document.sentences if each.start < high and each.end > low]
    start, end = min(inside[0].start, low), max(inside[-1].end, high)
    text = document.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    places = [Span(a - start, b - start) for a, b in spans]
    marked = mark(text, places, Markers(*get_language("en").event_markers)).text
    return f"{name}.{first}.{second}", name, " ".join(marked.split()), label
