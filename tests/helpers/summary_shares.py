"""Shares of summaries in any unit: the plain way, to check what is computed of whole splits."""

from heron.metrics.summary import Tally, average_share, by_words


def mean_shares(articles, summaries, segment=by_words):
    """Average each of `SHARES` over documents; NaN where no text is long enough."""
    tally = Tally()
    for article, summary in zip(segment(articles), segment(summaries), strict=True):
        tally.add(article, summary)

    return {name: average_share(*share) for name, share in tally.shares().items()}
