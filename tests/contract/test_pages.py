"""Pages for people: their links lead somewhere, and heron says what they quote."""

from __future__ import annotations

import ast
import re
from functools import cache

from heron.base.folders import conf_dir

ROOT = conf_dir().parent


@cache
def messages() -> list[str]:
    """List the strings of heron's source; `…` stands for what is filled in."""
    found = []
    for file in sorted((ROOT / "src" / "heron").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [getattr(part, "value", None) for part in node.values]
                found.append("".join(p if isinstance(p, str) else "…" for p in parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


def test_heron_still_prints_every_message_that_troubleshooting_quotes() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^\| `([^|]+)` \|", page, re.M)
    assert len(quoted) > 20
    for message in quoted:
        parts = [re.escape(part) for part in message.split("…")]
        assert any(re.search(".*".join(parts), text, re.S) for text in messages()), message
