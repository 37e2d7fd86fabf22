"""Pages of texts: highlighted markers, and texts that are cut to fit a page."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup, escape

from heron.base.pages import clean_text, escape_json

SHORTEST = 40  # characters; a text cut to less says nothing


def highlight(text: str, markers: Sequence[str]) -> Markup:
    """Escape a text and highlight its markers (start 1, end 1, ...) and what they enclose."""
    if not markers:
        return escape(text)
    opening = set(markers[::2])
    parts: list[str] = []
    depth = 0
    for part in re.split("(" + "|".join(map(re.escape, markers)) + ")", text):
        shown = escape(part)
        if part in opening:
            parts.append(Markup('<mark><bdi class="marker">{}</bdi>').format(shown))
            depth += 1
        elif part in markers:
            # A closing marker without its partner must not close an element that is not open.
            close = Markup("</mark>") if depth else Markup("")
            parts.append(Markup('<bdi class="marker">{}</bdi>{}').format(shown, close))
            depth = max(depth - 1, 0)
        else:
            parts.append(shown)
    return Markup("").join([*parts, *[Markup("</mark>")] * depth])


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
