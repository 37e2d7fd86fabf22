"""The fork's data: what a reader would have to trust otherwise."""

import csv
import re
from itertools import chain

import pytest

from heron.base.folders import conf_dir
from heron.data.config import SPLITS
from heron.languages import get_language
from heron.languages.unicode import UnicodeOptions, normalise

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


def test_an_answer_is_in_its_text_once_and_at_its_offset():
    for row in QUESTIONS:
        start, answer = int(row["answer_start"]), row["answer"]
        assert row["context"][start : start + len(answer)] == answer, row["guid"]
        assert row["context"].count(answer) == 1, row["guid"]
        whole = rf"(?<!\w){re.escape(answer)}(?!\w)"  # no part of a word
        assert re.search(whole, row["context"]), row["guid"]


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
