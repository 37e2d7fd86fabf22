"""Self-contained HTML pages: styles and scripts are in the file, nothing is fetched.

Templates escape every value; only `highlight` builds markup, from escaped parts. Scripts read their
content from JSON in the page and show it as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from heron.base.cells import SYNTHETIC, show, sort_value

SHORTEST = 40  # characters; a text cut to less says nothing

# `<` ends the script element ("</script>") or opens a comment; the other two end a JSON line in
# older engines. Escapes mean the same to a JSON reader.
_ESCAPED = "<>&\u2028\u2029"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def highlight(text: str, markers: Sequence[str]) -> Markup:
    """Escape a text and highlight its markers and what they enclose.

    Args:
        text: any text; nothing in it is trusted.
        markers: opening and closing strings, alternating: start 1, end 1, start 2, end 2.
    """
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


def render(template: str, folder: Path | None = None, **values: Any) -> str:
    """Fill a page template; every value is escaped, and a missing one is an error.

    Args:
        template: a file in `folder`, or else among heron's own, whose parts it may use.
        folder: templates of a fork.
        values: of the template.
    """
    return _environment(folder).get_template(template).render(**values)


def cards_page(
    template: str, title: str, synthetic: bool, content: Mapping[str, Any], **values: Any
) -> str:
    """Build a page that shows each row of a split as a card.

    Args:
        template: extends `cards.html.j2`.
        title: names the run and the split.
        synthetic: whether the texts are generated; the page then says so.
        content: shown by the page's script, in JSON's types.
        values: of the template.
    """
    banner, data = SYNTHETIC if synthetic else "", Markup(escape_json(content))
    return render(template, title=title, synthetic=banner, data=data, **values)


@cache
def _environment(folder: Path | None) -> Environment:
    own = PackageLoader("heron.base")
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(folder), own]) if folder else own,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(show=show, sort_value=sort_value, highlight=highlight)
    environment.tests["number_like"] = lambda cell: not isinstance(cell, str)
    return environment


def escape_json(value: Any) -> str:
    """Write JSON that can stand inside a script element, whatever the strings hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub(f"[{_ESCAPED}]", lambda match: f"\\u{ord(match.group()):04x}", text)


def fit_length(texts: Iterable[str], room: int, most: int) -> int | None:
    """Find the length (at most `most` characters) to which texts must be cut to fit `room` bytes.

    None if they need no cut.
    """
    texts = list(texts)
    lengths = np.array([len(text) for text in texts], np.int64)
    longest = int(lengths.max(initial=0))
    stored = _stored(texts, None)
    if longest <= most and stored <= room:
        return None
    width = stored / max(int(lengths.sum()), 1)  # bytes a character, on average
    low, high = 0, min(longest, most)
    while low < high:
        middle = (low + high + 1) // 2
        fits = float(np.minimum(lengths, middle).sum() * width) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    # The average is wrong if long texts are in another alphabet than short ones.
    while low >= SHORTEST and _stored(texts, low) > room:
        low = int(0.95 * low)
    return low


def _stored(texts: Iterable[str], longest: int | None) -> int:
    """Count the bytes that texts take in the page."""
    return len(escape_json([clean_text(cut_text(text, longest)) for text in texts]).encode())


def cut_text(text: str, longest: int | None) -> str:
    """Cut a text after `longest` characters, the last of them an ellipsis; None keeps it whole."""
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def clean_text(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold."""
    return _LONE_SURROGATE.sub("\ufffd", text)
