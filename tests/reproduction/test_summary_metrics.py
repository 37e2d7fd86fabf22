"""Real Hebrew summaries: HeSum's statistics come out, and the oracle stands above the lead."""

import json

import pytest

from heron.languages.hebrew import HEBREW
from heron.metrics.summary import (
    by_whitespace,
    by_words,
    greedy_oracle,
    item_rouge,
    split_sentences,
)
from real_data import DATA, needs
from summary_shares import mean_shares

PAIRS = DATA / "hesum_subset" / "pairs.jsonl"
pytestmark = needs(PAIRS)


@pytest.fixture(scope="module")
def pairs():
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    return [row["article"] for row in rows], [row["summary"] for row in rows]


@pytest.mark.parametrize("segment", [by_words, by_whitespace])
def test_statistics_are_near_those_of_the_whole_data_set(pairs, segment):
    # HeSum, Table 2, of 10,000 pairs; these are 424, some articles cut, some summaries rewritten.
    published = {
        "novel_1": 0.42,
        "novel_2": 0.732,
        "novel_3": 0.82,
        "novel_4": 0.8536,
        "compression": 0.9548,
        "redundancy_1": 0.0483,
        "redundancy_2": 0.001,
    }
    assert mean_shares(*pairs, segment) == pytest.approx(published, abs=0.05)


def test_ceilings_lie_above_the_lead(pairs):
    articles, summaries = pairs
    sentences = list(map(split_sentences, articles))

    def scores(extract):
        texts = [
            " ".join(parts[place] for place in extract(parts, summary))
            for parts, summary in zip(sentences, summaries, strict=True)
        ]
        items = item_rouge(texts, summaries, HEBREW)
        return {measure: values.mean() for measure, values in items.items()}

    first = scores(lambda parts, _: range(len(parts[:3])))
    best = scores(lambda parts, summary: greedy_oracle(parts, summary, HEBREW, most=1))
    greedy = scores(lambda parts, summary: greedy_oracle(parts, summary, HEBREW))
    for measure in first:
        assert first[measure] + 0.1 < best[measure] < greedy[measure] < 0.5
