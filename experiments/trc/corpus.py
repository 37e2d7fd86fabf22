"""Event pairs from treebanks and from TRC's own documents: `heron build trc`.

Source: TRC, section 3.1 (events, windows of two sentences, all pairs of a window), section 3.2
(two questions, two annotators, adjudication) and section 3.3 (time axes).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from heron.base.cells import Table
from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.tables import FileTable, as_columns, cell_text, write_table
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
class EventPair:
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


def make_pairs(document: Document, markers: Markers, size: int = 2) -> Iterator[EventPair]:
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
    windows = max(len(document.sentences) - size + 1, 1)
    for window in range(windows):
        sentences = document.sentences[window : window + size]
        low = sentences[0].start
        high = sentences[-1].end

        inside = []
        for index, event in enumerate(document.events):
            if low <= event.start and event.end <= high:
                inside.append(index)

        for events in combinations(inside, 2):
            if events in seen:
                continue
            seen.add(events)

            label: str | None = ""
            if document.labels is not None:
                label = document.labels.get(events)
            if label is None:
                continue

            spans = [document.events[index] for index in events]
            in_window = [Span(start - low, end - low) for start, end in spans]
            text = mark(document.text[low:high], in_window, markers).text
            guid = f"{document.name}.{window}.{number}"
            yield EventPair(guid, document.name, window, text, label, events)
            number += 1


def read_documents(path: Path) -> list[Document]:
    """Read TRC's own documents, labels included.

    A sentence ends at every full stop, even within numbers, as in the released windows.

    Raises:
        DataError: it is not such a file; names the first document that is wrong.
    """
    try:
        documents = json.loads(path.read_text("utf-8"))["documents"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(str(path), f"cannot be read: {error}", "TRC_data.json") from error

    return [_document(path, fields) for fields in documents]


def _document(path: Path, fields: dict[str, Any]) -> Document:
    """Read the JSON object of a document."""
    identifier = fields.get("document_id")
    where = f"{path}: document {identifier}"
    try:
        identifier = fields["document_id"]
        text = fields["text"]
        events = sorted(fields["events"], key=itemgetter("start"))

        spans = []
        indices = {}
        for index, event in enumerate(events):
            guid = event["event_id"]
            indices[guid] = index

            start = event["start"]
            end = event["end"] + 1  # the file names the last character
            spans.append(Span(start, end))

        labels = {}
        for relation in fields["temporal_relations"]:
            first = indices[relation["event_id_1"]]
            second = indices[relation["event_id_2"]]
            labels[first, second] = relation["label"]
    except (KeyError, TypeError) as error:
        raise DataError(where, f"lacks {error}", "text, events, relations") from error

    misplaced = []
    for event, (start, end) in zip(events, spans, strict=True):
        if text[start:end] != event["text"]:
            misplaced.append(event["event_id"])

    if misplaced:
        problem = f"events {misplaced} do not have their text"
        raise DataError(where, problem, "check start and end")

    return Document(str(identifier), text, _sentences(text), spans, labels)


def _sentences(text: str) -> list[Span]:
    """Find the sentences of a document; blanks after the last full stop are none."""
    sentences = [Span(*match.span()) for match in _SENTENCE.finditer(text)]
    if len(sentences) < 2:
        return sentences

    last = sentences[-1]
    if not text[last.start :].strip():
        sentences.pop()
    return sentences


def read_treebank(path: Path, forms: Sequence[str] = NO_EVENTS, every: int = 0) -> list[Document]:
    """Read verb events from CoNLL-U: words tagged VERB, without some verb forms.

    An event is the whole token, with its prefixes, as in the released texts. Documents begin at
    `# newdoc`.

    Args:
        path: a CoNLL-U file, which may be packed by gzip.
        forms: verb forms that are not events.
        every: sentences of a document, if the file has no `# newdoc`; 0: it is one document.

    Raises:
        DataError: a token is not in the text of its sentence.
    """
    sentences = list(read_conllu(path))
    starts = [_starts_document(sentence) for sentence in sentences]

    if every and not any(starts):
        starts = [index % every == 0 for index in range(len(sentences))]

    groups: list[list[Sentence]] = []
    for sentence, is_start in zip(sentences, starts, strict=True):
        if is_start or not groups:
            groups.append([])
        groups[-1].append(sentence)

    documents = []
    for number, group in enumerate(groups, 1):
        document = _join_sentences(str(number), group, forms)
        documents.append(document)
    return documents


def _starts_document(sentence: Sentence) -> bool:
    return any(key.startswith("newdoc") for key in sentence.comments)


def _join_sentences(name: str, group: Sequence[Sentence], forms: Sequence[str]) -> Document:
    """Join sentences by spaces, and find the events; a space belongs to the sentence after it."""
    text = ""
    sentences = []
    events = []
    for sentence in group:
        start = len(text)
        if text:
            text += " "
        position = len(text)
        text += sentence.text
        end = len(text)
        sentences.append(Span(start, end))

        for token in sentence.tokens:
            begin = text.find(token.form, position)
            if begin < 0:
                problem = f"the token '{token.form}' is not in the text"
                raise DataError(sentence.where, problem, "# text holds the tokens in order")

            position = begin + len(token.form)
            if is_event(token, forms):
                events.append(Span(begin, position))

    return Document(name, text, sentences, events)


def is_event(token: Token, forms: Sequence[str] = NO_EVENTS) -> bool:
    """Tell whether a token has a verb in another form than `forms`.

    Hebrew's existentials (yesh, ein) are tagged VERB, but are not events in the release. Forms of
    "to be" are left out only if the treebank marks them.

    Args:
        token: its words may be a prefix and a verb.
        forms: values of Universal Dependencies' feature `VerbForm`.
    """
    left_out = {f"VerbForm={form}" for form in forms}.union(_EXISTENTIAL)
    for word in token.words:
        if word.pos != "VERB":
            continue
        if word.lemma in _EXISTENTIALS or word.form in _EXISTENTIALS:
            continue
        features = word.feats.split("|")
        if left_out.isdisjoint(features):
            return True
    return False


def split_documents(names: Sequence[str], share: float, seed: int) -> set[str]:
    """Draw the test split's documents, at least one of two or more unless `share` is 0.

    Args:
        names: the document of each pair; repetitions do not matter.
        share: fraction of the documents.
        seed: of the drawing.
    """
    documents = sorted(set(names))
    if share == 0 or len(documents) < 2:
        return set()

    shuffled = np.random.default_rng(seed).permutation(documents)
    size = max(round(share * len(documents)), 1)
    return set(shuffled[:size].tolist())


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
class CollectRelationsOptions:
    """Options of `heron build trc collect`."""

    pairs: Path  # pairs.csv of the first step
    # one per annotator: a table (guid, and q1 and q2, or label), a folder of INCEpTION's exports,
    # or annotation/NAME of a project's export
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
    """Find the pairs of events, and write the sheets for annotators, or the labelled data set."""
    options = parse_options(PairsOptions, arguments)
    source = options.source
    if source.suffix == ".json":
        documents = read_documents(source)
    else:
        documents = read_treebank(source, options.forms, options.every)

    language = get_language(options.language)
    markers = Markers(*language.event_markers)
    pairs: list[EventPair] = []
    for document in documents:
        pairs += make_pairs(document, markers, options.window)

    if not pairs:
        raise DataError(str(source), "has no pair of events", "events are tagged VERB")

    counts = _count_table(documents, pairs)
    print_tables([counts])

    columns = _pair_columns(pairs)
    columns["language"] = [options.language] * len(pairs)
    is_labelled = documents[0].labels is not None
    if not is_labelled:
        by_name = {document.name: document for document in documents}
        for side, name in enumerate(EVENTS):
            guids = []
            for pair in pairs:
                document = by_name[pair.document]
                event = pair.events[side]
                guids.append(document.event_guid(event))

            columns[name] = guids

        unanswered = [""] * len(pairs)
        columns["q1"] = unanswered
        columns["q2"] = unanswered
        event_sheet = options.out / "events.csv"
        write_for_people(event_sheet, _event_columns(documents, markers))
        print_lines(event_sheet)

    pair_sheet = options.out / "pairs.csv"
    write_for_people(pair_sheet, columns)
    print_lines(pair_sheet)

    if options.inception:
        folder = options.out / "inception"
        inception.write_documents(documents, pairs, folder)
        print_lines(f"{folder}: {len(documents)} documents", files=[folder])

    if is_labelled:
        _write_data_set(pairs, options.out, options.language, options.test, options.seed)
    return 0


def _pair_columns(pairs: Sequence[EventPair]) -> dict[str, list[Any]]:
    """Lay out pairs as the columns of the data set."""
    return as_columns(COLUMNS, map(attrgetter(*COLUMNS), pairs))


def _count_table(documents: Sequence[Document], pairs: Sequence[EventPair]) -> Table:
    """Count documents, sentences, events, windows, pairs and labels; those that occur."""
    # The names in the order of the table; names that never occur are left out.
    counts = Counter[str](documents=len(documents))
    for document in documents:
        counts["sentences"] += len(document.sentences)
        counts["events"] += len(document.events)

    windows = {(pair.document, pair.window) for pair in pairs}
    counts["windows with pairs"] = len(windows)
    counts["pairs"] = len(pairs)

    labels = Counter(pair.label for pair in pairs)
    for name in LABELS.values():
        counts[name] = labels[name]

    occurring = +counts
    rows = tuple(occurring.items())
    return Table("Event pairs", ("what", "number"), rows)


def _event_columns(documents: Sequence[Document], markers: Markers) -> dict[str, list[str]]:
    """Lay out the sheet of events: each in its sentence, and two empty columns for its axis."""
    rows = []
    for document in documents:
        text = document.text
        for number, event in enumerate(document.events):
            start, end = event
            for sentence in document.sentences:
                if start < sentence.end:
                    break

            before = text[sentence.start : start]
            word = text[start:end]
            after = text[end : sentence.end]
            marked = f"{before}{markers.start_1} {word} {markers.end_1}{after}"

            guid = document.event_guid(number)
            rows.append((guid, document.name, marked, "", ""))

    return as_columns(("guid", "document", "text", "axis", "connects"), rows)


def _collect(arguments: Sequence[str]) -> int:
    """Join the annotators' answers, write what is left to decide, and the labelled data set."""
    options = parse_options(CollectRelationsOptions, arguments)
    table = read_from_people(options.pairs)
    table.require("guid", "document", "window", "text", "language")

    if options.axes and len(options.axes) != len(options.answers):
        raise ConfigError("axes: one file for each of answers, in their order")

    problems = [*table.missing_values("guid"), *table.duplicates("guid")]
    raise_all(problems)

    windows = _windows(table)
    guids = [cell_text(row["guid"]) for row in table.rows]
    texts = [str(row["text"]) for row in table.rows]

    raters = [path.name if inception.is_export(path) else path.stem for path in options.answers]
    columns = ["guid", "text", "label", *raters]
    for name in raters:
        if columns.count(name) > 1:
            raise ConfigError(f"answers: two columns would be named {name}; rename the file")

    known = set(guids)
    answers = [_read_answers(path, known) for path in options.answers]
    for answers_of_rater, path in zip(answers, options.axes, strict=False):
        _separate_axes(answers_of_rater, path, table)

    values = []
    without_answer = 0
    for guid in guids:
        labels_of_pair = [answers_of_rater.get(guid, "") for answers_of_rater in answers]
        values.append(labels_of_pair)
        if not any(labels_of_pair):
            without_answer += 1

    labels = Labels(guids, raters, values, texts=texts)
    _print_agreement(labels)

    decided = {}
    if options.decided:
        decided = _read_answers(options.decided, known)
    _write_undecided(labels, decided, options.out / "adjudicate.csv")

    if without_answer:
        print_lines(f"{without_answer:,} pairs have no answer")

    pairs = []
    for index, guid in enumerate(guids):
        label = decided.get(guid) or _common_label(values[index])
        if not label:
            continue

        row = table.rows[index]
        document = cell_text(row["document"])
        pair = EventPair(guid, document, windows[index], texts[index], label)
        pairs.append(pair)

    if not pairs:
        raise DataError(str(options.pairs), "no pair has a label", "q1 and q2: yes or no")

    language = cell_text(table.rows[0]["language"])
    _write_data_set(pairs, options.out, language, options.test, options.seed)
    return 0


