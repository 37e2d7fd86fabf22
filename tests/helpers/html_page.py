"""A page's tags, attributes and texts, for tests of what is on it and what it must not do."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "img", "input", "br"}


class Page(HTMLParser):
    """Collects tags and texts, and fails on elements that are not closed in order."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def requests_nothing(text: str) -> bool:
    """Tell whether a page loads nothing from elsewhere."""
    page, plain = Page(text), re.sub(r"base64,\S+", "", text)
    places = [attributes.get(n) or "data:" for _, attributes in page.tags for n in ("src", "href")]
    return (
        "default-src 'none'" in text
        and all(place.startswith("data:") for place in places)
        and not {"link", "iframe", "object"} & {tag for tag, _ in page.tags}
        and not re.search(r"url\(|@import|https?://|fetch\(|XMLHttpRequest|eval\(", plain)
    )
