"""What a question answering data set is made of: sizes, question words, lengths.

Lengths are in words as white space parts them.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from heron.base.cells import Cell, Table, with_synthetic
from heron.data.examples import Example
from heron.languages import get_language
from heron.metrics.span_classes import CLUSTERS, OTHER, question_clusters
from heron.tasks.analysis import SLICES_A_RUN, DataStatistics, Outcome, Shipped

ALL = "all"
NOT_FOR_QUESTIONS = "not for questions, whose words are those of spaces"
SIMPLE = 7  # words of a question; one with more is "complex"
_LENGTH_COLUMNS = ("split", "of", "words", "n")
_LENGTH_NOTE = (
    f"Words between white space. usual: questions of 4 to {SIMPLE} words, answers of 1 to 4; "
    f"complex: questions of more than {SIMPLE}."
)


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """One split.

    Args:
        articles: distinct groups (a context without an article is one of its own).
        paragraphs: distinct contexts.
        questions: rows.
        unanswered: questions without a gold answer.
        question_lengths: words of each question.
        answer_lengths: words of each gold answer.
        first_words: questions of each cluster, by their first word.
        near_words: the same by the first question word among the first three words.
    """

    articles: int
    paragraphs: int
    questions: int
    unanswered: int
    question_lengths: list[int]
    answer_lengths: list[int]
    first_words: dict[str, int]
    near_words: dict[str, int]

    @property
    def complex(self) -> float | None:
        """Share of questions with more than `SIMPLE` words, a fraction."""
        long = sum(length > SIMPLE for length in self.question_lengths)
        return long / self.questions if self.questions else None


class QuestionStatistics(DataStatistics):
    """Sizes, question words and lengths; see `DataStatistics`."""

    unused: ClassVar = {
        SLICES_A_RUN: ("by", "types", "bins", "split"),
        NOT_FOR_QUESTIONS: ("words", "morphology", "published", "texts"),
    }
    has_answers = True

    def describe(self, shipped: Shipped) -> Outcome:
        """Describe the splits that are there."""
        from heron.tasks.qa.figures import lengths_figure  # matplotlib

        described = question_statistics(shipped.splits, self.config.language)
        shown = described.get(ALL) or next(iter(described.values()))
        lacking = f" (missing: {', '.join(sorted(shipped.missing))})" if shipped.missing else ""
        title = f"{self.config.name}: {', '.join(shipped.splits)}{lacking}"
        image = lengths_figure(shown, with_synthetic(title, self.config.synthetic))
        return Outcome(
            (size_table(described), length_table(described), *word_tables(described)),
            {"splits": {name: _counts(one) for name, one in described.items()}},
            files={"lengths.csv": length_counts(described), "lengths.png": image},
            title=self.config.name,
        )


def _counts(one: SplitStatistics) -> dict[str, Any]:
    """Turn a split's statistics into JSON's own types; lengths are in `lengths.csv`."""
    plain = asdict(one)
    counts = {key: value for key, value in plain.items() if not isinstance(value, list)}
    return counts | {"complex": one.complex}


def question_statistics(
    splits: Mapping[str, Sequence[Example]], language: str
) -> dict[str, SplitStatistics]:
    """Describe each split, and, where there are several, all of them together as `all`.

    Source: ParaShoot, Tables 1 and 3 and Figure 2.
    """
    described = {name: _describe(examples, language) for name, examples in splits.items()}
    if len(splits) > 1:
        described[ALL] = _describe([e for examples in splits.values() for e in examples], language)
    return described


def _describe(examples: Sequence[Example], language: str) -> SplitStatistics:
    questions = [example.text_pair or "" for example in examples]
    answers = [text for example in examples for text in example.side.get("answers") or ()]
    return SplitStatistics(
        articles=len({example.group or example.text for example in examples}),
        paragraphs=len({example.text for example in examples}),
        questions=len(examples),
        unanswered=sum(not example.spans for example in examples),
        question_lengths=[len(question.split()) for question in questions],
        answer_lengths=[len(answer.split()) for answer in answers],
        first_words=_count(questions, language, reach=1),
        near_words=_count(questions, language, reach=3),
    )


def _count(questions: Sequence[str], language: str, reach: int) -> dict[str, int]:
    counts = Counter(question_clusters(questions, get_language(language), reach=reach))
    return {name: counts[name] for name in (*CLUSTERS, OTHER)}


def size_table(described: Mapping[str, SplitStatistics]) -> Table:
    """Lay out ParaShoot's Table 1."""
    rows: list[tuple[Cell, ...]] = [
        (name, one.articles, one.paragraphs, one.questions, one.unanswered)
        for name, one in described.items()
    ]
    note = "Distinct articles and paragraphs; unanswered: questions without a gold answer."
    columns = ("split", "articles", "paragraphs", "questions", "unanswered")
    return Table("Articles, paragraphs and questions", columns, tuple(rows), note)


def length_table(described: Mapping[str, SplitStatistics]) -> Table:
    """Summarize the lengths that ParaShoot's Figure 2 draws."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in described.items():
        usual = _between(one.question_lengths, 4, SIMPLE), _between(one.answer_lengths, 1, 4)
        rows.append((name, "questions", *_summary(one.question_lengths), usual[0], one.complex))
        rows.append((name, "answers", *_summary(one.answer_lengths), usual[1], None))
    columns = ("split", "of", "n", "mean", "median", "longest", "usual", "complex")
    return Table("Lengths", columns, tuple(rows), _LENGTH_NOTE)


def _summary(lengths: Sequence[int]) -> tuple[Cell, ...]:
    if not lengths:
        return (0, None, None, None)
    median = float(statistics.median(lengths))
    return (len(lengths), statistics.fmean(lengths), median, max(lengths))


def _between(lengths: Sequence[int], low: int, high: int) -> float | None:
    """Compute the share of lengths from `low` to `high`."""
    return sum(low <= length <= high for length in lengths) / len(lengths) if lengths else None


def word_tables(described: Mapping[str, SplitStatistics]) -> list[Table]:
    """Lay out ParaShoot's Table 3, by the first word and by the first three.

    Deviates: with a row for the questions that have none of these words, so that shares sum to 1.
    The paper's 8 rows sum to .873 of its 221 questions.
    """
    return [
        _word_table("Question words: the first word", described, near=False),
        _word_table("Question words: one of the first three words", described, True),
    ]


def _word_table(title: str, described: Mapping[str, SplitStatistics], near: bool) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for cluster in (*CLUSTERS, OTHER):
        cells: list[Cell] = []
        for one in described.values():
            count = (one.near_words if near else one.first_words)[cluster]
            cells += [count, count / max(one.questions, 1)]
        rows.append((cluster, *cells))
    columns = [f"{name} {what}" for name in described for what in ("n", "share")]
    note = "Inflections, prepositions written together and synonyms are one cluster."
    return Table(title, ("question word", *columns), tuple(rows), note)


def length_counts(described: Mapping[str, SplitStatistics]) -> dict[str, list[str | int]]:
    """Count lengths as columns of a table: `split`, `of` (question, answer), `words`, `n`."""
    rows: list[tuple[str | int, ...]] = []
    for name, one in described.items():
        for what, lengths in (("question", one.question_lengths), ("answer", one.answer_lengths)):
            counted = sorted(Counter(lengths).items())
            rows += [(name, what, words, count) for words, count in counted]
    return {name: [row[place] for row in rows] for place, name in enumerate(_LENGTH_COLUMNS)}