def _print_agreement(labels: Labels) -> None:
    """Print the agreement of two annotators or more, and the confusion of two."""
    if len(labels.raters) < 2:
        return

    measured = agreements(labels, VAGUE)
    tables = [agreement_table([("all", measured)])]
    if len(labels.raters) == 2:
        tables.append(confusion_table(labels))
    print_tables(tables)


def _write_undecided(labels: Labels, decided: Mapping[str, str], path: Path) -> None:
    """Write the pairs on which annotators differ, with the labels that were decided already.

    `path` may be the file that the decisions were read from.
    """
    rows = []
    for index in undecided(labels):
        guid = labels.items[index]
        text = labels.texts[index]
        answers = labels.values[index]
        rows.append((guid, text, *answers, decided.get(guid, "")))

    columns = as_columns(["guid", "text", *labels.raters, "label"], rows)
    write_for_people(path, columns)
    left = columns["label"].count("")
    print_lines(f"{path}: {left} pairs to decide (decided=FILE)", files=[path])


def _windows(table: FileTable) -> list[int]:
    """Read the positions of windows; 7.0 counts as 7: pandas writes so beside missing values."""
    windows = []
    problems = []
    for index, row in enumerate(table.rows):
        window = row["window"]
        try:
            windows.append(int(float(window)))
        except (TypeError, ValueError, OverflowError):
            problem = f"window '{window}'"
            problems.append(Problem(table.where(index), problem, "a number, as in pairs.csv"))

    raise_all(problems)
    return windows


