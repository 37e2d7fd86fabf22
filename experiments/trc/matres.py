"""`heron build matres`: MATRES's relations, marked in the texts of TempEval-3.

Source: Ning, Wu and Roth, "A Multi-Axis Annotation Scheme for Event Temporal Relations" (labels);
UzZaman et al., "SemEval-2013 Task 1: TempEval-3" (texts, TimeML). Neither is part of heron.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from heron.base.cells import Row, Table
from heron.base.errors import DataError, Problem
from heron.base.tables import as_columns
from heron.base.terminal import print_lines, print_tables, tracked
from heron.config.parsing import parse_options
from heron.data.examples import Span
from heron.data.manifests import write_built
from heron.data.markers import Markers, mark
from heron.languages import get_language

from .tables import LABELS, read_relations
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
        folded = word.casefold()
        if number in self.events:
            span = self.events[number]
            text = self.text[slice(*span)]
            if folded in text.casefold():
                return span
            raise ValueError(f"'{word}' is '{text}' in the text")

        spans = []
        for span in self.unnumbered:
            text = self.text[slice(*span)]
            if folded in text.casefold():
                spans.append(span)
        if len(spans) == 1:
            return spans[0]

        candidates = f"{len(spans)} events '{word}' without an instance"
        raise ValueError(f"no event instance ei{number}, and {candidates}")


def run(arguments: Sequence[str]) -> int:
    """Write train.csv and test.csv, which `data=matres` reads; returns the exit code."""
    options = parse_options(MatresOptions, arguments)
    files = {}
    lines = {}
    mentioned: set[str] = set()  # names of documents
    for part in PARTS:
        files[part] = options.relations / f"{part}.txt"
        lines[part] = read_relations(files[part])
        mentioned.update(line[0] for line in lines[part])

    names = sorted(mentioned)
    texts = _find_texts(options.texts, names)
    documents = {}
    for name in tracked(names, "reading"):
        documents[name] = read_timeml(texts[name])

    rows: list[Row] = []
    problems: list[Problem] = []
    paths: list[Path] = []
    by_word = 0
    label_names = LABELS.values()

    for split, parts in SPLITS.items():
        relations = []
        used: set[str] = set()
        problems_before = len(problems)

        for part in parts:
            for number, line in enumerate(lines[part], 1):
                name, _, _, first, second, _ = line
                document = documents[name]
                used.add(name)

                try:
                    relations.append(mark_relation(line, document))
                except ValueError as error:
                    where = f"{files[part]}:{number}"
                    fix = f"an event of {texts[name]}"
                    problems.append(Problem(where, str(error), fix))
                    continue

                if first not in document.events or second not in document.events:
                    by_word += 1

        if not relations:
            if not problems:
                fix = " and ".join(parts)
                problems.append(Problem(split, "no relation", fix))
            raise DataError(problems)

        columns = as_columns(COLUMNS, relations)
        left_out = len(problems) - problems_before
        counts = [columns["label"].count(name) for name in label_names]
        rows.append((split, len(relations), *counts, left_out))

        sources = [files[part] for part in parts]
        sources += [texts[name] for name in sorted(used)]
        reasons = {"events that the texts lack": left_out}
        out = options.out / f"{split}.csv"
        paths += write_built(out, columns, "heron build matres", sources, reasons)

    notes = [f"Left out: {problem}." for problem in problems[:3]]
    if by_word:
        note = f"Found by its word, without an instance of the text: {by_word:,}."
        notes.insert(0, note)

    titles = ("split", "pairs", *label_names, "left out")
    table = Table("MATRES", titles, rows, " ".join(notes))
    print_tables([table])
    print_lines(*paths)
    return 0


def _find_texts(folders: Sequence[Path], names: Sequence[str]) -> dict[str, Path]:
    """Find the .tml file of each document; a DataError counts those that are missing."""
    texts = {}
    for folder in folders:
        for path in folder.rglob("*.tml"):
            texts[path.stem] = path

    missing = [name for name in names if name not in texts]
    if missing:
        where = ", ".join(map(str, folders))
        count = f"{len(missing)} of {len(names)} documents are missing"
        problem = f"{count}, such as {missing[0]}.tml"
        raise DataError(where, problem, "TimeBank, AQUAINT and Platinum of TempEval-3")
    return texts


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

    text = ""
    spans = {}
    for element, opens in _walk(body):
        if not opens:
            text += element.tail or ""
            continue

        start = len(text)
        text += element.text or ""
        if element.tag == "EVENT":
            words = "".join(element.itertext())
            end = start + len(words)
            spans[element.get("eid")] = Span(start, end)

    events = {}
    unnumbered = dict(spans)
    for instance in root.iter("MAKEINSTANCE"):
        event = instance.get("eventID")
        if event in spans:
            number = str(instance.get("eiid")).removeprefix("ei")
            events[number] = spans[event]
            unnumbered.pop(event, None)

    sentences = [Span(*match.span()) for match in _SENTENCE.finditer(text)]
    return TimeML(text, sentences, events, list(unnumbered.values()))


def _walk(body: ElementTree.Element) -> list[tuple[ElementTree.Element, bool]]:
    """List the start and end of each element, in the order of the text."""
    tags = [(body, True)]
    for child in body:
        tags += _walk(child)
        tags.append((child, False))
    return tags


def mark_relation(line: Sequence[str], document: TimeML) -> tuple[str, str, str, str]:
    """Mark both events of a relation, in the sentences from the first to the last event.

    Args:
        line: document, both words, both instances and label.
        document: events outside every sentence are marked without one.

    Returns:
        guid (document and both instances), document, text with markers, label.

    Raises:
        ValueError: the document has no such event, or another word at it.
    """
    name, first_word, second_word, first, second, label = line
    spans = [document.event(first, first_word), document.event(second, second_word)]
    low = min(spans).start
    high = max(spans).end

    bounds = [low, high]
    for sentence in document.sentences:
        if sentence.start < high and sentence.end > low:
            bounds += sentence
    start = min(bounds)
    end = max(bounds)

    text = document.text[start:end]
    start += len(text) - len(text.lstrip())
    in_text = [Span(begin - start, finish - start) for begin, finish in spans]
    language = get_language("en")
    markers = Markers(*language.event_markers)
    marked = mark(text.strip(), in_text, markers)

    guid = f"{name}.{first}.{second}"
    one_line = " ".join(marked.text.split())
    return guid, name, one_line, label
