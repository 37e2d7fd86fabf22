"""The fork's data: what a reader would have to trust otherwise."""

import csv
import re
from collections import Counter
from itertools import chain

import pytest

from heron.base.folders import conf_dir
from heron.data.config import SPLITS
from heron.languages import get_language
from heron.languages.unicode import UnicodeOptions, normalise
from heron.languages.words import folded_words, words
from heron.metrics.span_classes import question_clusters

DATA = conf_dir().parent / "experiments" / "macedonian" / "data"
MACEDONIAN = get_language("mk")


def rows_of(task):
    """Read all rows, by split."""
    found = {}
    for split in SPLITS:
        with (DATA / f"{task}_{split}.csv").open(encoding="utf-8", newline="") as file:
            found[split] = list(csv.DictReader(file))
    return found


NLI, QA = rows_of("nli"), rows_of("qa")
EVERY = list(chain(*NLI.values(), *QA.values()))
PAIRS, QUESTIONS = list(chain(*NLI.values())), list(chain(*QA.values()))


def test_the_data_sets_have_the_size_that_the_page_names():
    assert [len(rows) for rows in NLI.values()] == [54, 18, 18]
    assert [len(rows) for rows in QA.values()] == [36, 12, 12]


def test_each_guid_and_each_row_is_there_once():
    assert len({row["guid"] for row in EVERY}) == len(EVERY)
    assert len({row["hypothesis"].casefold() for row in PAIRS}) == len(PAIRS)
    assert len({(row["context"], row["question"]) for row in QUESTIONS}) == len(QUESTIONS)


def test_a_topic_and_a_text_are_in_one_split():
    for data, columns in ((NLI, ("topic", "premise")), (QA, ("title", "context"))):
        for column in columns:
            seen = [{row[column] for row in rows} for rows in data.values()]
            assert len(set().union(*seen)) == sum(map(len, seen)), column


def test_each_premise_has_one_hypothesis_of_each_class():
    labels = Counter((row["premise"], row["label"]) for row in PAIRS)
    assert len(labels) == 90
    assert set(labels.values()) == {1}
    assert {label for _, label in labels} == {"contradiction", "entailment", "neutral"}


def test_an_answer_is_in_its_text_once_and_at_its_offset():
    for row in QUESTIONS:
        start, answer = int(row["answer_start"]), row["answer"]
        assert row["context"][start : start + len(answer)] == answer, row["guid"]
        assert row["context"].count(answer) == 1, row["guid"]
        whole = rf"(?<!\w){re.escape(answer)}(?!\w)"  # no part of a word
        assert re.search(whole, row["context"]), row["guid"]


def test_words_have_letters_of_the_alphabet_only_and_are_normalised():
    texts = [
        row[name]
        for row in EVERY
        for name in ("premise", "hypothesis", "context", "question")
        if name in row
    ]
    for text in texts:
        assert normalise(text, MACEDONIAN, UnicodeOptions()) == text
        for word in words(text):
            assert word.isdigit() or set(word) <= set(MACEDONIAN.alphabet), word
        assert text[-1] in ".?"
        assert text[0].isupper()
        assert text == " ".join(text.split())


def mean_length(label):
    """Average the words of a class's hypotheses."""
    lengths = [len(words(row["hypothesis"])) for row in PAIRS if row["label"] == label]
    return sum(lengths) / len(lengths)


def test_neither_length_nor_negation_gives_a_class_away():
    lengths = [mean_length(label) for label in ("contradiction", "entailment", "neutral")]
    assert max(lengths) - min(lengths) < 0.6
    negated = Counter(
        row["label"] for row in PAIRS if MACEDONIAN.negation & set(folded_words(row["hypothesis"]))
    )
    assert negated == {"entailment": 6, "contradiction": 7, "neutral": 7}


def test_every_question_is_known_by_its_question_word():
    clusters = question_clusters([row["question"] for row in QUESTIONS], MACEDONIAN)
    assert "other" not in clusters
    assert len(set(clusters)) == 8  # all there are
    assert max(Counter(clusters).values()) < len(QUESTIONS) / 3


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Ђорђевић", "Ѓорѓевиќ"),  # a Serbian keyboard
        ("г\u0301", "ѓ"),  # letter and mark
        ("не\u0300", "нѐ"),  # "us", which is not "не", "not"
        ("jazz", "jazz"),  # a Latin word
    ],
)
def test_variants_of_letters_are_one(typed, read):
    assert normalise(typed, MACEDONIAN, UnicodeOptions()) == read
    assert "нѐ" not in MACEDONIAN.negation
