"""From a file of questions to `Example`s; every answer is checked against its context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from heron.base.errors import Fix, Problem, nearest
from heron.base.tables import Table, cell_text, is_missing, table_stem
from heron.config.data import DataConfig
from heron.data.examples import MENDED, Example, Span
from heron.data.rows import SIDE, Format, Labels, Reader, Rows
from heron.languages import get_language
from heron.languages.unicode import normalise
from heron.languages.words import words
from heron.metrics.span_classes import asks_yes_or_no
from heron.tasks.qa.answers import map_span, nearest_place, stands_at, trim
from heron.tasks.qa.squad import (
    RawQuestion,
    is_squad,
    place_of,
    read_question_table,
    read_squad,
)
from heron.tasks.qa.task import ANSWER, NO_ANSWER

MISALIGNED, YES_NO = "misaligned answer", "yes/no question"
ANSWER_LENGTH = "answer too short or too long"
WITHOUT = "no answer"
TRIMMED, REPAIRED = "trimmed", "repaired"
# Key in `Example.side` of the context before normalisation, of examples to predict: predicted spans
# count characters in it.
GIVEN = "context as given"
_NEEDS_WORDS = "context and question need a word"
_IN_UTF8 = "half a character: write the file anew as UTF-8"


def open_questions(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of files of questions; each may be SQuAD's JSON or a table."""

    def read(
        source: Path | Table, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        side = [column for column in keys if keys[column] == SIDE]
        return read_questions(source, config, labels, side)

    return read


def read_questions(
    source: Path | Table,
    config: DataConfig,
    labels: Labels,
    side: Sequence[str] = (),
    placed: bool = True,
) -> Rows:
    """Read one file of questions.

    Args:
        source: SQuAD's JSON (nested or flat), or a table with one question in each row.
        config: the data set.
        labels: `optional`: a question without answers is unlabelled.
        side: names of `data.columns.side`, which are needed.
        placed: True needs every answer in its context. False takes answers as texts, as SQuAD's
            evaluation does: neither contexts nor questions are needed, and an answer that is not at
            its `answer_start` is marked as `REPAIRED`.

    Raises:
        DataError: a table without the columns of context and question.
    """
    path, ids = (source.path, source.ids) if isinstance(source, Table) else (source, None)
    if is_squad(path):
        questions, problems = read_squad(path)
        problems += _absent(path, questions, side)
    else:
        questions, problems = read_question_table(source, config, labels, side, placed)
    reader = QuestionReader(path, config, labels, placed, ids)
    examples = [example for raw in questions if (example := reader.read(raw)) is not None]
    found = sorted([*problems, *reader.problems], key=lambda each: each.number)
    has_ids = any(raw.guid is not None for raw in questions)
    return Rows(examples, found, reader.unlabelled, reader.dropped, list(reader.numbers), has_ids)


def _absent(path: Path, questions: Sequence[RawQuestion], side: Sequence[str]) -> list[Problem]:
    """Report names that no question of a JSON file has."""
    known = {name for raw in questions for name in raw.row}
    fix = f"{SIDE}=NAME says which it is"
    return [
        Problem(str(path), f"no question has a '{name}'.{nearest(name, known)}", fix)
        for name in side
        if questions and name not in known
    ]


class QuestionReader:
    """Turns the questions of one file into examples, and collects problems.

    Args:
        path: the file, for messages.
        config, labels, placed: see `read_questions`.
        ids: earlier ids of the file and their lines, see `Table`; None at its beginning.
    """

    def __init__(
        self,
        path: Path,
        config: DataConfig,
        labels: Labels,
        placed: bool = True,
        ids: dict[str, int] | None = None,
    ):
        self.path, self.config, self.labels, self.qa = path, config, labels, config.qa
        self.placed = placed
        self.in_json = is_squad(path)
        self.problems: list[Problem] = []
        self.unlabelled: Counter[str] = Counter()
        self.dropped: list[tuple[str, str]] = []  # reason and label of questions left out
        self.numbers: dict[str, int] = {} if ids is None else ids  # of each guid
        language = get_language(config.language)
        self.normalise = partial(normalise, language=language, options=config.unicode)

    def read(self, raw: RawQuestion) -> Example | None:
        """Read one question; None where it cannot be used, with one more problem or count."""
        found = len(self.problems)
        guid = self._guid(raw)
        context, question = "", ""
        if self.placed or raw.context is not None:
            context = self._text(raw, guid, "context", raw.context)
        if self.placed or raw.question is not None:
            question = self._text(raw, guid, "question", raw.question)
        label, gold = self._label(raw, guid)
        if len(self.problems) > found:
            return None
        if label == NO_ANSWER and NO_ANSWER not in self.config.label_order:
            self.dropped.append((WITHOUT, NO_ANSWER))
            return None
        if label is None and self.labels == "required":
            self.unlabelled[""] += 1
            return None
        placed = [self._place(raw, guid, text, start) for text, start in gold]
        if len(self.problems) > found:
            return None
        answers = [answer for answer in placed if answer is not None]
        if reason := self._reason(raw.question, gold, answers):
            self.dropped.append((reason, str(label)))
            return None
        side: dict[str, Any] = {"file": self.path.name, "line": raw.number}
        side |= {column: raw.row.get(column) for column in self.config.columns.side}
        if self.labels == "ignored" and context != raw.context:
            side[GIVEN] = raw.context
        if label is not None:
            side["answers"] = [text for text, _, _ in answers]
        mended = {word for _, _, done in answers for word in done}
        if len(answers) < len(gold):
            mended.add(MISALIGNED)
        if mended:
            side[MENDED] = sorted(mended)
        return Example(
            guid,
            context,
            question.strip(),
            tuple(span for _, span, _ in answers),
            label,
            group=context if is_missing(raw.group) else str(raw.group),
            side=side,
        )

    def _guid(self, raw: RawQuestion) -> str:
        guid = f"{table_stem(self.path)}:{raw.number}"
        if not is_missing(raw.guid):
            guid = cell_text(raw.guid)
            if found := _surrogate(guid):
                self._problem(raw, "", f"its id holds {found}, which is no character", _IN_UTF8)
        elif raw.guid is not None:
            self._problem(raw, "", "its id is empty", "one id for each question, or none at all")
        if guid in self.numbers:
            first = f"{'question' if self.in_json else 'line'} {self.numbers[guid]}"
            self._problem(raw, guid, f"{first} has this id already", "each id once in a file")
        self.numbers.setdefault(guid, raw.number)
        return guid

    def _text(self, raw: RawQuestion, guid: str, what: str, value: Any) -> str:
        """Normalise a text without stripping it, because answers are counted in it."""
        text, wrong, fix = "", "", _NEEDS_WORDS
        if is_missing(value):
            wrong = "is empty"
        elif not isinstance(value, str):
            wrong = f"is no text: {value!r:.60}"
        elif not value.isascii() and (found := _surrogate(value)):
            wrong, fix = f"holds {found}, which is no character", _IN_UTF8
        else:
            text = self.normalise(value)
            wrong = "" if words(text) else f"has no word: {_shorten(text)!r}"
        if wrong:
            self._problem(raw, guid, f"its {what} {wrong}", fix)
        return text

    def _label(self, raw: RawQuestion, guid: str) -> tuple[str | None, Sequence[tuple[Any, Any]]]:
        """Return a question's label and its answers."""
        if self.labels == "ignored":
            return None, ()
        if raw.malformed:
            self._problem(raw, guid, raw.malformed, "see SQuAD's form")
            return None, ()
        if raw.impossible is not None and not isinstance(raw.impossible, bool):
            what = f"is_impossible is {raw.impossible!r}"
            self._problem(raw, guid, what, "write true or false, without quotes")
            return None, ()
        if raw.answers is None and raw.impossible is not True:
            if self.labels == "required" and self.config.unlabelled == "refuse":
                self._problem(raw, guid, *self._no_answer_key())
            return None, ()
        answers = raw.answers or []
        if raw.impossible is not None and raw.impossible == bool(answers):
            stored = "true" if raw.impossible else "false"
            what = f"is_impossible is {stored} and it has {len(answers)} answers"
            self._problem(raw, guid, what, "a question has answers, or is impossible")
        elif not answers and not (
            NO_ANSWER in self.config.label_order or self.qa.no_answer == "drop"
        ):
            allow = "data.label_order=[answer,no_answer] allows it"
            fix = (allow, "data.qa.no_answer=drop drops it")
            self._problem(raw, guid, "has no answer, and every question needs one", fix)
        return (ANSWER if answers else NO_ANSWER), answers

    def _no_answer_key(self) -> tuple[str, Fix]:
        """Describe a missing answer by the file's own names, and how to fix it."""
        fix = "data.unlabelled=drop leaves such questions out"
        if self.in_json:
            return "has no 'answers'", fix
        if NO_ANSWER in self.config.label_order:
            return "its answer is empty", fix
        order = f"data.label_order=[{ANSWER},{NO_ANSWER}]"
        return "its answer is empty", (fix, f"{order} takes them for unanswerable")

    def _place(
        self, raw: RawQuestion, guid: str, text: Any, start: Any
    ) -> tuple[str, Span, list[str]] | None:
        """Find one answer in the normalised context; None where it is wrong or left out.

        Returns:
            The answer as the file has it, its span, and the changes made (`REPAIRED`, `TRIMMED`).
        """
        if not isinstance(text, str) or not text.strip():
            shown = "an empty answer" if isinstance(text, str) else f"no text: {text!r:.40}"
            self._problem(raw, guid, f"has {shown}", "an answer is a part of the context")
            return None
        if not self.placed:
            return text, Span(0, 0), [REPAIRED] if _is_away(raw.context, text, start) else []
        done = []
        place = self._start(raw, guid, text, start)
        if place is None:
            return None
        if place != start and start is not None:
            done.append(REPAIRED)
        span = map_span(raw.context, Span(place, place + len(text)), self.normalise)
        context = self.normalise(raw.context)
        inner = trim(context, span)
        if inner.start == inner.end:
            fix = ("an answer is a visible part of the context", "see data.unicode")
            self._problem(raw, guid, f"its answer {text!r} is invisible", fix)
            return None
        if self.qa.trim and inner != span:
            done.append(TRIMMED)
            span = inner
        return text, span, done

    def _start(self, raw: RawQuestion, guid: str, text: str, start: Any) -> int | None:
        """Find where an answer begins in the context as the file has it."""
        if start is None:
            return self._only_place(raw, guid, text)
        if not isinstance(start, int) or isinstance(start, bool):
            what = f"answer_start is {start!r}"
            self._problem(raw, guid, what, "the number of characters before the answer")
            return None
        if stands_at(raw.context, text, start):
            return start
        place = nearest_place(raw.context, text, start)
        if self.qa.misaligned == "drop":
            return None
        if self.qa.misaligned == "repair" and place is not None:
            return place
        there = raw.context[max(start, 0) : max(start, 0) + len(text)] if start >= 0 else ""
        what = f"at {start} the context reads {_shorten(there)!r}, not {_shorten(text)!r};"
        drop = "data.qa.misaligned=drop leaves it out"
        if place is None:
            self._problem(raw, guid, f"{what} and it stands nowhere in the context", drop)
        else:
            fix = ("data.qa.misaligned=repair takes that place", drop)
            self._problem(raw, guid, f"{what} the nearest place where it stands is {place}", fix)
        return None

    def _only_place(self, raw: RawQuestion, guid: str, text: str) -> int | None:
        """Find an answer whose start the file does not give."""
        places = raw.context.count(text)
        if places == 1 or (places and self.qa.misaligned == "repair"):
            return raw.context.index(text)
        if self.qa.misaligned != "drop":
            what = f"its answer {_shorten(text)!r} stands {places} times in the context"
            choose = ("say which with answer_start", "data.qa.misaligned=repair takes the first")
            fix = choose if places else "data.qa.misaligned=drop leaves it out"
            self._problem(raw, guid, what, fix)
        return None

    def _reason(
        self,
        question: str,
        gold: Sequence[tuple[Any, Any]],
        answers: Sequence[tuple[str, Span, list[str]]],
    ) -> str:
        """Return the reason why a question is left out; empty where it is used."""
        if gold and not answers:
            return MISALIGNED
        if self.labels == "ignored":
            return ""
        language = get_language(self.config.language)
        if self.qa.yes_no == "drop" and asks_yes_or_no(str(question), language):
            return YES_NO
        if answers and self.qa.answer_words:
            fewest, most = self.qa.answer_words
            if not any(fewest <= len(words(text)) <= most for text, _, _ in answers):
                return ANSWER_LENGTH
        return ""

    def _problem(self, raw: RawQuestion, guid: str, what: str, fix: Fix) -> None:
        what = f"{guid}: {what}" if guid else what
        self.problems.append(Problem(place_of(self.path, raw.number), what, fix))


def _is_away(context: Any, text: str, start: Any) -> bool:
    """Tell whether an answer is not at its place; False where there is no context."""
    if not isinstance(context, str):
        return False
    return text not in context if start is None else not stands_at(context, text, start)


def _surrogate(text: str) -> str:
    """Name the first lone surrogate, which JSON can escape and UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"U+{ord(text[error.start]):04X}"
    return ""


def _shorten(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


QUESTIONS = Format(open_questions, is_whole=is_squad)
