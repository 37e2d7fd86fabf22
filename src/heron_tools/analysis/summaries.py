"""ROUGE of summaries by slice, beside extractive baselines; and the page of all summaries.

Slices depend on articles and gold summaries only, so a slice has the same rows for every system.
Texts are scored and shown without normalisation. Legend: N articles, M articles of a slice.
"""

from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from heron.base.cells import Cell, Interval, with_synthetic
from heron.base.errors import ConfigError
from heron.base.terminal import say
from heron.languages.unicode import UNIFY_ALL, speller
from heron.languages.words import folded_words, word_places
from heron.metrics.names import COPIED_NOTE, COPIES, MEASURES, copied_names, is_copied, rouge_names
from heron.metrics.summary import Tally, by_whitespace, by_words, extractive_texts, item_rouge
from heron.reports.pages import clean_text, cut_text, fit_length
from heron.reports.styles import BLUE, GREEN, QUIET
from heron_tools.analysis.slicing import (
    TEMPLATES,
    TEXTS_NOTE,
    Analysis,
    Floats,
    SliceColumn,
    Slicer,
    Split,
    cards_page,
    mean_scores,
    page_name,
    texts_facts,
    with_columns,
)
from heron_tools.analysis.systems import read_systems
from heron_tools.statistics.options import say_unused
from heron_tools.statistics.outcome import AnalysisResult, Drawn, Rows
from heron_tools.statistics.profiles import ArticleSummary
from heron_tools.statistics.summaries import describe_system, open_tools

# Numbers to slice by: the name in tables, and in `heron.metrics.summary`.
_STATISTICS = {
    "article_length": ("words of the article", "article_length"),
    "summary_length": ("words of the gold summary", "summary_length"),
    "compression": ("compression: 1 - words of the gold summary / of its article", "compression"),
    "novelty": ("share of the gold summary's word pairs that its article lacks", "novel_2"),
}
SEGMENTS = {"words": by_words, "whitespace": by_whitespace}
MEGABYTES = 48  # limit of a page's articles in total; larger pages open slowly
_EVERY = 10_000_000  # characters; more than any article has
DRAWN = (
    Drawn("rouge1", "ROUGE-1", "D", BLUE),
    Drawn("lead3_rouge1", "lead-3", "s", QUIET),
    Drawn("oracle_rouge1", "oracle", "^", GREEN),
)


class Summarizer(NamedTuple):
    """The summaries of one system, and their scores."""

    name: str
    texts: Sequence[str | None]  # None: no summary
    scores: Mapping[str, Floats]  # ROUGE by name, fractions; NaN: no summary
    copied: bool = False  # whether the system is an extractive baseline


def slice_summaries(split: Split) -> Slicer:
    """Build the slicer of a run that generates summaries.

    The split gets the column `article`, and a column for each number to slice by, under its name in
    `heron.metrics.summary` (NaN where a text is too short).

    Raises:
        ConfigError: no article has a gold summary.
    """
    options = split.options
    say_unused(options, ("types", "texts", "sample"))
    split.frame.require("text")
    if not len(split.frame):
        raise ConfigError(f"split={split.name}: none of its articles has a gold summary")

    segment = SEGMENTS[options.words]
    articles = split.frame.texts("text")
    tally = Tally()
    for texts in zip(articles, split.frame["gold"], strict=True):
        article_tokens, gold_tokens = segment(texts)
        tally.add(article_tokens, gold_tokens)

    article_length_N, summary_length_N = tally.lengths()
    numbers = {"article_length": article_length_N, "summary_length": summary_length_N}
    for name in ("compression", "novel_2"):
        part_N, whole_N = tally.shares()[name]
        undefined_N = np.full_like(part_N, np.nan)
        numbers[name] = np.divide(part_N, whole_N, out=undefined_N, where=whole_N > 0)

    split = with_columns(split, article=articles, **numbers)

    groups = []
    for group, guid in zip(split.frame.texts("group"), split.frame["guid"], strict=True):
        groups.append(group or guid)

    by: dict[str, Analysis] = {name: partial(by_number, by=name) for name in _STATISTICS}
    by |= {"statistics": statistics, "summaries": page}
    return Slicer(
        split,
        groups,
        score=scores_of,
        measure=measure,
        by=by,
        heading="ROUGE",
        headline="ROUGE-1",
        figure_scores=DRAWN,
        row_word="articles",
        note=f"{TEXTS_NOTE} {COPIED_NOTE}",
        facts=texts_facts(options) | {"words": options.words, "bins": options.bins},
    )


