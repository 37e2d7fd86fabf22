"""The pages of a crawl on disk: `<host>/<key>.html.gz` and, beside it, `<key>.json`.

Scrapy's own stores of responses use pickle. Here the description is written last and atomically,
so that only a page whose write was interrupted is fetched again.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from heron.base.errors import DataError
from heron.base.files import read_json, write_file, write_json
from heron.base.tables import read_bytes

PAGE_SUFFIXES = (".html.gz", ".html", ".htm", ".htm.gz")


@dataclass(frozen=True, slots=True)
class Page:
    """One page."""

    path: Path
    url: str  # empty if unknown
    host: str
    content: bytes
    kind: str = ""  # header Content-Type, which may name the encoding; empty if unknown


def write_page(folder: Path, key: str, facts: dict[str, Any], content: bytes) -> None:
    """Store a response.

    Args:
        folder: of all pages; the page is in the folder of its host.
        key: name of its files, without suffix.
        facts: `url`, `status` and `headers`.
        content: the body, not compressed; it is compressed here.
    """
    base = folder / _host(facts["url"]) / key
    # No timestamp, so the same page gives the same file.
    write_file(base.with_suffix(".html.gz"), gzip.compress(content, mtime=0))
    write_json(base.with_suffix(".json"), facts)


def read_page(folder: Path, key: str, url: str) -> tuple[dict[str, Any], bytes] | None:
    """Read a stored response.

    Args:
        folder: of all pages.
        key: name of its files, without suffix.
        url: its address, which gives the host.

    Returns:
        Its facts and its body; None if it is missing or incomplete.
    """
    base = folder / _host(url) / key
    try:
        facts = read_json(base.with_suffix(".json"))
        return facts, read_bytes(base.with_suffix(".html.gz"))
    except (OSError, ValueError, DataError):
        return None


def _host(url: str) -> str:
    return urlsplit(url).hostname or "unknown"


def list_pages(folder: Path) -> list[Path]:
    """List the pages of a crawl, or files that were downloaded in another way.

    Raises:
        DataError: there are none.
    """
    files = sorted(folder.rglob("*"))
    pages = [path for path in files if path.name.lower().endswith(PAGE_SUFFIXES)]
    if not pages:
        fix = "a folder with .html or .html.gz files"
        raise DataError(str(folder), "no page in this folder", fix)
    return pages


def _description(page: Path) -> dict[str, Any]:
    """Read heron's description of a page; empty without one."""
    name = page.name.split(".htm")[0]
    try:
        facts = read_json(page.with_name(f"{name}.json"))
        return facts if {"url", "status", "headers"} <= facts.keys() else {}
    except (OSError, ValueError, AttributeError):
        return {}


def open_pages(paths: list[Path], folder: Path) -> Iterator[Page]:
    """Read pages, without redirects, errors and other content than HTML.

    A page that was not crawled by heron has no description: its host is the name of its folder, and
    empty for a page directly in `folder`.

    Args:
        paths: of the pages, compressed or not.
        folder: of all pages.
    """
    for path in paths:
        facts = _description(path)
        kind = facts.get("headers", {}).get("Content-Type", "")
        if facts.get("status", 200) != 200 or (kind and "html" not in kind):
            continue

        url = facts.get("url", "")
        host = ""
        if url:
            host = _host(url)
        elif path.parent != folder:
            host = path.parent.name
        yield Page(path, url, host, read_bytes(path), kind)
