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
_HOST = re.compile(r"(?:https?:)?(?://)?([\w.-]+)")


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
    found = bare_extraction(
        text,
        url=page.url or None,
        with_metadata=True,
        as_dict=True,
        include_comments=False,
        include_tables=False,
        # trafilatura would remove paragraphs that it has found in earlier pages.
        deduplicate=False,
    )
    known = found if isinstance(found, dict) else {}
    names = ("title", "description", "text", "date", "url")
    title, summary, body, date, url = (str(known.get(name) or "") for name in names)
    selector = parsel.Selector(text=text or "<html/>")
    title = clean(_first(selector, site.title, title))
    summary = clean(_first(selector, site.summary, "" if site.summary else summary))
    lines = _select(selector, site.body) if site.body else body.splitlines()
    lines = [line for line in map(clean, lines) if line]
    kept = [line for line in lines if line not in (title, summary)]
    return Extracted(page.url or url, title, summary, "\n".join(kept), date, len(lines) - len(kept))


def find_host(page: Page, sites: Sequence[Site]) -> str:
    """Find the host of a page: its folder's name if it is a listed site's, else from its addresses.

    A saved page has its address in a comment, and most pages have it as canonical link or
    `og:url`, which may be another publisher's: addresses of listed sites come first.
    """
    if any(site.covers(page.host) for site in sites):
        return page.host
    text = _decode(page)
    where = 'link[rel~="canonical"]::attr(href), meta[property="og:url"]::attr(content)'
    named = parsel.Selector(text=text or "<html/>").css(where).getall()
    links = [address for address in named if address.startswith(("http", "//"))]
    hosts = [_HOST.match(address) for address in (*_SAVED.findall(text), *links)]
    found = [match[1].lower() for match in hosts if match]
    covered = [host for host in found if any(site.covers(host) for site in sites)]
    return next(iter([*covered, *found, page.host]))


def _decode(page: Page) -> str:
    """Decode a page as browsers do: byte-order mark, header, `meta`, then a guess."""

    def guess(content: bytes) -> str | None:
        return next(iter(detect_encoding(content)), None)

    return str(html_to_unicode(page.kind or None, page.content, auto_detect_fun=guess)[1])


def clean(text: str) -> str:
    """Compose letters (NFC), remove invisible marks, make controls and white space single blanks.

    Source: HeSum, appendix A ("cleaned from Unicode characters"; which ones is not stated).
    """
    text = unicodedata.normalize("NFC", text)
    kinds = ((character, unicodedata.category(character)) for character in text)
    return " ".join("".join(" " if k == "Cc" else "" if k == "Cf" else c for c, k in kinds).split())


def _first(selector: parsel.Selector, wanted: str, otherwise: str) -> str:
    """Read the first element with text; without a selector, return `otherwise`."""
    texts = _select(selector, wanted) if wanted else []
    return next((text for text in texts if text.strip()), otherwise)


def _select(selector: parsel.Selector, wanted: str) -> Sequence[str]:
    """Read the texts of all selected elements, or the values of selected attributes."""
    try:
        by = selector.xpath if wanted.startswith(("/", "(")) else selector.css
        return [_text(one) for one in by(wanted)]
    except (ValueError, SelectorError) as error:
        raise ConfigError(f"selector '{wanted}': {error}") from error


def _text(found: parsel.Selector) -> str:
    is_element = hasattr(found.root, "tag")
    return str(found.xpath("string()").get()) if is_element else str(found.get())
