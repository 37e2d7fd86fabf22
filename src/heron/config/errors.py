"""Errors of pydantic, OmegaConf and Hydra in their own words, with the key's place and the nearest.

`explain` is the one place that says what is wrong in a configuration.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any

_UNKNOWN = "unexpected_keyword_argument"
_OVERRIDE = re.compile(r"Error (?:merging|parsing) override '?(.*?)'?$", re.MULTILINE)


def explain(
    error: Exception, known: Iterable[str] = (), prefix: str = "", names: Mapping[str, str] = {}
) -> str:
    """Describe an error, each problem on a line that begins with its key.

    Args:
        error: of pydantic, OmegaConf or Hydra.
        known: the keys that there are, of which the nearest to an unknown one is named.
        prefix: precedes the keys of the error, `data.`.
        names: the keys of fields that are not named as they are typed.
    """
    if errors := getattr(error, "errors", None):
        problems = (_problem(each, list(known), prefix, names) for each in errors())
        return "\n".join(dict.fromkeys(problems))
    found = _OVERRIDE.match(str(error))
    cause = error.__cause__ if found and hasattr(error.__cause__, "full_key") else error
    key, lines = getattr(cause, "full_key", None), str(cause).splitlines() or [repr(cause)]
    if found and cause is error:
        lines = lines[1:] or lines
    if word := getattr(error, "override", None) or (found and found[1]):
        return f"{word}: {lines[0].strip()}"
    return f"{prefix}{key}: {lines[0]}" if key else " ".join(" ".join(lines).split())


def place(loc: Iterable[Any], prefix: str = "", names: Mapping[str, str] = {}) -> str:
    """Write where pydantic found a problem as a dotted key."""
    parts = [str(part) for part in loc]
    parts[:1] = [names.get(part, part) for part in parts[:1]]
    return (prefix + ".".join(part for part in parts if part != "[key]")).rstrip(".")


def _problem(
    found: Mapping[str, Any], known: list[str], prefix: str, names: Mapping[str, str]
) -> str:
    """Write one problem; a sentence of heron's about several keys names them itself."""
    key, given, text = place(found["loc"], prefix, names), found["input"], found["msg"]
    if isinstance(reason := found.get("ctx", {}).get("error"), Exception):
        text = str(reason)
    if found["type"] == _UNKNOWN:
        from heron.config.explain import meant

        return f"{key}: {text}.{meant(key, known)}"
    if found["type"] == "value_error" and (isinstance(given, dict) or is_dataclass(given)):
        return text
    shown = f"={given}" if given is None or isinstance(given, str | int | float | list) else ""
    return f"{key}{'' if found['type'] == 'missing' else shown}: {text}"
