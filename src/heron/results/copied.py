"""What copying sentences reaches, beside the scores of systems that write summaries.

A summary's ROUGE says little by itself: the article's first three sentences, or the three best of
its sentences, may reach more. Every run stores both for each of its splits, and every table and
figure with a run's ROUGE takes them from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from heron.metrics.names import copied_names
from heron.results.collect import RunRecord


def with_copied(metrics: Sequence[str], present: Iterable[str]) -> list[str]:
    """Put behind each score what copying reaches in it, where that is known."""
    known = set(present)
    named = [[metric, *(n for n in copied_names(metric) if n in known)] for metric in metrics]
    return [name for names in named for name in names]


def copied_scores(runs: Iterable[RunRecord], split: str, metric: str) -> Mapping[str, float]:
    """Read what copying reaches on the runs' split: `{"lead3_rouge1": fraction, ...}`.

    Returns:
        Nothing where no run says it, or where the runs are not of the same articles.
    """
    found = [run.scores.get(split, {}) for run in runs]
    known = [{name: one[name] for name in copied_names(metric) if name in one} for one in found]
    stated = [one for one in known if one]
    return stated[0] if stated and all(one == stated[0] for one in stated) else {}
