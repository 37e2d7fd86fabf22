"""ROUGE of summaries by slice, beside that of copied sentences; and the page of all summaries.

Slices depend on articles and gold summaries only, so that every system has the same rows in a
slice. Texts are scored and shown without normalisation. Legend: N articles, M of them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from heron.base.cards import cut_text, fit_length
from heron.base.cells import Cell, Interval, with_synthetic
from heron.base.errors import DataError, Problem
from heron.base.pages import clean_text
from heron.base.plots import BLUE, GREEN, QUIET
from heron.languages.spelling import KEPT_APART, Spell, are_variants, around_difference, speller
from heron.languages.words import folded_words, word_places
from heron.metrics.names import COPIED_NOTE, COPIES, MEASURES, copied_names, is_copied, rouge_names
from heron.metrics.paired import Floats
from heron.metrics.summary import extractive_texts, item_rouge
from heron.metrics.summary_statistics import Tally, by_whitespace, by_words
from heron_tools.analysis.base import Drawn, Outcome, Split, TextAnalysis, cards_page
from heron_tools.analysis.options import AnalyzeOptions
from heron_tools.analysis.slices import Rows, find_tokenizer, quantile_bins, require_column
from heron_tools.analysis.summary_profile import Pair
from heron_tools.analysis.summary_statistics import ALWAYS, describe_system, open_tools

# The name in tables, and in `heron.metrics.summary_statistics`, of the numbers to slice by.
_STATISTICS = {
    "article_length": ("words of the article", "article_length"),
    "summary_length": ("words of the gold summary", "summary_length"),
    "compression": ("compression: 1 - words of the gold summary / of its article", "compression"),
    "novelty": ("share of the gold summary's word pairs that its article lacks", "novel_2"),
}
STATISTICS, PAGE = "statistics", "summaries"  # further analyses
SEGMENTS = {"words": by_words, "whitespace": by_whitespace}
UNKNOWN = "(too short)"
MEGABYTES = 48  # of all articles of a page together; larger pages open slowly
_EVERY = 10_000_000  # characters: no article is cut because of its own length


class Summarizer(NamedTuple):
    """The summaries of one system, and their ROUGE (fractions) by name; None and NaN for gaps.

    `copied` systems copy sentences, as a reference for the others.
    """

    name: str
    texts: Sequence[str | None]
    scores: Mapping[str, Floats]
    copied: bool = False


class SummaryAnalysis(TextAnalysis):
    """ROUGE by slice, statistics of the summaries, and a page of all; see `TextAnalysis`."""

    unused = ("types", "texts", "sample")
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
    page_name = PAGE
    note = f"{TextAnalysis.note} {COPIED_NOTE}"

    def __init__(self, split: Split, options: AnalyzeOptions):
        super().__init__(split, options)
        find_tokenizer(options.words)
        wanted = options.by or [STATISTICS]
        for by in options.by or ():
            if by not in self.analyses():
                # Side columns, generated ones included.
                require_column(by, self.analyses(), [*split.data.columns.side, *ALWAYS])
        if STATISTICS in wanted:
            self.tools = open_tools(options, split.data)

    def analyses(self) -> dict[str, Callable[[], Outcome]]:
        """See `RunAnalysis`."""
        sliced = {by: partial(self.by_statistic, by) for by in _STATISTICS}
        return {**sliced, STATISTICS: self.statistics, PAGE: self.page}

    @cached_property
    def articles(self) -> list[str]:
        """N texts."""
        return self.frame.texts("text")

    @property
    def gold_texts(self) -> list[str]:
        """N gold summaries."""
        return [gold or "" for gold in self.frame["gold"]]

    @property
    def groups(self) -> list[str]:
        """See `TextAnalysis`: groups of articles, or each article."""
        return [
            group or guid
            for group, guid in zip(self.frame.texts("group"), self.frame["guid"], strict=True)
        ]

    @cached_property
    def spell(self) -> Spell:
        """Unifies Unicode variants, as the run did when it read its data."""
        return speller(self.split.data.language, self.split.data.unicode)

    @cached_property
    def systems(self) -> list[Summarizer]:
        """The run, other systems (of the same data, or a DataError), then those that copy."""
        written: dict[str, Sequence[str | None]] = {self.split.run: self.frame["prediction"]}
        others = self.split.read_systems()
        self._check_golds(others)
        for other in others:
            names = [other.name, *(f"{other.name} ({n})" for n in range(2, len(written) + 3))]
            unlike = next(name for name in names if name not in written and name not in COPIES)
            written[unlike] = [other.summaries.get(guid) for guid in self.frame["guid"]]
        systems = [self._score(name, texts) for name, texts in written.items()]
        copied = extractive_texts(self.articles, self.gold_texts, self.language)
        return systems + [self._score(*one)._replace(copied=True) for one in copied.items()]

    def _score(self, name: str, texts: Sequence[str | None]) -> Summarizer:
        there = [row for row, text in enumerate(texts) if text is not None]
        scores = {measure: np.full(len(texts), np.nan) for measure in rouge_names()}
        if there:
            own, right = [str(texts[row]) for row in there], [self.gold_texts[row] for row in there]
            for measure, values in item_rouge(own, right, self.language).items():
                scores[measure][there] = values
        return Summarizer(name, texts, scores)

    def _check_golds(self, others: Sequence[Any]) -> None:
        """Refuse systems without a common article, or with another gold summary."""
        golds = dict(zip(self.frame["guid"], self.gold_texts, strict=True))
        language, problems = self.split.data.language, []
        for other in others:
            if not golds.keys() & other.summaries.keys():
                what = "none of its guids is among the run's predictions"
                look = f"those look like '{next(iter(golds))}'"
                problems.append(Problem(str(other.path), what, look))
            for guid in golds.keys() & other.references.keys():
                gold, own = golds[guid], other.references[guid]
                if (read := self.spell(own)) != (right := self.spell(gold)):
                    variants = are_variants(own, gold, language)
                    fix = KEPT_APART if variants else "is it of the same data?"
                    here, there = around_difference(read, right)
                    own_gold = f"in {self.split.path} '{there}'"
                    what = f"another gold summary than the run has: '{here}', {own_gold}"
                    problems.append(Problem(f"{other.path}: {guid}", what, fix))
        if problems:
            raise DataError(sorted(problems, key=lambda problem: problem.where))

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """See `TextAnalysis`: the scores that papers report, each followed by those of copies."""
        run, copies = self.systems[0], [one for one in self.systems if one.copied]
        copied = {f"{c.name}_{name}": score for c in copies for name, score in c.scores.items()}
        known = {**run.scores, **copied}
        return {name: known[name] for each in MEASURES for name in (each, *copied_names(each))}

    def measure(self, rows_M: Rows) -> dict[str, Cell]:
        """See `TextAnalysis`; scores of copied sentences have no interval."""
        return {
            name: cell.value if is_copied(name) and isinstance(cell, Interval) else cell
            for name, cell in super().measure(rows_M).items()
        }

    @property
    def facts(self) -> dict[str, Any]:
        """See `TextAnalysis`."""
        return super().facts | {"words": self.options.words, "bins": self.options.bins}

    def by_statistic(self, by: str) -> Outcome:
        """Slice by a number of articles and gold summaries."""
        values_N = self.statistic(_STATISTICS[by][1])
        return self.sliced(_STATISTICS[by][0], quantile_bins(values_N, self.options.bins, UNKNOWN))

    def statistic(self, name: str) -> Floats:
        """Compute a number of each pair, float64 `[N]`; NaN where a text is too short."""
        if name in ("article_length", "summary_length"):
            return self._tally.lengths()[name == "summary_length"]
        part_N, whole_N = self._tally.shares()[name]
        return np.divide(part_N, whole_N, out=np.full_like(part_N, np.nan), where=whole_N > 0)

    @cached_property
    def _tally(self) -> Tally:
        found = Tally()
        for pair in zip(self.articles, self.gold_texts, strict=True):
            found.add(*SEGMENTS[self.options.words](pair))
        return found

    def statistics(self) -> Outcome:
        """Compare the summaries with the gold ones: novelty, compression, repetition."""
        name = self.split.name
        articles, golds = map(self.spell, self.articles), map(self.spell, self.gold_texts)
        written = map(self.spell, self.frame["prediction"])
        texts = zip(articles, golds, written, self.groups, strict=True)
        pairs = [(Pair(a, gold, group), Pair(a, own, group)) for a, gold, own, group in texts]
        gold, system = zip(*pairs, strict=True)
        title = with_synthetic(f"{self.split.run}: {name}", self.split.data.synthetic)
        stem, seed = f"{name}-{STATISTICS}", self.options.seed
        return describe_system(gold, system, self.tools, title, stem, seed)

    def build_page(self, megabytes: float = MEGABYTES) -> str:
        """See `TextAnalysis`; articles that are together longer than a limit are cut."""
        longest = fit_length(self.articles, int(megabytes * 1e6), _EVERY)
        content, synthetic = self.payload(longest), self.split.data.synthetic
        values = {"total": len(self.frame), "longest": longest}
        return cards_page("summaries.html.j2", self.title, synthetic, content, **values)

    def payload(self, longest: int | None = None) -> dict[str, Any]:
        """Lay out the summaries for the page, in JSON's types.

        Articles are cut after `longest` characters. `novel` words are those that the article lacks,
        by their places in characters.
        """
        systems = [{"name": clean_text(one.name), "copied": one.copied} for one in self.systems]
        return {
            "language": self.language.code,
            "direction": self.language.direction,
            "scores": list(self.systems[0].scores),
            "systems": systems,
            "rows": [self._card(number, longest) for number in range(len(self.frame))],
        }

    def _card(self, number: int, longest: int | None) -> dict[str, Any]:
        article, guid = self.articles[number], self.frame["guid"][number]
        group = self.groups[number]
        known = set(folded_words(article))

        def marked(text: str) -> dict[str, Any]:
            text = clean_text(text)
            return {"text": text, "novel": novel_places(text, known)}

        texts: list[dict[str, Any] | None] = []
        for system in self.systems:
            text = system.texts[number]
            scores = [round(float(score_N[number]), 4) for score_N in system.scores.values()]
            texts.append(None if text is None else {**marked(text), "scores": scores})
        return {
            "guid": clean_text(guid),
            "group": "" if group == guid else clean_text(group),
            "article": clean_text(cut_text(article, longest)),
            "gold": marked(self.gold_texts[number]),
            "texts": texts,
        }


def novel_places(summary: str, known: set[str] | Sequence[str]) -> list[list[int]]:
    """Find the words of a summary that are not `known` (case-folded); start, end in characters."""
    places = word_places(summary)
    return [[start, end] for start, end in places if summary[start:end].casefold() not in known]
