"""Options of data for summarization: which pairs of an article and its summary to leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heron.base.errors import ConfigError, nearest

if TYPE_CHECKING:
    from heron.config.data import DataConfig

SUMMARY = "summary"  # the one class
ARTICLE_FORMATS = ("article_table",)
_EMPTY = ("refuse", "drop")


@dataclass
class SummariesConfig:
    """Which rows of articles and summaries are left out, each counted (`data.summaries`).

    Args:
        empty: of a row whose article or summary is empty: `refuse` stops and names all of them,
            `drop` leaves it out.
        other_script: leave out articles of whose letters more than this fraction is not in the
            alphabet of the data set's language; null leaves none out.
        min_summary_tokens: leave out summaries of fewer words than this; 0 leaves none out.

    Raises:
        ConfigError: a value that is none of the above.

    Source: HeSum, appendix A: pages without text or not in Hebrew, and articles with summaries of
    fewer than 10 tokens, were left out. The released files are what was left, hence the defaults.
    Its section on limitations says "10 or fewer", which is `min_summary_tokens=11`.
    """

    empty: str = "refuse"
    other_script: float | None = None
    min_summary_tokens: int = 0

    def __post_init__(self) -> None:
        if self.empty not in _EMPTY:
            raise ConfigError(
                f"data.summaries.empty={self.empty}: unknown.{nearest(self.empty, _EMPTY)}"
            )
        if self.other_script is not None and not 0 <= self.other_script < 1:
            raise ConfigError(
                f"data.summaries.other_script={self.other_script}: a fraction in [0, 1), or null"
            )
        if self.min_summary_tokens < 0:
            raise ConfigError(
                f"data.summaries.min_summary_tokens={self.min_summary_tokens}: must be at least 0"
            )


def check_article_set(config: DataConfig) -> None:
    """Check what a data set of articles needs, and that others are not in its format.

    Raises:
        ConfigError: a format, classes or options of another task.
    """
    articles = config.task == "summarization"
    if articles != (config.format in ARTICLE_FORMATS):
        fix = (
            f"data.task=summarization reads {ARTICLE_FORMATS[0]}"
            if articles
            else f"data.task={config.task} reads another; it is for data.task=summarization"
        )
        raise ConfigError(f"data.format={config.format}: {fix}")
    if not articles:
        return
    if config.label_order not in ([], [SUMMARY]):
        raise ConfigError(
            f"data.label_order={config.label_order}: data.task=summarization has the one class "
            f"[{SUMMARY}]"
        )
    given = {
        "data.columns.text_pair": config.columns.text_pair is not None,
        "data.columns.truth": config.columns.truth is not None,
        "data.join": config.join is not None,
        "data.label_field": bool(config.label_field),
        "data.label_aliases": bool(config.label_aliases),
        "data.phrases.remove": config.phrases.remove != "none",
        "data.normalize_case": config.normalize_case != "none",
    }
    for key in (key for key, is_given in given.items() if is_given):
        raise ConfigError(f"{key}: not for data.task=summarization")
