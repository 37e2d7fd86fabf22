"""ROUGE of summaries by slice, beside extractive baselines; and the page of all summaries.

Slices depend on articles and gold summaries only, so a slice has the same rows for every system.
Texts are scored and shown without normalisation. Legend: N articles, M articles of a slice.
"""

from collections.abc import Mapping, Sequence
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
from heron.reports.figures import BLUE, GREEN, QUIET
from heron.reports.pages import clean_text, cut_text, fit_length
from heron_tools.analysis.slicing import (
    TEMPLATES,
    TEXTS_NOTE,
    Column,
    Floats,
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
from heron_tools.statistics.outcome import Drawn, Outcome, Rows
from heron_tools.statistics.profiles import Pair
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
_EVERY = 10_000_000  # characters; an upper bound that no article reaches
DRAWN = (
    Drawn("rouge1", "ROUGE-1", "D", BLUE),
    Drawn("lead3_rouge1", "lead-3", "s", QUIET),
    Drawn("oracle_rouge1", "oracle", "^", GREEN),
)


class Summarizer(NamedTuple):
    """The summaries of one system and their ROUGE by name, fractions; None, NaN: no summary.

    `copied`: the system is an extractive baseline.
    """

    name: str
    texts: Sequence[str | None]
    scores: Mapping[str, Floats]
    copied: bool = False


def slice_summaries(split: Split) -> Slicer:
    """Build the slicer of a run that generates summaries.

    It adds the column `article`, and the numbers to slice by under their names in
    `heron.metrics.summary`; NaN if a text is too short.
    """
    say_unused(split.options, ("types", "texts", "sample"))
    split.frame.require("text")
    if not len(split.frame):
        raise ConfigError(f"split={split.name}: none of its articles has a gold summary")
    articles, golds = split.frame.texts("text"), split.frame["gold"]
    tally = Tally()
    for pair in zip(articles, golds, strict=True):
        tally.add(*SEGMENTS[split.options.words](pair))
    numbers = dict(zip(("article_length", "summary_length"), tally.lengths(), strict=True))
    for name in ("compression", "novel_2"):
        part_N, whole_N = tally.shares()[name]
        empty = np.full_like(part_N, np.nan)
        numbers[name] = np.divide(part_N, whole_N, out=empty, where=whole_N > 0)
    split = with_columns(split, article=articles, **numbers)
    named = zip(split.frame.texts("group"), split.frame["guid"], strict=True)
    options = split.options
    return Slicer(
        split,
        [group or guid for group, guid in named],
        score=scores_of,
        measure=measure,
        by={
            **{by: partial(by_number, by=by) for by in _STATISTICS},
            "statistics": statistics,
            "summaries": page,
        },
        heading="ROUGE",
        headline="ROUGE-1",
        drawn=DRAWN,
        counted="articles",
        note=f"{TEXTS_NOTE} {COPIED_NOTE}",
        facts=texts_facts(options) | {"words": options.words, "bins": options.bins},
    )


def by_number(slicer: Slicer, by: str) -> Column:
    """Slice by a number of articles and gold summaries."""
    title, name = _STATISTICS[by]
    return Column(title, np.asarray(slicer.split.frame[name]), unknown="(too short)")


def measure(slicer: Slicer, rows_M: Rows) -> dict[str, Cell]:
    """Average scores; extractive baselines have no interval."""
    return {
        name: cell.value if is_copied(name) and isinstance(cell, Interval) else cell
        for name, cell in mean_scores(slicer, rows_M).items()
    }


def scores_of(split: Split) -> Mapping[str, Floats]:
    """Compute the scores that papers report, each followed by the extractive baselines'."""
    known = dict(_scored(split, "", split.frame["prediction"]).scores)
    for copy in _copies(split):
        known |= {f"{copy.name}_{name}": score_N for name, score_N in copy.scores.items()}
    return {name: known[name] for each in MEASURES for name in (each, *copied_names(each))}


def _scored(split: Split, name: str, texts: Sequence[str | None], copied: bool = False) -> Any:
    there = [row for row, text in enumerate(texts) if text is not None]
    scores = {measure: np.full(len(texts), np.nan) for measure in rouge_names()}
    if there:
        own, right = [str(texts[row]) for row in there], [split.frame["gold"][row] for row in there]
        for each, values in item_rouge(own, right, split.language).items():
            scores[each][there] = values
    return Summarizer(name, texts, scores, copied)


def _copies(split: Split) -> list[Summarizer]:
    """Score the extractive baselines."""
    texts = extractive_texts(split.frame["article"], split.frame["gold"], split.language)
    return [_scored(split, name, copied, copied=True) for name, copied in texts.items()]


def systems_of(split: Split) -> list[Summarizer]:
    """Score the run, the systems of `beside=`, and the baselines, all by the run's gold summaries.

    Warns about a system whose own gold summaries are others, but for Unicode variants.
    """
    written: dict[str, Sequence[str | None]] = {split.run: split.frame["prediction"]}
    beside = split.options.beside
    others = read_systems(beside, split.name, "beside") if beside else []
    golds = dict(zip(split.frame["guid"], split.frame["gold"], strict=True))
    spell = speller(split.data.language, UNIFY_ALL)
    for other in others:
        own, shared = other.references, golds.keys() & other.summaries.keys()
        unlike = sum(spell(own[guid]) != spell(golds[guid]) for guid in shared & own.keys())
        if unlike or not shared:
            counts = f"{len(shared):,} rows are the run's, {unlike:,} with another gold summary"
            say(f"{other.path}: {counts}; is it of the same data?")
        names = [other.name, *(f"{other.name} ({n})" for n in range(2, len(written) + 3))]
        free = next(name for name in names if name not in written and name not in COPIES)
        written[free] = [other.summaries.get(guid) for guid in split.frame["guid"]]
    return [*(_scored(split, *each) for each in written.items()), *_copies(split)]


def statistics(slicer: Slicer) -> Outcome:
    """Compare the summaries with the gold ones: novelty, compression, repetition.

    Unicode variants are unified, as the run did when it read its data.
    """
    split, options = slicer.split, slicer.split.options
    spell = speller(split.data.language, split.data.unicode)
    names = "article", "gold", "prediction"
    spelt = (list(map(spell, split.frame[name])) for name in names)
    texts = list(zip(*spelt, slicer.groups, strict=True))
    gold = [Pair(article, gold, group) for article, gold, _, group in texts]
    system = [Pair(article, own, group) for article, _, own, group in texts]
    title = with_synthetic(f"{split.run}: {split.name}", split.data.synthetic)
    tools = open_tools(options, split.data)
    return describe_system(gold, system, tools, title, f"{split.name}-statistics", options.seed)


def page(slicer: Slicer, megabytes: float = MEGABYTES) -> Outcome:
    """Write the page of all summaries; articles are cut to fit `megabytes` in total."""
    split = slicer.split
    longest = fit_length(split.frame["article"], int(megabytes * 1e6), _EVERY)
    values = {"total": len(split.frame), "longest": longest}
    content = payload(slicer, longest)
    template = TEMPLATES / "summaries.html.j2"
    html = cards_page(template, slicer.title, split.data.synthetic, content, **values)
    return Outcome(files={page_name(split, "summaries"): html})


def payload(slicer: Slicer, longest: int | None = None) -> dict[str, Any]:
    """Lay out the summaries for the page, in JSON's types.

    Articles are cut after `longest` characters. `novel` has the character offsets of words that
    are not in the article.
    """
    split, systems = slicer.split, systems_of(slicer.split)
    groups = split.frame.texts("group")
    rows = []
    for row, (guid, article) in enumerate(
        zip(split.frame["guid"], split.frame["article"], strict=True)
    ):
        known = set(folded_words(article))
        texts: list[dict[str, Any] | None] = []
        for system in systems:
            text = system.texts[row]
            scores = [round(float(score_N[row]), 4) for score_N in system.scores.values()]
            texts.append(None if text is None else {**_marked(text, known), "scores": scores})
        card = {"guid": clean_text(guid), "gold": _marked(split.frame["gold"][row], known)}
        card["group"] = "" if groups[row] == guid else clean_text(groups[row])
        card["article"] = clean_text(cut_text(article, longest))
        rows.append({**card, "texts": texts})
    return {
        "language": split.language.code,
        "direction": split.language.direction,
        "scores": list(systems[0].scores),
        "systems": [{"name": clean_text(one.name), "copied": one.copied} for one in systems],
        "rows": rows,
    }


def _marked(text: str, known: set[str]) -> dict[str, Any]:
    text = clean_text(text)
    return {"text": text, "novel": novel_places(text, known)}


def novel_places(summary: str, known: set[str] | Sequence[str]) -> list[list[int]]:
    """Find the words of a summary that are not `known` (case-folded); start, end in characters."""
    places = word_places(summary)
    return [[start, end] for start, end in places if summary[start:end].casefold() not in known]
