"""Tables of articles and summaries, laid out as HeSum's, with the paper's rows among ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heron.base.cells import Cell, Formatted, Interval, Table
from heron.languages.morphology import Morphology
from heron.metrics.summary_statistics import SHARES
from heron.tasks.summarization.measures import (
    Comparison,
    Definition,
    PublishedStatistics,
    Shares,
)
from heron.tasks.summarization.profile import MORPHEMES, UNITS, WHITESPACE, Profile, Side

_HEADINGS = ("novel 1", "novel 2", "novel 3", "novel 4", "CMP", "RED 1", "RED 2")
_NEAREST = 2  # definitions that are shown of each set and row; the files hold all
_TEXTS = (
    "rows",
    "lemmas",
    "tokens",
    "article_length",
    "summary_length",
    "ambiguity",
    "anaphors_article",
    "constructs_summary",
    "bertscore",
)
_UNKNOWN = {
    "morphemes": "morphemes: stanza, conllu:FILE, simplemma-prefixes (Hebrew)",
    "anaphors": "suffixes and construct states: stanza, conllu:FILE",
    "readings": "readings: simplemma-prefixes",
}


def text_table(
    found: Mapping[str, Profile],
    published: PublishedStatistics | None,
    similarity: Mapping[str, float],
    compared: str = "",
) -> Table:
    """Lay out HeSum's Table 1.

    Args:
        found: profiles by the name of their texts.
        published: the paper, or None.
        similarity: mean BERTScore of articles and summaries by the same names, fractions; empty
            where it was not computed.
        compared: what was compared there, for the note.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, printed in (published.texts if published else {}).items():
        rows.append((f"{name}, paper", *(_printed(printed.get(key)) for key in _TEXTS)))
    for name, one in found.items():
        articles, summaries = one.articles, one.summaries
        article_N, summary_N = one.tallies[WHITESPACE].lengths()
        cells: tuple[Cell, ...] = (
            len(one),
            len(articles.lemmas),
            one.tallies[WHITESPACE].vocabularies[0],
            _short(article_N.mean()),
            _short(summary_N.mean()),
            _ratio(articles.readings, articles.words),
            _ratio(articles.anaphors, articles.texts),
            _ratio(summaries.constructs, summaries.texts),
            similarity.get(name),
        )
        rows.append((name, *cells))
    columns = (
        "texts",
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
    note = (
        "lemmas, tokens: distinct ones of all articles (tokens, and mean lengths: between spaces); "
        "ambiguity: ways to take a word of an article apart (the paper's unit is not stated); "
        "anaphors: pronominal suffixes in an article; construct states: in a summary. "
        "Vocabularies grow with the number of texts: only sets of one size compare. "
        f"{compared}"
    ).strip()
    return Table("Articles and summaries", columns, tuple(rows), note)


def morphology_table(found: Mapping[str, Profile], morphology: Morphology) -> Table:
    """Lay out morphology per word, which does not depend on how long texts are."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        for of, side in (("articles", one.articles), ("summaries", one.summaries)):
            rows.append((name, of, side.words, *_per_word(side)))
    columns = ("texts", "of", "words", "morphemes", "suffixes", "construct states", "readings")
    lacking = [
        said
        for name, said in _UNKNOWN.items()
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
    measured: Mapping[str, Mapping[str, Shares]],
    sizes: Mapping[str, int],
    published: PublishedStatistics | None,
    morphology: Morphology,
) -> Table:
    """Lay out HeSum's Tables 2 and 5: the paper's rows, then ours, each with its difference.

    Args:
        measured: for each set of texts the shares by unit.
        sizes: how many pairs each set has.
        published: the paper, or None.
        morphology: who found lemmas and morphemes.
    """
    rows = _paper_rows(published.summaries) if published else []
    for name, units in measured.items():
        for unit in (unit for unit in UNITS if unit in units or unit == MORPHEMES):
            shares = units.get(unit, {})
            rows.append((name, unit, sizes[name], *(shares.get(key) for key in SHARES), None))
            if published and shares and unit in published.beside:
                rows.append(_difference(shares, published.beside[unit], published.summaries))
    note = (
        "Types, means over documents, [95 % interval from draws of documents]. CMP: compression; "
        f"RED: redundancy. Lemmas and morphemes by {morphology.name}; –: it has none. "
    )
    if published:
        note += f"Paper: {published.paper}; inside: how many of its numbers lie in our intervals."
    columns: tuple[str, ...] = ("texts", "tokens", "n", *_HEADINGS, "inside")
    if not published:
        rows, columns = [row[:-1] for row in rows], columns[:-1]
    return Table("What the summaries are like", columns, tuple(rows), note.strip())


def system_table(compared: Comparison, size: int, published: PublishedStatistics | None) -> Table:
    """Lay out HeSum's Table 7: a system's summaries beside the gold ones.

    Args:
        compared: the system's summaries with the gold ones.
        size: how many articles.
        published: the paper, or None.
    """
    rows = _paper_rows(published.systems) if published else []
    for unit in (unit for unit in UNITS if unit in compared.system):
        for name, shares in (("gold", compared.gold[unit]), ("system", compared.system[unit])):
            rows.append((name, unit, size, *(shares.get(key) for key in SHARES), None))
        changes = compared.differences[unit]
        known = [change for change in changes.values() if change]
        differ = sum(not change.low <= 0 <= change.high for change in known)
        cells = (_signed(change.value if change else None) for change in map(changes.get, SHARES))
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


def nearest_table(found: Mapping[str, Sequence[Definition]]) -> Table:
    """Show which definitions of a token, a count and a mean come nearest to the paper."""
    rows: list[tuple[Cell, ...]] = []
    for name, ways in found.items():
        for row in sorted({one.row for one in ways if one.row}):
            for one in [way for way in ways if way.row == row][:_NEAREST]:
                distances = (_precise(one.mean_distance), _precise(one.largest))
                rows.append((name, row, one.unit, one.counted, one.average, *distances))
    columns = ("texts", "paper", "tokens", "count", "mean over", "mean |Δ|", "largest |Δ|")
    compared = [one.compared for ways in found.values() for one in ways if one.row]
    fewest, most = min(compared, default=len(SHARES)), max(compared, default=len(SHARES))
    over = f"{fewest} to {most}" if fewest < most else str(most)
    note = (
        f"Over the shares that both have, {over} of {len(SHARES)}, as fractions; the {_NEAREST} "
        "nearest to each row of the paper, the files hold all. Marks: punctuation marks are tokens."
    )
    return Table("Which definition comes nearest to the paper", columns, tuple(rows), note)


def _paper_rows(published: Mapping[str, Mapping[str, float | None]]) -> list[tuple[Cell, ...]]:
    return [
        (name, "paper", None, *(_precise(printed.get(key)) for key in SHARES), None)
        for name, printed in published.items()
    ]


def _difference(
    shares: Shares, row: str, published: Mapping[str, Mapping[str, float | None]]
) -> tuple[Cell, ...]:
    """Subtract the paper's row from ours."""
    cells: list[Cell] = []
    inside = compared = 0
    for key in SHARES:
        ours, printed = shares.get(key), published[row].get(key)
        if not isinstance(ours, Interval) or printed is None:
            cells.append(None)
            continue
        cells.append(_signed(ours.value - printed))
        compared += 1
        inside += ours.low <= printed <= ours.high
    return ("", f"- {row}", None, *cells, f"{inside} of {compared}")


def _printed(value: float | None) -> Cell:
    return value if value is None or isinstance(value, int) else Formatted(value, "g")


def _precise(value: float | None) -> Cell:
    return None if value is None else Formatted(value, ".4f")


def _short(value: float) -> Cell:
    return Formatted(float(value), ".1f")


def _signed(value: float | None) -> Cell:
    return None if value is None else Formatted(value, "+.3f")


def _ratio(count: int | None, of: int) -> Cell:
    return None if count is None else Formatted(count / max(of, 1), ".2f")
