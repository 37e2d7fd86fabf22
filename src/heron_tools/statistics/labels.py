"""Statistics of a labelled data set by split and class: rows, lengths, overlap, diversity."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple

from heron.base.cells import Table
from heron.data.examples import Example
from heron.languages import get_language
from heron.results.shipped import Shipped
from heron_tools.morphology.backends import Morphology, load_morphology
from heron_tools.morphology.diversity import WINDOW, Diversity, diversity
from heron_tools.statistics.options import AnalyzeOptions, say_unused
from heron_tools.statistics.outcome import AnalysisResult

Tokenize = Callable[[str], list[str]]

OVERALL = "overall"
NO_LABEL = "(no label)"


class Lengths(NamedTuple):
    """Number of words of the premise (or only text) and hypothesis; their Jaccard overlap.

    The overlap is a fraction. For a single text, the other values are None.
    """

    first: int
    second: int | None
    overlap: float | None


def measure_lengths(example: Example, tokenize: Tokenize) -> Lengths:
    """Measure one example; `tokenize` splits a text into words."""
    first = tokenize(example.text)
    if example.text_pair is None:
        return Lengths(len(first), None, None)
    second = tokenize(example.text_pair)
    return Lengths(len(first), len(second), jaccard(first, second))


def jaccard(words: Sequence[str], other_words: Sequence[str]) -> float:
    """Divide the number of shared distinct words by that of all distinct words; 0 without words."""
    types = set(words)
    shared = types.intersection(other_words)
    union = types.union(other_words)
    return len(shared) / max(len(union), 1)


def measure_diversity(examples: Sequence[Example], backend: Morphology) -> list[Diversity]:
    """Measure the texts of each example together; each distinct text is analysed once."""
    example_texts = []
    for example in examples:
        texts = (example.text, example.text_pair)
        example_texts.append([text for text in texts if text is not None])

    distinct = list(dict.fromkeys(chain.from_iterable(example_texts)))
    analyses = dict(zip(distinct, backend.analyse(distinct), strict=True))
    return [diversity([analyses[text] for text in texts]) for texts in example_texts]


def describe_labels(shipped: Shipped, options: AnalyzeOptions) -> AnalysisResult:
    """Describe the rows, lengths, overlap and diversity of all existing splits, by class.

    Args:
        shipped: the split files that are there, whole, as their authors ship them.
        options: of the command.
    """
    unused = ("by", "types", "bins", "split", "published", "texts", "sample", "bertscore")
    say_unused(options, unused)
    config = shipped.config
    backend = load_morphology(options.morphology, get_language(config.language))
    note = f"Means over rows; lengths in words (words={options.words}). Lemmas by {backend.name}."

    splits = {}
    tables = []
    for split, examples in shipped.splits.items():
        described = split_statistics(examples, config.label_order, options.tokenize, backend)
        splits[split] = described
        tables.append(statistics_table(split, described, note))

    facts = {
        "words": options.words,
        "morphology": backend.name,
        "mattr_window": WINDOW,
        "splits": splits,
    }
    return AnalysisResult(tuple(tables), facts, title=config.name)


def split_statistics(
    examples: Sequence[Example], classes: Sequence[str], tokenize: Tokenize, morphology: Morphology
) -> dict[str, dict[str, Any]]:
    """Describe each class of a split, its rows without a label, and all its rows.

    Args:
        examples: the rows of the split.
        classes: the order of the classes.
        tokenize: splits a text into words.
        morphology: finds the lemmas.

    Returns:
        For each class the number of `rows`, its `share` of the split's rows, and means over its
        rows (None: not defined): `first`, `second`, `overlap` (see `Lengths`), `ttr` (mean of
        two type-token ratios, of lemmas and of part-of-speech tags, over both texts together;
        without tags, that of lemmas), `pos` (the ratio of tags; None without tags) and `mattr`
        (moving average of the ratio of lemmas). All but `rows`, `first` and `second` are fractions.

    Source: RoNLI, Table 2; LCHAIM, section 3.1 (overlap by class).
    """
    lengths = [measure_lengths(example, tokenize) for example in examples]
    diversities = measure_diversity(examples, morphology)

    rows_of: dict[str, list[int]] = {name: [] for name in classes}
    for row, example in enumerate(examples):
        rows_of.setdefault(example.label or NO_LABEL, []).append(row)

    rows_of[OVERALL] = list(range(len(examples)))

    described = {}
    for class_name, rows in rows_of.items():
        statistics: dict[str, Any] = {"rows": len(rows)}
        statistics["share"] = len(rows) / max(len(examples), 1)
        for name in Lengths._fields:
            statistics[name] = _mean([getattr(lengths[row], name) for row in rows])

        for name in ("ttr", "pos", "mattr"):
            statistics[name] = _mean([getattr(diversities[row], name) for row in rows])

        described[class_name] = statistics

    return described


def _mean(values: Sequence[float | None]) -> float | None:
    """Average the values that are defined; None without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def statistics_table(split: str, described: Mapping[str, Mapping[str, Any]], note: str) -> Table:
    """Lay out the statistics of one split.

    Args:
        split: its name.
        described: see `split_statistics`.
        note: text below the table.
    """
    overall = described[OVERALL]
    headings = {
        "rows": "rows",
        "share": "share",
        "first": "words",
    }
    if overall["second"] is not None:
        headings["first"] = "premise words"
        headings["second"] = "hypothesis words"
        headings["overlap"] = "overlap"

    headings["ttr"] = "TTR of lemmas" if overall["pos"] is None else "TTR"
    headings["mattr"] = f"MATTR {WINDOW}"

    rows = []
    for class_name, statistics in described.items():
        rows.append((class_name, *(statistics[name] for name in headings)))

    return Table(split, ("class", *headings.values()), rows, note)