def _common_label(labels: Sequence[str]) -> str:
    """Find the label of all annotators who gave one; empty if they differ."""
    different = {label for label in labels if label}
    if len(different) != 1:
        return ""
    return different.pop()


def _separate_axes(answers: dict[str, str], path: Path, table: FileTable) -> None:
    """Label pairs of different axes VAGUE in an annotator's answers.

    Args:
        answers: labels by guid of a pair; changed in place.
        path: the annotator's axes.
        table: the pairs.
    """
    table.require(*EVENTS)
    event_pairs = []
    for row in table.rows:
        guid, first, second = [cell_text(row[name]) for name in ("guid", *EVENTS)]
        event_pairs.append((guid, first, second))

    events: set[str] = set()
    for _, first, second in event_pairs:
        events.update((first, second))
    axes = _read_axes(path, events)

    separate = 0
    ordered = 0
    for guid, first, second in event_pairs:
        if share_axis(axes[first], axes[second]):
            continue

        separate += 1
        if answers.get(guid, VAGUE) != VAGUE:
            ordered += 1
        answers[guid] = VAGUE

    counts = f"{separate:,} pairs on different axes: VAGUE ({ordered:,} were ordered)"
    print_lines(f"{path}: {counts}")


def _read_axes(path: Path, events: set[str]) -> dict[str, EventAxis]:
    """Read an annotator's axes of the events of pairs; an event without one is on the main axis."""
    layer = inception.EVENT
    if inception.is_export(path):
        rows = inception.read_answers(path, layer)
    else:
        sheet = read_from_people(path)
        rows = _sheet_rows(sheet, inception.FEATURES[layer])

    axes = dict.fromkeys(events, EventAxis())
    known = ", ".join(AXES)
    problems = []
    seen: set[str] = set()
    for where, guid, cells in rows:
        names = [" ".join(cell.lower().split()) for cell in cells]
        for name in names:
            if name and not _AXIS.fullmatch(name):
                problem = f"axis '{name}' of event '{guid}'"
                problems.append(Problem(where, problem, f"{known}; of several, opinion 2"))

        axis, connects = names
        if guid in seen:
            problems.append(
                Problem(where, f"event '{guid}' occurs twice", "one axis of each event")
            )
        elif guid in axes:
            seen.add(guid)
            axes[guid] = EventAxis(axis or MAIN, connects)

    if not seen:
        problems.append(Problem(str(path), "has no event of the pairs", "guids of events.csv"))

    raise_all(problems)
    return axes


