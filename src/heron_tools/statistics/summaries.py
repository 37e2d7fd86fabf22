"""Statistics of a data set's summaries and of a system's: tables laid out as in HeSum."""

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import Cell, Formatted, Table, with_synthetic
from heron.base.errors import ConfigError, nearest
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.languages import get_language
from heron.metrics.summary import SHARES
from heron.results.shipped import Shipped
from heron.tasks import FORK_ANALYSES
from heron.tasks.scoring import compute_bertscore, require_bertscore
from heron_tools.morphology.backends import Morphology, load_morphology
from heron_tools.statistics import figures
from heron_tools.statistics.options import ALWAYS, AnalyzeOptions, say_unused
from heron_tools.statistics.outcome import AnalysisResult, Content
from heron_tools.statistics.profiles import (
    MORPHEMES,
    UNITS,
    WHITESPACE,
    ArticleSummary,
    Definition,
    ProfileComparison,
    Shares,
    SummaryProfile,
    compare_profiles,
    definitions,
    measure,
    merge,
    profile,
)

ALL = "all"
_HEADINGS = ("novel 1", "novel 2", "novel 3", "novel 4", "CMP", "RED 1", "RED 2")
_TEXTS = (
    "n",
    "lemmas",
    "tokens",
    "article",
    "summary",
    "ambiguity",
    "anaphors",
    "construct states",
    "BERTScore",
)
_UNKNOWN = {
    "morphemes": "morphemes: stanza, conllu:FILE, simplemma-prefixes (Hebrew)",
    "anaphors": "suffixes and construct states: stanza, conllu:FILE",
    "readings": "readings: simplemma-prefixes",
}
_DRAWS = "Types, means over documents, [95 % bootstrap interval over documents]"

_Row = tuple[Cell, ...]


# The morphological backend, and an object with a paper's numbers if a fork has one. It adds rows to
# tables (`with_texts`, `with_shares`, `with_systems`) and compares definitions (`rank`, `nearest`).
Tools = tuple[Morphology, Any]


def open_tools(options: AnalyzeOptions, config: DataConfig) -> Tools:
    """Load what `morphology=` and `published=` name."""
    published = None
    if options.published or "published_statistics" in FORK_ANALYSES:
        published = FORK_ANALYSES["published_statistics"](config.name, options.published)
    return load_morphology(options.morphology, get_language(config.language)), published


def describe_summaries(shipped: Shipped, options: AnalyzeOptions) -> AnalysisResult:
    """Describe lengths, morphology, novelty and compression of the splits whose files exist.

    With `texts=`, their texts are written for another parser instead.
    """
    say_unused(options, ("split", "types", "bins", "words", "sample"))
    config = shipped.config
    columns = options.by or ()
    for name in columns:
        if name not in config.columns.side and name not in ALWAYS:
            near = nearest(name, config.columns.side)
            hint = near or f" data.columns.side=[{name}] reads it"
            raise ConfigError(f"by={name}: no column of that name is read.{hint}")

    sets = _sets(shipped.splits, columns)

    if options.texts is not None:
        texts: dict[str, None] = {}  # ordered, each text once
        for pairs in sets.values():
            for pair in pairs:
                texts |= {pair.article: None, pair.summary: None}
        return AnalysisResult(files={options.texts: {"text": list(texts)}})

    require_bertscore(options.bertscore_config())
    morphology, published = open_tools(options, config)
    profiles = {name: profile(pairs, morphology) for name, pairs in sets.items()}
    if not profiles:
        profiles = {ALL: profile([], morphology)}  # raises the error
    elif len(profiles) > 1:
        profiles[ALL] = merge(list(profiles.values()))

    shares = {}
    sizes = {}
    definitions_of = {}
    for name, set_profile in profiles.items():
        shares[name] = measure(set_profile, options.seed)
        sizes[name] = len(set_profile)
        definitions_of[name] = definitions(set_profile)

    bertscores, bertscore_facts, note = similarity(sets, options)

    tables = [
        text_table(profiles, bertscores, note),
        morphology_table(profiles, morphology),
        share_table(shares, sizes, morphology),
    ]
    if published:
        tables[0] = published.with_texts(tables[0])
        tables[2] = published.with_shares(tables[2], shares)
        for name, ways in definitions_of.items():
            definitions_of[name] = published.rank(ways)

        tables.append(published.nearest(definitions_of))

    facts = {"paper": published.paper if published else None, "bertscore": bertscore_facts}
    title = with_synthetic(config.name, config.synthetic)
    return _outcome(tables, profiles, definitions_of, morphology, facts, "lengths.png", title)


def describe_system(
    gold: Sequence[ArticleSummary],
    system: Sequence[ArticleSummary],
    tools: Tools,
    title: str,
    stem: str,
    seed: int,
) -> AnalysisResult:
    """Compare a system's summaries with the gold ones: novelty, compression, repetition.

    Args:
        gold: articles and gold summaries.
        system: the same articles and the system's summaries.
        tools: see `open_tools`.
        title: of the tables and the figure.
        stem: of the files' names.
        seed: for the intervals.
    """
    morphology, published = tools
    profiles = {"gold": profile(gold, morphology), "system": profile(system, morphology)}
    definitions_of = {name: definitions(set_profile) for name, set_profile in profiles.items()}

    comparison = compare_profiles(profiles["system"], profiles["gold"], seed)
    table = system_table(comparison, len(gold))
    if published:
        table = published.with_systems(table)

    tables = [table, morphology_table(profiles, morphology)]

    facts = {"empty": comparison.empty}
    return _outcome(tables, profiles, definitions_of, morphology, facts, f"{stem}.png", title)


