"""Extracts title, subheading and text of a page, by selectors or trafilatura."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import parsel
from cssselect import SelectorError
from trafilatura import bare_extraction
from trafilatura.utils import detect_encoding
from w3lib.encoding import html_to_unicode

from heron.base.errors import ConfigError

from .sites import Site
from .store import Page

# The comment of a saved page: browsers ("saved from url=(0023)https://…"), SingleFile, HTTrack.
_SAVED = re.compile(r"<!--[^>]*?(?:saved from url=\(\d+\)|\burl: |Mirrored from )\s*(\S+)")
_LINKS = 'link[rel~="canonical"]::attr(href), meta[property="og:url"]::attr(content)'
_HOST = re.compile(r"(?:https?:)?(?://)?([\w.-]+)")

_FIELDS = ("title", "description", "text", "date", "url")  # of trafilatura


@dataclass(frozen=True, slots=True)
class Extracted:
    """The texts of a page; empty if it has none."""

    url: str
    title: str
    summary: str
    body: str  # one paragraph per line
    date: str
    # number of removed lines of the body that repeat title or subheading
    repeated: int


def extract(page: Page, site: Site) -> Extracted:
    """Find title, subheading and text of a page.

    A selector wins over trafilatura. Lines of the body that are the title or the subheading are
    removed, because a summary must not be in its article.

    Raises:
        ConfigError: an invalid selector.
    """
    text = _decode(page)
    guess = bare_extraction(
        text,
        url=page.url or None,
        with_metadata=True,
        as_dict=True,
        include_comments=False,
        include_tables=False,
        # trafilatura would remove paragraphs that it has found in earlier pages.
        deduplicate=False,
    )
    fields = guess if isinstance(guess, dict) else {}
    title, summary, body, date, url = [str(fields.get(name) or "") for name in _FIELDS]

    selector = parsel.Selector(text=text or "<html/>")
    title = _first(selector, site.title, title)
    # A site with a selector has no subheading where it matches nothing.
    summary = _first(selector, site.summary, "" if site.summary else summary)
    lines = _select(selector, site.body) if site.body else body.splitlines()

    title = clean(title)
    summary = clean(summary)
    paragraphs = list(filter(None, map(clean, lines)))
    kept = [paragraph for paragraph in paragraphs if paragraph not in (title, summary)]
    repeated = len(paragraphs) - len(kept)
    return Extracted(page.url or url, title, summary, "\n".join(kept), date, repeated)


def find_host(page: Page, sites: Sequence[Site]) -> str:
    """Find the host of a page.

    It is the name of the page's folder if that is a listed site's, else it is read from addresses
    in the page. A saved page has its address in a comment, and most pages have it as canonical
    link or `og:url`, which may be another publisher's: addresses of listed sites come first.
    """
    if _is_listed(page.host, sites):
        return page.host

    text = _decode(page)
    links = parsel.Selector(text=text or "<html/>").css(_LINKS).getall()
    absolute = [link for link in links if link.startswith(("http", "//"))]
    hosts = []
    for address in (*_SAVED.findall(text), *absolute):
        match = _HOST.match(address)
        if match:
            hosts.append(match[1].lower())

    for host in hosts:
        if _is_listed(host, sites):
            return host
    return hosts[0] if hosts else page.host


def _is_listed(host: str, sites: Sequence[Site]) -> bool:
    return any(site.covers(host) for site in sites)


def _decode(page: Page) -> str:
    """Decode a page as browsers do: byte-order mark, header, `meta`, then a guess."""
    _, text = html_to_unicode(page.kind or None, page.content, auto_detect_fun=_guess_encoding)
    return str(text)


def _guess_encoding(content: bytes) -> str | None:
    guesses = detect_encoding(content)
    return guesses[0] if guesses else None


def clean(text: str) -> str:
    """Compose letters (NFC), remove invisible marks, make controls and white space single blanks.

    Source: HeSum, appendix A ("cleaned from Unicode characters"; which ones is not stated).
    """
    visible = []
    for character in unicodedata.normalize("NFC", text):
        category = unicodedata.category(character)
        if category == "Cc":
            visible.append(" ")
        elif category != "Cf":
            visible.append(character)
    return " ".join("".join(visible).split())


def _first(selector: parsel.Selector, query: str, default: str) -> str:
    """Read the first element with text; `default` without a query or without such an element."""
    texts = _select(selector, query) if query else []
    return next(filter(str.strip, texts), default)


def _select(selector: parsel.Selector, query: str) -> Sequence[str]:
    """Read the texts of all selected elements, or the values of selected attributes."""
    select = selector.xpath if query.startswith(("/", "(")) else selector.css
    try:
        return [_text(element) for element in select(query)]
    except (ValueError, SelectorError) as error:
        raise ConfigError(f"selector '{query}': {error}") from error


def _text(element: parsel.Selector) -> str:
    if hasattr(element.root, "tag"):
        return str(element.xpath("string()").get())
    return str(element.get())  # the value of an attribute
