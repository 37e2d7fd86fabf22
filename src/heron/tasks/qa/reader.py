"""From a file of questions to `Example`s; every answer is checked against its context."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from heron.base.errors import Fix, Problem, nearest
from heron.base.tables import FileTable, is_missing, number_text, table_stem, text_or_empty
from heron.base.terminal import say
from heron.data.annotation_tools import question_table
from heron.data.config import DataConfig
from heron.data.examples import MOVED, REPAIRS, Example, Span, count_repairs
from heron.data.offsets import count_utf16, from_utf16, has_wide, stands_at
from heron.data.rows import SIDE, Format, Labels, Reader, Rows, TableReader, own_table, with_cells
from heron.languages import get_language
from heron.languages.unicode import normalise
from heron.languages.words import words
from heron.metrics.span import item_scores, language_profiles
from heron.tasks.qa.answers import (
    Answers,
    is_squad,
    map_span,
    nearest_place,
    read_answer_cells,
    read_answers,
    read_squad,
    trim,
)
from heron.tasks.scoring import TextScores

# The classes.
ANSWER = "answer"
NO_ANSWER = "no_answer"
MISALIGNED = "misaligned answer"
WITHOUT = "no answer"
EMPTY_ANSWER = "empty answer"
TRIMMED = "trimmed"
REPAIRED = "repaired"
EMPTY = "empty"
# Key in `Example.side` of the context before normalisation (a tuple of one), where it differs:
# predicted spans count characters in it.
GIVEN = "context as given"

_DROP = "data.qa.misaligned=drop leaves it out"
# What the user reads about questions in a gold file, by the kind of repair.
_NOTES = {
    REPAIRED: "have a gold answer that is not at its answer_start; answers are scored as texts",
    EMPTY: "have an empty gold answer beside others; it is left out",
}

Report = Callable[[str, Fix], None]  # records what is wrong with one question, and how to fix it


class PlacedAnswer(NamedTuple):
    """A gold answer in its context."""

    text: str  # as the file has it
    span: Span  # of the normalised context
    changes: list[str]  # `REPAIRED`, `TRIMMED`
    # Its text, `answer_start` and place in the context as the file has it, where these differ.
    moved: dict[str, Any] | None = None


def normaliser(config: DataConfig) -> Callable[[str], str]:
    """Make the function that normalises the contexts and questions of a data set."""
    return partial(normalise, language=get_language(config.language), options=config.unicode)


def given_context(example: Example) -> str:
    """Get a question's context as the file has it."""
    (given,) = example.side.get(GIVEN, (example.text,))
    return str(given)


