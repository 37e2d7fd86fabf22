"""From a file of questions to `Example`s: every answer checked against its context.

`read_questions` takes SQuAD's JSON and tables alike, whichever a data set itself is in.
"""

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
from heron.tasks.qa.options import ANSWER, NO_ANSWER
from heron.tasks.qa.squad import RawQuestion, is_squad, place_of, read_squad
from heron.tasks.qa.table import read_question_table

MISALIGNED, YES_NO = "misaligned answer", "yes/no question"
ANSWER_LENGTH = "answer too short or too long"
WITHOUT = "no answer"
TRIMMED, REPAIRED = "trimmed", "repaired"
# The name there of a context as the file has it, where normalising has changed it and nobody knows
# the answer: whoever is to be answered counts in it.
GIVEN = "context as given"


def open_questions(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of files of questions, SQuAD's JSON and tables alike."""

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
        source: SQuAD's JSON (nested or flat), or a table with a question in each row; or the rows
            of one.
        config: the data set.
        labels: `required`, `optional` (a question without answers in the file is unlabelled) or
            `ignored`.
        side: names of `data.columns.side` that must be there.
        placed: whether every answer must stand in its context. Without, answers are texts, as
            SQuAD's evaluation has them, and neither contexts nor questions are needed; one that is
            not at its `answer_start` is marked as `REPAIRED`.

    Returns:
        The good questions, what is wrong with the others, and which were left out.

    Raises:
        DataError: a table without the columns that hold context and question.
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
    """Report names that no question of SQuAD's JSON has."""
    known = {name for raw in questions for name in raw.row}
    fix = f"{SIDE}=NAME says which it is"
    return [
        Problem(str(path), f"no question has a '{name}'.{nearest(name, known)}", fix)
        for name in side
        if questions and name not in known
    ]


class QuestionReader:
    """Turns the questions of one file into examples and remembers what was wrong.

    Args:
        path: the file, for messages.
        config: the data set.
        labels: whether each question needs answers, or a word that it has none.
        placed: as in `read_questions`.
        ids: the number of each id before these questions, see `Table`; None at a file's beginning.
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
        """Read one question; None when it cannot be used, with one more problem or count."""
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
        if is_missing(raw.guid):
            if raw.guid is not None:
                self._problem(
                    raw, "", "its id is empty", "one id for each question, or none at all"
                )
            guid = f"{table_stem(self.path)}:{raw.number}"
        else:
            guid = cell_text(raw.guid)
            if found := _surrogate(guid):
                fix = "half a character: write the file anew as UTF-8"
                self._problem(raw, "", f"its id holds {found}, which is no character", fix)
        if guid in self.numbers:
            first = self._number(self.numbers[guid])
            self._problem(raw, guid, f"{first} has this id already", "each id once in a file")
        self.numbers.setdefault(guid, raw.number)
        return guid

    def _text(self, raw: RawQuestion, guid: str, what: str, value: Any) -> str:
        """Normalise a text but do not strip it: answers are counted in it."""
        if is_missing(value) or not isinstance(value, str):
            wrong = "is empty" if is_missing(value) else f"is no text: {value!r:.60}"
            self._problem(raw, guid, f"its {what} {wrong}", "context and question need a word")
            return ""
        if not value.isascii() and (found := _surrogate(value)):
            fix = "half a character: write the file anew as UTF-8"
            self._problem(raw, guid, f"its {what} holds {found}, which is no character", fix)
            return ""
        text = self.normalise(value)
        if not words(text):
            wrong = f"has no word: {_shorten(text)!r}"
            self._problem(raw, guid, f"its {what} {wrong}", "context and question need a word")
        return text

    def _label(self, raw: RawQuestion, guid: str) -> tuple[str | None, Sequence[tuple[Any, Any]]]:
        """Say what a question is labelled, and with which answers."""
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
            said = "true" if raw.impossible else "false"
            what = f"is_impossible is {said} and it has {len(answers)} answers"
            self._problem(raw, guid, what, "a question has answers, or is impossible")
        elif not answers and not (
            NO_ANSWER in self.config.label_order or self.qa.no_answer == "drop"
        ):
            fix = (
                "data.label_order=[answer,no_answer] allows it",
                "data.qa.no_answer=drop drops it",
            )
            self._problem(raw, guid, "has no answer, and every question needs one", fix)
        return (ANSWER if answers else NO_ANSWER), answers

    def _no_answer_key(self) -> tuple[str, Fix]:
        """Say that a question's answer is not known, in the file's own words; and what to do."""
        fix = "data.unlabelled=drop leaves such questions out"
        if self.in_json:
            return "has no 'answers'", fix
        if NO_ANSWER not in self.config.label_order:
            order = f"data.label_order=[{ANSWER},{NO_ANSWER}]"
            return "its answer is empty", (fix, f"{order} takes them for unanswerable")
        return "its answer is empty", fix

    def _place(
        self, raw: RawQuestion, guid: str, text: Any, start: Any
    ) -> tuple[str, Span, list[str]] | None:
        """Find one answer in the normalised context; None when it is wrong or left out.

        Returns:
            The answer as it was shipped, where it stands, and what was done to it.
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
        """Say where an answer begins in the context as it was shipped."""
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
        elsewhere = "and it stands nowhere in the context"
        fix = ["data.qa.misaligned=drop leaves it out"]
        if place is not None:
            elsewhere = f"the nearest place where it stands is {place}"
            fix.insert(0, "data.qa.misaligned=repair takes that place")
        what = (
            f"at {start} the context reads {_shorten(there)!r}, not {_shorten(text)!r}; {elsewhere}"
        )
        self._problem(raw, guid, what, tuple(fix))
        return None

    def _only_place(self, raw: RawQuestion, guid: str, text: str) -> int | None:
        places = raw.context.count(text)
        if places == 1 or (places and self.qa.misaligned == "repair"):
            return raw.context.index(text)
        if self.qa.misaligned != "drop":
            shown = f"its answer {_shorten(text)!r} stands {places} times in the context"
            fix: Fix = "data.qa.misaligned=drop leaves it out"
            if places:
                first = "data.qa.misaligned=repair takes the first"
                fix = ("say which with answer_start", first)
            self._problem(raw, guid, shown, fix)
        return None

    def _reason(
        self,
        question: str,
        gold: Sequence[tuple[Any, Any]],
        answers: Sequence[tuple[str, Span, list[str]]],
    ) -> str:
        """Say why a question is left out; empty where it stays."""
        if gold and not answers:
            return MISALIGNED
        if self.labels == "ignored":
            return ""
        if self.qa.yes_no == "drop" and asks_yes_or_no(
            str(question), get_language(self.config.language)
        ):
            return YES_NO
        if answers and self.qa.answer_words:
            fewest, most = self.qa.answer_words
            if not any(fewest <= len(words(text)) <= most for text, _, _ in answers):
                return ANSWER_LENGTH
        return ""

    def _number(self, number: int) -> str:
        return f"question {number}" if self.in_json else f"line {number}"

    def _problem(self, raw: RawQuestion, guid: str, what: str, fix: Fix) -> None:
        what = f"{guid}: {what}" if guid else what
        self.problems.append(Problem(place_of(self.path, raw.number), what, fix))


def _is_away(context: Any, text: str, start: Any) -> bool:
    """Tell whether an answer is not where the file says; False where there is no context."""
    if not isinstance(context, str):
        return False
    return text not in context if start is None else not stands_at(context, text, start)


def _surrogate(text: str) -> str:
    """Name the first lone surrogate, which JSON's escapes can hold and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"U+{ord(text[error.start]):04X}"
    return ""


def _shorten(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


# SQuAD's JSON or a table, whichever a file is.
QUESTIONS = Format(open_questions, is_whole=is_squad)
