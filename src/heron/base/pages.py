"""Self-contained HTML pages: styles and scripts are in the file, nothing is fetched.

Templates escape every value. Scripts read their content from JSON in the page and show it as text.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from heron.base.cells import show, sort_value

# `<` ends the script element ("</script>") or opens a comment; the other two end a JSON line in
# older engines. Escapes mean the same to a JSON reader.
_ESCAPED = "<>&\u2028\u2029"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def render(template: str, folder: Path | None = None, **values: Any) -> str:
    """Fill a page template, of heron or in a fork's `folder`; a missing value is an error."""
    return _environment(folder).get_template(template).render(**values)


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
    from heron.base.cards import highlight  # it imports this module

    environment.filters.update(show=show, sort_value=sort_value, highlight=highlight)
    environment.tests["number_like"] = lambda cell: not isinstance(cell, str)
    return environment


def escape_json(value: Any) -> str:
    """Write JSON that can stand inside a script element, whatever the strings hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub(f"[{_ESCAPED}]", lambda match: f"\\u{ord(match.group()):04x}", text)


def clean_text(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold."""
    return _LONE_SURROGATE.sub("\ufffd", text)
