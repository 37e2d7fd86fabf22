"""A polite crawl with scrapy: follows links from start pages, and fetches every page once.

Source: HeSum, appendix A: the sites have no archive and no RSS feed; the crawler begins at the home
page and follows links to articles.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.extensions.httpcache import DummyPolicy
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.robotstxt import RobotParser
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.response import response_from_dict
from twisted.internet.defer import Deferred

from heron import __version__
from heron.base.errors import first_line
from heron.base.terminal import messages

from .options import BuildHesumOptions
from .sites import Site
from .store import read_page, write_page

_HERE = __name__  # scrapy finds classes by their names
# Responses that may succeed next time; they are not stored.
_PASSING = [408, 425, 429, 500, 502, 503, 504, 522, 524]
_NOBODY = b"User-agent: *\nDisallow: /"
_EVERY = 0.5  # seconds between two updates of a terminal


@dataclass(frozen=True, slots=True)
class Crawled:
    """Counts of a crawl."""

    fetched: int  # stored responses, redirects and errors included
    kept_before: int  # read from earlier crawls instead of being fetched
    forbidden: int  # not fetched because of robots.txt
    failed: Sequence[tuple[str, str]]  # failed addresses after retries, and why
    finished: bool  # false after an interruption or at the limit
    interrupted: bool


def crawl(sites: Sequence[Site], options: BuildHesumOptions) -> Crawled:
    """Fetch all pages of some sites that are not stored yet. A process can crawl only once.

    Args:
        sites: their links are followed from the start pages.
        options: the folder of the pages, the contact, and the limits of the crawl.

    Raises:
        OSError: a page cannot be written.
    """
    process = CrawlerProcess(_settings(options, len(sites)))
    crawler = process.create_crawler(SiteSpider)
    process.crawl(crawler, sites=sites, options=options)
    process.start()  # on Ctrl+C, open requests are finished

    assert crawler.stats is not None
    spider = crawler.spider
    assert isinstance(spider, SiteSpider)
    if spider.broken:
        raise spider.broken

    counts = crawler.stats.get_stats()
    reason = counts.get("finish_reason")
    return Crawled(
        fetched=counts.get("heron/fetched", 0),
        kept_before=counts.get("httpcache/hit", 0),
        forbidden=counts.get("robotstxt/forbidden", 0),
        failed=spider.failures,
        finished=reason == "finished",
        interrupted=reason == "shutdown",
    )


def _settings(options: BuildHesumOptions, sites: int) -> dict[str, Any]:
    """Set scrapy up: one request of a site at a time, robots.txt obeyed, each page fetched once."""
    return {
        "USER_AGENT": f"heron/{__version__} (+{options.contact})",
        "ROBOTSTXT_USER_AGENT": "heron",
        "ROBOTSTXT_OBEY": True,
        # One page of each site; scrapy chooses the site with the fewest open requests.
        "CONCURRENT_REQUESTS": sites,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": options.delay,
        "DOWNLOAD_DELAY_JITTER": 0.0,
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": options.delay,
        "AUTOTHROTTLE_MAX_DELAY": max(60.0, options.delay),
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
            f"{_HERE}.CarefulRobots": 100,
        },
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_POLICY": f"{_HERE}.Once",
        "HTTPCACHE_STORAGE": f"{_HERE}.PageStore",
        "HTTPCACHE_IGNORE_HTTP_CODES": _PASSING,
        "HTTPCACHE_DIR": str(options.folder.absolute()),
        "DEPTH_LIMIT": options.depth,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": False,
        "DOWNLOAD_MAXSIZE": 32 << 20,
        # Failures are in `Crawled.failed`, without scrapy's tracebacks.
        "LOG_LEVEL": "CRITICAL",
    }


class Once(DummyPolicy):
    """Caches every response, except robots.txt, which each crawl reads again."""

    def should_cache_request(self, request: Request) -> bool:
        """Tell whether a response is stored."""
        return urlparse_cached(request).path != "/robots.txt"


class PageStore:
    """Scrapy's store of responses, as plain files; see `store`."""

    def __init__(self, settings: BaseSettings):
        self.folder = Path(settings["HTTPCACHE_DIR"])

    def open_spider(self, spider: SiteSpider) -> None:
        """Begin a crawl."""
        self.name_of = spider.crawler.request_fingerprinter.fingerprint

    def close_spider(self, spider: SiteSpider) -> None:
        """End a crawl."""

    def retrieve_response(self, spider: SiteSpider, request: Request) -> Response | None:
        """Read a stored response, or None."""
        page = read_page(self.folder, self.name_of(request).hex(), request.url)
        if page is None:
            return None
        facts, body = page
        response = {key: facts[key] for key in ("url", "status", "headers")}
        return response_from_dict({**response, "body": body})

    def store_response(self, spider: SiteSpider, request: Request, response: Response) -> None:
        """Store a response: an HTML body only, and the headers needed for reading."""
        headers = {}
        for name in ("Content-Type", "Location"):
            value = response.headers.get(name)
            if value:
                headers[name] = str(value, "latin-1")

        facts = {
            "url": request.url,
            "status": response.status,
            "headers": headers,
            "fetched": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        body = response.body if isinstance(response, HtmlResponse) else b""

        try:
            write_page(self.folder, self.name_of(request).hex(), facts, body)
        except OSError as error:  # a full disk: stop fetching
            spider.broken = error
            spider.crawler.engine.close_spider(spider, "broken")
        spider.count()


class CarefulRobots(RobotsTxtMiddleware):
    """Obeys robots.txt, and fetches nothing if it is unavailable.

    Deviates: scrapy treats an unavailable robots.txt as one that allows everything. RFC 9309,
    section 2.3.1.4, forbids that for server errors.
    """

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status >= 500 or response.status == 429:
            self._note(netloc, f"status {response.status}")
            response = response.replace(body=_NOBODY)
        await super()._parse_robots(response, netloc, request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        """Fetch no page of a site whose robots.txt cannot be read, and note why."""
        if not isinstance(exc, IgnoreRequest):
            self._note(netloc, _reason(exc))

        waiting = self._parsers[netloc]
        assert isinstance(waiting, Deferred)
        nobody = self._parserimpl.from_crawler(self.crawler, _NOBODY)
        self._parsers[netloc] = nobody
        waiting.callback(nobody)  # also for requests that wait for robots.txt

    def _note(self, netloc: str, why: str) -> None:
        assert isinstance(self.crawler.spider, SiteSpider)
        self.crawler.spider.failures.append((f"{netloc}/robots.txt", why))


class SiteSpider(Spider):
    """Follows the links of some sites; `PageStore` stores the pages."""

    name = "heron"

    def __init__(self, sites: Sequence[Site], options: BuildHesumOptions):
        super().__init__()
        self.sites = sites
        self.options = options
        self.allowed_domains = [site.domain for site in sites]
        self.links = LinkExtractor()
        self.fetched = 0
        self.shown = 0.0
        self.failures: list[tuple[str, str]] = []
        self.broken: OSError | None = None  # why pages cannot be stored
        console = messages()
        self.shows = console.is_terminal and not console.quiet

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        """Make the spider of a crawl."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.slow_down, signal=signals.robots_parsed)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Begin at the start pages."""
        for site in self.sites:
            yield Request(site.start, errback=self.fail)

    def parse(self, response: Response) -> Iterator[Request]:
        """Follow the links of a page, except those that its site ignores."""
        if not isinstance(response, HtmlResponse):
            return
        for link in self.links.extract_links(response):
            url = link.url
            host = urlsplit(url).hostname or ""
            covering = [site for site in self.sites if site.covers(host)]
            patterns = [site.ignore for site in covering if site.ignore]
            if covering and not any(re.search(pattern, url) for pattern in patterns):
                yield Request(url, errback=self.fail)

    def fail(self, failure: Any) -> None:
        """Record failures, except pages that robots.txt forbids or that do not exist."""
        error = failure.value
        url = failure.request.url
        if isinstance(error, HttpError):
            if error.response.status in _PASSING:
                self.failures.append((url, f"status {error.response.status}"))
        elif not isinstance(error, IgnoreRequest):
            self.failures.append((url, _reason(error)))

    def slow_down(self, robotparser: RobotParser, request: Request) -> None:
        """Respect Crawl-delay; the longest one is used for all sites."""
        delay = robotparser.crawl_delay("heron") or 0.0
        throttle = self.crawler.get_extension(AutoThrottle)
        assert throttle is not None
        if delay <= throttle.mindelay:
            return

        throttle.mindelay = delay
        throttle.maxdelay = max(delay, throttle.maxdelay)
        downloader = self.crawler.engine.downloader
        downloader._delay = max(delay, downloader._delay)
        for slot in downloader.slots.values():
            slot.delay = max(delay, slot.delay)

    def count(self) -> None:
        """Count a fetched page; stop at the limit."""
        self.fetched += 1
        stats = self.crawler.stats
        stats.inc_value("heron/fetched")
        if self.shows and time.monotonic() - self.shown > _EVERY:
            self.shown = time.monotonic()
            kept = stats.get_value("httpcache/hit", 0)
            progress = f"\r{self.fetched:,} pages fetched, {kept:,} kept before"
            print(progress, end="", file=sys.stderr, flush=True)
        if self.fetched == self.options.limit:
            self.crawler.engine.close_spider(self, "limit")


def _reason(error: BaseException) -> str:
    return first_line(error) or type(error).__name__


def is_contact(text: str) -> bool:
    """Tell whether a text is a mail address or the address of a page."""
    return bool(re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+|https?://\S+", text))