def by_number(slicer: Slicer, by: str) -> SliceColumn:
    """Slice by one of `_STATISTICS`, a number computed from article and gold summary."""
    title, name = _STATISTICS[by]
    values_N = np.asarray(slicer.split.frame[name])
    return SliceColumn(title, values_N, unknown="(too short)")


def measure(slicer: Slicer, rows_M: Rows) -> dict[str, Cell]:
    """Average the scores of a slice; those of extractive baselines get no interval."""
    cells = mean_scores(slicer, rows_M)
    for name, cell in cells.items():
        if is_copied(name) and isinstance(cell, Interval):
            cells[name] = cell.value

    return cells


def scores_of(split: Split) -> Mapping[str, Floats]:
    """Compute the scores that papers report, each followed by the extractive baselines'."""
    known = dict(_score(split, "", split.frame["prediction"]).scores)
    for baseline in _baselines(split):
        for name, score_N in baseline.scores.items():
            known[f"{baseline.name}_{name}"] = score_N

    ordered = {}
    for measure in MEASURES:
        for name in (measure, *copied_names(measure)):
            ordered[name] = known[name]

    return ordered


def _score(
    split: Split, name: str, texts: Sequence[str | None], copied: bool = False
) -> Summarizer:
    """Score the summaries of one system.

    Args:
        split: has the gold summaries.
        name: the system's name.
        texts: its summaries; None: missing, and not scored.
        copied: whether the system is an extractive baseline.
    """
    rows = []
    summaries = []
    for row, text in enumerate(texts):
        if text is not None:
            rows.append(row)
            summaries.append(text)

    golds = [split.frame["gold"][row] for row in rows]

    scores = {measure: np.full(len(texts), np.nan) for measure in rouge_names()}
    if rows:
        for measure, values in item_rouge(summaries, golds, split.language).items():
            scores[measure][rows] = values

    return Summarizer(name, texts, scores, copied)


def _baselines(split: Split) -> list[Summarizer]:
    """Score the extractive baselines."""
    by_name = extractive_texts(split.frame["article"], split.frame["gold"], split.language)
    return [_score(split, name, texts, copied=True) for name, texts in by_name.items()]


def systems_of(split: Split) -> list[Summarizer]:
    """Score the run, the systems of `beside=`, and the baselines, all by the run's gold summaries.

    Warns about a system whose file has other gold summaries than the run, beyond Unicode variants.
    """
    guids = split.frame["guid"]
    golds = dict(zip(guids, split.frame["gold"], strict=True))
    spell = speller(split.data.language, UNIFY_ALL)

    texts = {split.run: split.frame["prediction"]}
    beside = split.options.beside
    systems = read_systems(beside, split.name, "beside") if beside else []
    for system in systems:
        summaries = system.summaries
        references = system.references
        shared = golds.keys() & summaries.keys()
        different = 0
        for guid in shared & references.keys():
            different += spell(references[guid]) != spell(golds[guid])

        if different or not shared:
            counts = f"{len(shared):,} rows are the run's, {different:,} with another gold summary"
            say(f"{system.path}: {counts}; is it of the same data?")

        # Names tell systems apart: a further system of one name gets a number.
        name = system.name
        number = 2
        while name in texts or name in COPIES:
            name = f"{system.name} ({number})"
            number += 1

        texts[name] = [summaries.get(guid) for guid in guids]

    scored = [_score(split, name, system_texts) for name, system_texts in texts.items()]
    return scored + _baselines(split)


