"""Accuracy of predicted labels by slice: length, overlap, lexical diversity, categories.

Legend: N rows, M of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, DataError, Problem
from heron.base.plots import BLUE, QUIET
from heron.base.tables import cell_text, read_table
from heron.languages import get_language
from heron_tools.analysis.base import Drawn, Outcome, RunAnalysis, Split
from heron_tools.analysis.label_statistics import Shape, measure_diversity, shape
from heron_tools.analysis.options import AnalyzeOptions
from heron_tools.analysis.rates import Ids, group_ids, rank_correlation, share
from heron_tools.analysis.slices import Parts, Rows, category_slices, find_tokenizer, quantile_bins
from heron_tools.morphology.backends import load_morphology
from heron_tools.morphology.diversity import WINDOW, Diversity


class LabelAnalysis(RunAnalysis):
    """Accuracy of labels by slice; see `RunAnalysis`."""

    unused = ("published", "texts", "sample", "seed")
    heading = "Accuracy"
    headline = "accuracy"
    drawn = (
        Drawn("accuracy", "accuracy", "D", BLUE),
        Drawn("largest class", "always its largest class", "|", QUIET),
    )
    whole = False
    advice = ", types=FILE adds types by guid"

    def __init__(self, split: Split, options: AnalyzeOptions):
        super().__init__(split, options)
        self.tokenize = find_tokenizer(options.words)

    @cached_property
    def gold(self) -> list[str]:
        """N class names."""
        return list(map(str, self.frame["gold"]))

    @cached_property
    def right_N(self) -> npt.NDArray[np.bool_]:
        """Whether each prediction is the gold class."""
        return np.array(self.frame.right, dtype=bool)

    @cached_property
    def group_N(self) -> Ids:
        """Number of each row's document, or of its first text."""
        return group_ids([example.group or example.text for example in self.examples])

    @cached_property
    def types(self) -> list[list[str]] | None:
        """Reasoning types of each row; None without `types=`."""
        guids = self.frame["guid"]
        return read_types(self.options.types, guids) if self.options.types else None

    @cached_property
    def shapes(self) -> list[Shape]:
        """Lengths and overlaps."""
        return [shape(example, self.tokenize) for example in self.examples]

    @property
    def groups_name(self) -> str:
        """See `RunAnalysis`."""
        alone = len(set(self.group_N.tolist())) == len(self.frame)
        return "row" if alone else "whole document (or premise)"

    @property
    def note(self) -> str:
        """See `RunAnalysis`."""
        return f"[low, high]: 95 %, by {self.groups_name}."

    def analyses(self) -> dict[str, Callable[[], Outcome]]:
        """See `RunAnalysis`."""
        found = {"ttr": self.by_diversity, "length": self.by_length, "overlap": self.by_overlap}
        types = self.types
        if types is None:
            return found
        return {"reasoning": lambda: self.by_category("reasoning", types), **found}

    def defaults(self) -> list[str]:
        """List the analyses that this split allows."""
        first = self.examples[0] if self.examples else None
        pairs = first is not None and first.text_pair is not None
        side = first is not None and "reasoning" in first.side
        types = ["reasoning"] if side or self.types is not None else []
        return [*types, "ttr", "length", *(["overlap"] if pairs else [])]

    def run(self, by: str) -> Outcome:
        """Run one analysis, and add the definition of a word."""
        found = super().run(by)
        return replace(found, facts={"words": self.options.words, **found.facts})

    def measure(self, rows_M: Rows) -> dict[str, Cell]:
        """Compute accuracy, and that of always predicting the slice's largest class."""
        counts = Counter(self.gold[row] for row in rows_M)
        return {
            "rows": len(rows_M),
            "accuracy": share(self.right_N[rows_M], self.group_N[rows_M]),
            "largest class": max(counts.values(), default=0) / max(len(rows_M), 1),
        }

    def by_column(self, by: str) -> Outcome:
        """Slice by a side column."""
        return self.by_category(by, [split_categories(e.side.get(by)) for e in self.examples])

    def by_category(self, by: str, names: Sequence[Sequence[str]]) -> Outcome:
        """Slice by categories, of which a row may have several.

        Source: LCHAIM, section 5.2 (reasoning types).
        """
        several = any(len(set(one)) > 1 for one in names)
        note = self.note + (" A row of several categories counts in each." if several else "")
        return self.sliced(by, category_slices(names), note)

    def by_number(self, name: str, values: npt.ArrayLike, note: str = "") -> Outcome:
        """Slice by a number, and show its mean in each slice."""
        values_N = np.asarray(values, dtype=np.float64)
        parts = quantile_bins(values_N, self.options.bins)
        return self.sliced(name, parts, note, {f"mean {name}": values_N})

    def by_length(self) -> Outcome:
        """Slice by the number of words of the example, and of both texts of a pair."""
        values = {"words": [one.first + (one.second or 0) for one in self.shapes]}
        if self.shapes and self.shapes[0].second is not None:
            values |= {
                "words of the premise": [one.first for one in self.shapes],
                "words of the hypothesis": [one.second or 0 for one in self.shapes],
            }
        found = [self.by_number(name, numbers) for name, numbers in values.items()]
        return Outcome(
            tuple(table for one in found for table in one.tables),
            slicings=tuple(slicing for one in found for slicing in one.slicings),
        )

    def by_overlap(self) -> Outcome:
        """Slice by the Jaccard overlap of the two texts, overall and in each gold class."""
        if any(one.overlap is None for one in self.shapes):
            raise ConfigError("by=overlap needs two texts per row; this run's data has one")
        overlap_N = np.asarray([one.overlap for one in self.shapes], dtype=np.float64)
        found = self.by_number("overlap", overlap_N)
        by_class = self._overlap_by_class(overlap_N, quantile_bins(overlap_N, self.options.bins))
        return replace(found, tables=(*found.tables, by_class))

    def _overlap_by_class(self, overlap_N: npt.NDArray[np.float64], parts: Parts) -> Table:
        gold_N = np.asarray(self.gold, dtype=object)
        rows: list[tuple[Cell, ...]] = []
        for name in self.split.data.label_order:
            members = np.flatnonzero(gold_N == name)
            inside = [np.intersect1d(rows_M, members) for _, rows_M in parts]
            recalls = [share(self.right_N[chosen], self.group_N[chosen]) for chosen in inside]
            mean = float(overlap_N[members].mean()) if len(members) else None
            rows.append((name, len(members), mean, *recalls))
        columns = ("gold class", "rows", "overlap", *(part for part, _ in parts))
        note = f"The columns to the right: share of the class's rows that is right. {self.note}"
        return Table("Accuracy by gold class and overlap", columns, tuple(rows), note)

    def by_diversity(self) -> Outcome:
        """Slice by type-token ratio, and control for length.

        Source: LCHAIM, section 5.1 and Figure 2.
        Deviates: the paper only has the bins, although the ratio falls with length.
        """
        language = get_language(self.split.data.language)
        backend = load_morphology(self.options.morphology, language)
        measured = measure_diversity(self.examples, backend)
        ttr_N = np.asarray([one.ttr for one in measured])
        tokens_N = np.asarray([one.tokens for one in measured])
        note = f"Lemmas by {backend.name}. {self.note}"
        found = self.by_number("type-token ratio", ttr_N, note)
        alone = bool(measured) and measured[0].pos is None
        facts = {
            "morphology": backend.name,
            "ttr": "lemma term alone" if alone else "mean of both terms",
            "mattr_window": WINDOW,
            "shorter_than_window": int((tokens_N < WINDOW).sum()),
        }
        tables = (
            *found.tables,
            self._correlations(measured, note),
            self._inside_lengths(ttr_N, tokens_N, note),
        )
        return replace(found, tables=tables, facts=facts)

    def _correlations(self, measured: Sequence[Diversity], note: str) -> Table:
        tokens = [one.tokens for one in measured]
        values: dict[str, list[float]] = {
            "type-token ratio": [one.ttr for one in measured],
            f"moving average, {WINDOW} tokens": [one.mattr for one in measured],
        }
        if measured and measured[0].pos is not None:
            values["its lemma term"] = [one.lemma for one in measured]
            values["its part-of-speech term"] = [one.pos or 0.0 for one in measured]
        right_N, group_N = self.right_N, self.group_N
        rows: list[tuple[Cell, ...]] = [
            (
                name,
                rank_correlation(numbers, tokens, group_N),
                rank_correlation(numbers, right_N, group_N),
                rank_correlation(numbers, right_N, group_N, given_N=tokens),
            )
            for name, numbers in values.items()
        ]
        rows.append(("length (tokens)", None, rank_correlation(tokens, right_N, group_N), None))
        columns = ("measure", "with length", "with correctness", "with correctness, given length")
        title = "Diversity and correctness: Spearman's rank correlation"
        return Table(title, columns, tuple(rows), note)

    def _inside_lengths(
        self, ttr_N: npt.NDArray[np.float64], tokens_N: npt.NDArray[np.int64], note: str
    ) -> Table:
        """Slice by ratio in each third of lengths, so that length is about equal."""
        rows: list[tuple[Cell, ...]] = []
        for length, members in quantile_bins(tokens_N, 3):
            for name, inside in quantile_bins(ttr_N[members], 3):
                chosen = members[inside]
                cells = self.measure(chosen).values()
                rows.append((length, name, *cells, float(tokens_N[chosen].mean())))
        columns = ("tokens", "type-token ratio", "rows", "accuracy", "largest class", "mean tokens")
        return Table("Accuracy by ratio inside thirds of length", columns, tuple(rows), note)


def read_types(path: Path, guids: Sequence[str]) -> list[list[str]]:
    """Read the reasoning types of some guids from a table with the columns `guid` and `types`."""
    table = read_table(path)
    table.require("guid", "types")
    if repeated := table.duplicates("guid"):
        raise DataError(repeated)
    types: Mapping[str, list[str]] = {
        cell_text(row["guid"]): split_categories(row["types"]) for row in table.rows
    }
    if not types.keys() & set(guids):
        what = "none of its guids is among the predictions'"
        raise DataError(Problem(str(path), what, f"those look like '{guids[0]}'" if guids else ""))
    return [types.get(guid, []) for guid in guids]


def split_categories(value: Any) -> list[str]:
    """Read a cell of categories: a list, or text with `,`, `;` or `|` between them."""
    if value is None:
        return []
    if isinstance(value, str):
        for separator in ";|":
            value = value.replace(separator, ",")
        value = value.split(",")
    elif not isinstance(value, Iterable):
        value = [value]
    return [text for one in value if (text := str(one).strip())]
