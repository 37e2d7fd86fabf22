"""Tables and the figure of articles and summaries, laid out as in HeSum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.base.cells import Cell, Formatted, Table
from heron.base.plots import FAINT, PALETTE, QUIET, STYLE, png
from heron.languages.morphology import Morphology
from heron.metrics.summary_statistics import SHARES, Floats
from heron.tasks.summarization.profile import (
    MORPHEMES,
    UNITS,
    WHITESPACE,
    Comparison,
    Definition,
    Profile,
    Shares,
    Side,
)

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
_TAIL = 0.99  # share of documents at their place in the figure; the rest is in the last bin
_BINS = 30


class Published(Protocol):
    """A paper's numbers, which a fork adds to the tables."""

    @property
    def paper(self) -> str:
        """Authors and title."""

    def with_texts(self, table: Table) -> Table:
        """Add the paper's rows to `text_table`."""

    def with_shares(self, table: Table, measured: Mapping[str, Mapping[str, Shares]]) -> Table:
        """Add the paper's rows, and the differences from it, to `share_table`."""

    def with_systems(self, table: Table) -> Table:
        """Add the paper's rows to `system_table`."""

    def rank(self, ways: Sequence[Definition]) -> list[Definition]:
        """Compute the distance of each definition from the paper, and sort by it."""

    def nearest(self, found: Mapping[str, Sequence[Definition]]) -> Table:
        """Show the ranked definitions that are nearest to the paper."""


def text_table(found: Mapping[str, Profile], similarity: Mapping[str, float], note: str) -> Table:
    """Lay out HeSum's Table 1.

    Args:
        found: profiles by name.
        similarity: mean BERTScore of articles and summaries by name, fractions; may be empty.
        note: about BERTScore.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        articles, summaries = one.articles, one.summaries
        article_N, summary_N = one.tallies[WHITESPACE].lengths()
        cells: tuple[Cell, ...] = (
            len(one),
            len(articles.lemmas),
            one.tallies[WHITESPACE].vocabularies[0],
            Formatted(float(article_N.mean()), ".1f"),
            Formatted(float(summary_N.mean()), ".1f"),
            _ratio(articles.readings, articles.words),
            _ratio(articles.anaphors, articles.texts),
            _ratio(summaries.constructs, summaries.texts),
            similarity.get(name),
        )
        rows.append((name, *cells))
    note = (
        "lemmas, tokens: distinct ones of all articles (tokens, and mean lengths: between spaces); "
        "ambiguity: ways to take a word of an article apart (the paper's unit is not stated); "
        "anaphors: pronominal suffixes in an article; construct states: in a summary. "
        "Vocabularies grow with the number of texts: only sets of one size compare. "
        f"{note}"
    ).strip()
    return Table("Articles and summaries", ("texts", *_TEXTS), tuple(rows), note)


def morphology_table(found: Mapping[str, Profile], morphology: Morphology) -> Table:
    """Lay out morphology per word, which does not depend on the length of texts."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        for of, side in (("articles", one.articles), ("summaries", one.summaries)):
            rows.append((name, of, side.words, *_per_word(side)))
    columns = ("texts", "of", "words", "morphemes", "suffixes", "construct states", "readings")
    lacking = [
        backends
        for name, backends in _UNKNOWN.items()
        if any(getattr(one.articles, name) is None for one in found.values())
    ]
    note = f"Per word, by {morphology.name}; ambiguous: share of words with several readings. "
    note += f"–: it does not say; who does: {'; '.join(lacking)}. " if lacking else ""
    title = "Morphology per word"
    return Table(title, (*columns, "ambiguous"), tuple(rows), (note + morphology.note).strip())


def _per_word(side: Side) -> tuple[Cell, ...]:
    counts = (side.morphemes, side.anaphors, side.constructs, side.readings, side.ambiguous)
    return tuple(None if count is None else count / max(side.words, 1) for count in counts)


