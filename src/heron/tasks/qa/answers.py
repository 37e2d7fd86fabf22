"""Answers: the shapes that files have for them, and their place in a context.

SQuAD's JSON is nested in SQuAD 1.1, SQuAD 2.0 and HeQ (`data`, `paragraphs`, `qas`), and flat in
ParaShoot (`data` is a list of questions, each with its context and with its answers as two parallel
lists).
"""

import ast
import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from heron.base.errors import DataError
from heron.base.files import parse_json
from heron.base.tables import (
    FileTable,
    cell_text,
    content_format,
    is_missing,
    number_text,
    read_bytes,
)
from heron.data.examples import Span

# The text and the `answer_start` of each answer; unchecked.
Answers = list[tuple[Any, Any]]


def is_squad(path: Path) -> bool:
    """Tell SQuAD's JSON, which is one object, from a table."""
    return content_format(path) == "object"


def place_of(path: Path, number: int) -> str:
    """Name a question for messages: by its line in a table, by its number in JSON."""
    separator = " question " if is_squad(path) else ":"
    return f"{path}{separator}{number}"


def read_squad(path: Path) -> FileTable:
    """Read every question of a file, numbered from 1, with the values around it.

    Missing keys are absent from rows.

    Raises:
        DataError: the file cannot be read, has another form, or no question.
    """
    form = 'SQuAD\'s form is {"data": [...]}, a table is a list [...] or one object a line'
    try:
        file = parse_json(read_bytes(path).decode("utf-8-sig"))
        rows = list(_walk(file.get("data", [file])))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(str(path), f"cannot be read as SQuAD's JSON: {error!r}", form) from error
    if not rows:
        raise DataError(str(path), "has no questions", "at least one is needed")
    columns = dict.fromkeys(name for row in rows for name in row)
    numbers = list(range(1, len(rows) + 1))
    return FileTable(path, tuple(columns), rows, numbers, [])


