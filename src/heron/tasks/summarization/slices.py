"""ROUGE of summaries by slice, beside what copying sentences reaches there.

Slices are made of the article and of its gold summary, never of what a system wrote: the same
rows are then in a slice for every system. Texts are scored and shown as they stand.

Legend: N articles, M of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from heron.base.cells import Cell, Interval, with_synthetic
from heron.base.errors import DataError, Problem
from heron.base.plots import BLUE, GREEN, QUIET
from heron.config.analyze_options import AnalyzeOptions, refuse
from heron.config.data import DataConfig
from heron.languages import get_language
from heron.languages.language import Language
from heron.languages.spelling import KEPT_APART, Spell, are_variants, around_difference, speller
from heron.metrics.names import COPIED_NOTE, COPIES, MEASURES, copied_names, is_copied, rouge_names
from heron.metrics.paired import Floats
from heron.metrics.rates import RESAMPLES, group_means
from heron.metrics.summary import extractive_texts, item_rouge
from heron.metrics.summary_statistics import Tally, by_whitespace, by_words
from heron.tasks.analysis import Drawn, Outcome, RunAnalysis, Split
from heron.tasks.slices import Parts, Rows, find_tokenizer, quantile_bins, require_column
from heron.tasks.summarization.profile import Pair
from heron.tasks.summarization.statistics import ALWAYS, describe_system, open_tools

# What an analysis is called in tables, and the figure of each pair that it slices by, of those
# that `heron.metrics.summary_statistics` names.
_STATISTICS = {
    "article_length": ("words of the article", "article_length"),
    "summary_length": ("words of the gold summary", "summary_length"),
    "compression": ("compression: 1 - words of the gold summary / of its article", "compression"),
    "novelty": ("share of the gold summary's word pairs that its article lacks", "novel_2"),
}
STATISTICS, PAGE = "statistics", "summaries"  # further analyses
SEGMENTS = {"words": by_words, "whitespace": by_whitespace}
UNKNOWN = "(too short)"


@dataclass(frozen=True, slots=True)
class Summarizer:
    """What one system has written.

    Args:
        name: what tables call it.
        texts: N summaries; None where it has none.
        scores: float64 `[N]` each, fractions, see `heron.metrics.summary.item_rouge`; NaN where
            there is no summary.
        copied: whether it copies sentences: a measure for the others.
    """

    name: str
    texts: Sequence[str | None]
    scores: Mapping[str, Floats]
    copied: bool = False


class SummaryAnalysis(RunAnalysis):
    """ROUGE by slice, statistics of the summaries, and a page of all; see `RunAnalysis`."""

    unused: ClassVar = {"not for the summaries of a run": ("types", "texts", "sample")}
    golds: ClassVar = {"texts": True}
    columns = ("text",)
    nothing = "none of its summaries has a gold one beside it"
    counted = "articles"
    heading = "ROUGE"
    headline = "ROUGE-1"
    drawn = (
        Drawn("rouge1", "ROUGE-1", "D", BLUE),
        Drawn("lead3_rouge1", "lead-3", "s", QUIET),
        Drawn("oracle_rouge1", "oracle", "^", GREEN),
    )
    zoomed = True
    has_systems = True
    note = (
        f"[low, high]: 95 %, bootstrap of whole articles ({RESAMPLES:,} resamples). {COPIED_NOTE}"
    )

    def __init__(self, split: Split, options: AnalyzeOptions):
        super().__init__(split, options)
        find_tokenizer(options.words)
        wanted = options.by or [STATISTICS]
        for by in options.by or ():
            if by not in self.analyses():
                require_column(by, self.analyses(), read_columns(split.data))
        if STATISTICS in wanted:
            self.tools = open_tools(options, split.data)
        else:
            refuse(options, ("morphology", "published"), f"only by={STATISTICS} uses it")

    def analyses(self) -> dict[str, Callable[[], Outcome]]:
        """Name what summaries can be sliced by; see `RunAnalysis`."""
        sliced = {by: partial(self.by_statistic, by) for by in _STATISTICS}
        return {**sliced, STATISTICS: self.statistics, PAGE: self.page}

    @cached_property
    def language(self) -> Language:
        """The data set's language."""
        return get_language(self.split.data.language)

    @cached_property
    def articles(self) -> list[str]:
        """N texts."""
        return [row.text("text") for row in self.rows]

    @property
    def gold_texts(self) -> list[str]:
        """N gold summaries."""
        return [row.gold or "" for row in self.rows]

    @property
    def groups(self) -> list[str]:
        """N names of what intervals draw: groups of articles, or each article."""
        return [row.group or row.guid for row in self.rows]

    @cached_property
    def spell(self) -> Spell:
        """Spells Unicode variants alike, as the run has read its data."""
        return speller(self.split.data.language, self.split.data.unicode)

    @cached_property
    def systems(self) -> list[Summarizer]:
        """The run, other systems, then what copies sentences.

        Raises:
            DataError: files that cannot be read, or of other data.
        """
        written: dict[str, Sequence[str | None]] = {
            self.split.run: [row.prediction for row in self.rows]
        }
        others = self.split.read_systems()
        self._check_golds(others)
        for other in others:
            texts = [other.summaries.get(row.guid) for row in self.rows]
            written[_unlike(other.name, written)] = texts
        systems = [self._score(name, texts) for name, texts in written.items()]
        copied = extractive_texts(self.articles, self.gold_texts, self.language)
        return systems + [replace(self._score(*one), copied=True) for one in copied.items()]

    def _score(self, name: str, texts: Sequence[str | None]) -> Summarizer:
        there = [row for row, text in enumerate(texts) if text is not None]
        scores = {measure: np.full(len(texts), np.nan) for measure in rouge_names()}
        if there:
            own, right = [str(texts[row]) for row in there], [self.gold_texts[row] for row in there]
            for measure, values in item_rouge(own, right, self.language).items():
                scores[measure][there] = values
        return Summarizer(name, texts, scores)

    def _check_golds(self, others: Sequence[Any]) -> None:
        """Refuse systems of other data: no article in common, or another gold summary."""
        golds = {row.guid: row.gold or "" for row in self.rows}
        language, problems = self.split.data.language, []
        for other in others:
            if not golds.keys() & other.summaries.keys():
                what = "none of its guids is among the run's predictions"
                look = f"those look like '{next(iter(golds))}'"
                problems.append(Problem(str(other.path), what, look))
            for guid in golds.keys() & other.references.keys():
                gold, own = golds[guid], other.references[guid]
                if (read := self.spell(own)) != (right := self.spell(gold)):
                    fix = (
                        KEPT_APART
                        if are_variants(own, gold, language)
                        else "is it of the same data?"
                    )
                    here, there = around_difference(read, right)
                    own_gold = f"in {self.split.path} '{there}'"
                    what = f"another gold summary than the run has: '{here}', {own_gold}"
                    problems.append(Problem(f"{other.path}: {guid}", what, fix))
        if problems:
            raise DataError(sorted(problems, key=lambda problem: problem.where))

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """The scores that papers report, behind each what copying reaches."""
        run, copies = self.systems[0], [one for one in self.systems if one.copied]
        copied = {f"{c.name}_{name}": score for c in copies for name, score in c.scores.items()}
        known = {**run.scores, **copied}
        return {name: known[name] for each in MEASURES for name in (each, *copied_names(each))}

    def measure(self, rows_M: Rows) -> dict[str, Cell]:
        """Count articles and average their scores; what copying reaches has no interval."""
        values = {name: score_N[rows_M] for name, score_N in self.scores.items()}
        groups = self.groups
        drawn = [groups[row] for row in rows_M]
        cells: dict[str, Cell] = {"n": len(rows_M), "share": len(rows_M) / len(self.rows)}
        for name, cell in group_means(values, drawn, self.options.seed).items():
            cells[name] = cell.value if is_copied(name) and isinstance(cell, Interval) else cell
        return cells

    def sliced(self, title: str, parts: Parts, note: str = "") -> Outcome:
        """Compute the scores of slices, and say how."""
        facts = {
            "resamples": RESAMPLES,
            "seed": self.options.seed,
            "intervals": "articles",
            "words": self.options.words,
            "bins": self.options.bins,
        }
        return replace(super().sliced(title, parts, note), facts=facts)

    def by_statistic(self, by: str) -> Outcome:
        """Slice by a figure of articles and gold summaries."""
        values_N = self.statistic(_STATISTICS[by][1])
        return self.sliced(_STATISTICS[by][0], quantile_bins(values_N, self.options.bins, UNKNOWN))

    def statistic(self, name: str) -> Floats:
        """Compute a figure of each pair, float64 `[N]`; NaN where a text is too short."""
        lengths = dict(
            zip(("article_length", "summary_length"), self._tally.lengths(), strict=True)
        )
        if name in lengths:
            return lengths[name]
        part_N, whole_N = self._tally.shares()[name]
        return np.divide(part_N, whole_N, out=np.full_like(part_N, np.nan), where=whole_N > 0)

    @cached_property
    def _tally(self) -> Tally:
        found = Tally()
        for pair in zip(self.articles, self.gold_texts, strict=True):
            found.add(*SEGMENTS[self.options.words](pair))
        return found

    def statistics(self) -> Outcome:
        """Set the summaries beside the gold ones: novelty, compression, repetition."""
        articles, name = map(self.spell, self.articles), self.split.name
        texts = zip(articles, self.gold_texts, self.rows, self.groups, strict=True)
        gold, system = zip(
            *(
                (Pair(a, self.spell(g), group), Pair(a, self.spell(row.prediction), group))
                for a, g, row, group in texts
            ),
            strict=True,
        )
        title = with_synthetic(f"{self.split.run}: {name}", self.split.data.synthetic)
        return describe_system(
            gold, system, self.tools, title, f"{name}-{STATISTICS}", self.options.seed
        )

    def page(self) -> Outcome:
        """Show every summary beside its article and the gold summary."""
        from heron.tasks.summarization.page import summaries_page

        name = self.split.name
        file = f"{PAGE}.html" if name == "test" else f"{name}-{PAGE}.html"
        return Outcome(files={file: summaries_page(self)})


def read_columns(config: DataConfig) -> list[str]:
    """List the side columns that articles come with, generated ones as well."""
    return [*config.columns.side, *ALWAYS]


def _unlike(name: str, taken: Mapping[str, Any]) -> str:
    """Give a system a name of its own."""
    names = [name, *(f"{name} ({number})" for number in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken and one not in COPIES)
