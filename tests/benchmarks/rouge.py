"""ROUGE-1, 2 and L beside the fork that Hebrew papers use.

The same pairs scored by heron and by two rivals: the fork's algorithm in its plainest form, and the
fork itself, where `multilingual_rouge` or the original `rouge_score` of XL-Sum is installed. All
scores are compared in the same run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from heron.base.errors import HeronError
from heron.config.constraints import Count
from heron.languages.hebrew import HEBREW
from heron.metrics.names import MEASURES
from heron.metrics.rouge import _ways, rouge

from .frame import Found, Out, Times, beside, time_rounds
from .plain_rouge import plain
from .words import make_words

Pair = tuple[str, str]
Scorer = Callable[[Sequence[Pair]], np.ndarray]

# Words of both texts (HeSum's means), and how many times as fast heron has to be.
LENGTHS = {"title": (8, 8, "≥ 15"), "short": (33, 33, "≥ 15"), "article": (1427, 33, "≥ 20")}


@dataclass
class Options(Out):
    """Options of the benchmark."""

    # JSON lines with `article`; words are drawn from a made-up vocabulary without it.
    data: Path | None = None
    pairs: Count = 1000  # of two texts of 33 words, and of two of 8
    articles: Count = 100  # pairs of 1,427 words and 33
    rounds: Count = 3


def cut(words: Sequence[str], lengths: Sequence[int], count: int) -> list[Pair]:
    """Draw pairs of stretches of so many words each."""
    draw = random.Random(sum(lengths))

    def stretch(length: int) -> str:
        start = draw.randrange(len(words) - length)
        return " ".join(words[start : start + length])

    return [(stretch(lengths[0]), stretch(lengths[1])) for _ in range(count)]


def heron(pairs: Sequence[Pair]) -> np.ndarray:
    """Score with heron; float64 `[pairs, 3]`."""
    scores = rouge([left for left, _ in pairs], [right for _, right in pairs], "xlsum", HEBREW)
    return np.stack([scores[measure] for measure in MEASURES], -1)


def find_fork() -> Scorer | None:
    """Find the fork in this environment; google's `rouge_score` of the same name is not it."""
    for name in ("multilingual_rouge", "rouge_score"):
        try:
            module = import_module(f"{name}.rouge_scorer")
        except ImportError:
            continue
        if hasattr(module, "MultiTokenizer"):
            score = module.RougeScorer(list(MEASURES)).score
            return lambda pairs: np.array(
                [[each.fmeasure for each in score(two, one).values()] for one, two in pairs]
            )
    return None


def measure(pairs: Sequence[Pair], rivals: dict[str, Scorer], rounds: int) -> Times:
    """Time every scorer once a round: processor seconds per 1,000 pairs.

    Raises:
        HeronError: the scores differ.
    """
    scorers = rivals | {"heron, first pass": heron, "heron": heron}

    def check(found: dict[str, np.ndarray]) -> None:
        _ways.cache_clear()
        if any(abs(found[name] - found["heron"]).max() > 1e-9 for name in rivals):
            raise HeronError("the scores differ")

    ways = {name: partial(scorer, pairs) for name, scorer in scorers.items()}
    heron(pairs[:1])  # imports
    _ways.cache_clear()
    return time_rounds(ways, rounds, check, dict.fromkeys(ways, 1000 / len(pairs)))


def run(options: Options) -> Found:
    """Score all pairs in every way."""
    words, fork, rows = make_words(), find_fork(), []
    if options.data:
        texts = map(json.loads, options.data.read_text(encoding="utf-8").splitlines())
        words = [word for text in texts for word in text["article"].split()]
    rivals = {"plain": plain, **({"fork": fork} if fork else {})}
    for size, (*lengths, limit) in LENGTHS.items():
        count = options.articles if size == "article" else options.pairs
        times = measure(cut(words, lengths, count), rivals, options.rounds)
        for rival in rivals:
            ours = {way: spent for way, spent in times.items() if way not in rivals}
            limits = {"heron, first pass": limit, "heron": limit}
            work = f"ROUGE of 1,000 pairs, {size}"
            rows += beside(work, {rival: times[rival], **ours}, rival, limits)
    return Found(rows)