def statistics(slicer: Slicer) -> AnalysisResult:
    """Compare the summaries with the gold ones: novelty, compression, repetition.

    Unicode variants are unified, as the run did when it read its data.
    """
    split = slicer.split
    frame = split.frame
    spell = speller(split.data.language, split.data.unicode)

    gold_pairs = []
    system_pairs = []
    for row, group in enumerate(slicer.groups):
        article = spell(frame["article"][row])
        gold = spell(frame["gold"][row])
        summary = spell(frame["prediction"][row])
        gold_pairs.append(ArticleSummary(article, gold, group))
        system_pairs.append(ArticleSummary(article, summary, group))

    tools = open_tools(split.options, split.data)
    title = with_synthetic(f"{split.run}: {split.name}", split.data.synthetic)
    stem = f"{split.name}-statistics"
    return describe_system(gold_pairs, system_pairs, tools, title, stem, split.options.seed)


def page(slicer: Slicer, megabytes: float = MEGABYTES) -> AnalysisResult:
    """Write the page of all summaries; articles are cut to fit `megabytes` in total."""
    split = slicer.split
    longest = fit_length(split.frame["article"], int(megabytes * 1e6), _EVERY)
    html = cards_page(
        TEMPLATES / "summaries.html.j2",
        slicer.title,
        split.data.synthetic,
        payload(slicer, longest),
        total=len(split.frame),
        longest=longest,
    )
    return AnalysisResult(files={page_name(split, "summaries"): html})


def payload(slicer: Slicer, longest: int | None = None) -> dict[str, Any]:
    """Lay out the summaries for the page, in JSON's types.

    Args:
        slicer: of the run.
        longest: number of characters after which articles are cut.

    Returns:
        `language`, `direction`, the names of `scores`, the `systems`, and `rows`, a card for each
        article. In a card, `novel` are the spans (in characters) of a summary's words that the
        article lacks.
    """
    split = slicer.split
    frame = split.frame
    systems = systems_of(split)
    groups = frame.texts("group")

    cards = []
    for row, guid in enumerate(frame["guid"]):
        article = frame["article"][row]
        known = set(folded_words(article))

        texts: list[dict[str, Any] | None] = []
        for system in systems:
            text = system.texts[row]
            if text is None:
                texts.append(None)
                continue

            marked = _marked(text, known)
            scores = [float(score_N[row]) for score_N in system.scores.values()]
            marked["scores"] = [round(score, 4) for score in scores]
            texts.append(marked)

        card = {
            "guid": clean_text(guid),
            "gold": _marked(frame["gold"][row], known),
            "group": "" if groups[row] == guid else clean_text(groups[row]),
            "article": clean_text(cut_text(article, longest)),
            "texts": texts,
        }
        cards.append(card)

    names = [{"name": clean_text(system.name), "copied": system.copied} for system in systems]
    return {
        "language": split.language.code,
        "direction": split.language.direction,
        "scores": list(systems[0].scores),
        "systems": names,
        "rows": cards,
    }


def _marked(text: str, known: set[str]) -> dict[str, Any]:
    """Return a summary, and the spans of its words that are not `known`."""
    text = clean_text(text)
    return {"text": text, "novel": novel_spans(text, known)}


def novel_spans(summary: str, known: Container[str]) -> list[list[int]]:
    """Find the words of a summary that an article lacks.

    Args:
        summary: the text.
        known: the article's words, case-folded.

    Returns:
        Start and end of each word, in characters.
    """
    spans = []
    for start, end in word_places(summary):
        word = summary[start:end].casefold()
        if word not in known:
            spans.append([start, end])

    return spans
