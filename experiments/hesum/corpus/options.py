"""The options of `heron build hesum`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from annotated_types import Interval

from heron.config.constraints import Count, Natural, Positive, Seed

from .sites import SITES


@dataclass
class BuildHesumOptions:
    """Options of `heron build hesum`."""

    out: Path  # folder of the pages and of the data set
    sites: Path = SITES  # YAML with domains and selectors
    contact: str = ""  # mail address or page in the user agent; needed to crawl
    pages: Path | None = None  # a folder of downloaded files: nothing is fetched
    delay: Positive = 2.0  # minimum seconds between two requests to a site
    limit: Count | None = None  # pages to fetch; one more per site may be open
    depth: Natural = 0  # links from a start page; 0: no limit
    name: str = "news"  # of the data set
    language: str = "he"  # of the articles
    other_script: Annotated[float, Interval(ge=0, le=1)] = (
        0.3  # largest share of letters of another script
    )
    min_summary_tokens: Natural = 10  # minimum words of a summary
    # shares of train, validation and test; the paper's 8,000, 1,000 and 1,000
    splits: list[float] = field(default_factory=lambda: [0.8, 0.1, 0.1])
    seed: Seed = 0  # of the splits

    @property
    def folder(self) -> Path:
        """The folder of the pages."""
        return self.pages or self.out / "pages"
