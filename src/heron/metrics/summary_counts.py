"""Counts of n-grams in articles and their summaries, document by document.

Legend: N documents, G groups, R resamples, K columns.
Source: Narayan et al. 2018 (novel n-grams), Bommasani and Cardie 2020 (compression), Hasan et al.
2021 (redundancy).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, nearest
from heron.metrics.intervals import resample_groups

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Tokens = Sequence[str]
Shares = dict[str, Floats]

COUNTS = ("type", "token")
AVERAGES = ("document", "corpus")
_NOVEL, _REPEATED = (1, 2, 3, 4), (1, 2)
SHARES = (
    *(f"novel_{n}" for n in _NOVEL),
    "compression",
    *(f"redundancy_{n}" for n in _REPEATED),
)


def ngrams(tokens: Tokens, n: int) -> Iterator[tuple[str, ...]]:
    """List the runs of `n` tokens, in order."""
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def novel_ngrams(article: Tokens, summary: Tokens, n: int, count: str = "type") -> tuple[int, int]:
    """Count a summary's n-grams that its article lacks, and all of them.

    Raises:
        ConfigError: `count` is neither `type` nor `token`.
    """
    _check("count", count, COUNTS)
    return _novel(set(ngrams(article, n)), list(ngrams(summary, n)), count)


def _novel(
    known: set[tuple[str, ...]], found: Sequence[tuple[str, ...]], count: str
) -> tuple[int, int]:
    counted = found if count == "token" else set(found)
    return sum(ngram not in known for ngram in counted), len(counted)


def repeated_ngrams(tokens: Tokens, n: int) -> tuple[int, int]:
    """Count the n-grams that stood earlier in the same text, and all of them."""
    found = list(ngrams(tokens, n))
    return len(found) - len(set(found)), len(found)


class Tally:
    """Counts documents one by one, so that long articles are cut and forgotten.

    Args:
        counts: how novel n-grams are counted, `type` or `token`; both if both are asked for later.

    Raises:
        ConfigError: an unknown count.
    """

    def __init__(self, counts: Sequence[str] = COUNTS):
        for count in counts:
            _check("count", count, COUNTS)
        self._counts = tuple(counts)
        self._rows: list[list[int]] = []
        self._articles: set[str] = set()
        self._summaries: set[str] = set()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def vocabularies(self) -> tuple[int, int]:
        """Distinct tokens of all articles, and of all summaries."""
        return len(self._articles), len(self._summaries)

    @classmethod
    def merge(cls, tallies: Sequence[Tally]) -> Tally:
        """Put the counts of different documents together; all counted in the same ways."""
        merged = cls(tallies[0]._counts)
        for tally in tallies:
            merged._rows += tally._rows
            merged._articles |= tally._articles
            merged._summaries |= tally._summaries
        return merged

    def lengths(self) -> tuple[Floats, Floats]:
        """Tokens of each article, and of each summary, float64 `[N]`."""
        columns = np.array(self._rows, dtype=np.float64).reshape(len(self), -1)
        return columns[:, 1] + 0, columns[:, 1] - columns[:, 0]

    def add(self, article: Tokens, summary: Tokens) -> None:
        """Count one document: its article and its summary, cut in the same way."""
        self._articles.update(article)
        self._summaries.update(summary)
        row = [len(article) - len(summary), len(article)]
        for n in _REPEATED:
            row += repeated_ngrams(summary, n)
        for n in _NOVEL:
            known, found = set(ngrams(article, n)), list(ngrams(summary, n))
            for count in self._counts:
                row += _novel(known, found, count)
        self._rows.append(row)

    def shares(self, count: str = "type") -> Shares:
        """Lay the documents' counts out.

        Args:
            count: how novel n-grams are counted, one of those asked for.

        Returns:
            For each share float64 `[2, N]`, parts and wholes: `novel_1` to `novel_4`;
            `compression`, of which the part is what an article has more than its summary;
            `redundancy_1` and `redundancy_2`.

        Raises:
            ConfigError: a count that was not asked for.
        """
        _check("count", count, self._counts)
        pairs = np.array(self._rows, dtype=np.float64).reshape(len(self), -1, 2).transpose(1, 2, 0)
        first, step = 1 + len(_REPEATED) + self._counts.index(count), len(self._counts)
        return {
            **{f"novel_{n}": pairs[first + step * i] for i, n in enumerate(_NOVEL)},
            "compression": pairs[0],
            **{f"redundancy_{n}": pairs[1 + i] for i, n in enumerate(_REPEATED)},
        }


def average_share(parts: Floats, wholes: Floats, average: str = "document") -> float:
    """Average `parts / wholes` over documents.

    Args:
        parts: float64 `[N]`.
        wholes: float64 `[N]`; documents with 0 here are left out.
        average: `document`, the mean of the shares; `corpus`, the share of the sums.

    Returns:
        A fraction; nan where no document has anything to count.

    Raises:
        ConfigError: an unknown `average`.
    """
    over, under = _fractions(parts, wholes, average)
    total = under.sum()
    return float(over.sum() / total) if total else float("nan")


def draw_shares(
    shares: Mapping[str, Floats],
    group_N: Ids,
    average: str = "document",
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Floats]:
    """Draw documents with replacement and average their shares each time.

    All shares are averaged over the same draws; two systems on the same documents see the same
    draws under the same seed.

    Args:
        shares: as `Tally.shares` gives them.
        group_N: for each document the number of its group, from 0; groups are drawn whole.
        average: `document` or `corpus`.
        resamples: how many draws, R.
        seed: of the draws.

    Returns:
        float64 `[R]` for each share; nan where a draw has nothing to count.
    """
    columns = [c for pair in shares.values() for c in _fractions(pair[0], pair[1], average)]
    sums_GK = np.stack([np.bincount(group_N, column) for column in columns], axis=1)
    sums_RK = resample_groups(sums_GK, resamples, seed)
    over_RK, under_RK = sums_RK[:, ::2], sums_RK[:, 1::2]
    nothing = np.full_like(over_RK, np.nan)
    drawn_RK = np.divide(over_RK, under_RK, out=nothing, where=under_RK > 0)
    return {name: drawn_RK[:, place] for place, name in enumerate(shares)}


def _fractions(parts: Floats, wholes: Floats, average: str) -> tuple[Floats, Floats]:
    """Give each document a numerator and a denominator, whose sums make the average."""
    _check("average", average, AVERAGES)
    if average == "corpus":
        return parts * (wholes > 0), wholes
    counted = wholes > 0
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=counted), counted.astype(float)


def _check(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name}={value}: unknown.{nearest(value, allowed)}")
