"""The list of sites: start pages, and selectors of title, subheading and text."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from heron.base.errors import ConfigError, nearest
from heron.base.files import read_yaml

SITES = Path(__file__).with_name("sites.yaml")


@dataclass(frozen=True, slots=True)
class Site:
    """One site. Selectors are CSS, or XPath where they begin with `/` or `(`."""

    domain: str  # host of its pages; includes subdomains (`example.org`: www.example.org)
    start: str  # address of the page from which links are followed
    title: str = ""  # selector of the title; empty: by trafilatura
    summary: str = ""  # selector of the subheading; empty: the page's description
    body: str = ""  # selector of the paragraphs; empty: by trafilatura
    ignore: str = ""  # regular expression: addresses that are not followed

    @property
    def has_selectors(self) -> bool:
        """Whether a text is found by a selector."""
        return bool(self.title or self.summary or self.body)

    def covers(self, host: str) -> bool:
        """Tell whether a host belongs to the site."""
        return host == self.domain or host.endswith(f".{self.domain}")


def read_sites(path: Path) -> list[Site]:
    """Read a list of sites.

    Raises:
        ConfigError: a missing file, an unknown key, or a value that cannot be used.
    """
    if not path.is_file():
        raise ConfigError(f"sites={path}: no such file")

    content = read_yaml(path)
    rows = content.get("sites") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{path}: expected a list `sites:`, each with domain and start")
    return [_site(f"{path}: sites[{number}]", row) for number, row in enumerate(rows, 1)]


def find_site(sites: list[Site], host: str) -> Site:
    """Find the site of a host, the one with the longest domain.

    Returns:
        A site without selectors if no listed site covers the host.
    """
    covering = [site for site in sites if site.covers(host)]
    return max(covering, key=lambda site: len(site.domain), default=Site(host, ""))


def _site(where: str, row: Any) -> Site:
    """Read one site.

    Args:
        where: its place in the list, for messages.
        row: its keys.

    Raises:
        ConfigError: an unknown key, or a value that cannot be used.
    """
    names = [field.name for field in fields(Site)]
    if not isinstance(row, dict):
        raise ConfigError(f"{where}: expected keys {', '.join(names)}")
    for key, value in row.items():
        if key not in names:
            raise ConfigError(f"{where}: unknown key '{key}'.{nearest(str(key), names)}")
        if not isinstance(value, str):
            raise ConfigError(f"{where}.{key}: expected a text, not {value!r}")
    for key in ("domain", "start"):
        if not row.get(key):
            raise ConfigError(f"{where}: {key} is missing")

    site = Site(**row)
    start = site.start
    address = urlsplit(start)
    if address.scheme not in ("http", "https") or not site.covers(address.hostname or ""):
        raise ConfigError(f"{where}.start: an http(s) address of {site.domain}, not {start}")

    try:
        re.compile(site.ignore)
    except re.error as error:
        raise ConfigError(f"{where}.ignore: no regular expression: {error}") from error
    return site
