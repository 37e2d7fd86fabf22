"""Secrets stay out of every file and message: what looks like one is shown as `***`.

Known as secret: the values of environment variables that are named so (`WANDB_API_KEY`,
`HF_TOKEN`), the user's name and password in an address, keys in an address's query, and tokens
that providers give a form of their own (`hf_…`, `ghp_…`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

MASK = "***"
_SHORTEST = 8  # characters; a shorter value of a variable may be an ordinary word

_NAME = r"(?:token|secret|passw(?:or)?d|pwd|api_?key|access_?key|secret_?key|private_?key)"
_ENVIRONMENT = re.compile(rf"(?:^|_){_NAME}(?:_id)?$", re.I)
_FOLDERS = ("PWD", "OLDPWD")  # the shell's: where it is and was, no password
# Keys that hold a secret themselves; heron's own (`data.words.tokens`) have other names.
_QUERY = re.compile(
    rf"(?P<key>[?&;](?:[\w.-]*{_NAME}|auth|key|sig|signature|x-amz-[\w-]+|code)=)[^&\s#'\"]+", re.I
)
_USER = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*:/{1,2})[^/\s@'\"?#]+(?:@[^/\s@'\"?#]+)*@", re.I)
_HEADER = re.compile(r"(?P<kind>\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}", re.I)
_TOKENS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{15,}"
    r"|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}|wandb_v\d_\w{20,}|(?:AKIA|ASIA)[A-Z0-9]{16})"
)


def redact(text: str) -> str:
    """Replace what looks like a secret in a text; anything else stays as it is."""
    return _mask(text, _known())


def redacted(value: Any) -> Any:
    """Replace secrets in all texts of a JSON-like value, those of its keys included."""
    return _masked(value, _known())


def _masked(value: Any, known: list[str]) -> Any:
    if isinstance(value, str):
        return _mask(value, known)
    if isinstance(value, Mapping):
        return {_masked(key, known): _masked(inner, known) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(inner, known) for inner in value]
    return value


def _mask(text: str, known: list[str]) -> str:
    for value in known:
        text = text.replace(value, MASK)
    text = _USER.sub(rf"\g<scheme>{MASK}@", text)
    text = _QUERY.sub(rf"\g<key>{MASK}", text)
    text = _HEADER.sub(rf"\g<kind>{MASK}", text)
    return _TOKENS.sub(MASK, text)


def _known() -> list[str]:
    """List the secrets that the environment holds, longest first: one may contain another."""
    values = {
        value.strip()
        for name, value in os.environ.items()
        if _ENVIRONMENT.search(name) and name not in _FOLDERS and len(value.strip()) >= _SHORTEST
    }
    return sorted(values, key=lambda value: (-len(value), value))
