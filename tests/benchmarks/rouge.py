"""`python -m tests.benchmarks.rouge`: ROUGE-1, 2 and L beside the fork that Hebrew papers use.

The same pairs scored by heron and by two rivals: the fork's algorithm in its plainest form (every
character looked up, n-grams in a `Counter`, the whole table for the longest common subsequence) and
the fork itself, where `multilingual_rouge` or the original `rouge_score` of XL-Sum is installed.
All scores are compared in the same run. See README.md here.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections import Counter
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

from .frame import Found, Times, main, set_beside, time_rounds

Pair = tuple[str, str]
Scorer = Callable[[Sequence[Pair]], np.ndarray]

LENGTHS = {"title": (8, 8), "short": (33, 33), "article": (1427, 33)}  # words; HeSum's means
BARS = {"title": 15.0, "short": 15.0, "article": 20.0}  # times as fast as the rivals


@dataclass
class Options:
    """Options of the benchmark."""

    # JSON lines with `article`; words are drawn from a made-up vocabulary where there is no file.
    data: Path = Path("no-file")
    pairs: Count = 1000  # of two texts of 33 words, and of two of 8
    articles: Count = 100  # pairs of 1,427 words and 33
    rounds: Count = 3
    out: Path = Path("runs/benchmark_rouge.json")


def make_words(count: int = 200_000, seed: int = 0) -> list[str]:
    """Make up running text: Hebrew letters, Zipf's law, punctuation after every eighth word."""
    chance = random.Random(seed)
    spelt = ["".join(chance.choices(HEBREW.alphabet, k=chance.randint(2, 7))) for _ in range(60000)]
    ranks = np.random.default_rng(seed).zipf(1.15, 2 * count)
    words = [spelt[rank - 1] for rank in ranks if rank <= len(spelt)][:count]
    return [word + chance.choice(",.:") if chance.random() < 1 / 8 else word for word in words]


def read_words(path: Path) -> list[str]:
    """Read all articles as one running text."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [word for row in rows for word in row["article"].split()]


def cut(words: Sequence[str], lengths: tuple[int, int], count: int, seed: int) -> list[Pair]:
    """Draw pairs of stretches of so many words each."""
    chance = random.Random(seed)

    def stretch(length: int) -> str:
        start = chance.randrange(len(words) - length)
        return " ".join(words[start : start + length])

    return [(stretch(lengths[0]), stretch(lengths[1])) for _ in range(count)]


def heron(pairs: Sequence[Pair], profile: str = "xlsum") -> np.ndarray:
    """Score with heron; float64 `[pairs, 3]`."""
    scores = rouge([left for left, _ in pairs], [right for _, right in pairs], profile, HEBREW)
    return np.stack([scores[measure] for measure in MEASURES], -1)


def plain_tokens(text: str) -> list[str]:
    """Cut like the fork: character by character, no word looked up."""
    spaced, last = "", "Z"
    for char in text.lower():
        category = unicodedata.category(char)[0]
        if char in "\t\n\r" or category == "Z" or (category == "P" or char in "$+<=>^`|~"):
            spaced, last = spaced + " ", "Z"
        elif category != "C":
            joined = category == "M" or (category == last and category in "LN")
            spaced += char if joined else " " + char
            last = last if category == "M" else category
    return spaced.split()


def _f(shared: int, left: int, right: int) -> float:
    precision, recall = shared / max(left, 1), shared / max(right, 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def _plain_ngrams(left: list[str], right: list[str], n: int) -> float:
    counts = [
        Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
        for tokens in (left, right)
    ]
    shared = sum(min(counts[0][ngram], counts[1][ngram]) for ngram in counts[1])
    return _f(shared, counts[0].total(), counts[1].total())


def _plain_subsequence(left: list[str], right: list[str]) -> float:
    table = [[0] * (len(left) + 1) for _ in range(len(right) + 1)]
    for i in range(1, len(right) + 1):
        for j in range(1, len(left) + 1):
            if right[i - 1] == left[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return _f(table[-1][-1], len(left), len(right))


def plain(pairs: Sequence[Pair]) -> np.ndarray:
    """Score in the plainest way."""
    scores = []
    for pair in pairs:
        left, right = map(plain_tokens, pair)
        ngrams = (_plain_ngrams(left, right, n) for n in (1, 2))
        scores.append((*ngrams, _plain_subsequence(left, right)))
    return np.array(scores)


def find_fork() -> Scorer | None:
    """Find the fork in this environment; google's `rouge_score` of the same name is not it."""
    for name in ("multilingual_rouge", "rouge_score"):
        try:
            module = import_module(f"{name}.rouge_scorer")
        except ImportError:
            continue
        if hasattr(module, "MultiTokenizer"):
            scorer = module.RougeScorer(list(MEASURES))
            return lambda pairs: np.array(
                [
                    [score.fmeasure for score in scorer.score(right, left).values()]
                    for left, right in pairs
                ]
            )
    return None


def measure(pairs: Sequence[Pair], rounds: int) -> Times:
    """Time every scorer once a round: processor seconds per 1,000 pairs.

    Raises:
        HeronError: the scores differ.
    """
    scorers: dict[str, Scorer] = {"plain": plain}
    if fork := find_fork():
        scorers["fork"] = fork
    rivals = list(scorers)
    scorers |= {
        "heron, first pass": heron,
        "heron": heron,
        "heron profile, first pass": partial(heron, profile="heron"),
        "heron profile": partial(heron, profile="heron"),
    }

    def check(found: dict[str, np.ndarray]) -> None:
        _ways.cache_clear()
        if any(abs(found[name] - found["heron"]).max() > 1e-9 for name in rivals):
            raise HeronError("the scores differ")

    ways = {name: partial(scorer, pairs) for name, scorer in scorers.items()}
    heron(pairs[:1])  # imports
    _ways.cache_clear()
    times = time_rounds(ways, rounds, check)
    return {name: [each * 1000 / len(pairs) for each in spent] for name, spent in times.items()}


def run(options: Options) -> Found:
    """Score all pairs in every way."""
    words = read_words(options.data) if options.data.is_file() else make_words()
    counts = {"title": options.pairs, "short": options.pairs, "article": options.articles}
    times = {
        size: measure(cut(words, lengths, counts[size], seed), options.rounds)
        for seed, (size, lengths) in enumerate(LENGTHS.items())
    }
    rivals = [rival for rival in ("plain", "fork") if rival in times["short"]]
    if "fork" not in rivals:
        print("The fork is not installed; `plain` restates it: pip install multilingual-rouge")
    bars = {size: {"heron, first pass": bar, "heron": bar} for size, bar in BARS.items()}
    return set_beside("ROUGE of 1,000 pairs", times, *rivals, bars=bars)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
