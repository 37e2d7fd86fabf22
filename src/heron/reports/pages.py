"""Self-contained HTML pages: styles and scripts are in the file, nothing is fetched.

Templates escape every value. Scripts read their content from JSON in the page and show it as text.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from heron.base.cells import Interval, Summary, Table, show, sort_value

# `<` ends the script element ("</script>") or opens a comment; the other two end a JSON line in
# older engines. Escapes mean the same to a JSON reader.
_ESCAPED = "<>&\u2028\u2029"
SHORTEST = 40  # characters; texts are not cut to fewer
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def render(template: str, folder: Path | tuple[Path, ...] | None = None, **values: Any) -> str:
    """Fill the template of a page; a missing value is an error.

    Args:
        template: the file's name, such as `run.html.j2`.
        folder: the folders that a fork has templates in; None: heron's own templates alone.
        values: by the names in the template.
    """
    return _environment(folder).get_template(template).render(**values)


@cache
def _environment(folder: Path | tuple[Path, ...] | None) -> Environment:
    own = PackageLoader(__package__)
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(folder), own]) if folder else own,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(show=show, sort_value=sort_value, column_classes=_column_classes)
    environment.tests["number_like"] = lambda cell: not isinstance(cell, str)

    return environment


def _column_classes(table: Table) -> list[str]:
    """Align a column of numbers on its decimal point: at its start where intervals follow."""
    classes = []
    for index in range(len(table.columns)):
        cells = [row[index] for row in table.rows]
        if all(isinstance(cell, str) for cell in cells):
            classes.append("")
        elif any(isinstance(cell, Interval | Summary) for cell in cells):
            classes.append("number start")
        else:
            classes.append("number")

    return classes


def escape_json(value: Any) -> str:
    """Write JSON that can stand inside a script element, whatever the strings hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in _ESCAPED:
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def clean_text(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def cut_text(text: str, longest: int | None) -> str:
    """Cut a text after `longest` characters, the last of them an ellipsis; None keeps it whole."""
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def fit_length(texts: Iterable[str], room: int, most: int) -> int | None:
    """Find the length at which all texts together fit into a page.

    Args:
        texts: as they are stored, whole.
        room: bytes of their JSON in UTF-8.
        most: the longest text, in characters.

    Returns:
        The length in characters; None if no text needs a cut. Below `SHORTEST`, they do not fit.
    """
    texts = list(texts)
    longest = max(map(len, texts), default=0)

    def size(length: int | None) -> int:
        cut = [clean_text(cut_text(text, length)) for text in texts]
        return len(escape_json(cut).encode())

    if longest <= most and size(None) <= room:
        return None

    lengths = range(1, min(longest, most) + 1)
    return bisect_right(lengths, room, key=size)
