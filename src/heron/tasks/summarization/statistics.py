"""Statistics of the articles and summaries of a data set, and of a system's summaries."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from heron.base.cells import Interval, with_synthetic
from heron.base.errors import ConfigError, nearest
from heron.config.analyze_options import AnalyzeOptions
from heron.config.data import DataConfig
from heron.config.registries import FORK_ANALYSES
from heron.data.examples import Example
from heron.languages import get_language
from heron.languages.morphology import Morphology, load_morphology
from heron.tasks.analysis import Content, DataStatistics, Outcome, Shipped
from heron.tasks.summarization.bertscore import compute_asked, require_asked
from heron.tasks.summarization.profile import (
    AVERAGE,
    COUNT,
    Definition,
    Pair,
    Profile,
    Shares,
    compare_profiles,
    definitions,
    measure,
    merge,
    profile,
)
from heron.tasks.summarization.tables import (
    Published,
    morphology_table,
    share_table,
    summaries_figure,
    system_table,
    text_table,
)

ALL = "all"
ALWAYS = ("file", "line")  # side columns of every data set


class Tools(NamedTuple):
    """The morphological backend, and a paper's numbers to compare with, if any."""

    morphology: Morphology
    published: Published | None


def open_tools(options: AnalyzeOptions, config: DataConfig) -> Tools:
    """Open what `morphology=` and `published=` name.

    Raises:
        ConfigError: an unknown or unusable backend, or no such published numbers.
        DataError: stored analyses that cannot be read.
    """
    published = None
    if options.published or "published_statistics" in FORK_ANALYSES:
        published = FORK_ANALYSES["published_statistics"](config.name, options.published)
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
        require_asked(options.bertscore_config())
        self.tools = None if options.texts else open_tools(options, config)

    def describe(self, shipped: Shipped) -> Outcome:
        """Describe the splits, or write their texts for another tool (`texts=`)."""
        sets = _sets(shipped.splits, self.options.by)
        if self.tools is None:
            texts = dict.fromkeys(t for pairs in sets.values() for pair in pairs for t in pair[:2])
            assert self.options.texts is not None
            return Outcome(files={self.options.texts: {"text": list(texts)}})
        morphology, published = self.tools
        found = _profiles(sets, morphology)
        measured = {name: measure(one, self.options.seed) for name, one in found.items()}
        similarity = _similarity(sets, self.options)
        text = text_table(found, similarity.means, similarity.note())
        shares = share_table(measured, {name: len(one) for name, one in found.items()}, morphology)
        ways = {name: definitions(one) for name, one in found.items()}
        if published:
            text, shares = published.with_texts(text), published.with_shares(shares, measured)
            ways = {name: published.rank(one) for name, one in ways.items()}
        tables = [text, morphology_table(found, morphology), shares]
        tables += [published.nearest(ways)] if published else []
        facts = {
            "paper": published.paper if published else None,
            "bertscore": similarity._asdict() if similarity.signature else None,
        }
        title = with_synthetic(self.config.name, self.config.synthetic)
        files = _files(("statistics.csv", "lengths.png"), found, measured, ways, title)
        return Outcome(tuple(tables), _facts(morphology, facts, found, ways), (), files, title)


def describe_system(
    gold: Sequence[Pair], system: Sequence[Pair], tools: Tools, title: str, stem: str, seed: int
) -> Outcome:
    """Compare a system's summaries with the gold ones: novelty, compression, repetition.

    Args:
        gold: articles with their gold summaries.
        system: the same articles with the system's summaries.
        tools: see `open_tools`.
        title: heading of the tables.
        stem: name of the files.
        seed: of the draws behind intervals.
    """
    morphology, published = tools
    found = {"gold": profile(gold, morphology), "system": profile(system, morphology)}
    measured = {name: measure(one, seed) for name, one in found.items()}
    compared = compare_profiles(found["system"], found["gold"], seed)
    ways = {name: definitions(one) for name, one in found.items()}
    table = system_table(compared, len(gold))
    if published:
        table = published.with_systems(table)
    facts = _facts(morphology, {"empty": compared.empty}, found, ways)
    files = _files((f"{stem}.csv", f"{stem}.png"), found, measured, ways, title)
    return Outcome((table, morphology_table(found, morphology)), facts, (), files, title)


class _Similarity(NamedTuple):
    """BERTScore of summaries and their articles, by set; empty without `bertscore=`."""

    means: dict[str, float]
    left_out: dict[str, int]  # pairs with a text that is too long for the encoder
    signature: str | None

    def note(self) -> str:
        """Describe the comparison, for the table."""
        if self.signature is None:
            return ""
        left_out = f"{self.left_out[ALL]:,} pairs left out as too long"
        return f"BERTScore: F1 of summary and article, {self.signature}; {left_out}."


def _similarity(sets: Mapping[str, Sequence[Pair]], options: AnalyzeOptions) -> _Similarity:
    """Compute BERTScore of summaries and their articles, as in HeSum's Table 1.

    F1 does not depend on which text is the reference. Summaries are, because the states of
    references are stored and articles are long.
    """
    config = options.bertscore_config()
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
    """Collect the sets of pairs to describe: splits, divided by the values of columns."""
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
    """Check that a column of `by=` is read.

    Raises:
        ConfigError: there is no such column.
    """
    if name not in known:
        given = [each for each in known if each not in ALWAYS]
        hint = nearest(name, given) or f" data.columns.side=[{name}] reads it"
        raise ConfigError(f"by={name}: no column of that name is read.{hint}")


def _profiles(sets: Mapping[str, Sequence[Pair]], morphology: Morphology) -> dict[str, Profile]:
    """Count each set, and all of several sets together."""
    found = {name: profile(pairs, morphology) for name, pairs in sets.items()}
    if len(found) > 1:
        found[ALL] = merge(list(found.values()))
    return found or {ALL: profile([], morphology)}  # raises the error


def _facts(
    morphology: Morphology,
    more: Mapping[str, Any],
    found: Mapping[str, Profile],
    ways: Mapping[str, Sequence[Definition]],
) -> dict[str, Any]:
    """Lay out the backend, further facts and all counts for JSON."""
    sets = {name: _counts(one, ways[name]) for name, one in found.items()}
    return {"morphology": morphology.name, "note": morphology.note, **more, "sets": sets}


def _counts(one: Profile, ways: Sequence[Definition]) -> dict[str, Any]:
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


def _files(
    names: tuple[str, str],
    found: Mapping[str, Profile],
    measured: Mapping[str, Mapping[str, Shares]],
    ways: Mapping[str, Sequence[Definition]],
    title: str,
) -> dict[str | Path, Content]:
    """Make the table of every share by every definition, with intervals, and the figure."""
    columns = ("texts", "tokens", "count", "average", "statistic", "value", "low", "high")
    rows: list[tuple[Any, ...]] = []
    for name, each in ways.items():
        for way in each:
            shown = (way.counted, way.average) == (COUNT, AVERAGE)
            for key, value in _finite(way.shares).items():
                interval = measured[name][way.unit][key] if shown else None
                bounds = interval[1:] if isinstance(interval, Interval) else (None, None)
                rows.append((name, way.unit, way.counted, way.average, key, value, *bounds))
    table = {column: [row[place] for row in rows] for place, column in enumerate(columns)}
    return {names[0]: table, names[1]: summaries_figure(found, title)}
