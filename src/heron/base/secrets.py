"""Masking of secrets in files and messages: they are shown as `***`.

Known as secret: the values of environment variables with such names (`WANDB_API_KEY`,
`HF_TOKEN`, `DB_PASS`), the user's name and password in an address, there and in the environment,
keys in an address's query or fragment and in connection strings (`host=db password=…`), and tokens
that providers give a form of their own (`hf_…`, `ghp_…`).
"""

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

MASK = "***"
_SHORTEST = 8  # characters; a shorter value of a variable may be an ordinary word

_NAME = (
    r"(?:token|secret|passw(?:or)?d|passphrase|pwd|api_?key|access_?key|account_?key|secret_?key"
    r"|private_?key)"
)
# Short, or common as parts of other words: matched only alone or after a `_`.
_WORD = r"(?:pass|pat|credentials?|dsn|connection_?string|conn_?str)"
_ENVIRONMENT = re.compile(rf"(?:^|_)(?:{_NAME}|{_WORD})(?:_id)?$", re.I)
_FOLDERS = ("PWD", "OLDPWD")  # the shell's present and last folder, no password
# Keys that hold a secret themselves; heron's own (`data.words.tokens`) have other names.
_QUERY = re.compile(
    rf"(?P<key>[?&;#]\s*(?:[\w.-]*{_NAME}|(?:[\w.-]*[_.-])?{_WORD}|auth|key|sig|signature"
    r"|x-amz-[\w-]+|code)=)[^&\s#'\"]+",
    re.I,
)
# Options of loggers and other libraries; `sep_token` and `tokens` are none.
_OPTION = (
    r"(?:\w+_)?(?:passw(?:or)?d|passphrase|pwd|client_?secret|(?:api|auth|access)_?token"
    r"|(?:api|access|account|secret|private)_?key)"
)
_KEY = re.compile(_OPTION, re.I)
# `host=db password=x`, `Server=db;Password='x y'`, `logger.mine.api_key=x`, `api_key: x`
_PAIR = re.compile(
    rf"(?P<key>(?:^|[\s;,'\"(.{{+]){_OPTION}['\"]?\s*[=:]\s*)(?!null\b|\$\{{)"
    r"(?:'[^']*'|\"[^\"]*\"|[^\s;,'\"&}]+)",
    re.I,
)
# `export DB_PASS=x`
_ASSIGNED = re.compile(
    r"(?P<key>\b[A-Z][A-Z0-9_]*_(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PAT|KEY"
    r"|CREDENTIALS?|DSN)=)(?:'[^']*'|\"[^\"]*\"|[^\s;,'\"&]+)"
)
# After a user's name, a password may hold `/`, `?` and `#`; a port number is no password.
_LOGIN = r"[^/\s@:'\"?#]*:(?P<password>(?!\d{1,5}(?:[/?#]|$))[^\s@'\"]+)@"
_USER = re.compile(
    rf"(?P<scheme>\b[a-z][a-z0-9+.-]*:/{{1,2}})(?:[^/\s@'\"?#]+(?:@[^/\s@'\"?#]+)*@|{_LOGIN})", re.I
)
_PASSWORD = re.compile(rf"://{_LOGIN}")
_HEADER = re.compile(r"(?P<kind>\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}", re.I)
_TOKENS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{15,}"
    r"|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}|wandb_v\d_\w{20,}|(?:AKIA|ASIA)[A-Z0-9]{16})"
)
# In this order; what stands beside a secret is kept.
_PATTERNS = (
    (_USER, rf"\g<scheme>{MASK}@"),
    (_QUERY, rf"\g<key>{MASK}"),
    (_PAIR, rf"\g<key>{MASK}"),
    (_ASSIGNED, rf"\g<key>{MASK}"),
    (_HEADER, rf"\g<kind>{MASK}"),
    (_TOKENS, MASK),
)


def redact(text: str) -> str:
    """Mask secrets in a text."""
    return str(redacted(text))


def redacted(value: Any) -> Any:
    """Mask secrets in all texts of a JSON-like value, keys included."""
    return _masked(value, _known())


def _masked(value: Any, known: tuple[str, ...]) -> Any:
    """Mask secrets in a value of JSON or YAML, those under a key of secrets as a whole."""
    if isinstance(value, str):
        return _masked_text(value, known)
    if isinstance(value, list | tuple):
        return [_masked(inner, known) for inner in value]
    if not isinstance(value, Mapping):
        return value
    masked = {}
    for key, inner in value.items():
        is_secret = isinstance(inner, str) and _KEY.fullmatch(str(key))
        masked[_masked(key, known)] = MASK if is_secret else _masked(inner, known)
    return masked


@lru_cache(4096)  # the jobs of a sweep have nearly all their keys and values in common
def _masked_text(text: str, known: tuple[str, ...]) -> str:
    for secret in known:
        text = text.replace(secret, MASK)
    for pattern, masked in _PATTERNS:
        text = pattern.sub(masked, text)
    return text


def _known() -> tuple[str, ...]:
    """List the secrets that the environment holds, longest first: one may contain another."""
    secrets = set[str]()
    for name, value in os.environ.items():
        if _ENVIRONMENT.search(name) and name not in _FOLDERS:
            secrets.add(value.strip())
        secrets.update(_PASSWORD.findall(value))  # DATABASE_URL and the like
    known = [secret for secret in secrets if len(secret) >= _SHORTEST]
    return tuple(sorted(known, key=lambda secret: (-len(secret), secret)))