def _read_answers(path: Path, guids: set[str]) -> dict[str, str]:
    """Read an annotator's labels; pairs without an answer are left out."""
    if inception.is_export(path):
        rows = inception.read_answers(path, inception.PAIR)
    else:
        table = read_from_people(path)
        columns = ["q1", "q2"] if "q1" in table.columns else ["label"]
        rows = _sheet_rows(table, columns)

    labels: dict[str, str] = {}
    problems = []
    seen: set[str] = set()
    for where, guid, answers in rows:
        if guid not in guids:
            problems.append(Problem(where, f"no pair '{guid}'", "guids of pairs.csv"))
        elif guid in seen:
            problems.append(Problem(where, f"pair '{guid}' occurs twice", "answer each pair once"))
        elif any(answers):
            try:
                labels[guid] = _label(answers)
            except ValueError as error:
                problems.append(Problem(where, str(error), "q1 and q2: yes or no"))
        seen.add(guid)

    raise_all(problems)
    return labels


def _sheet_rows(table: FileTable, columns: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Read place, guid and some columns of each row."""
    table.require("guid", *columns)
    rows = []
    for index, row in enumerate(table.rows):
        where = table.where(index)
        guid = cell_text(row["guid"])
        cells = [cell_text(row[name]).strip() for name in columns]
        rows.append((where, guid, cells))
    return rows


def _label(answers: Sequence[str]) -> str:
    """Turn two answers into a label, or check a label; a ValueError says what is wrong."""
    if len(answers) == 2:
        return label_of(*answers)

    (label,) = answers
    known = LABELS.values()
    if label not in known:
        raise ValueError(f"label '{label}' is none of {', '.join(known)}")
    return label


def _write_data_set(
    pairs: Sequence[EventPair], out: Path, code: str, test: float, seed: int
) -> None:
    """Write the splits and the YAML by which `heron train` reads them.

    Args:
        pairs: of all splits.
        out: the folder of the files.
        code: of the texts' language.
        test: fraction of the documents in the test split.
        seed: of the test split.
    """
    names = [pair.document for pair in pairs]
    test_documents = split_documents(names, test, seed)
    splits: dict[str, list[EventPair]] = {"train": [], "test": []}
    for pair in pairs:
        split = "test" if pair.document in test_documents else "train"
        splits[split].append(pair)

    files = {}
    for split, rows in splits.items():
        path = out / f"{split}.csv"
        write_table(path, _pair_columns(rows))
        files[split] = path, len(rows)

        documents = {pair.document for pair in rows}
        counts = f"{len(rows):,} pairs of {len(documents)} documents"
        print_lines(f"{path}: {counts}", files=[path])

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
    config = write_config(out, "pairs", files, settings)
    print_lines(config)