def _sets(
    splits: Mapping[str, Sequence[Example]], by: Sequence[str]
) -> dict[str, list[ArticleSummary]]:
    """Collect the sets of pairs to describe: splits, subdivided by the values of columns."""
    sets: dict[str, list[ArticleSummary]] = {}
    for split, examples in splits.items():
        for example in examples:
            if example.target is not None:
                values = [str(example.side[column]) for column in by]
                name = ", ".join([split, *values])
                pair = ArticleSummary(example.text, example.target, example.group)
                sets.setdefault(name, []).append(pair)

    return sets


def similarity(
    sets: Mapping[str, Sequence[ArticleSummary]], options: AnalyzeOptions
) -> tuple[dict[str, float], dict[str, Any] | None, str]:
    """Compute BERTScore of summaries and their articles, as in HeSum's Table 1.

    F1 is symmetric. Summaries are taken as the references, because the states of references are
    stored and articles are long.

    Returns:
        Means by set, facts for JSON and a note; all empty without `bertscore=`.
    """
    config = options.bertscore_config()
    if config is None:
        return {}, None, ""

    pairs = list(chain.from_iterable(sets.values()))
    articles = [pair.article for pair in pairs]
    summaries = [pair.summary for pair in pairs]
    bertscore = compute_bertscore(articles, summaries, config, options.paths_cache)

    f1_N = bertscore.items["bertscore_f1"]
    scores = {}
    start = 0
    for name, set_pairs in sets.items():
        scores[name] = f1_N[start : start + len(set_pairs)]
        start += len(set_pairs)

    scores[ALL] = f1_N

    means = {}
    left_out = {}
    for name, scores_N in scores.items():
        finite_N = scores_N[np.isfinite(scores_N)]
        left_out[name] = scores_N.size - finite_N.size
        if finite_N.size:
            means[name] = float(finite_N.mean())

    note = (
        f"BERTScore: F1 of summary and article, {bertscore.signature}; "
        f"{left_out[ALL]:,} pairs left out as too long."
    )
    facts = {
        "means": means,
        "left_out": left_out,
        "signature": bertscore.signature,
    }
    return means, facts, note


def _outcome(
    tables: Sequence[Table],
    profiles: Mapping[str, SummaryProfile],
    definitions_of: Mapping[str, Sequence[Definition]],
    morphology: Morphology,
    facts: Mapping[str, Any],
    image: str,
    title: str,
) -> AnalysisResult:
    """Combine tables with all counts, every share by every definition, and the figure.

    Args:
        tables: shown first.
        profiles: counts by set.
        definitions_of: every share by every definition, by set.
        morphology: the backend.
        facts: settings behind the numbers; for JSON.
        image: file name of the figure.
        title: of the page and the figure.
    """
    sets = {}
    for name, set_profile in profiles.items():
        counts: dict[str, Any] = {"rows": len(set_profile)}
        for side_name in ("articles", "summaries"):
            side = dataclasses.asdict(getattr(set_profile, side_name))
            side["lemmas"] = len(side["lemmas"])
            counts[side_name] = side

        counts["units"] = {}
        for unit, tally in set_profile.tallies.items():
            article_N, summary_N = tally.lengths()
            article_vocabulary, summary_vocabulary = tally.vocabularies
            counts["units"][unit] = {
                "article_length": float(article_N.mean()),
                "summary_length": float(summary_N.mean()),
                "article_vocabulary": article_vocabulary,
                "summary_vocabulary": summary_vocabulary,
            }

        counts["definitions"] = []
        for definition in definitions_of[name]:
            fields = definition._asdict()
            fields["shares"] = {
                share: None if np.isnan(value) else value
                for share, value in definition.shares.items()
            }
            counts["definitions"].append(fields)

        sets[name] = counts

    facts = {"morphology": morphology.name, "note": morphology.note, **facts, "sets": sets}
    files: dict[str | Path, Content] = {image: summaries_figure(profiles, title)}
    return AnalysisResult(tuple(tables), facts, (), files, title)