def share_table(
    measured: Mapping[str, Mapping[str, Shares]], sizes: Mapping[str, int], morphology: Morphology
) -> Table:
    """Lay out the shares of each set and unit, as in HeSum's Tables 2 and 5."""
    rows: list[tuple[Cell, ...]] = []
    for name, units in measured.items():
        for unit in (unit for unit in UNITS if unit in units or unit == MORPHEMES):
            shares = units.get(unit, {})
            rows.append((name, unit, sizes[name], *(shares.get(key) for key in SHARES)))
    note = (
        "Types, means over documents, [95 % interval from draws of documents]. CMP: compression; "
        f"RED: redundancy. Lemmas and morphemes by {morphology.name}; –: it has none."
    )
    columns = ("texts", "tokens", "n", *_HEADINGS)
    return Table("What the summaries are like", columns, tuple(rows), note)


def system_table(compared: Comparison, size: int) -> Table:
    """Lay out a system's summaries beside the gold ones, as in HeSum's Table 7.

    Args:
        compared: the system's summaries with the gold ones.
        size: number of articles.
    """
    rows: list[tuple[Cell, ...]] = []
    for unit in (unit for unit in UNITS if unit in compared.system):
        for name, shares in (("gold", compared.gold[unit]), ("system", compared.system[unit])):
            rows.append((name, unit, size, *(shares.get(key) for key in SHARES), None))
        changes = [compared.differences[unit].get(key) for key in SHARES]
        known = [change for change in changes if change]
        differ = sum(not change.low <= 0 <= change.high for change in known)
        cells = [change and Formatted(change.value, "+.3f") for change in changes]
        rows.append(("system - gold", unit, size, *cells, f"{differ} of {len(known)}"))
    note = (
        "Types, means over documents, [95 % interval from draws of documents]; differ: how many "
        "differences, on the same draws, have an interval without zero. Each share is over the "
        "articles where both summaries are long enough for it; the other files have each set's "
        "shares over all that it has. Empty summaries of the system: "
        f"{compared.empty:,} of {size:,}."
    )
    columns = ("texts", "tokens", "n", *_HEADINGS, "differ")
    return Table("What the system's summaries are like", columns, tuple(rows), note)


def _ratio(count: int | None, of: int) -> Cell:
    return None if count is None else Formatted(count / max(of, 1), ".2f")


def summaries_figure(found: Mapping[str, Profile], title: str) -> bytes:
    """Draw the lengths of articles and summaries, and compression, as PNG.

    Args:
        found: profiles by name; the first four are drawn, as shares of their own documents.
        title: of the figure.
    """
    lengths = {name: one.tallies[WHITESPACE].lengths() for name, one in found.items()}
    drawn = dict(list(lengths.items())[: len(PALETTE)])
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12, 3.6), layout="constrained")
        panels = figure.subplots(1, 3)
        _draw(panels[0], {n: pair[0] for n, pair in drawn.items()}, "Articles", "words")
        _draw(panels[1], {n: pair[1] for n, pair in drawn.items()}, "Summaries", "words")
        _draw(panels[2], {n: _compression(*p) for n, p in drawn.items()}, "Compression", "")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _compression(article_N: Floats, summary_N: Floats) -> Floats:
    counted = article_N > 0
    shares: Floats = 1 - summary_N[counted] / article_N[counted]
    return shares


def _draw(axes: Axes, values: Mapping[str, Floats], title: str, unit: str) -> None:
    every = np.concatenate(list(values.values()))
    # The long tail of lengths is on the right, that of compression on the left.
    low, high = (0.0, np.quantile(every, _TAIL)) if unit else (np.quantile(every, 1 - _TAIL), 1.0)
    edges = np.linspace(low, max(high, low + 1e-6), _BINS + 1)
    for (name, one), colour in zip(values.items(), PALETTE, strict=False):
        counts, _ = np.histogram(np.clip(one, edges[0], edges[-1]), edges)
        axes.stairs(
            counts / max(len(one), 1), edges, color=colour, label=f"{name} (n={len(one):,})"
        )
        axes.axvline(float(np.mean(one)), color=colour, linewidth=0.8, linestyle="--")
    axes.set_title(title)
    label = f"{unit} between spaces" if unit else "1 - summary / article"
    axes.set(xlabel=f"{label} (dashed: mean)", ylabel="share of documents")
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
