"""The list of sites: start pages, and selectors of title, subheading and text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.config.parsing import parse

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
        """Whether title, subheading or text has a selector."""
        return bool(self.title or self.summary or self.body)

    def covers(self, host: str) -> bool:
        """Tell whether a host belongs to the site."""
        return host == self.domain or host.endswith(f".{self.domain}")


@dataclass(frozen=True, slots=True)
class SiteList:
    """The content of a list of sites."""

    sites: list[Site]


def read_sites(path: Path) -> list[Site]:
    """Read a list of sites.

    Raises:
        ConfigError: a missing file, an unknown key, or a value that cannot be used.
    """
    if not path.is_file():
        raise ConfigError(f"sites={path}: no such file")

    try:
        sites = parse(SiteList, read_yaml(path)).sites
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not sites:
        raise ConfigError(f"{path}: expected a list `sites:`, each with domain and start")
    for number, site in enumerate(sites):
        _check(site, f"{path}: sites.{number}")
    return sites


def find_site(sites: list[Site], host: str) -> Site:
    """Find the site of a host: of several that cover it, the one with the longest domain.

    Args:
        sites: the list.
        host: of a page, such as `www.example.org`.

    Returns:
        The listed site, or a site without selectors if none covers the host.
    """
    covering = [site for site in sites if site.covers(host)]
    return max(covering, key=lambda site: len(site.domain), default=Site(host, ""))


def _check(site: Site, where: str) -> None:
    """Refuse a start page of another site, and a pattern that is no regular expression.

    Args:
        site: of a list.
        where: its place in the list, for messages.

    Raises:
        ConfigError: what is wrong.
    """
    domain = site.domain
    start = site.start
    address = urlsplit(start)
    is_web = address.scheme in ("http", "https")
    if not is_web or not address.hostname or not site.covers(address.hostname):
        raise ConfigError(f"{where}.start: expected an http(s) address of {domain}, not {start}")

    try:
        re.compile(site.ignore)
    except re.error as error:
        raise ConfigError(f"{where}.ignore: no regular expression: {error}") from error
