"""The real questions that are at hand: counts, offsets, windows and the borders of answers."""

from collections import Counter
from functools import cache

import pytest

from heron.base.folders import data_set_file
from heron.data.config import DataConfig, read_config
from heron.data.examples import REPAIRS
from heron.data.features import FeatureOptions
from heron.data.readers import load, read_rows
from heron.data.sources import State, inspect
from heron.tasks.qa.features import char_span, qa_features
from real_data import DATA, ENCODER, needs

pytestmark = needs(DATA)
AT_HAND = ("parashoot_dev", "heq_dev", "xquad_ro")
SIZES = {  # questions, articles, paragraphs of each split
    "parashoot_dev": {
        "train": (1612, 267, 509),
        "validation": (180, 28, 56),
        "test": (221, 33, 63),
    },
    "heq_dev": {"train": (1017, 133, 165), "validation": (181, 23, 27), "test": (303, 39, 47)},
    "xquad_ro": {"test": (1190, 48, 240)},
}


def config_of(name: str) -> DataConfig:
    return read_config(data_set_file(name))


@cache
def parashoot(name: str):
    """Read one of ParaShoot's files as it is shipped."""
    config = config_of("parashoot")
    return read_rows(DATA / "parashoot" / f"{name}.json", config, "required").examples


@pytest.fixture(params=AT_HAND)
def name(request):
    return request.param


def test_every_file_is_the_pinned_one(name, tmp_path):
    sources = inspect(config_of(name), DATA, tmp_path)
    assert {source.state for source in sources.values()} == {State.VERIFIED}


def test_questions_articles_and_paragraphs_are_counted_and_no_article_is_in_two_splits(
    name, tmp_path
):
    splits = load(config_of(name), DATA, tmp_path)
    found = {
        split: (len(rows), len({e.group for e in rows}), len({e.text for e in rows}))
        for split, rows in splits.items()
    }
    assert found == SIZES[name]
    articles = Counter(group for rows in splits.values() for group in {e.group for e in rows})
    assert set(articles.values()) == {1}


def test_every_answer_stands_where_it_is_said_to(name, tmp_path):
    config = config_of(name)
    splits = load(config, DATA, tmp_path)
    for example in (example for rows in splits.values() for example in rows):
        golds = example.side["answers"]
        assert (len(golds) > 0) == (example.label == "answer")
        assert len(golds) == len(example.spans)
        for gold, span in zip(golds, example.spans, strict=True):
            found = example.text[span.start : span.end]
            assert found == found.strip()
            assert found in gold or not gold.isascii()  # letters of old fonts are unified


@pytest.mark.parametrize(
    ("file", "sizes", "blanks"),
    [("train", (1792, 295, 565), 168), ("dev", (221, 33, 63), 20)],
)
def test_parashoot_has_the_papers_counts_and_the_blanks_that_were_counted(file, sizes, blanks):
    rows = parashoot(file)
    assert (len(rows), len({e.group for e in rows}), len({e.text for e in rows})) == sizes
    assert sum(REPAIRS in e.side for e in rows) == blanks
    assert all(len(e.spans) == 1 for e in rows)


def test_parashoots_files_share_neither_article_nor_paragraph():
    train, dev = parashoot("train"), parashoot("dev")
    assert not {e.group for e in train} & {e.group for e in dev}
    assert not {e.text for e in train} & {e.text for e in dev}


@pytest.mark.skipif("me5-small" not in ENCODER.name, reason="HERON_ENCODER is not me5-small-he-ro")
@pytest.mark.parametrize(
    ("file", "windows", "several", "inexact"),
    [("train", 2010, 195, 242), ("dev", 283, 45, 32)],
)
def test_windows_and_borders_of_parashoot_in_the_small_e5_encoder(file, windows, several, inexact):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(ENCODER)
    options = FeatureOptions(
        "question",
        384,
        ("answer",),
        overflow="windows",
        stride=128,
    )
    rows = parashoot(file)
    features = qa_features(rows, tokenizer, options)
    assert features.refused == []
    assert len(features.lengths_S) == windows
    assert (features.units().sizes_U > 1).sum() == several
    counts = {name: number for name, (number, _) in features.counts.items() if number}
    assert counts == {"answers_exact": len(rows) - inexact, "answers_inexact": inexact}
    answers = features.columns["answers"]
    equal = 0
    owners = features.sequences_R.searchsorted(range(windows), side="right") - 1
    for sequence, row in enumerate(owners):
        first, last = answers.array[answers.offsets[sequence]]
        start, end = features.offsets_S[sequence : sequence + 2]
        chars = features.columns["chars"].array[start:end]
        equal += first > 0 and char_span(chars, first, last) == rows[row].spans[0]
    assert equal >= len(rows) - inexact
