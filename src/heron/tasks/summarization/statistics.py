"""Statistics of articles and summaries: of a data set, and of a system's beside the gold ones."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from heron.base.cells import Interval, Table, with_synthetic
from heron.base.errors import ConfigError, nearest
from heron.config.analyze_options import AnalyzeOptions
from heron.config.data import DataConfig
from heron.data.examples import Example
from heron.languages import get_language
from heron.languages.morphology import Morphology, load_morphology
from heron.tasks.analysis import ADDED, Content, DataStatistics, Outcome, Shipped
from heron.tasks.summarization.bertscore import compute_asked, require_asked
from heron.tasks.summarization.measures import (
    AVERAGE,
    COUNT,
    Definition,
    PublishedStatistics,
    Shares,
    compare_profiles,
    definitions,
    measure,
)
from heron.tasks.summarization.profile import Pair, Profile, merge, profile
from heron.tasks.summarization.tables import (
    morphology_table,
    nearest_table,
    share_table,
    system_table,
    text_table,
)

ALL = "all"
ALWAYS = ("file", "line")  # side columns of every table


class Tools(NamedTuple):
    """What statistics need beside texts: who finds lemmas, and a paper's numbers, if any."""

    morphology: Morphology
    published: PublishedStatistics | None


def open_tools(options: AnalyzeOptions, config: DataConfig) -> Tools:
    """Open what `morphology=` and `published=` name, so that a wrong name is seen at once.

    Raises:
        ConfigError: an unknown backend, or one that cannot work here; no such published numbers.
        DataError: stored analyses that cannot be read.
    """
    published = None
    if options.published or "published_statistics" in ADDED:
        published = ADDED["published_statistics"](config.name, options.published)
    return Tools(load_morphology(options.morphology, get_language(config.language)), published)


class SummaryStatistics(DataStatistics):
    """Lengths, morphology, novelty and compression; see `DataStatistics`."""

    unused: ClassVar = {
        "not for statistics of summaries": ("split", "types", "bins", "words", "sample")
    }
    compares_texts = True

    def __init__(self, config: DataConfig, options: AnalyzeOptions):
        super().__init__(config, options)
        for name in options.by or ():
            require_side(name, [*config.columns.side, *ALWAYS])
        require_asked(options.asked())
        self.tools = None if options.texts else open_tools(options, config)

    def describe(self, shipped: Shipped) -> Outcome:
        """Describe the splits that are there, or write their texts for another tool (`texts=`)."""
        sets = _sets(shipped.splits, self.options.by)
        if self.tools is None:
            texts = dict.fromkeys(t for pairs in sets.values() for pair in pairs for t in pair[:2])
            assert self.options.texts is not None
            return Outcome(files={self.options.texts: {"text": list(texts)}})
        morphology, published = self.tools
        found = _profiles(sets, morphology)
        measured = {name: measure(one, self.options.seed) for name, one in found.items()}
        ways = {name: definitions(one, published) for name, one in found.items()}
        similarity = _similarity(sets, self.options)
        sizes = {name: len(one) for name, one in found.items()}
        tables = [
            text_table(found, published, similarity.means, similarity.note()),
            morphology_table(found, morphology),
            share_table(measured, sizes, published, morphology),
            *([nearest_table(ways)] if published else []),
        ]
        facts = {
            "paper": published.paper if published else None,
            "bertscore": similarity._asdict() if similarity.signature else None,
        }
        title = with_synthetic(self.config.name, self.config.synthetic)
        names = "statistics.csv", "lengths.png"
        return _outcome(tables, facts, found, measured, ways, morphology, title, names)


def describe_system(
    gold: Sequence[Pair],
    system: Sequence[Pair],
    tools: Tools,
    title: str,
    stem: str,
    seed: int,
) -> Outcome:
    """Set a system's summaries beside the gold ones: novelty, compression, repetition.

    Args:
        gold: articles with their gold summaries.
        system: the same articles with the system's.
        tools: see `open_tools`.
        title: heads the tables.
        stem: name of the files.
        seed: of the draws behind intervals.
    """
    morphology, published = tools
    found = {"gold": profile(gold, morphology), "system": profile(system, morphology)}
    measured = {name: measure(one, seed) for name, one in found.items()}
    compared = compare_profiles(found["system"], found["gold"], seed)
    ways = {name: definitions(one, None) for name, one in found.items()}
    tables = [
        system_table(compared, len(gold), published),
        morphology_table(found, morphology),
    ]
    facts, names = {"empty": compared.empty}, (f"{stem}.csv", f"{stem}.png")
    return _outcome(tables, facts, found, measured, ways, morphology, title, names)


def _outcome(
    tables: Sequence[Table],
    facts: Mapping[str, Any],
    found: Mapping[str, Profile],
    measured: Mapping[str, Mapping[str, Shares]],
    ways: Mapping[str, Sequence[Definition]],
    morphology: Morphology,
    title: str,
    names: tuple[str, str],
) -> Outcome:
    """Put tables, all definitions and the figure of some profiles together."""
    from heron.tasks.summarization.figures import summaries_figure  # matplotlib

    backend = {"morphology": morphology.name, "note": morphology.note}
    sets = {"sets": {name: _counts(one, ways[name]) for name, one in found.items()}}
    table, image = names
    files: dict[str | Path, Content] = {
        table: _columns(measured, ways),
        image: summaries_figure(found, title),
    }
    return Outcome(tuple(tables), backend | {**facts} | sets, files=files, title=title)