def text_table(
    profiles: Mapping[str, SummaryProfile], similarity: Mapping[str, float], note: str
) -> Table:
    """Lay out HeSum's Table 1.

    Args:
        profiles: counts by set.
        similarity: mean BERTScore by set, fractions.
        note: about BERTScore.
    """
    rows = []
    for name, set_profile in profiles.items():
        articles = set_profile.articles
        summaries = set_profile.summaries
        tally = set_profile.tallies[WHITESPACE]
        article_N, summary_N = tally.lengths()
        article_vocabulary, _ = tally.vocabularies
        cells: _Row = (
            name,
            len(set_profile),
            len(articles.lemmas),
            article_vocabulary,
            Formatted(float(article_N.mean()), ".1f"),
            Formatted(float(summary_N.mean()), ".1f"),
            _ratio(articles.readings, articles.words),
            _ratio(articles.anaphors, articles.texts),
            _ratio(summaries.constructs, summaries.texts),
            similarity.get(name),
        )
        rows.append(cells)

    note = (
        "lemmas, tokens: distinct ones in all articles (tokens and mean lengths: split at spaces); "
        "ambiguity: segmentations per word of articles (the paper does not state its unit); "
        "anaphors: pronominal suffixes in an article; construct states: in a summary. "
        "Vocabularies grow with the number of texts: compare only sets of equal size. "
        f"{note}"
    ).strip()
    return Table("Articles and summaries", ("texts", *_TEXTS), rows, note)


def _ratio(count: int | None, total: int) -> Cell:
    """Divide a count by a number of words or texts; None stays None."""
    if count is None:
        return None
    return Formatted(count / max(total, 1), ".2f")


def morphology_table(profiles: Mapping[str, SummaryProfile], morphology: Morphology) -> Table:
    """Lay out morphological counts per word, which do not depend on text length."""
    counts = ("morphemes", "anaphors", "constructs", "readings", "ambiguous")
    rows = []
    unknown = set()
    for name, set_profile in profiles.items():
        for side_name in ("articles", "summaries"):
            side = getattr(set_profile, side_name)
            cells = [name, side_name, side.words]
            for count_name in counts:
                count = getattr(side, count_name)
                if count is None:
                    cells.append(None)
                    unknown.add(count_name)
                else:
                    cells.append(count / max(side.words, 1))

            rows.append(tuple(cells))

    note = f"Per word, by {morphology.name}; ambiguous: share of words with several readings. "
    backends = [backend for name, backend in _UNKNOWN.items() if name in unknown]
    if backends:
        note += f"–: not provided; other backends: {'; '.join(backends)}. "

    note = (note + morphology.note).strip()
    columns = ("texts", "of", "words", "morphemes", "suffixes", "construct states", "readings")
    return Table("Morphology per word", (*columns, "ambiguous"), rows, note)


def share_table(
    measured: Mapping[str, Mapping[str, Shares]], sizes: Mapping[str, int], morphology: Morphology
) -> Table:
    """Lay out the shares of each set and unit, as in HeSum's Tables 2 and 5.

    Args:
        measured: shares by set and unit.
        sizes: number of pairs by set.
        morphology: the backend.
    """
    rows = []
    for name, units in measured.items():
        for unit in UNITS:
            if unit in units or unit == MORPHEMES:
                shares = units.get(unit, {})
                cells = [shares.get(share) for share in SHARES]
                rows.append((name, unit, sizes[name], *cells))

    note = (
        f"{_DRAWS}. CMP: compression; "
        f"RED: redundancy. Lemmas and morphemes by {morphology.name}; –: not provided."
    )
    columns = ("texts", "tokens", "n", *_HEADINGS)
    return Table("Statistics of the summaries", columns, rows, note)


def system_table(comparison: ProfileComparison, size: int) -> Table:
    """Lay out a system's summaries of `size` articles and the gold ones, as in HeSum's Table 7."""
    rows: list[_Row] = []
    for unit in UNITS:
        if unit not in comparison.system:
            continue

        for name, units in (("gold", comparison.gold), ("system", comparison.system)):
            shares = [units[unit].get(share) for share in SHARES]
            rows.append((name, unit, size, *shares, None))

        cells: list[Cell] = []
        known = 0
        differ = 0
        for share in SHARES:
            change = comparison.differences[unit].get(share)
            if change is None:
                cells.append(None)
                continue

            cells.append(Formatted(change.value, "+.3f"))
            known += 1
            if not change.low <= 0 <= change.high:
                differ += 1

        rows.append(("system - gold", unit, size, *cells, f"{differ} of {known}"))

    note = (
        f"{_DRAWS}; differ: how many "
        "differences, on the same resamples, have an interval without zero. Each share is over the "
        "articles where both summaries are long enough for it; the other files have each set's "
        "shares over all its articles. Empty summaries of the system: "
        f"{comparison.empty:,} of {size:,}."
    )
    columns = ("texts", "tokens", "n", *_HEADINGS, "differ")
    return Table("Statistics of the system's summaries", columns, rows, note)


def summaries_figure(profiles: Mapping[str, SummaryProfile], title: str) -> bytes:
    """Draw the lengths of articles and summaries, and compression."""
    articles = {}
    summaries = {}
    compression = {}
    for name, set_profile in profiles.items():
        article_N, summary_N = set_profile.tallies[WHITESPACE].lengths()
        articles[name] = article_N
        summaries[name] = summary_N
        has_words_N = article_N > 0
        compression[name] = 1 - summary_N[has_words_N] / article_N[has_words_N]

    words = "words (split at spaces)"
    panels = {
        "Articles": (words, articles),
        "Summaries": (words, summaries),
        "Compression": ("", compression),
    }
    return figures.histograms(panels, title)
