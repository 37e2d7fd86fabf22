"""Check annotators' questions, and write the data set.

Source: ParaShoot, section 2.2 (alerts while annotating) and 2.3: 68 of 3,106 questions were
discarded, yes/no questions and those with extremely short or long answers.
Deviates: the paper gives no limits. The defaults are the shortest and longest of the released train
file: answers of 1 to 52 words, questions of 2 to 25.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.cells import Table
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_json
from heron.base.tables import write_table
from heron.data.config import SPLITS
from heron.data.overrides import write_config
from heron.languages import get_language
from heron.languages.words import folded_words, words

from ..question_words import asks_yes_or_no
from .articles import Paragraph
from .label_studio import AnnotatedQuestion, Export

FILES = {"train": "train.json", "validation": "dev.json", "test": "test.json"}
# Reasons why a question is unusable; it is always left out.
NO_QUESTION, NO_ANSWER, MISPLACED = UNUSABLE = ("no_question", "no_answer", "misplaced")
REPEATED = "repeated"  # a check over all questions on a paragraph
PROBLEM_COLUMNS = ("where", "task", "annotator", "question", "answer", "check", "problem", "then")


@dataclass
class CollectQuestionsOptions:
    """Options of `heron build parashoot collect`."""

    exports: list[Path]  # Label Studio's JSON exports
    out: Path  # folder of the data set
    name: str = "questions"  # of the data set
    language: str = "he"  # of the texts
    # checks that exclude a question
    reject: list[str] = field(default_factory=lambda: ["yes_no", "answer_length", "repeated"])
    answer_words: list[int] = field(default_factory=lambda: [1, 52])  # fewest and most
    question_words: list[int] = field(default_factory=lambda: [2, 25])  # fewest and most


@dataclass(frozen=True, slots=True)
class QuestionProblem:
    """A problem that a check found in a question."""

    question: AnnotatedQuestion
    check: str
    detail: str
    rejects: bool  # whether it excludes the question


@dataclass(frozen=True, slots=True)
class CheckedQuestions:
    """The kept questions, all problems found, and the reasons for excluding questions."""

    kept: list[AnnotatedQuestion] = field(default_factory=list)
    findings: list[QuestionProblem] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # the first reason of each excluded question


def _unusable(question: AnnotatedQuestion, ids: Container[str]) -> tuple[str, str] | None:
    """Find the reason why a question is unusable.

    Args:
        question: a region of an export.
        ids: of the questions before it.

    Returns:
        The reason and its detail; None if the question is usable.
    """
    answer = question.answer
    marked = question.marked
    if not words(question.question):
        return NO_QUESTION, "no question was written for this answer"
    if not answer:
        return NO_ANSWER, "no span was marked for this question, or a blank one"
    if marked is not None:
        start, end = question.span or (0, 0)
        return MISPLACED, f"from {start} to {end} the paragraph has '{answer:.40}'"
    if question.id in ids:
        return REPEATED, "another export has the same region"
    return None


def _yes_no(question: AnnotatedQuestion, options: CollectQuestionsOptions) -> str:
    language = get_language(options.language)
    return "asks for yes or no" if asks_yes_or_no(question.question, language) else ""


def _answer_length(question: AnnotatedQuestion, options: CollectQuestionsOptions) -> str:
    return _outside("answer", question.answer, options.answer_words)


def _question_length(question: AnnotatedQuestion, options: CollectQuestionsOptions) -> str:
    return _outside("question", question.question, options.question_words)


def _outside(name: str, text: str, limits: Sequence[int]) -> str:
    """Describe a text with fewer or more words than allowed; empty for others."""
    count = len(text.split())
    fewest, most = limits
    if fewest <= count <= most:
        return ""
    return f"the {name} has {count} words, allowed are {fewest} to {most}"


def _question_mark(question: AnnotatedQuestion, options: CollectQuestionsOptions) -> str:
    if question.question.endswith(("?", "؟")):
        return ""
    return "does not end with a question mark"


def _answer_in_question(question: AnnotatedQuestion, options: CollectQuestionsOptions) -> str:
    """Say that the words of the answer stand in its question; empty if they do not."""
    answer = folded_words(question.answer)
    words_of_question = folded_words(question.question)
    size = len(answer)
    for start in range(len(words_of_question) - size + 1):
        if answer and words_of_question[start : start + size] == answer:
            return f"the question names the answer, '{question.answer:.40}'"
    return ""


# Checks of a usable question; they return a message, or an empty text.
CHECKS: Mapping[str, Callable[[AnnotatedQuestion, CollectQuestionsOptions], str]] = {
    "yes_no": _yes_no,
    "answer_length": _answer_length,
    "question_mark": _question_mark,
    "question_length": _question_length,
    "answer_in_question": _answer_in_question,
}
NAMES = (*CHECKS, REPEATED)


def check_questions(
    questions: Sequence[AnnotatedQuestion], options: CollectQuestionsOptions
) -> CheckedQuestions:
    """Check every question.

    Args:
        questions: in the order of the exports; of repeated questions the first is kept.
        options: the limits of the checks, and the checks that exclude a question; findings of
            the others are only listed.

    Raises:
        ConfigError: an unknown check.
    """
    for name in options.reject:
        if name not in NAMES:
            raise ConfigError(f"reject={name}: no such check.{nearest(name, NAMES, listed=True)}")

    checked = CheckedQuestions()
    seen: dict[
        tuple[str, ...], AnnotatedQuestion
    ] = {}  # the first question, by paragraph and words
    ids: set[str] = set()  # a region in two exports is one question
    for question in questions:
        unusable = _unusable(question, ids)
        ids.add(question.id)
        if unusable:
            reason, detail = unusable
            checked.findings.append(QuestionProblem(question, reason, detail, rejects=True))
            checked.reasons.append(reason)
            continue

        details = {name: check(question, options) for name, check in CHECKS.items()}
        key = (question.paragraph.text, *folded_words(question.question))
        first = seen.setdefault(key, question)
        details[REPEATED] = "" if first is question else f"asked in {first.where} already"

        findings = []
        for name, detail in details.items():
            if detail:
                findings.append(QuestionProblem(question, name, detail, name in options.reject))
        checked.findings.extend(findings)

        reasons = [finding.check for finding in findings if finding.rejects]
        if reasons:
            checked.reasons.append(reasons[0])
        else:
            checked.kept.append(question)
    return checked


def write_data_set(options: CollectQuestionsOptions, checked: CheckedQuestions) -> list[Path]:
    """Write the checked questions as a data set.

    Args:
        options: with its folder, name and language.
        checked: the kept questions, and the problems of all.

    Returns:
        The file of each split that has questions, `problems.csv`, and the data set's YAML.
    """
    out = options.out
    name = options.name
    files = {}
    for split in SPLITS:
        kept = [question for question in checked.kept if question.paragraph.split == split]
        if kept:
            rows = [_squad(question) for question in kept]
            path = out / FILES[split]
            write_json(path, {"version": "v1.1", "data": rows})
            files[split] = (path, len(rows))

    problems = out / "problems.csv"
    rows_of_problems = [_problem_row(finding) for finding in checked.findings]
    columns = {}
    for index, column in enumerate(PROBLEM_COLUMNS):
        columns[column] = [row[index] for row in rows_of_problems]
    write_table(problems, columns)

    config = write_config(out, name, files, _settings(name, options.language))
    return [*(path for path, _ in files.values()), problems, config]


def _squad(question: AnnotatedQuestion) -> dict[str, Any]:
    """Lay out a question as a row of the data set."""
    assert question.span is not None
    start, _ = question.span
    return {
        "id": question.id,
        "title": question.paragraph.title,
        "context": question.paragraph.text,
        "question": question.question,
        "answers": {"text": [question.answer], "answer_start": [start]},
    }


def _problem_row(finding: QuestionProblem) -> tuple[str, ...]:
    """Lay out `PROBLEM_COLUMNS`."""
    question = finding.question
    return (
        question.where,
        question.task,
        question.annotator,
        question.question,
        question.answer,
        finding.check,
        finding.detail,
        "rejected" if finding.rejects else "listed",
    )


def _settings(name: str, language: str) -> dict[str, Any]:
    return {
        "title": f"{name}, questions on paragraphs",
        "language": language,
        "task": "qa",
        "format": "squad_json",
        "licence": "",
        "citation": "made by heron build parashoot",
        "label_order": ["answer"],
        "columns": {"text": "context", "text_pair": "question", "guid": "id", "group": "title"},
    }


def size_table(export: Export, checked: CheckedQuestions) -> Table:
    """Lay out ParaShoot's Table 1 of the kept questions.

    Args:
        export: with the numbers of tasks.
        checked: with the kept questions.
    """
    paragraphs = [question.paragraph for question in checked.kept]
    rows = []
    for split in SPLITS:
        of_split = [paragraph for paragraph in paragraphs if paragraph.split == split]
        rows.append(_size_row(split, of_split))
    rows.append(_size_row("total", paragraphs))

    note = f"{export.tasks} tasks, {export.open} of them without a question."
    columns = ("split", "articles", "paragraphs", "questions")
    return Table("Articles, paragraphs and questions", columns, rows, note)


def _size_row(name: str, paragraphs: Sequence[Paragraph]) -> tuple[str, int, int, int]:
    """Count distinct articles and paragraphs, and questions, each given by its paragraph."""
    titles = {paragraph.title for paragraph in paragraphs}
    ids = {paragraph.id for paragraph in paragraphs}
    return name, len(titles), len(ids), len(paragraphs)


def check_table(export: Export, checked: CheckedQuestions) -> Table:
    """Count what the checks found.

    Args:
        export: all questions.
        checked: the findings; a rejected question counts for its first reason only.
    """
    rejected = Counter(checked.reasons)
    listed = Counter(finding.check for finding in checked.findings if not finding.rejects)
    rows = []
    for name in (*UNUSABLE, *NAMES):
        if rejected[name] or listed[name]:
            rows.append((name, rejected[name], listed[name]))
    rows.append(("all", rejected.total(), listed.total()))

    total = len(export.questions)
    note = f"{total} questions - {rejected.total()} rejected = {len(checked.kept)}."
    return Table("Problems", ("check", "rejected", "listed only"), rows, note)
