"""`python -m tests.benchmarks.span_scores`: SQuAD scores beside a plain loop over the pairs.

Exact match and F1 of Hebrew answers, as the official script computes them (`official_scores`, a
restatement of its rules: both answers are normalised for either score) and as heron does; then
heron's whole set, with a Hebrew profile and TLNLS. See README.md here.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from heron.base.errors import HeronError
from heron.config.constraints import Count
from heron.languages.hebrew import HEBREW
from heron.metrics.span import SQUAD, item_scores, language_profile, mean_scores, overlap_scores

from .frame import Found, Times, folder, main, set_beside, time_rounds


@dataclass
class Options:
    """Options of the benchmark."""

    pairs: list[Count] = field(default_factory=lambda: [1000, 10_000])  # predictions of each case
    rounds: Count = 5
    # The folder of `parashoot/`; default `HERON_DATA`, made-up words without it.
    data: Path | None = None
    out: Path = Path("runs/benchmark_span_scores.json")


@dataclass(frozen=True, slots=True)
class Sample:
    """Predictions beside one gold answer each."""

    predictions: list[str]
    golds: list[list[str]]


def read_answers(data: Path | None) -> list[tuple[str, int, int]]:
    """Read ParaShoot's answers: context, start and end in characters; made-up ones without it."""
    root = folder(data, "HERON_DATA")
    if root is None or not (file := root / "parashoot" / "dev.json").is_file():
        return made_up_answers()
    found = []
    for row in json.loads(file.read_text(encoding="utf-8"))["data"]:
        start, text = row["answers"]["answer_start"][0], row["answers"]["text"][0]
        found.append((row["context"], start, start + len(text)))
    return found


def made_up_answers(count: int = 220) -> list[tuple[str, int, int]]:
    """Make up contexts of Hebrew letters with as many answers."""
    random = np.random.default_rng(0)
    letters = list(HEBREW.alphabet)
    found = []
    for _ in range(count):
        words = ["".join(random.choice(letters, random.integers(2, 8))) for _ in range(80)]
        context = " ".join(words)
        first = int(random.integers(70))
        start = len(" ".join(words[:first])) + (first > 0)
        found.append((context, start, start + len(" ".join(words[first : first + 4]))))
    return found


def make_sample(answers: Sequence[tuple[str, int, int]], pairs: int, seed: int = 0) -> Sample:
    """Predict as a trained system does: ParaShoot's shares of equal, partial and wrong answers.

    Source: Keren and Levy 2021, Table 5.
    """
    random = np.random.default_rng(seed)
    kinds = random.choice(5, pairs, p=[0.26, 0.14, 0.22, 0.04, 0.34])
    rows = random.integers(len(answers), size=pairs)
    predictions, golds = [], []
    for kind, row in zip(kinds.tolist(), rows.tolist(), strict=True):
        context, start, end = answers[row]
        golds.append([context[start:end]])
        cut, more = (int(random.integers(1, most)) for most in (max(2, end - start), 40))
        low, high = {
            0: (start, end),
            1: (start, end - cut),
            2: (max(0, start - more), end + more),
            3: (start + cut, end + more),
            4: (end, end + more),
        }[kind]
        predictions.append(context[low:high])
    return Sample(predictions, golds)


def _normalise(answer: str) -> str:
    dropped = set(string.punctuation)
    kept = "".join(mark for mark in answer.lower() if mark not in dropped)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def _f1(prediction: str, gold: str) -> float:
    given, right = _normalise(prediction).split(), _normalise(gold).split()
    shared = sum((Counter(given) & Counter(right)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(given), shared / len(right)
    return 2 * precision * recall / (precision + recall)


def official_scores(sample: Sample) -> list[tuple[float, float]]:
    """Score by the rules of SQuAD 1.1, pair by pair; returns each question's exact match and F1."""
    return [
        (
            max(float(_normalise(prediction) == _normalise(gold)) for gold in golds),
            max(_f1(prediction, gold) for gold in golds),
        )
        for prediction, golds in zip(sample.predictions, sample.golds, strict=True)
    ]


def heron_scores(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Compute the same two scores, as `item_scores` does."""
    exact_N, f1_N = overlap_scores(sample.predictions, sample.golds, SQUAD, squad_2=False)
    return exact_N, f1_N


def measure(sample: Sample, rounds: int) -> Times:
    """Time every way once a round, in processor seconds.

    Raises:
        HeronError: the scores differ.
    """
    theirs, ours = np.array(official_scores(sample)).T, np.stack(heron_scores(sample))
    if not np.array_equal(theirs, ours):
        raise HeronError("the plain loop and heron score differently")
    profiles = [language_profile(HEBREW)]
    ways = {
        "official_loop": lambda: official_scores(sample),
        "heron": lambda: mean_scores(
            dict(zip(("exact_match", "f1"), heron_scores(sample), strict=True))
        ),
        "heron_all": lambda: mean_scores(item_scores(sample.predictions, sample.golds, profiles)),
    }
    return time_rounds(ways, rounds)


def run(options: Options) -> Found:
    """Score samples of every size in every way."""
    answers = read_answers(options.data)
    times = {
        f"{size:,} pairs": measure(make_sample(answers, size), options.rounds)
        for size in options.pairs
    }
    bars = {case: {"heron": 6.0} for case in times}
    return set_beside("exact match and F1 of Hebrew", times, "official_loop", bars=bars)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
