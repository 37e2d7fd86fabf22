"""`heron build hesum`: fetch pages, extract articles, filter them, write a data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from heron.base.cells import Table
from heron.base.errors import ConfigError
from heron.base.terminal import print_lines, print_tables, say, tracked
from heron.config.parsing import parse_options

from .options import BuildHesumOptions
from .sites import Site, find_site, read_sites
from .store import list_pages, open_pages

if TYPE_CHECKING:
    from .extraction import Extracted

INTERRUPTED = 130
_SHOWN = 20  # failed addresses that are printed, at most


def run(arguments: Sequence[str]) -> int:
    """Build the data set.

    Returns:
        The exit code: 1 if no article is left, 130 if the crawl was interrupted.

    Raises:
        ConfigError: options or a list of sites that cannot be used.
        DataError: no pages, or unreadable ones.
    """
    options = parse_options(BuildHesumOptions, arguments)
    sites = read_sites(options.sites)
    shares = options.splits
    folder = options.pages
    if len(shares) != 3 or min(shares) < 0 or not sum(shares):
        shown = ",".join(map(str, shares))
        raise ConfigError(f"splits={shown}: shares of train, validation and test, as 0.8,0.1,0.1")

    if folder is not None and not folder.is_dir():
        raise ConfigError(f"pages={folder}: no such folder")

    if folder is None and _crawl(options, sites):
        print("interrupted; the same command resumes it")
        return INTERRUPTED

    from . import collecting  # start-up time

    pages = list(_extracted(options, sites))
    collected = collecting.collect(pages, options)
    splits = collecting.divide(collected.articles, options.splits, options.seed)
    files = collecting.write_data_set(options, collected, splits)

    repeated = sum(texts.repeated for _, _, texts in pages)
    sizes = tuple((split, len(articles)) for split, articles in splits.items())
    split_table = Table("Splits", ("split", "articles"), sizes)
    print_tables([collecting.filter_table(collected, repeated), split_table])
    print_lines(*files)

    conf = options.out / "conf"
    print(f"heron train data={options.name} --config-dir {conf} paths.data={options.out}")
    return 0 if collected.articles else 1


def _crawl(options: BuildHesumOptions, sites: Sequence[Site]) -> bool:
    """Fetch missing pages and print counts.

    Returns:
        Whether the crawl was interrupted.

    Raises:
        ConfigError: no contact is given, or scrapy is not installed.
    """
    try:
        from . import crawling  # optional dependency
    except ModuleNotFoundError as error:
        raise _missing(error) from error

    contact = options.contact
    if not crawling.is_contact(contact):
        raise ConfigError(
            f"contact={contact}: a mail address or a page, so that a site can reach you; "
            "pages=DIR reads existing files"
        )
    crawled = crawling.crawl(sites, options)

    columns = ("fetched", "kept before", "forbidden by robots.txt", "given up")
    counts = (crawled.fetched, crawled.kept_before, crawled.forbidden, len(crawled.failed))
    left = "" if crawled.finished else "Links are left to follow; run it again to go on."
    pages = Table("Pages", columns, (counts,), left)

    note = "Tried three times each; the same command tries them again."
    if len(crawled.failed) > _SHOWN:
        note = f"{_SHOWN} of {len(crawled.failed)}. {note}"
    failed = Table("Failed", ("address", "why"), tuple(crawled.failed[:_SHOWN]), note)
    print_tables([pages, failed])
    return crawled.interrupted


def _extracted(
    options: BuildHesumOptions, sites: list[Site]
) -> Iterator[tuple[str, str, Extracted]]:
    """Extract every page, with a progress bar on terminals.

    Yields:
        Address or file, host, and texts.
    """
    try:
        from .extraction import extract, find_host  # optional dependency
    except ModuleNotFoundError as error:
        raise _missing(error) from error

    paths = list_pages(options.folder)
    unknown = 0  # pages of no listed site
    for path in tracked(paths, "extracting"):
        for page in open_pages([path], options.folder):
            host = find_host(page, sites)
            site = find_site(sites, host)
            if site not in sites:
                unknown += 1
            yield page.url or str(page.path), host, extract(page, site)

    if unknown and any(site.has_selectors for site in sites):
        say(
            f"{unknown:,} of {len(paths):,} pages are of no listed site: their articles are "
            "extracted without selectors. A folder that is named after the host also names the site"
        )


def _missing(error: ModuleNotFoundError) -> ConfigError:
    return ConfigError(f"heron build hesum needs {error.name}: pip install heron-nlu[build]")
