"""Statistics of questions: sizes, question words, lengths in words (split at white space)."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter

from heron.base.cells import Cell, Table, with_synthetic
from heron.data.examples import Example
from heron.languages import get_language
from heron.results.shipped import Shipped
from heron_tools.statistics import figures
from heron_tools.statistics.options import AnalyzeOptions, say_unused
from heron_tools.statistics.outcome import Outcome

from .question_words import CLUSTERS, OTHER, question_clusters

ALL = "all"
SIMPLE = 7  # words of a question; one with more is "complex"


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
        return _between(self.question_lengths, SIMPLE + 1)


def describe_questions(shipped: Shipped, options: AnalyzeOptions) -> Outcome:
    """Describe the sizes, question words and lengths of the splits whose files exist."""
    unused = ("by", "types", "bins", "split", "words", "morphology", "published", "texts")
    say_unused(options, (*unused, "bertscore"))
    config = shipped.config
    described = question_statistics(shipped.splits, config.language)
    shown = described.get(ALL) or next(iter(described.values()))
    lacking = f" (missing: {', '.join(sorted(shipped.missing))})" if shipped.missing else ""
    title = f"{config.name}: {', '.join(shipped.splits)}{lacking}"
    image = lengths_figure(shown, with_synthetic(title, config.synthetic))
    plain = {}
    for name, one in described.items():  # lengths are in lengths.csv
        counts = {key: n for key, n in asdict(one).items() if not isinstance(n, list)}
        plain[name] = counts | {"complex": one.complex}
    return Outcome(
        (size_table(described), length_table(described), *word_tables(described)),
        {"splits": plain},
        files={"lengths.csv": length_counts(described), "lengths.png": image},
        title=config.name,
    )


def question_statistics(
    splits: Mapping[str, Sequence[Example]], language: str
) -> dict[str, SplitStatistics]:
    """Describe each split, and several splits together as `all`.

    Source: ParaShoot, Tables 1 and 3 and Figure 2.
    """
    described = {name: _describe(examples, language) for name, examples in splits.items()}
    if len(splits) > 1:
        described[ALL] = _describe([e for examples in splits.values() for e in examples], language)
    return described


def _describe(examples: Sequence[Example], language: str) -> SplitStatistics:
    questions = [example.text_pair or "" for example in examples]
    answers = [text for example in examples for text in example.side.get("answers") or ()]
    profile = get_language(language)
    first, near = (Counter(question_clusters(questions, profile, reach=n)) for n in (1, 3))
    return SplitStatistics(
        articles=len({example.group or example.text for example in examples}),
        paragraphs=len({example.text for example in examples}),
        questions=len(examples),
        unanswered=sum(not example.spans for example in examples),
        question_lengths=[len(question.split()) for question in questions],
        answer_lengths=[len(answer.split()) for answer in answers],
        first_words={name: first[name] for name in (*CLUSTERS, OTHER)},
        near_words={name: near[name] for name in (*CLUSTERS, OTHER)},
    )


def size_table(described: Mapping[str, SplitStatistics]) -> Table:
    """Lay out ParaShoot's Table 1."""
    sizes = attrgetter("articles", "paragraphs", "questions", "unanswered")
    rows = tuple((name, *sizes(one)) for name, one in described.items())
    note = "Distinct articles and paragraphs; unanswered: questions without a gold answer."
    columns = ("split", "articles", "paragraphs", "questions", "unanswered")
    return Table("Articles, paragraphs and questions", columns, rows, note)


def length_table(described: Mapping[str, SplitStatistics]) -> Table:
    """Summarize the lengths that ParaShoot's Figure 2 draws."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in described.items():
        usual = _between(one.question_lengths, 4, SIMPLE), _between(one.answer_lengths, 1, 4)
        rows.append((name, "questions", *_summary(one.question_lengths), usual[0], one.complex))
        rows.append((name, "answers", *_summary(one.answer_lengths), usual[1], None))
    columns = ("split", "of", "n", "mean", "median", "longest", "usual", "complex")
    note = (
        f"Split at white space. usual: questions of 4 to {SIMPLE} words, answers of 1 to 4; "
        f"complex: questions of more than {SIMPLE}."
    )
    return Table("Lengths", columns, tuple(rows), note)


def _summary(lengths: Sequence[int]) -> tuple[Cell, ...]:
    if not lengths:
        return (0, None, None, None)
    median = float(statistics.median(lengths))
    return (len(lengths), statistics.fmean(lengths), median, max(lengths))


def _between(lengths: Sequence[int], low: int, high: float = math.inf) -> float | None:
    """Compute the share of lengths from `low` to `high`."""
    return sum(low <= length <= high for length in lengths) / len(lengths) if lengths else None


def word_tables(described: Mapping[str, SplitStatistics]) -> list[Table]:
    """Lay out ParaShoot's Table 3, by the first word and by the first three words.

    Deviates: adds a row for questions without any of these words, so that shares sum to 1. The
    shares in the paper's 8 rows sum to .873.
    """
    columns = [f"{name} {what}" for name in described for what in ("n", "share")]
    note = "Inflections, prepositions written together and synonyms are one cluster."
    tables = []
    for which in ("the first word", "one of the first three words"):
        rows: list[tuple[Cell, ...]] = []
        for cluster in (*CLUSTERS, OTHER):
            cells: list[Cell] = []
            for one in described.values():
                words = one.first_words if which == "the first word" else one.near_words
                cells += [words[cluster], words[cluster] / max(one.questions, 1)]
            rows.append((cluster, *cells))
        title = f"Question words: {which}"
        tables.append(Table(title, ("question word", *columns), tuple(rows), note))
    return tables


def length_counts(described: Mapping[str, SplitStatistics]) -> dict[str, list[str | int]]:
    """Count lengths as columns of a table: `split`, `of` (question, answer), `words`, `n`."""
    rows: list[tuple[str | int, ...]] = []
    for name, one in described.items():
        for what, lengths in (("question", one.question_lengths), ("answer", one.answer_lengths)):
            rows += [(name, what, *counted) for counted in sorted(Counter(lengths).items())]
    columns = ("split", "of", "words", "n")
    return {name: [row[place] for row in rows] for place, name in enumerate(columns)}


def lengths_figure(described: SplitStatistics, title: str) -> bytes:
    """Draw histograms of the lengths of questions and answers, as PNG.

    Source: ParaShoot, Figure 2.
    """
    questions, answers = described.question_lengths, described.answer_lengths
    longer = f"Questions ({described.complex or 0:.1%} of more than {SIMPLE} words)"
    panels = {longer: ("words", {"questions": questions}), "Answers": ("words", {"a": answers})}
    return figures.histograms(panels, title)
