"""Statistics of a data set's summaries and of a system's: tables laid out as in HeSum."""

import dataclasses
from collections.abc import Mapping, Sequence
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
from heron.tasks.summarization.scores import compute_asked, require_asked
from heron_tools.morphology.backends import Morphology, load_morphology
from heron_tools.statistics import figures
from heron_tools.statistics.options import ALWAYS, AnalyzeOptions, say_unused
from heron_tools.statistics.outcome import Content, Outcome
from heron_tools.statistics.profiles import (
    MORPHEMES,
    UNITS,
    WHITESPACE,
    Comparison,
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


def describe_summaries(shipped: Shipped, options: AnalyzeOptions) -> Outcome:
    """Describe lengths, morphology, novelty and compression of the splits whose files exist.

    With `texts=`, their texts are written for another parser instead.
    """
    say_unused(options, ("split", "types", "bins", "words", "sample"))
    config = shipped.config
    for name in options.by or ():
        if name not in (*config.columns.side, *ALWAYS):
            hint = nearest(name, config.columns.side)
            hint = hint or f" data.columns.side=[{name}] reads it"
            raise ConfigError(f"by={name}: no column of that name is read.{hint}")
    sets = _sets(shipped.splits, options.by or ())
    if options.texts is not None:
        texts = dict.fromkeys(t for pairs in sets.values() for pair in pairs for t in pair[:2])
        return Outcome(files={options.texts: {"text": list(texts)}})
    require_asked(options.bertscore_config())
    morphology, published = open_tools(options, config)
    found = {name: profile(pairs, morphology) for name, pairs in sets.items()}
    if len(found) > 1:
        found[ALL] = merge(list(found.values()))
    found = found or {ALL: profile([], morphology)}  # raises the error
    measured = {name: measure(one, options.seed) for name, one in found.items()}
    means, compared, note = similarity(sets, options)
    text = text_table(found, means, note)
    shares = share_table(measured, {name: len(one) for name, one in found.items()}, morphology)
    ways = {name: definitions(one) for name, one in found.items()}
    if published:
        text, shares = published.with_texts(text), published.with_shares(shares, measured)
        ways = {name: published.rank(one) for name, one in ways.items()}
    tables = [text, morphology_table(found, morphology), shares]
    tables += [published.nearest(ways)] if published else []
    facts = {"paper": published.paper if published else None, "bertscore": compared}
    title = with_synthetic(config.name, config.synthetic)
    return _outcome(tables, found, ways, morphology, facts, "lengths.png", title)


def describe_system(
    gold: Sequence[Pair], system: Sequence[Pair], tools: Tools, title: str, stem: str, seed: int
) -> Outcome:
    """Compare a system's summaries with the gold ones: novelty, compression, repetition.

    Both are pairs of the same articles. `stem` names the files; `seed` is for the intervals.
    """
    morphology, published = tools
    found = {"gold": profile(gold, morphology), "system": profile(system, morphology)}
    compared = compare_profiles(found["system"], found["gold"], seed)
    ways = {name: definitions(one) for name, one in found.items()}
    table = system_table(compared, len(gold))
    tables = [published.with_systems(table) if published else table]
    tables.append(morphology_table(found, morphology))
    facts = {"empty": compared.empty}
    return _outcome(tables, found, ways, morphology, facts, f"{stem}.png", title)


def _sets(splits: Mapping[str, Sequence[Example]], by: Sequence[str]) -> dict[str, list[Pair]]:
    """Collect the sets of pairs to describe: splits, subdivided by the values of columns."""
    sets: dict[str, list[Pair]] = {}
    for split, examples in splits.items():
        for example in examples:
            if example.target is not None:
                name = ", ".join([split, *(str(example.side[column]) for column in by)])
                pair = Pair(example.text, example.target, example.group)
                sets.setdefault(name, []).append(pair)
    return sets


def similarity(
    sets: Mapping[str, Sequence[Pair]], options: AnalyzeOptions
) -> tuple[dict[str, float], dict[str, Any] | None, str]:
    """Compute BERTScore of summaries and their articles, as in HeSum's Table 1.

    F1 is symmetric. Summaries are taken as the references, because the states of references are
    stored and articles are long. Returns means by set, facts for JSON and a note; all empty
    without `bertscore=`.
    """
    config = options.bertscore_config()
    if config is None:
        return {}, None, ""
    every = [pair for pairs in sets.values() for pair in pairs]
    texts = [pair.article for pair in every], [pair.summary for pair in every]
    found = compute_asked(*texts, config, options.paths_cache)
    f1_N = found.items["bertscore_f1"]
    ends = np.cumsum([len(pairs) for pairs in sets.values()])
    parts = dict(zip(sets, np.split(f1_N, ends[:-1]), strict=True)) | {ALL: f1_N}
    scored = {name: part_N[np.isfinite(part_N)] for name, part_N in parts.items()}
    means = {name: float(part_N.mean()) for name, part_N in scored.items() if part_N.size}
    left_out = {name: part_N.size - scored[name].size for name, part_N in parts.items()}
    note = (
        f"BERTScore: F1 of summary and article, {found.signature}; "
        f"{left_out[ALL]:,} pairs left out as too long."
    )
    return means, {"means": means, "left_out": left_out, "signature": found.signature}, note


def _outcome(
    tables: Sequence[Table],
    found: Mapping[str, Profile],
    ways: Mapping[str, Sequence[Definition]],
    morphology: Morphology,
    facts: Mapping[str, Any],
    image: str,
    title: str,
) -> Outcome:
    """Combine tables with all counts, every share by every definition, and the figure."""
    sets: dict[str, Any] = {}
    for name, one in found.items():
        plain = []
        for way in ways[name]:
            shares = {key: None if np.isnan(value) else value for key, value in way.shares.items()}
            plain.append(way._asdict() | {"shares": shares})
        sides = (("articles", one.articles), ("summaries", one.summaries))
        sets[name] = {
            "rows": len(one),
            **{of: dataclasses.asdict(side) | {"lemmas": len(side.lemmas)} for of, side in sides},
            "units": {
                unit: {
                    "article_length": float(tally.lengths()[0].mean()),
                    "summary_length": float(tally.lengths()[1].mean()),
                    "article_vocabulary": tally.vocabularies[0],
                    "summary_vocabulary": tally.vocabularies[1],
                }
                for unit, tally in one.tallies.items()
            },
            "definitions": plain,
        }
    facts = {"morphology": morphology.name, "note": morphology.note, **facts, "sets": sets}
    files: dict[str | Path, Content] = {image: summaries_figure(found, title)}
    return Outcome(tuple(tables), facts, (), files, title)


def text_table(found: Mapping[str, Profile], similarity: Mapping[str, float], note: str) -> Table:
    """Lay out HeSum's Table 1, with mean BERTScore (fractions) by set and a note about it."""
    rows: list[_Row] = []
    for name, one in found.items():
        articles, summaries = one.articles, one.summaries
        lengths = one.tallies[WHITESPACE].lengths()
        cells: _Row = (
            name,
            len(one),
            len(articles.lemmas),
            one.tallies[WHITESPACE].vocabularies[0],
            *(Formatted(float(length_N.mean()), ".1f") for length_N in lengths),
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
    return Table("Articles and summaries", ("texts", *_TEXTS), tuple(rows), note)


def _ratio(count: int | None, of: int) -> Cell:
    return None if count is None else Formatted(count / max(of, 1), ".2f")


def morphology_table(found: Mapping[str, Profile], morphology: Morphology) -> Table:
    """Lay out morphological counts per word, which do not depend on text length."""
    rows: list[_Row] = []
    for name, one in found.items():
        for of, side in (("articles", one.articles), ("summaries", one.summaries)):
            told = (side.morphemes, side.anaphors, side.constructs, side.readings, side.ambiguous)
            per_word = (None if count is None else count / max(side.words, 1) for count in told)
            rows.append((name, of, side.words, *per_word))
    lacking = [
        backends
        for name, backends in _UNKNOWN.items()
        if any(getattr(one.articles, name) is None for one in found.values())
    ]
    note = f"Per word, by {morphology.name}; ambiguous: share of words with several readings. "
    note += f"–: not provided; other backends: {'; '.join(lacking)}. " if lacking else ""
    columns = ("texts", "of", "words", "morphemes", "suffixes", "construct states", "readings")
    note = (note + morphology.note).strip()
    return Table("Morphology per word", (*columns, "ambiguous"), tuple(rows), note)


def share_table(
    measured: Mapping[str, Mapping[str, Shares]], sizes: Mapping[str, int], morphology: Morphology
) -> Table:
    """Lay out the shares of each set and unit, as in HeSum's Tables 2 and 5."""
    rows: list[_Row] = []
    for name, units in measured.items():
        for unit in (unit for unit in UNITS if unit in units or unit == MORPHEMES):
            shares = units.get(unit, {})
            rows.append((name, unit, sizes[name], *(shares.get(key) for key in SHARES)))
    note = (
        f"{_DRAWS}. CMP: compression; "
        f"RED: redundancy. Lemmas and morphemes by {morphology.name}; –: not provided."
    )
    columns = ("texts", "tokens", "n", *_HEADINGS)
    return Table("Statistics of the summaries", columns, tuple(rows), note)


def system_table(compared: Comparison, size: int) -> Table:
    """Lay out a system's summaries of `size` articles and the gold ones, as in HeSum's Table 7."""
    rows: list[_Row] = []
    for unit in (unit for unit in UNITS if unit in compared.system):
        for name, shares in (("gold", compared.gold[unit]), ("system", compared.system[unit])):
            rows.append((name, unit, size, *(shares.get(key) for key in SHARES), None))
        changes = [compared.differences[unit].get(key) for key in SHARES]
        known = [change for change in changes if change]
        differ = sum(not change.low <= 0 <= change.high for change in known)
        cells = [change and Formatted(change.value, "+.3f") for change in changes]
        rows.append(("system - gold", unit, size, *cells, f"{differ} of {len(known)}"))
    note = (
        f"{_DRAWS}; differ: how many "
        "differences, on the same resamples, have an interval without zero. Each share is over the "
        "articles where both summaries are long enough for it; the other files have each set's "
        "shares over all its articles. Empty summaries of the system: "
        f"{compared.empty:,} of {size:,}."
    )
    columns = ("texts", "tokens", "n", *_HEADINGS, "differ")
    return Table("Statistics of the system's summaries", columns, tuple(rows), note)


def summaries_figure(found: Mapping[str, Profile], title: str) -> bytes:
    """Draw the lengths of articles and summaries, and compression."""
    lengths = {name: one.tallies[WHITESPACE].lengths() for name, one in found.items()}
    compression = {
        name: 1 - summary_N[article_N > 0] / article_N[article_N > 0]
        for name, (article_N, summary_N) in lengths.items()
    }
    words = "words (split at spaces)"
    panels = {
        "Articles": (words, {name: pair[0] for name, pair in lengths.items()}),
        "Summaries": (words, {name: pair[1] for name, pair in lengths.items()}),
        "Compression": ("", compression),
    }
    return figures.histograms(panels, title)
