"""Summaries of several systems beside their articles, scored one by one.

The run's own predictions hold the articles and the gold summaries, so its data is not needed. All
texts are scored and shown as they stand; `rouge1_heron` and so on read Unicode variants as one.

Legend: N articles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.tables import cell_text, is_missing, read_table
from heron.config.data import UnicodeOptions
from heron.languages import get_language
from heron.languages.language import Language
from heron.languages.spelling import KEPT_APART, Spell, are_variants, around_difference, speller
from heron.metrics.paired_units import Floats
from heron.metrics.summary import COPIES, extractive_texts, item_rouge, rouge_names
from heron.metrics.summary_counts import Tally
from heron.results.reading import missing_predictions
from heron.results.systems import System, read_systems


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


@dataclass(frozen=True, slots=True)
class SummarizedSplit:
    """The articles of one split that have a gold summary.

    Args:
        guids: N.
        groups: N names of what intervals draw: groups of articles, or each article.
        articles: N texts.
        golds: N gold summaries.
        systems: the run first, others, then `lead3` and `oracle`.
        language: of all texts.
        unlabelled: summaries without a gold summary, which are left out.
        tallies: what was counted of articles and gold summaries, by what a word is.
    """

    guids: list[str]
    groups: list[str]
    articles: list[str]
    golds: list[str]
    systems: list[Summarizer]
    language: Language
    unlabelled: int = 0
    tallies: dict[str, Tally] = field(default_factory=dict, repr=False, compare=False)

    @property
    def run(self) -> Summarizer:
        """The run whose predictions these are."""
        return self.systems[0]

    def scores(self) -> dict[str, Floats]:
        """List the run's scores and behind each what copying reaches, `lead3_rouge1`."""
        copies = [system for system in self.systems if system.copied]
        found = {}
        for name, score_N in self.run.scores.items():
            found[name] = score_N
            found |= {f"{copy.name}_{name}": copy.scores[name] for copy in copies}
        return found


class Written(NamedTuple):
    """What a run has written, of one split's articles that have a gold summary.

    Args:
        guids: N.
        groups: N names of what intervals draw: groups of articles, or each article.
        articles: N texts.
        golds: N gold summaries.
        texts: N summaries; empty where there is none.
        unlabelled: summaries without a gold summary, which are left out.
    """

    guids: list[str]
    groups: list[str]
    articles: list[str]
    golds: list[str]
    texts: list[str]
    unlabelled: int


def read_written(path: Path) -> Written:
    """Read one split's summaries, those without a gold summary left out.

    Args:
        path: the run's predictions, Parquet.

    Raises:
        ConfigError: there are no such predictions, or no gold summary.
        DataError: the file cannot be read.
    """
    if not path.is_file():
        raise missing_predictions(path)
    table = read_table(path)
    table.require("guid", "gold", "prediction", "text")
    rows = [row for row in table.rows if not is_missing(row["gold"])]
    if not rows:
        raise ConfigError(f"split={path.stem}: none of its summaries has a gold one beside it")
    guids, articles, golds, texts = (
        ["" if is_missing(row[column]) else cell_text(row[column]) for row in rows]
        for column in ("guid", "text", "gold", "prediction")
    )
    left_out = len(table) - len(rows)
    return Written(guids, _groups(rows, guids), articles, golds, texts, left_out)


def read_summarized(
    path: Path,
    name: str,
    language: str,
    beside: Sequence[str] = (),
    split: str = "test",
    unicode: UnicodeOptions | None = None,
) -> SummarizedSplit:
    """Read one split's summaries and score them.

    Args:
        path: the run's predictions, Parquet.
        name: of the run, for tables.
        language: ISO 639-1 code.
        beside: run folders or tables of other systems, as `heron judge systems=` takes them.
        split: which of the other runs' predictions.
        unicode: `data.unicode` of the run; None: the default.

    Raises:
        ConfigError: there are no such predictions, no gold summary, or no such system.
        DataError: files that cannot be read; other systems whose gold summaries are others.
    """
    spell = speller(language, unicode)
    guids, groups, articles, golds, texts, unlabelled = read_written(path)
    written: dict[str, Sequence[str | None]] = {name: texts}
    others = read_systems(beside, split, "beside") if beside else []
    _check(path, others, dict(zip(guids, golds, strict=True)), language, spell)
    for other in others:
        written[_unlike(other.name, written)] = [other.summaries.get(guid) for guid in guids]
    known = get_language(language)
    systems = [_score(one, found, golds, known) for one, found in written.items()]
    for copy, copied in extractive_texts(articles, golds, known).items():
        systems.append(_score(copy, copied, golds, known, copied=True))
    return SummarizedSplit(guids, groups, articles, golds, systems, known, unlabelled)


def _groups(rows: Sequence[Mapping[str, Any]], guids: Sequence[str]) -> list[str]:
    found = [row.get("group") for row in rows]
    pairs = zip(found, guids, strict=True)
    return [guid if is_missing(group) else cell_text(group) for group, guid in pairs]


def _unlike(name: str, taken: Mapping[str, Any]) -> str:
    """Give a system a name of its own."""
    names = [name, *(f"{name} ({number})" for number in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken and one not in COPIES)


def _score(
    name: str,
    texts: Sequence[str | None],
    golds: Sequence[str],
    language: Language,
    copied: bool = False,
) -> Summarizer:
    there = [row for row, text in enumerate(texts) if text is not None]
    scores = {measure: np.full(len(golds), np.nan) for measure in rouge_names()}
    if there:
        own, right = [str(texts[row]) for row in there], [golds[row] for row in there]
        for measure, values in item_rouge(own, right, language).items():
            scores[measure][there] = values
    return Summarizer(name, texts, scores, copied)


def _check(
    path: Path, others: Sequence[System], golds: Mapping[str, str], language: str, spell: Spell
) -> None:
    """Refuse systems that are of other data: no article in common, or another gold summary."""
    problems = []
    for other in others:
        if not golds.keys() & other.summaries.keys():
            what = "none of its guids is among the run's predictions"
            problems.append(
                Problem(str(other.path), what, f"those look like '{next(iter(golds))}'")
            )
        for guid in golds.keys() & other.references.keys():
            gold, own = golds[guid], other.references[guid]
            if (read := spell(own)) != (right := spell(gold)):
                fix = KEPT_APART if are_variants(own, gold, language) else "is it of the same data?"
                here, there = around_difference(read, right)
                what = f"another gold summary than the run has: '{here}', in {path} '{there}'"
                problems.append(Problem(f"{other.path}: {guid}", what, fix))
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.where))