def _walk(articles: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield each question with the values around it."""
    for article in articles:
        if "question" in article:
            yield article
            continue
        paragraphs = article["paragraphs"]
        if not isinstance(paragraphs, list):
            paragraphs = [paragraphs]
        for paragraph in paragraphs:
            around = {**article, **paragraph}
            shared = {name: v for name, v in around.items() if not isinstance(v, list)}
            for question in paragraph["qas"]:
                yield {**shared, **question}


def read_answers(value: Any) -> Answers | None:
    """Read `answers`: a list of `{text, answer_start}`, or `{text: [...], answer_start: [...]}`.

    Both may be written as text, in JSON or as Python and NumPy print them.

    Raises:
        ValueError: other shapes.
    """
    if not isinstance(value, Mapping | list) and is_missing(value):  # empty ones are no answer
        return None
    try:
        answers = _parse(value) if isinstance(value, str) else value
        if not isinstance(answers, Mapping):
            return [_answer(answer.get("text"), answer.get("answer_start")) for answer in answers]
        texts = answers["text"]
        starts = answers.get("answer_start")
        if not isinstance(texts, list) or not isinstance(starts, list | None):
            raise TypeError("both must be lists")
        if starts is None:
            starts = [None] * len(texts)
        return [_answer(text, start) for text, start in zip(texts, starts, strict=True)]
    except (AttributeError, LookupError, SyntaxError, TypeError, ValueError) as error:
        message = f"'answers' cannot be read: {value!r:.60}: each needs 'text' and 'answer_start'"
        raise ValueError(f"{message} ({error})") from error


def _parse(text: str) -> Any:
    """Read a value in JSON or Python; of a call, such as NumPy's `array([...])`, its argument."""

    class Arguments(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            return node.args[0] if node.args else node

    try:
        return json.loads(text)
    except ValueError:
        return ast.literal_eval(Arguments().visit(ast.parse(text.strip(), mode="eval")))


def _answer(text: Any, start: Any) -> tuple[Any, Any]:
    """Convert a number to an answer's text, text to its start; others are reported later."""
    if is_missing(start):
        return number_text(text), None
    written = cell_text(start).removesuffix(".0")
    if written.removeprefix("-").isdecimal():
        return number_text(text), int(written)
    return number_text(text), start


def read_answer_cells(text: Any, start: Any) -> Answers:
    """Read one answer with its start from the cells of a table, or lists of several."""
    if isinstance(text, list):
        return read_answers({"text": text, "answer_start": start}) or []
    return [] if is_missing(text) else [_answer(text, start)]


def nearest_place(context: str, answer: str, start: int) -> Span | None:
    """Find the occurrence of `answer` nearest to `start`; the earlier one wins ties.

    Where there is none, one with other white space is found, else one that is composed of other
    Unicode characters; None if there is none either.

    Args:
        context: the text.
        answer: what is searched for.
        start: a character of the context.
    """
    spans = _occurrences(context, answer)
    if not spans:
        compose = partial(unicodedata.normalize, "NFC")
        composed = _occurrences(compose(context), compose(answer))
        spans = spans_as_given(context, composed, compose)
    return min(spans, key=lambda span: abs(span.start - start), default=None)


def _occurrences(context: str, answer: str) -> list[Span]:
    """Find every occurrence of `answer`; where there is none, those with other white space."""
    words = [re.escape(word) for word in answer.split()]
    spans: list[Span] = []
    for pattern in (re.escape(answer), r"\s+".join(words)):
        if not spans:
            spans = [Span(*match.span(1)) for match in re.finditer(f"(?=({pattern}))", context)]
    return spans


def map_span(text: str, span: Span, normalise: Callable[[str], str]) -> Span:
    """Convert a span of `text` to a span of `normalise(text)`; empty if nothing of it is left.

    A border between characters that become one (a letter and its diacritic) moves outwards.

    Args:
        text: before normalisation.
        span: of its characters.
        normalise: the function.
    """
    whole = normalise(text)
    if whole is text or whole == text:
        return span

    def can_be_cut(border: int) -> bool:
        return normalise(text[:border]) + normalise(text[border:]) == whole

    start, end = span
    while start > 0 and not can_be_cut(start):
        start -= 1
    while end < len(text) and not can_be_cut(end):
        end += 1
    return Span(len(normalise(text[:start])), len(normalise(text[:end])))


def spans_as_given(text: str, spans: Sequence[Span], normalise: Callable[[str], str]) -> list[Span]:
    """Convert spans of `normalise(text)`, none of them empty, to spans of `text`.

    Borders never part a letter from its marks. Of the characters that normalisation strips, those
    that belong to a letter of the span (niqqud) are inside, others (direction marks) outside.

    Args:
        text: before normalisation.
        spans: of the characters of `normalise(text)`.
        normalise: the function.

    Returns:
        A span of `text` for each.
    """
    whole = normalise(text)
    if whole is text or whole == text:
        return list(spans)

    normalise = cache(normalise)  # most parts of a text are alike
    letters = list(_letters(text, normalise))
    lengths = [len(normalise(text[start:end])) for start, end in letters]
    ends = list(accumulate(lengths))  # in the normalised text

    spans_in_text = []
    for span in spans:
        start, _ = letters[bisect_right(ends, span.start)]
        _, end = letters[bisect_left(ends, span.end)]
        answer = normalise(text[start:end])

        while not is_mark(text[end - 1]) and normalise(text[start : end - 1]) == answer:
            end -= 1

        while not is_mark(text[start]) and normalise(text[start + 1 : end]) == answer:
            start += 1
        spans_in_text.append(Span(start, end))
    return spans_in_text


def _letters(text: str, normalise: Callable[[str], str]) -> Iterator[tuple[int, int]]:
    """Cut a text into parts `(start, end)` that normalisation never joins.

    A part is a letter with its marks, with stripped characters after it, and with the vowel and the
    last consonant of a Korean syllable.
    """
    start = 0
    for index, character in enumerate(text):
        joins = is_mark(character) or "\u1160" <= character <= "\u11ff"
        if index > start and not joins and normalise(character):
            yield start, index
            start = index
    if start < len(text):
        yield start, len(text)


def is_mark(character: str) -> bool:
    """Tell whether a character belongs to the letter before it."""
    return unicodedata.category(character).startswith("M")


def trim(text: str, span: Span) -> Span:
    """Remove white space at both ends of a span; empty if it has nothing else."""
    answer = text[span.start : span.end]
    start = span.start + len(answer) - len(answer.lstrip())
    end = span.start + len(answer.rstrip())
    return Span(start, max(start, end))
