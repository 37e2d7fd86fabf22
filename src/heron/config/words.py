"""The words of `heron train`, before Hydra reads them."""

import os
import re
from collections.abc import Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from heron.config.keys import type_of

UNREADABLE = "its value cannot be read: close brackets and quotes, put signs into quotes"
PARSER = OverridesParser.create()
# What Hydra reads in quotes only: letters beyond ASCII, and signs that are not in its grammar.
_UNQUOTED = re.compile(r"""'[^']*'|"[^"]*"|[^\[\]{}:,'"]*[^\x00-\x7f][^\[\]{}:,'"]*""")


def key_of(word: str) -> str:
    """Read the key of an override, without `+`, `~` and `@package`."""
    return word.lstrip("+~").partition("=")[0].partition("@")[0]


def values_by_key(words: Sequence[str]) -> dict[str, str]:
    """Map keys, as typed, to values, as typed; the last word on a key counts."""
    return dict(word.partition("=")[::2] for word in words)


def readable(word: str) -> str:
    """Put into quotes what Hydra's grammar reads in quotes only, such as Hebrew letters."""
    key, equals, value = word.partition("=")
    if "," in value and os.path.isdir(value):  # a job's folder, no list
        return f"{key}={_quote(value)}"
    tries = [value, _UNQUOTED.sub(_quote_match, value)]
    if type_of(key.lstrip("+~")) is str and value[:1] not in tuple("[{'\""):
        tries.append(_quote(value))
    for each in tries if equals else ():
        try:
            PARSER.parse_overrides([f"{key}={each}"])
        except HydraException:
            continue
        return f"{key}={each}"
    return word


def _quote_match(found: re.Match[str]) -> str:
    text = found.group()
    inner = text.strip()
    return text if text[0] in "'\"" else text.replace(inner, _quote(inner))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def job_words(overrides: Sequence[str]) -> list[str]:
    """Leave out the keys of the sweep as a whole: which jobs it has, and where they run."""
    return [word for word in overrides if key_of(word).split(".")[0] not in ("sweeper", "launcher")]


def not_swept(words: Sequence[str]) -> list[str]:
    """Leave out the overrides that a command sweeps over."""
    parsed = PARSER.parse_overrides(list(words))
    return [str(each.input_line) for each in parsed if not each.is_sweep_override()]
