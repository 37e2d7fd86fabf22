"""Statistics of questions: sizes, question words, lengths in words (split at white space)."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from heron.base.cells import Cell, Row, Table, with_synthetic
from heron.base.tables import as_columns
from heron.data.examples import Example
from heron.languages import get_language
from heron.results.shipped import Shipped
from heron_tools.statistics import figures
from heron_tools.statistics.options import AnalyzeOptions, say_unused
from heron_tools.statistics.outcome import AnalysisResult

from .question_words import CLUSTERS, OTHER, question_clusters

ALL = "all"
SIMPLE = 7  # words of a question; one with more is "complex"

Rows = list[Row]


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """Statistics of one split."""

    articles: int  # distinct articles; a context without an article counts as one
    paragraphs: int  # distinct contexts
    questions: int
    unanswered: int  # questions without a gold answer
    question_lengths: list[int]  # words of each question
    answer_lengths: list[int]  # words of each gold answer
    first_words: dict[str, int]  # number of questions by the cluster of their first word
    near_words: dict[str, int]  # the same, by the first question word among three words

    @property
    def complex(self) -> float | None:
        """Share of questions with more than `SIMPLE` words, a fraction."""
        return _share_between(self.question_lengths, SIMPLE + 1)


def describe_questions(shipped: Shipped, options: AnalyzeOptions) -> AnalysisResult:
    """Describe the sizes, question words and lengths of the splits whose files exist.

    Args:
        shipped: the splits.
        options: of `heron analyze`; those without effect here are reported.

    Returns:
        Three kinds of tables, and the lengths as `lengths.csv` and `lengths.png`.
    """
    unused = ("by", "types", "bins", "split", "words", "morphology", "published", "texts")
    say_unused(options, (*unused, "bertscore"))

    config = shipped.config
    described = question_statistics(shipped.splits, config.language)
    tables = (size_table(described), length_table(described), *word_tables(described))

    present = ", ".join(shipped.splits)
    title = f"{config.name}: {present}"
    if shipped.missing:
        missing = ", ".join(sorted(shipped.missing))
        title += f" (missing: {missing})"
    image = lengths_figure(whole(described), with_synthetic(title, config.synthetic))

    facts = {}
    for name, split in described.items():
        facts_of_split = {}
        for key, value in asdict(split).items():
            if not isinstance(value, list):  # lengths are in lengths.csv
                facts_of_split[key] = value
        facts_of_split["complex"] = split.complex
        facts[name] = facts_of_split

    return AnalysisResult(
        tables,
        {"splits": facts},
        files={"lengths.csv": length_counts(described), "lengths.png": image},
        title=config.name,
    )


def question_statistics(
    splits: Mapping[str, Sequence[Example]], language: str
) -> dict[str, SplitStatistics]:
    """Describe each split, and several splits together as `all`.

    Args:
        splits: examples by split.
        language: ISO 639 code, for the question words.

    Source: ParaShoot, Tables 1 and 3 and Figure 2.
    """
    described = {name: _describe(examples, language) for name, examples in splits.items()}
    if len(splits) > 1:
        together = list(chain.from_iterable(splits.values()))
        described[ALL] = _describe(together, language)
    return described


def whole(described: Mapping[str, SplitStatistics]) -> SplitStatistics:
    """Choose the statistics of all splits together, or those of the only one."""
    return described.get(ALL) or next(iter(described.values()))


def _describe(examples: Sequence[Example], language: str) -> SplitStatistics:
    """Count articles, paragraphs, questions, and the words of questions and answers."""
    questions: list[str] = []
    answers: list[str] = []
    unanswered = 0
    for example in examples:
        questions.append(example.text_pair or "")
        answers += example.side.get("answers") or ()
        if not example.spans:
            unanswered += 1

    return SplitStatistics(
        articles=len({example.group or example.text for example in examples}),
        paragraphs=len({example.text for example in examples}),
        questions=len(questions),
        unanswered=unanswered,
        question_lengths=[len(question.split()) for question in questions],
        answer_lengths=[len(answer.split()) for answer in answers],
        first_words=_count_words(questions, language, reach=1),
        near_words=_count_words(questions, language, reach=3),
    )


def _count_words(questions: Sequence[str], language: str, reach: int) -> dict[str, int]:
    """Count questions by the question word among their first `reach` words."""
    counts = Counter(question_clusters(questions, get_language(language), reach=reach))
    return {name: counts[name] for name in (*CLUSTERS, OTHER)}


def size_table(described: Mapping[str, SplitStatistics]) -> Table:
    """Lay out ParaShoot's Table 1."""
    rows: Rows = []
    for name, split in described.items():
        rows.append((name, split.articles, split.paragraphs, split.questions, split.unanswered))
    note = "Distinct articles and paragraphs; unanswered: questions without a gold answer."
    columns = ("split", "articles", "paragraphs", "questions", "unanswered")
    return Table("Articles, paragraphs and questions", columns, rows, note)


