"""Summaries made of an article's own sentences: the first ones, and the best ones there are.

`lead` is the baseline to beat for news. `best_sentence` and `greedy_oracle` read the reference:
they are no systems but ceilings, what copying whole sentences could reach at most (the greedy one
nearly). All return positions in the article, in its order, so that an output can be traced back.

Source: Nallapati et al. 2017 (SummaRuNNer), section 3, for the greedy oracle: the sentence that
raises ROUGE most is added until none does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from heron.base.errors import ConfigError, nearest
from heron.languages.language import Language
from heron.metrics.rouge import Ids, shared_counts
from heron.metrics.rouge_tokens import vocabulary

TARGETS = ("rouge1", "mean")
LEAD = 3  # sentences

# A sentence ends at . ! ? or an ellipsis and what closes after it, before a space; not after an
# initial (א. ב. יהושע, I. L. Caragiale) or a number of a list. Lines and bullets end one as well.
_END = re.compile(
    r"(?<=[.!?…])(?<!\b[^\W\d_]\.)(?<!\b\d\.)(?<!\b\d\d\.)(?P<close>[\"'”’»)\]]*)\s+|\s*[\n•]\s*"
)


def split_sentences(text: str) -> list[str]:
    """Split a text at sentence ends and line breaks; made for news, the same in every language.

    Returns:
        Sentences without surrounding space, in order; together they hold all but spaces and
        bullets.
    """
    marked = _END.sub(lambda end: (end["close"] or "") + "\n", text)
    return [sentence for line in marked.split("\n") if (sentence := line.strip())]


def lead(sentences: Sequence[str], count: int = LEAD) -> list[int]:
    """Take the first `count` sentences.

    Raises:
        ConfigError: `count` is below 1.
    """
    if count < 1:
        raise ConfigError(f"lead of {count} sentences: expected 1 or more")
    return list(range(min(count, len(sentences))))


def lead_text(sentences: Sequence[str]) -> str:
    """Join the first `LEAD` sentences: the summary that `lead3` stands for."""
    return " ".join(sentences[place] for place in lead(sentences))


def best_sentence(
    sentences: Sequence[str],
    reference: str,
    language: Language,
    target: str = "mean",
    profile: str = "xlsum",
) -> list[int]:
    """Find the one sentence that is most like the reference.

    Args:
        sentences: of the article.
        reference: the summary to come close to.
        language: of both.
        target: `rouge1`, its F; `mean`, that of ROUGE-1, 2 and L.
        profile: as in `rouge`.

    Returns:
        Its position, the first one of equals; empty where no sentence shares a word.

    Raises:
        ConfigError: an unknown target or profile.
    """
    return greedy_oracle(sentences, reference, language, 1, target, profile)


def greedy_oracle(
    sentences: Sequence[str],
    reference: str,
    language: Language,
    most: int = 3,
    target: str = "mean",
    profile: str = "xlsum",
) -> list[int]:
    """Add the sentence that raises ROUGE most, until none does or `most` are chosen.

    Args:
        sentences: of the article.
        reference: the summary to come close to.
        language: of both.
        most: sentences to choose at most.
        target: `rouge1`, its F; `mean`, that of ROUGE-1, 2 and L.
        profile: as in `rouge`.

    Returns:
        Rising positions; empty where no sentence shares a word with the reference.

    Raises:
        ConfigError: an unknown target or profile.
    """
    if target not in TARGETS:
        raise ConfigError(f"target={target}: nothing to maximise.{nearest(target, TARGETS)}")
    ids = vocabulary(profile, language).ids
    wanted, known = ids(reference), [ids(sentence) for sentence in sentences]
    chosen: list[int] = []
    best = 0.0
    while len(chosen) < most:
        scores = {
            place: _target_f(_joined(known, [*chosen, place]), wanted, target)
            for place in range(len(known))
            if place not in chosen
        }
        place = max(scores, key=scores.__getitem__, default=-1)
        if place < 0 or scores[place] <= best:
            break
        best = scores[place]
        chosen.append(place)
    return sorted(chosen)


def _joined(known: Sequence[Ids], places: Sequence[int]) -> list[int]:
    """Put the chosen sentences together in the article's order."""
    return [token for place in sorted(places) for token in known[place]]


def _target_f(predicted: Ids, wanted: Ids, target: str) -> float:
    """Compute what the oracle maximises; F of counts is 2 shared / (predicted + wanted).

    Rounded, so that of equal sentences the first one wins, not the rounding error.
    """
    unigrams, bigrams, subsequence = shared_counts(predicted, wanted)
    if not unigrams:
        return 0.0
    total = len(predicted) + len(wanted)
    if target == "rouge1":
        return round(2 * unigrams / total, 12)
    fewer = max(len(predicted) - 1, 1) + max(len(wanted) - 1, 1)
    return round(2 / 3 * ((unigrams + subsequence) / total + bigrams / fewer), 12)