def open_questions(config: DataConfig, files: Mapping[str, Path], placed: bool = True) -> Reader:
    """Make a reader of files of questions; each may be SQuAD's JSON or a table.

    Args:
        config: the data set. Answers of a table may also be in a column `answers` in SQuAD's
            shapes. With labels `optional`, a question without answers is unlabelled.
        files: not used.
        placed: True needs every answer in its context. False takes answers as texts, as SQuAD's
            evaluation does: neither contexts nor questions are needed, and an answer that is not at
            its `answer_start` is marked as `REPAIRED`.
    """
    columns = config.columns

    def read(
        source: Path | FileTable, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        path = source.path if isinstance(source, FileTable) else source
        side = [column for column, key in keys.items() if key == SIDE]
        if is_squad(path):
            table = read_squad(path)
            _check_side(table, side)
            rows = QuestionReader(table, config, labels, placed).read_all()
            return with_cells(rows, table)

        context = columns.text
        question = str(columns.text_pair)
        table = question_table(own_table(source, config), context, question, columns.guid)
        needed = dict.fromkeys(side, SIDE)
        if placed:
            needed |= {context: "data.columns.text", question: "data.columns.text_pair"}
        if labels == "required" and "answers" not in table.columns:
            needed[columns.answer] = "data.columns.answer"

        table.require(keys=needed)
        return QuestionReader(table, config, labels, placed).read_all()

    return read


def _check_side(table: FileTable, side: Sequence[str]) -> None:
    """Add a problem for each side column that no question of SQuAD's JSON has."""
    if not table.rows:
        return

    for name in side:
        if name not in table.columns:
            similar = nearest(name, table.columns)
            message = f"no question has a '{name}'.{similar}"
            fix = f"{SIDE}=NAME names that column"
            table.problems.append(Problem(str(table.path), message, fix))


class QuestionReader(TableReader):
    """Turns the questions of one file into examples, and collects problems; see `open_questions`.

    Of SQuAD's JSON, `table` is as `read_squad` makes it.
    """

    def __init__(self, table: FileTable, config: DataConfig, labels: Labels, placed: bool):
        super().__init__(table, config, labels)
        self.placed = placed
        self.qa = config.qa
        self.in_json = is_squad(table.path)
        columns = config.columns
        if self.in_json:
            group = columns.group if columns.group in table.columns else "title"
            self.names = ("id", str(group), "context", "question")
        else:
            group = columns.group or ""
            self.names = (columns.guid, group, columns.text, str(columns.text_pair))
        self.normalise = normaliser(config)

    @property
    def has_ids(self) -> bool:
        """Whether any question has an id of its own."""
        return any(row.get(self.names[0]) is not None for row in self.table.rows)

    def read(self, index: int) -> Example | None:
        """See `TableReader.read`."""
        row = self.table.rows[index]
        line = self.table.lines[index]
        own_id, group, *texts = (row.get(name) for name in self.names)
        raw_context, raw_question = (number_text(text) for text in texts)

        problems_before = len(self.problems)
        guid = self.guid(own_id, line)
        report = partial(self._report, line, guid)
        context = ""
        question = ""
        if self.placed or raw_context is not None:
            context = self._text("context", raw_context, report)
        if self.placed or raw_question is not None:
            question = self._text("question", raw_question, report)
        label, gold = self._label(row, report)

        if len(self.problems) > problems_before:
            return None
        if label == NO_ANSWER and NO_ANSWER not in self.config.label_order:
            self.dropped.append((WITHOUT, NO_ANSWER))
            return None
        if label is None and self.labels == "required":
            self.unlabelled[""] += 1
            return None

        visible = [(text, start) for text, start in gold if not is_missing(text)]
        if gold and not visible:
            self.dropped.append((EMPTY_ANSWER, str(label)))
            return None
        repairs = set()
        if len(visible) < len(gold):
            repairs.add(EMPTY)
            gold = visible

        answers = []
        for text, start in gold:
            answer = self._place(raw_context, context, text, start, report)
            if answer is not None:
                answers.append(answer)
        if len(self.problems) > problems_before:
            return None
        if gold and not answers:
            self.dropped.append((MISALIGNED, str(label)))
            return None

        side: dict[str, Any] = {}
        if context and context != raw_context:
            side[GIVEN] = (raw_context,)
        if label is not None:
            side["answers"] = [answer.text for answer in answers]

        for answer in answers:
            repairs.update(answer.changes)
        if len(answers) < len(gold):
            repairs.add(MISALIGNED)
        if repairs:
            side[REPAIRS] = sorted(repairs)
        moved = [answer.moved for answer in answers if answer.moved]
        if moved:
            side[MOVED] = moved

        return self.example(
            index,
            guid,
            context,
            side,
            context if is_missing(group) else group,
            text_pair=question.strip(),
            spans=tuple(answer.span for answer in answers),
            label=label,
        )

    def guid(self, value: Any, line: int) -> str:
        """Read an id; without one it is `<file stem>:<number>`. SQuAD's JSON may repeat ids."""
        guid = text_or_empty(value)
        if value is None:
            guid = f"{table_stem(self.table.path)}:{line}"
        if guid in self.lines and (self.in_json or "answers" in self.table.columns):
            message = f"{self.table.path}: ids that repeat, such as {guid}, are numbered: {guid}#2"
            say(message, f"{self.table.path}: repeated ids")
            numbered = (f"{guid}#{number}" for number in count(2))
            guid = next(name for name in numbered if name not in self.lines)
        return super().guid(guid, line)

    def problem(self, line: int, what: str, fix: Fix) -> None:
        """See `TableReader.problem`; questions of JSON have numbers."""
        separator = " question " if self.in_json else ":"
        self.problems.append(Problem(f"{self.table.path}{separator}{line}", what, fix))

    def _report(self, line: int, guid: str, message: str, fix: Fix) -> None:
        self.problem(line, f"{guid}: {message}" if guid else message, fix)

    def _text(self, name: str, value: Any, report: Report) -> str:
        """Normalise a text; blanks at its ends stay, because offsets of answers count them."""
        text = ""
        if not is_missing(value) and isinstance(value, str):
            text = self.normalise(value)
        if not words(text):
            shown = "is empty" if is_missing(value) else f"has no word: {str(value)[:40]!r}"
            report(f"its {name} {shown}", "context and question need a word")
        return text

    @property
    def _has_list(self) -> bool:
        """Whether answers are in SQuAD's `answers`, not in columns of their own."""
        return self.in_json or self.config.columns.answer not in self.table.columns

    def _answers(self, row: Mapping[str, Any]) -> Answers | None:
        """Read the answers to a question; None where there are none. Raises ValueError."""
        columns = self.config.columns
        if self._has_list:
            return read_answers(row.get("answers"))
        return read_answer_cells(row[columns.answer], row.get(columns.answer_start))

    @cached_property
    def in_utf16(self) -> bool:
        """Whether the file's offsets count UTF-16 units."""
        return count_utf16(self._wide_spans())

    def _wide_spans(self) -> Iterator[tuple[str, str, int]]:
        """Yield context, text and offset of the answers whose offsets depend on the unit."""
        for row in self.table.rows:
            context = row.get(self.names[2])
            if not isinstance(context, str) or not has_wide(context):
                continue
            try:
                answers = self._answers(row) or []
            except ValueError:  # which `read` reports
                continue
            for text, start in answers:
                if isinstance(text, str) and isinstance(start, int):
                    yield context, text, start

    def _places(self, context: str, start: int) -> tuple[int, int]:
        """Read `answer_start` in the file's unit, then in the other: two places, or one twice."""
        units = from_utf16(context, start)
        return (units, start) if self.in_utf16 else (start, units)

    def _label(self, row: Mapping[str, Any], report: Report) -> tuple[str | None, Answers]:
        """Return a question's label and its answers.

        Args:
            row: the cells of the question.
            report: gets what is wrong.
        """
        if self.labels == "ignored":
            return None, []
        has_no_answer = NO_ANSWER in self.config.label_order
        can_lack = has_no_answer or self.qa.no_answer == "drop"
        try:
            answers = self._answers(row)
            if not answers and not can_lack and not self._has_list:
                answers = None  # where every question has one: unlabelled
        except ValueError as error:
            report(str(error), "see SQuAD's form")
            return None, []

        impossible = row.get("is_impossible") if self.in_json else None
        if impossible is True and answers:
            answers = [(text, start) for text, start in answers if not is_missing(text)]
        if answers is None and impossible is not True:
            if self.labels == "required" and self.config.unlabelled == "refuse":
                fix: tuple[str, ...] = ("data.unlabelled=drop leaves such questions out",)
                if not self.in_json and not has_no_answer:
                    order = f"data.label_order=[{ANSWER},{NO_ANSWER}]"
                    fix = (*fix, f"{order} reads them as unanswerable")
                report("has no 'answers'" if self.in_json else "its answer is empty", fix)
            return None, []

        if impossible not in (None, not answers):
            count_of_answers = len(answers or ())
            message = f"is_impossible is {impossible!r} and it has {count_of_answers} answers"
            rule = "a question has answers, or is impossible: true or false, without quotes"
            report(message, rule)
        elif not answers and not can_lack:
            allow = "data.label_order=[answer,no_answer] allows it"
            fix = (allow, "data.qa.no_answer=drop drops it")
            report("has no answer, and every question needs one", fix)
        return (ANSWER, answers) if answers else (NO_ANSWER, [])

    def _place(
        self, raw_context: Any, context: str, text: Any, start: Any, report: Report
    ) -> PlacedAnswer | None:
        """Find one answer in the normalised context; None where it is wrong or left out.

        Args:
            raw_context: as the file has it.
            context: the normalised context.
            text: the answer as the file has it.
            start: its `answer_start`; None if there is none.
            report: gets what is wrong.
        """
        if not isinstance(text, str):
            report(f"has no text: {text!r:.40}", "an answer is a part of the context")
            return None
        if not self.placed:
            is_there = not isinstance(raw_context, str) or self._is_in(raw_context, text, start)
            return PlacedAnswer(text, Span(0, 0), [] if is_there else [REPAIRED])
        span_given = self._find(raw_context, text, start, report)
        if span_given is None:
            return None

        is_exact = start is None or span_given.start == start
        is_same = raw_context[span_given.start : span_given.end] == text
        changes = []
        moved = None
        if not is_exact or not is_same:
            changes.append(REPAIRED)
            moved = {"answer": text, "answer_start": start, "place": span_given.start}

        span = map_span(raw_context, span_given, self.normalise)
        trimmed = trim(context, span)
        if trimmed.start == trimmed.end:
            fix = ("an answer is a visible part of the context", "see data.unicode")
            report(f"its answer {text!r} is invisible", fix)
            return None
        if self.qa.trim and trimmed != span:
            changes.append(TRIMMED)
            span = trimmed
        return PlacedAnswer(text, span, changes, moved)

    def _is_in(self, context: str, text: str, start: Any) -> bool:
        """Tell whether a context has an answer at its `answer_start`, or anywhere without one."""
        if not isinstance(start, int):
            return text in context
        return any(stands_at(context, text, place) for place in self._places(context, start))

    def _find(self, context: str, text: str, start: Any, report: Report) -> Span | None:
        """Find an answer in the context as the file has it.

        Args:
            context: the text.
            text: the answer.
            start: its `answer_start`: a number of characters or of UTF-16 units; None if there is
                none.
            report: gets what is wrong.
        """
        if start is not None and (not isinstance(start, int) or isinstance(start, bool)):
            report(f"answer_start is {start!r}", "the number of characters before the answer")
            return None
        if start is None and context.count(text) == 1:
            begin = context.index(text)
            return Span(begin, begin + len(text))
        places = () if start is None else self._places(context, start)
        for place in places:
            if stands_at(context, text, place):
                return Span(place, place + len(text))

        nearest_span = nearest_place(context, text, places[0] if places else 0)
        if nearest_span is not None and nearest_span.start in places:
            return nearest_span  # it is spelt otherwise
        if self.qa.misaligned == "drop":
            return None
        if self.qa.misaligned == "repair" and nearest_span is not None:
            return nearest_span
        if start is None:
            times = context.count(text)
            message = f"its answer {_shorten(text)!r} stands {times} times in the context"
            choose = "say which with answer_start", "data.qa.misaligned=repair takes the first"
            report(message, _DROP if nearest_span is None else choose)
            return None

        at_start = context[start : start + len(text)] if start >= 0 else ""
        message = f"at {start} the context reads {_shorten(at_start)!r}, not {_shorten(text)!r}:"
        if nearest_span is None:
            report(f"{message} nowhere in it", ("", _DROP))
        else:
            repair = "data.qa.misaligned=repair takes that place"
            report(f"{message} it stands at {nearest_span.start}", (repair, _DROP))
        return None


def _shorten(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


QUESTIONS = Format(open_questions, is_whole=is_squad)


def _read(path: Path, config: DataConfig) -> Rows:
    """Read questions; answers need no place in the context, and any question may have none."""
    labels = [ANSWER] if config.qa.no_answer == "drop" else [ANSWER, NO_ANSWER]
    placed = config.qa.misaligned == "drop"
    config = replace(config, label_order=labels, counts={})  # counts are of whole splits
    side = dict.fromkeys(config.columns.side, SIDE)
    return open_questions(config, {}, placed)(path, "required", "", side)


def _notes(examples: Sequence[Example]) -> list[str]:
    counts = count_repairs(examples)
    return [f"{counts[kind]} questions {note}" for kind, note in _NOTES.items() if kind in counts]


def text_scores() -> TextScores:
    """Describe how answers are scored."""
    return TextScores(
        items=lambda texts, golds, language, no_answer: item_scores(
            texts, golds, language_profiles(language), no_answer=no_answer
        ),
        metric="f1",
        right="exact_match",
        can_be_empty=lambda labels: NO_ANSWER in labels if labels else None,
        predicts="answer",
        data="own_qa",
        columns=("prediction", "prediction_text", "answer", "text"),
        group="text",
        read=_read,
        golds=lambda example: list(example.side["answers"]),
        notes=_notes,
    )
