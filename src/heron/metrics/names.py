"""Names of scores: the loss, ROUGE, what copying reaches in it, and of which less is better."""

from __future__ import annotations

from collections.abc import Iterable

LOSS = "loss"  # on validation, as `metrics.csv` has it for each epoch
# Scores of which less is better; of all others more is. No other module lists them.
_MINIMISED = (LOSS, "ece", "mce", "brier")

MEASURES = ("rouge1", "rouge2", "rougeL")
PROFILES = ("xlsum", "heron")  # ways to cut a text into tokens, see `heron.metrics.rouge_tokens`
COPIES = ("lead3", "oracle")  # what copies sentences, as prefixes of scores
COPIED_NOTE = (
    "lead3: the article's first three sentences; oracle: its (at most) three best, found with the "
    "reference in hand."
)


def is_minimised(metric: str) -> bool:
    """Tell whether less of a metric is better."""
    return metric in _MINIMISED


def signed(metric: str, value: float) -> float:
    """Give a metric's value the sign with which more is better: the best of several is the max."""
    return -value if is_minimised(metric) else value


def rouge_names() -> list[str]:
    """List every ROUGE score."""
    return [rouge_name(measure, profile) for profile in PROFILES for measure in MEASURES]


def copied_names(metric: str) -> list[str]:
    """Name what copying sentences reaches in a score: `lead3_rouge1`, `oracle_rouge1`.

    No score of a system that writes is shown without them. Empty for other scores than ROUGE.
    """
    return [f"{copy}_{metric}" for copy in COPIES] if metric in rouge_names() else []


def with_copied(metrics: Iterable[str], present: Iterable[str]) -> list[str]:
    """List each score, followed by what copying reaches in it where that is among `present`."""
    known = set(present)
    return [
        name
        for metric in metrics
        for name in (metric, *(one for one in copied_names(metric) if one in known))
    ]


def rouge_name(measure: str, profile: str) -> str:
    """Name a measure under a profile; XL-Sum's is the standard one and goes unnamed."""
    return measure if profile == "xlsum" else f"{measure}_{profile}"


def is_copied(metric: str) -> bool:
    """Tell `lead3_rouge1` and `oracle_rouge1` from scores of the system itself."""
    prefix, _, rest = metric.partition("_")
    return prefix in COPIES and metric in copied_names(rest)
