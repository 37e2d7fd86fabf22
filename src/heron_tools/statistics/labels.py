"""Statistics of a labelled data set by split and class: rows, lengths, overlap, diversity."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from heron.base.cells import Table
from heron.data.examples import Example
from heron.languages import get_language
from heron.results.shipped import Shipped
from heron_tools.morphology.backends import Morphology, load_morphology
from heron_tools.morphology.diversity import WINDOW, Diversity, diversity
from heron_tools.statistics.options import AnalyzeOptions, say_unused
from heron_tools.statistics.outcome import Outcome

Words = Callable[[str], list[str]]

OVERALL, NO_LABEL = "overall", "(no label)"


class Shape(NamedTuple):
    """Number of words of the premise (or only text) and hypothesis; their Jaccard overlap.

    The overlap is a fraction. For a single text, the other values are None.
    """

    first: int
    second: int | None
    overlap: float | None


def shape(example: Example, words: Words) -> Shape:
    """Measure one example."""
    first = words(example.text)
    if example.text_pair is None:
        return Shape(len(first), None, None)
    second = words(example.text_pair)
    return Shape(len(first), len(second), jaccard(first, second))


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    """Divide the number of shared distinct words by that of all distinct words; 0 without words."""
    first, second = set(one), set(other)
    return len(first & second) / max(len(first | second), 1)


def measure_diversity(examples: Sequence[Example], backend: Morphology) -> list[Diversity]:
    """Measure the texts of each example together; each distinct text is analysed once."""
    texts = dict.fromkeys(t for e in examples for t in (e.text, e.text_pair) if t is not None)
    analyses = dict(zip(texts, backend.analyse(list(texts)), strict=True))
    return [
        diversity([analyses[t] for t in (example.text, example.text_pair) if t is not None])
        for example in examples
    ]


def describe_labels(shipped: Shipped, options: AnalyzeOptions) -> Outcome:
    """Describe the rows, lengths, overlap and diversity of all existing splits, by class."""
    unused = ("by", "types", "bins", "split", "published", "texts", "sample", "bertscore")
    say_unused(options, unused)
    config, words = shipped.config, options.words
    backend = load_morphology(options.morphology, get_language(config.language))
    note = f"Means over rows; lengths in words (words={words}). Lemmas by {backend.name}."
    splits = {
        split: split_statistics(examples, config.label_order, options.tokenize, backend)
        for split, examples in shipped.splits.items()
    }
    facts = {"words": words, "morphology": backend.name, "mattr_window": WINDOW}
    tables = tuple(statistics_table(split, one, note) for split, one in splits.items())
    return Outcome(tables, facts | {"splits": splits}, title=config.name)


def split_statistics(
    examples: Sequence[Example], classes: Sequence[str], tokenize: Words, morphology: Morphology
) -> dict[str, dict[str, Any]]:
    """Describe each class of a split, its rows without a label, and all its rows.

    Returns:
        For each class the number of `rows`, its `share` of the split's rows, and means over its
        rows (None: not defined): `first`, `second`, `overlap` (see `Shape`), `ttr` (type-token
        ratio of both texts together), `pos` (its part-of-speech term; None: of lemmas only) and
        `mattr` (its moving average). All but numbers of words are fractions.

    Source: RoNLI, Table 2; LCHAIM, section 3.1 (overlap by class).
    """
    shapes = [shape(example, tokenize) for example in examples]
    measured = measure_diversity(examples, morphology)
    rows: dict[str, list[int]] = {name: [] for name in classes}
    for row, example in enumerate(examples):
        rows.setdefault(example.label or NO_LABEL, []).append(row)
    rows[OVERALL] = list(range(len(examples)))
    found: dict[str, dict[str, Any]] = {}
    for name, chosen in rows.items():
        found[name] = {"rows": len(chosen), "share": len(chosen) / max(len(examples), 1)}
        for of, names in ((shapes, Shape._fields), (measured, ("ttr", "pos", "mattr"))):
            found[name] |= {each: _mean([getattr(of[i], each) for i in chosen]) for each in names}
    return found


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def statistics_table(split: str, described: Mapping[str, Mapping[str, Any]], note: str) -> Table:
    """Lay out the statistics of one split."""
    names = {"first": "words"}
    if described[OVERALL]["second"] is not None:
        names = {"first": "premise words", "second": "hypothesis words", "overlap": "overlap"}
    ratio = "TTR of lemmas" if described[OVERALL]["pos"] is None else "TTR"
    shown = ("rows", "share", *names, "ttr", "mattr")
    rows = [(name, *(one[each] for each in shown)) for name, one in described.items()]
    columns = ("class", "rows", "share", *names.values(), ratio, f"MATTR {WINDOW}")
    return Table(split, columns, tuple(rows), note)