def length_table(described: Mapping[str, SplitStatistics]) -> Table:
    """Summarize the lengths that ParaShoot's Figure 2 draws.

    Returns:
        Two rows for each split, of questions and of answers: number, mean, median and longest (in
        words), and the shares of usual and of complex ones.
    """
    rows: Rows = []
    for name, split in described.items():
        questions = split.question_lengths
        usual = _share_between(questions, 4, SIMPLE)
        rows.append((name, "questions", *_summary(questions), usual, split.complex))

        answers = split.answer_lengths
        usual = _share_between(answers, 1, 4)
        rows.append((name, "answers", *_summary(answers), usual, None))

    columns = ("split", "of", "n", "mean", "median", "longest", "usual", "complex")
    note = (
        f"Split at white space. usual: questions of 4 to {SIMPLE} words, answers of 1 to 4; "
        f"complex: questions of more than {SIMPLE}."
    )
    return Table("Lengths", columns, rows, note)


def _summary(lengths: Sequence[int]) -> tuple[Cell, ...]:
    """Compute number, mean, median and maximum."""
    if not lengths:
        return (0, None, None, None)
    median = float(statistics.median(lengths))
    return (len(lengths), statistics.fmean(lengths), median, max(lengths))


def _share_between(lengths: Sequence[int], low: int, high: float = math.inf) -> float | None:
    """Compute the share of lengths from `low` to `high`; None without lengths."""
    if not lengths:
        return None
    inside = [length for length in lengths if low <= length <= high]
    return len(inside) / len(lengths)


def word_tables(described: Mapping[str, SplitStatistics]) -> list[Table]:
    """Lay out ParaShoot's Table 3, by the first word and by the first three words.

    Deviates: adds a row for questions without any of these words, so that shares sum to 1. The
    shares in the paper's 8 rows sum to .873.
    """
    first = {name: split.first_words for name, split in described.items()}
    near = {name: split.near_words for name, split in described.items()}
    return [
        _word_table("Question words: the first word", first),
        _word_table("Question words: one of the first three words", near),
    ]


def _word_table(title: str, counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Lay out counts of questions.

    Args:
        title: of the table.
        counts: number of questions by split and cluster.
    """
    columns = ["question word"]
    for name in counts:
        columns += [f"{name} n", f"{name} share"]

    rows: Rows = []
    for cluster in (*CLUSTERS, OTHER):
        cells: list[Cell] = [cluster]
        for of_split in counts.values():
            total = max(sum(of_split.values()), 1)
            cells += [of_split[cluster], of_split[cluster] / total]
        rows.append(tuple(cells))

    note = "Inflections, prepositions written together and synonyms are one cluster."
    return Table(title, columns, rows, note)


def length_counts(described: Mapping[str, SplitStatistics]) -> dict[str, list[Any]]:
    """Count lengths as columns of a table: `split`, `of` (question, answer), `words`, `n`."""
    rows = []
    for name, split in described.items():
        lengths_of = {"question": split.question_lengths, "answer": split.answer_lengths}
        for kind, lengths in lengths_of.items():
            counts = Counter(lengths)
            for length in sorted(counts):
                rows.append((name, kind, length, counts[length]))
    return as_columns(("split", "of", "words", "n"), rows)


def lengths_figure(described: SplitStatistics, title: str) -> bytes:
    """Draw histograms of the lengths of questions and answers, as PNG.

    Source: ParaShoot, Figure 2.
    """
    share = described.complex or 0
    panels = {
        f"Questions ({share:.1%} of more than {SIMPLE} words)": (
            "words",
            {"questions": described.question_lengths},
        ),
        "Answers": ("words", {"a": described.answer_lengths}),
    }
    return figures.histograms(panels, title)
