"""Texts shortened to fit a page."""

from bisect import bisect_right
from collections.abc import Iterable

import numpy as np

from heron.base.pages import clean_text, escape_json

SHORTEST = 40  # characters; a text cut to less says nothing


def fit_length(texts: Iterable[str], room: int, most: int) -> int | None:
    """Find the length, at most `most`, at which all texts together take at most `room` bytes.

    None if no text needs a cut. Below `SHORTEST`, they do not fit.
    """
    texts = list(texts)
    lengths = np.array([len(text) for text in texts], np.int64)
    longest = int(lengths.max(initial=0))
    stored = _encoded_size(texts, None)
    if longest <= most and stored <= room:
        return None
    width = stored / max(int(lengths.sum()), 1)  # bytes a character, on average
    sizes = range(1, min(longest, most) + 1)
    low = bisect_right(sizes, float(room), key=lambda cut: np.minimum(lengths, cut).sum() * width)
    # The average is wrong if long texts are in another alphabet than short ones.
    while low >= SHORTEST and _encoded_size(texts, low) > room:
        low = int(0.95 * low)
    return low


def _encoded_size(texts: Iterable[str], longest: int | None) -> int:
    """Count the bytes that texts take in the page."""
    return len(escape_json([clean_text(cut_text(text, longest)) for text in texts]).encode())


def cut_text(text: str, longest: int | None) -> str:
    """Cut a text after `longest` characters, the last of them an ellipsis; None keeps it whole."""
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