class _Similarity(NamedTuple):
    """How like summaries are to their articles, by set of pairs; empty where nobody asked."""

    means: dict[str, float]
    left_out: dict[str, int]  # pairs with a text that is longer than the encoder reads
    signature: str | None

    def note(self) -> str:
        """Say what was compared, for the table."""
        if self.signature is None:
            return ""
        left_out = f"{self.left_out[ALL]:,} pairs left out as too long"
        return f"BERTScore: F1 of summary and article, {self.signature}; {left_out}."


def _similarity(sets: Mapping[str, Sequence[Pair]], options: AnalyzeOptions) -> _Similarity:
    """Compute BERTScore of summaries beside their articles, as the paper's Table 1.

    Summaries are the references, whose states are kept: F1 is the same either way, and articles
    are long.
    """
    config = options.asked()
    if config is None:
        return _Similarity({}, {}, None)
    every = [pair for pairs in sets.values() for pair in pairs]
    texts = [pair.article for pair in every], [pair.summary for pair in every]
    found = compute_asked(*texts, config, options.paths_cache)
    f1_N = found.items["bertscore_f1"]
    ends = np.cumsum([len(pairs) for pairs in sets.values()])
    parts = dict(zip(sets, np.split(f1_N, ends[:-1]), strict=True)) | {ALL: f1_N}
    scored = {name: part_N[np.isfinite(part_N)] for name, part_N in parts.items()}
    means = {name: float(part_N.mean()) for name, part_N in scored.items() if part_N.size}
    left_out = {name: part_N.size - scored[name].size for name, part_N in parts.items()}
    return _Similarity(means, left_out, found.signature)


def _sets(
    splits: Mapping[str, Sequence[Example]], by: Sequence[str] | None
) -> dict[str, list[Pair]]:
    """Name the sets of pairs to describe: splits, or in each of them a column's values."""
    sets: dict[str, list[Pair]] = {}
    for split, examples in splits.items():
        for example in examples:
            if example.target is not None:
                for column in by or ():
                    require_side(column, example.side)
                name = ", ".join([split, *(str(example.side[column]) for column in by or ())])
                pair = Pair(example.text, example.target, example.group)
                sets.setdefault(name, []).append(pair)
    return sets


def require_side(name: str, known: Mapping[str, Any] | Sequence[str]) -> None:
    """Refuse a column to tell sets of a data set apart by that is not read.

    Raises:
        ConfigError: there is none of this name.
    """
    if name not in known:
        given = [each for each in known if each not in ALWAYS]
        hint = nearest(name, given) or f" data.columns.side=[{name}] reads it"
        raise ConfigError(f"by={name}: no column of that name is read.{hint}")


def _profiles(sets: Mapping[str, Sequence[Pair]], morphology: Morphology) -> dict[str, Profile]:
    """Count each set, and where there are several all of them together."""
    found = {name: profile(pairs, morphology) for name, pairs in sets.items()}
    if len(found) > 1:
        found[ALL] = merge(list(found.values()))
    return found or {ALL: profile([], morphology)}  # which says that there is none


def _counts(one: Profile, ways: Sequence[Definition]) -> dict[str, Any]:
    """Turn a profile into JSON's own types."""
    sides = {}
    for name, side in (("articles", one.articles), ("summaries", one.summaries)):
        sides[name] = dataclasses.asdict(side) | {"lemmas": len(side.lemmas)}
    units = {}
    for unit, tally in one.tallies.items():
        article_N, summary_N = tally.lengths()
        in_articles, in_summaries = tally.vocabularies
        units[unit] = {
            "article_length": float(article_N.mean()),
            "summary_length": float(summary_N.mean()),
            "article_vocabulary": in_articles,
            "summary_vocabulary": in_summaries,
        }
    plain = [way._asdict() | {"shares": _finite(way.shares)} for way in ways]
    return {"rows": len(one), **sides, "units": units, "definitions": plain}


def _finite(shares: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in shares.items()}


def _columns(
    measured: Mapping[str, Mapping[str, Shares]], ways: Mapping[str, Sequence[Definition]]
) -> dict[str, list[Any]]:
    """Lay every share of every definition out, one a row; intervals for what tables show."""
    names = ("texts", "tokens", "count", "average", "statistic", "value", "low", "high")
    rows: list[tuple[Any, ...]] = []
    for name, each in ways.items():
        for way in each:
            shown = (way.counted, way.average) == (COUNT, AVERAGE)
            for key, value in _finite(way.shares).items():
                interval = measured[name][way.unit][key] if shown else None
                bounds = interval[1:] if isinstance(interval, Interval) else (None, None)
                rows.append((name, way.unit, way.counted, way.average, key, value, *bounds))
    return {column: [row[place] for row in rows] for place, column in enumerate(names)}
