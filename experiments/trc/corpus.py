"""Event pairs from treebanks and from TRC's own documents: `heron build trc`.

Source: TRC, section 3.1 (events, windows of two sentences, all pairs of a window), section 3.2
(two questions, two annotators, adjudication) and section 3.3 (time axes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from heron.base.cells import Table
from heron.base.errors import ConfigError, DataError, Problem
from heron.base.tables import Table as FileTable
from heron.base.tables import cell_text, write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Count, Fraction, Natural, OneOf, Seed
from heron.config.parsing import parse_options, run_step
from heron.data.examples import Span
from heron.data.markers import Markers, mark
from heron.data.overrides import write_config
from heron.languages import get_language
from heron_tools.annotation.labels import Labels
from heron_tools.annotation.measures import agreement_table, agreements, confusion_table, undecided
from heron_tools.annotation.sheets import read_from_people, write_for_people
from heron_tools.morphology.analyses import Token
from heron_tools.morphology.conllu import Sentence, read_conllu

from . import inception
from .tables import LABELS, label_of

COLUMNS = ("guid", "document", "window", "text", "label")
EVENTS = ("event_1", "event_2")  # columns of pairs.csv with guids of events.csv
MAIN = "main"
AXES = (MAIN, "intention", "opinion", "hypothetical", "parallel", "orthogonal")
_AXIS = re.compile(rf"{MAIN}|(?:{'|'.join(AXES[1:])})(?: \d+)?")  # one main axis, several others
VAGUE = "VAGUE"
VERB_FORMS = ("Conv", "Fin", "Gdv", "Ger", "Inf", "Part", "Sup", "Vnoun")  # Universal Dependencies
NO_EVENTS = ("Inf", "Ger")  # verb forms that are not events (section 3.1)
# Only some treebanks mark Hebrew's existentials ("True" in older ones), so lemmas are checked, too.
_EXISTENTIAL = ("HebExistential=Yes", "HebExistential=True")
_EXISTENTIALS = {"יש", "אין"}
_SENTENCE = re.compile(r"[^.]*\.|[^.]+\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its sentences and events."""

    name: str
    text: str
    sentences: Sequence[Span]  # consecutive, characters of `text`
    events: Sequence[Span]  # in order
    labels: dict[tuple[int, int], str] | None = None  # of pairs of events; None: unlabelled

    def event_guid(self, number: int) -> str:
        """Name an event by its document and place; no number, which a spreadsheet would round."""
        return f"{self.name}.event.{number}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two events of a window."""

    guid: str  # document, window and number in the document, as in the released table
    document: str
    window: int  # position of its first sentence
    text: str  # of the window, with markers around the two events
    label: str
    events: tuple[int, int] = (0, 0)  # positions in `Document.events`


class EventAxis(NamedTuple):
    """The time axis of an event, and the one to which the event connects it (empty: none)."""

    axis: str = MAIN
    connects: str = ""


def share_axis(first: EventAxis, second: EventAxis) -> bool:
    """Tell whether two events can be ordered: on one axis, or on two that one of them connects.

    Source: TRC, section 3.3, after Ning et al. 2018.
    """
    if first.axis == second.axis:
        return True
    return first.connects == second.axis or second.connects == first.axis


def make_pairs(document: Document, markers: Markers, size: int = 2) -> Iterator[Pair]:
    """Yield each pair of events that share a window, in the first window with both.

    Args:
        document: if labelled, only labelled pairs are used.
        markers: to put around the events.
        size: sentences of a window; a document with fewer is one window.
    """
    if not document.sentences:
        return
    seen: set[tuple[int, int]] = set()
    number = 0
    for window in range(max(len(document.sentences) - size + 1, 1)):
        sentences = document.sentences[window : window + size]
        low, high = sentences[0].start, sentences[-1].end
        inside = [
            n for n, (start, end) in enumerate(document.events) if low <= start and end <= high
        ]
        for place, first in enumerate(inside):
            for second in inside[place + 1 :]:
                label = "" if document.labels is None else document.labels.get((first, second))
                if (first, second) in seen or label is None:
                    continue
                seen.add((first, second))
                events = [document.events[event] for event in (first, second)]
                places = [Span(start - low, end - low) for start, end in events]
                text = mark(document.text[low:high], places, markers).text
                guid = f"{document.name}.{window}.{number}"
                yield Pair(guid, document.name, window, text, label, (first, second))
                number += 1


