"""Levenshtein distance of many pairs of words at once.

Legend: P pairs, K characters of the first words, J of the second; both padded to the longest.
Source: Wagner and Fischer 1974.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_NUMBERS_AT_ONCE = 1_000_000  # of one row of the tables that are held at once; 4 bytes each


def levenshtein(first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count the insertions, deletions and substitutions of characters between words.

    Args:
        first: P words.
        second: P words beside them.

    Returns:
        int64 `[P]`, in characters (code points).
    """
    length_P2 = np.array(
        [(len(one), len(other)) for one, other in zip(first, second, strict=True)], dtype=np.int64
    ).reshape(-1, 2)
    found_P = np.zeros(len(first), dtype=np.int64)
    # Words of like length go together, so that little is padding.
    order_P = np.lexsort(length_P2.T)
    start = 0
    while start < len(order_P):
        stop = start + max(1, _NUMBERS_AT_ONCE // (int(length_P2[order_P[start], 1]) + 9))
        rows = order_P[start:stop]
        found_P[rows] = _distances(
            _characters([first[row] for row in rows]),
            _characters([second[row] for row in rows]),
            length_P2[rows],
        )
        start = stop
    return found_P


def _characters(words: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Write words as code points, one column a word, padded with 0; `[longest, P]`."""
    longest = max(1, max(map(len, words)))
    # NumPy pads with, and cannot tell from, the null character: lengths are kept beside.
    table = np.array(words, dtype=f"<U{longest}").view(np.uint32).reshape(len(words), longest)
    return np.ascontiguousarray(table.T)


def _distances(
    first_KP: npt.NDArray[np.uint32],
    second_JP: npt.NDArray[np.uint32],
    length_P2: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Fill the table of prefix distances row by row, for all pairs together.

    What is held of a row is its distances less the length of the second prefix: inserting is then
    free, so that the best way along a row is a running minimum.
    """
    row_JP = np.zeros((len(second_JP) + 1, second_JP.shape[1]), dtype=np.int32)
    last_P = length_P2[:, 1]
    found_P = last_P.copy()
    for number, letter_P in enumerate(first_KP, 1):
        changed_JP = row_JP[:-1] - (second_JP == letter_P)
        row_JP += 1
        np.minimum(row_JP[1:], changed_JP, out=row_JP[1:])
        np.minimum.accumulate(row_JP, axis=0, out=row_JP)
        (ended,) = np.nonzero(length_P2[:, 0] == number)
        found_P[ended] = row_JP[last_P[ended], ended] + last_P[ended]
    return found_P
