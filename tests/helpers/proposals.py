"""What error messages tell their reader to set, for tests that then set it."""

from __future__ import annotations

import re

from heron.config.constraints import all_keys

_PROPOSED = re.compile(r"([a-z_]+(?:\.[A-Za-z_]+)+)(?:=(\{[^}]*\}|\[[^\]]*\]|[^\s,;)]+))?")


def proposed(said: str, **values: str) -> list[str]:
    """List the configuration's keys that a message names, as `key=value`, its first proposal each.

    Args:
        said: what a command printed.
        values: for keys that a message names without a value or with `NAME`, by their last part.
    """
    known, words = set(all_keys()), dict[str, str]()
    for key, value in _PROPOSED.findall(said):
        if key in known:
            given = values.get(key.rpartition(".")[2], value)
            words.setdefault(key, f"{key}={given}")
    return list(words.values())