def read_documents(path: Path) -> list[Document]:
    """Read TRC's own documents, labels included.

    A sentence ends at every full stop, even within numbers, as in the released windows.

    Raises:
        DataError: it is not such a file; names the first document that is wrong.
    """
    try:
        found = json.loads(path.read_text("utf-8"))["documents"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(str(path), f"cannot be read: {error}", "TRC_data.json") from error
    return [_document(path, each) for each in found]


def _document(path: Path, found: dict[str, Any]) -> Document:
    where = f"{path}: document {found.get('document_id')}"
    try:
        text = found["text"]
        events = sorted(found["events"], key=lambda event: event["start"])
        places = {event["event_id"]: n for n, event in enumerate(events)}
        spans = [Span(event["start"], event["end"] + 1) for event in events]
        labels = {
            (places[each["event_id_1"]], places[each["event_id_2"]]): each["label"]
            for each in found["temporal_relations"]
        }
    except (KeyError, TypeError) as error:
        raise DataError(where, f"lacks {error}", "text, events, relations") from error
    wrong = [
        e["event_id"] for e, s in zip(events, spans, strict=True) if text[slice(*s)] != e["text"]
    ]
    if wrong:
        raise DataError(where, f"events {wrong} do not have their text", "check start and end")
    sentences = [Span(*match.span()) for match in _SENTENCE.finditer(text)]
    if len(sentences) > 1 and not text[slice(*sentences[-1])].strip():
        sentences.pop()
    return Document(str(found["document_id"]), text, sentences, spans, labels)


def read_treebank(path: Path, forms: Sequence[str] = NO_EVENTS, every: int = 0) -> list[Document]:
    """Read verb events from CoNLL-U: words tagged VERB, without some verb forms.

    An event is the whole token, with its prefixes, as in the released texts. Documents begin at
    `# newdoc`; without it, `every` sentences make a document (0: the file is one document).
    """
    sentences = list(read_conllu(path))
    begins = [any(key.startswith("newdoc") for key in each.comments) for each in sentences]
    if every and not any(begins):
        begins = [number % every == 0 for number in range(len(sentences))]
    groups: list[list[Sentence]] = []
    for sentence, is_first in zip(sentences, begins, strict=True):
        if is_first or not groups:
            groups.append([])
        groups[-1].append(sentence)
    return [_parsed(f"{n + 1}", group, forms) for n, group in enumerate(groups)]


def _parsed(name: str, group: Sequence[Sentence], forms: Sequence[str]) -> Document:
    text, sentences, events = "", [], []
    for sentence in group:
        start = len(text) + bool(text)
        text = f"{text} {sentence.text}" if text else sentence.text
        sentences.append(Span(start - bool(start), len(text)))
        at = start
        for token in sentence.tokens:
            found = text.find(token.form, at)
            if found < 0:
                what = f"the token '{token.form}' is not in the text"
                raise DataError(sentence.where, what, "# text holds the tokens in order")
            at = found + len(token.form)
            if is_event(token, forms):
                events.append(Span(found, at))
    return Document(name, text, sentences, events)


def is_event(token: Token, forms: Sequence[str] = NO_EVENTS) -> bool:
    """Tell whether a token has a verb in another form than `forms`.

    Hebrew's existentials (yesh, ein) are tagged VERB, but are not events in the release. Forms of
    "to be" are left out only if the treebank marks them.
    """
    left_out = {*(f"VerbForm={form}" for form in forms), *_EXISTENTIAL}
    return any(
        word.pos == "VERB"
        and left_out.isdisjoint(word.feats.split("|"))
        and _EXISTENTIALS.isdisjoint((word.lemma, word.form))
        for word in token.words
    )


def split_documents(names: Sequence[str], share: float, seed: int) -> set[str]:
    """Draw the test split's documents, at least one of two or more unless `share` is 0."""
    drawn = np.random.default_rng(seed).permutation(sorted(set(names)))
    if share == 0 or len(drawn) < 2:
        return set()
    return set(drawn[: max(round(share * len(drawn)), 1)].tolist())


@dataclass
class PairsOptions:
    """Options of `heron build trc pairs`."""

    source: Path = field(metadata={"option": "from"})  # .conllu(.gz), or TRC_data.json
    out: Path
    language: str = "he"  # of the texts; its markers are put around events
    window: Count = 2  # sentences
    # Verb forms that are not events; Part also leaves out participles.
    forms: list[Annotated[str, OneOf(*VERB_FORMS)]] = field(default_factory=lambda: [*NO_EVENTS])
    every: Natural = 0  # sentences per document, if the treebank has no `# newdoc`; 0: all
    inception: bool = False  # also write the documents for INCEpTION
    test: Fraction = 0.2  # share of the documents in the test split
    seed: Seed = 0


@dataclass
class CollectOptions:
    """Options of `heron build trc collect`."""

    pairs: Path  # pairs.csv of the first step
    # one per annotator: a table (guid, and q1 and q2, or label), or a folder of INCEpTION's exports
    answers: list[Path]
    out: Path
    # events.csv with the time axes of events, or the folder of exports, of each annotator, in the
    # order of `answers`
    axes: list[Path] = field(default_factory=list)
    decided: Path | None = None  # adjudicate.csv with its column label filled in
    test: Fraction = 0.2
    seed: Seed = 0


def run(arguments: Sequence[str]) -> int:
    """Do one step; returns the exit code."""
    return run_step(arguments, {"pairs": _pairs, "collect": _collect})


def _pairs(arguments: Sequence[str]) -> int:
    options = parse_options(PairsOptions, arguments)
    language = get_language(options.language)
    if options.source.suffix == ".json":
        documents = read_documents(options.source)
    else:
        documents = read_treebank(options.source, options.forms, options.every)
    markers = Markers(*language.event_markers)
    pairs = [pair for each in documents for pair in make_pairs(each, markers, options.window)]
    if not pairs:
        raise DataError(str(options.source), "has no pair of events", "events are tagged VERB")
    rows = (
        ("documents", len(documents)),
        ("sentences", sum(len(each.sentences) for each in documents)),
        ("events", sum(len(each.events) for each in documents)),
        ("windows with pairs", len({(pair.document, pair.window) for pair in pairs})),
        ("pairs", len(pairs)),
        *((f"{name}", sum(p.label == name for p in pairs)) for name in LABELS.values()),
    )
    print_tables([Table("Event pairs", ("what", "number"), tuple(row for row in rows if row[1]))])
    columns = {name: [getattr(pair, name) for pair in pairs] for name in COLUMNS}
    columns["language"] = [options.language] * len(pairs)
    unlabelled = documents[0].labels is None
    if unlabelled:
        by_name = {document.name: document for document in documents}
        for number, name in enumerate(EVENTS):
            columns[name] = [by_name[p.document].event_guid(p.events[number]) for p in pairs]
        columns |= {"q1": [""] * len(pairs), "q2": [""] * len(pairs)}
        write_for_people(options.out / "events.csv", _event_columns(documents, markers))
        print_lines(options.out / "events.csv")
    write_for_people(options.out / "pairs.csv", columns)
    print_lines(options.out / "pairs.csv")
    if options.inception:
        folder = options.out / "inception"
        count = len(inception.write_documents(documents, pairs, folder)) - 1
        print_lines(f"{folder}: {count} documents", files=[folder])
    if not unlabelled:
        _write_data_set(pairs, options.out, options.language, options.test, options.seed)
    return 0


def _event_columns(documents: Sequence[Document], markers: Markers) -> dict[str, list[str]]:
    """Lay out the sheet of events: each in its sentence, and two empty columns for its axis."""
    columns: dict[str, list[str]] = {
        name: [] for name in ("guid", "document", "text", "axis", "connects")
    }
    for document in documents:
        for number, (start, end) in enumerate(document.events):
            sentence = next(s for s in document.sentences if s.start <= start and end <= s.end)
            before, after = document.text[sentence.start : start], document.text[end : sentence.end]
            event = f"{markers.start_1} {document.text[start:end]} {markers.end_1}"
            columns["guid"].append(document.event_guid(number))
            columns["document"].append(document.name)
            columns["text"].append(f"{before}{event}{after}")
            columns["axis"].append("")
            columns["connects"].append("")
    return columns


def _collect(arguments: Sequence[str]) -> int:
    options = parse_options(CollectOptions, arguments)
    table = read_from_people(options.pairs)
    table.require(*COLUMNS[:4], "language")
    if options.axes and len(options.axes) != len(options.answers):
        raise ConfigError("axes: one file for each of answers, in their order")
    if problems := [*table.missing_values("guid"), *table.duplicates("guid")]:
        raise DataError(problems)
    guids, windows = [cell_text(row["guid"]) for row in table.rows], _windows(table)
    raters = [path.stem for path in options.answers]
    taken = ["guid", "text", "label", *raters]
    if twice := [name for name in raters if taken.count(name) > 1]:
        raise ConfigError(f"answers: two columns would be named {twice[0]}; rename the file")
    said = [_read_answers(path, set(guids)) for path in options.answers]
    for answers, path in zip(said, options.axes, strict=False):
        _separate_axes(answers, path, table)
    values = [[answers.get(guid, "") for answers in said] for guid in guids]
    texts = [str(row["text"]) for row in table.rows]
    labels = Labels(guids, raters, values, texts=texts)
    if len(raters) > 1:
        more = [confusion_table(labels)] if len(raters) == 2 else []
        print_tables([agreement_table([("all", agreements(labels, VAGUE))]), *more])
    decided = _read_answers(options.decided, set(guids)) if options.decided else {}
    final = [decided.get(g, "") or _common(v) for g, v in zip(guids, values, strict=True)]
    unlike = list(undecided(labels))
    columns = {"guid": [guids[r] for r in unlike], "text": [texts[r] for r in unlike]}
    columns |= {name: [values[r][n] for r in unlike] for n, name in enumerate(raters)}
    # With existing decisions: `decided` may be this file.
    columns["label"] = [decided.get(guids[r], "") for r in unlike]
    write_for_people(options.out / "adjudicate.csv", columns)
    left, without = columns["label"].count(""), sum(not any(said) for said in values)
    path = options.out / "adjudicate.csv"
    print_lines(f"{path}: {left} pairs to decide (decided=FILE)", files=[path])
    if without:
        print_lines(f"{without:,} pairs have no answer")
    pairs = [
        Pair(guids[n], cell_text(row["document"]), windows[n], texts[n], final[n])
        for n, row in enumerate(table.rows)
        if final[n]
    ]
    if not pairs:
        raise DataError(str(options.pairs), "no pair has a label", "q1 and q2: yes or no")
    language = cell_text(table.rows[0]["language"])
    _write_data_set(pairs, options.out, language, options.test, options.seed)
    return 0


def _windows(table: FileTable) -> list[int]:
    """Read the positions of windows; 7.0 counts as 7: pandas writes so beside missing values."""
    found, problems = [], []
    for index, row in enumerate(table.rows):
        try:
            found.append(int(float(row["window"])))
        except (TypeError, ValueError, OverflowError):
            what = f"window '{row['window']}'"
            problems.append(Problem(table.where(index), what, "a number, as in pairs.csv"))
    if problems:
        raise DataError(problems)
    return found


def _common(values: Sequence[str]) -> str:
    given = set(filter(None, values))
    return given.pop() if len(given) == 1 else ""


def _separate_axes(answers: dict[str, str], path: Path, table: FileTable) -> None:
    """Label pairs of different axes VAGUE in an annotator's answers."""
    table.require(*EVENTS)
    ends = [[cell_text(row[name]) for name in EVENTS] for row in table.rows]
    places = _read_axes(path, {event for pair in ends for event in pair})
    apart = [
        cell_text(row["guid"])
        for row, (first, second) in zip(table.rows, ends, strict=True)
        if not share_axis(places[first], places[second])
    ]
    ordered = sum(answers.get(guid, VAGUE) != VAGUE for guid in apart)
    answers |= dict.fromkeys(apart, VAGUE)
    print_lines(f"{path}: {len(apart):,} pairs on different axes: VAGUE ({ordered:,} were ordered)")


def _read_axes(path: Path, events: set[str]) -> dict[str, EventAxis]:
    """Read an annotator's axes of the events of pairs; an event without one is on the main axis."""
    if path.is_dir():
        rows = inception.read_answers(path, inception.EVENT)
    else:
        rows = _sheet_rows(read_from_people(path), inception.FEATURES[inception.EVENT])
    places, problems = dict.fromkeys(events, EventAxis()), []
    for where, guid, names in rows:
        axis, connects = (" ".join(name.lower().split()) for name in names)
        for name in filter(None, (axis, connects)):
            if not _AXIS.fullmatch(name):
                fix = f"{', '.join(AXES)}; of several, opinion 2"
                problems.append(Problem(where, f"axis '{name}' of event '{guid}'", fix))
        if guid in places:
            places[guid] = EventAxis(axis or MAIN, connects)
    if not events.intersection(guid for _, guid, _ in rows):
        problems.append(Problem(str(path), "has no event of the pairs", "guids of events.csv"))
    if problems:
        raise DataError(problems)
    return places


def _read_answers(path: Path, guids: set[str]) -> dict[str, str]:
    """Read an annotator's labels; pairs without an answer are left out."""
    is_export = path.is_dir()
    rows = inception.read_answers(path, inception.PAIR) if is_export else _read_sheet(path)
    found: dict[str, str] = {}
    problems = []
    seen: set[str] = set()
    for where, guid, given in rows:
        if guid not in guids:
            problems.append(Problem(where, f"no pair '{guid}'", "guids of pairs.csv"))
        elif guid in seen:
            problems.append(Problem(where, f"pair '{guid}' occurs twice", "answer each pair once"))
        elif any(given):
            try:
                found[guid] = label_of(*given) if len(given) == 2 else _known(given[0])
            except ValueError as error:
                problems.append(Problem(where, str(error), "q1 and q2: yes or no"))
        seen.add(guid)
    if problems:
        raise DataError(problems)
    return found


def _read_sheet(path: Path) -> list[tuple[str, str, list[str]]]:
    """Read line, guid, and the answers q1 and q2 or the label, of each row of a table."""
    table = read_from_people(path)
    return _sheet_rows(table, ("q1", "q2") if "q1" in table.columns else ("label",))


def _sheet_rows(table: FileTable, asked: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Read line, guid and the asked columns of each row."""
    table.require("guid", *asked)
    return [
        (table.where(n), cell_text(row["guid"]), [cell_text(row[name]).strip() for name in asked])
        for n, row in enumerate(table.rows)
    ]


def _known(label: str) -> str:
    if label not in LABELS.values():
        raise ValueError(f"label '{label}' is none of {', '.join(LABELS.values())}")
    return label


def _write_data_set(pairs: Sequence[Pair], out: Path, code: str, test: float, seed: int) -> None:
    """Write the splits and the YAML by which `heron train` reads them."""
    held = split_documents([pair.document for pair in pairs], test, seed)
    files = {}
    for split in ("train", "test"):
        ours = [pair for pair in pairs if (pair.document in held) == (split == "test")]
        columns = {name: [getattr(pair, name) for pair in ours] for name in COLUMNS}
        write_table(out / f"{split}.csv", columns)
        documents = len({pair.document for pair in ours})
        path = out / f"{split}.csv"
        print_lines(f"{path}: {len(ours):,} pairs of {documents} documents", files=[path])
        files[split] = path, len(ours)
    settings = {
        "title": "event pairs of your own",
        "language": code,
        "licence": "unknown",
        "citation": "none yet",
        "label_order": list(LABELS.values()),
        "inverse": {"BEFORE": "AFTER", "AFTER": "BEFORE"},
        "columns": {"text": "text", "label": "label", "guid": "guid", "group": "document"},
        "validation": {"fraction": 0.1, "by": "group", "seed": 0},
    }
    print_lines(write_config(out, "pairs", files, settings))
