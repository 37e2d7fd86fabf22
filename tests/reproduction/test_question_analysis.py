"""ParaShoot's own tables, computed from its files: what agrees and by how much the rest differs."""

import pytest

from heron.data.overrides import configure
from heron.languages.hebrew import HEBREW
from heron.results.shipped import read_shipped
from heron_forks.parashoot.question_words import question_clusters
from heron_forks.parashoot.questions import ALL, question_statistics
from real_data import DATA, needs

pytestmark = needs(DATA)

# Table 1: articles, paragraphs, questions. Table 3: percent of the 221 validation questions.
TABLE_1 = {"train": (295, 565, 1792), "validation": (33, 63, 221), "test": (165, 319, 1025)}
TABLE_3 = {
    "what": 16.29,
    "which": 15.84,
    "who": 14.03,
    "when": 13.57,
    "where": 10.86,
    "how": 6.79,
    "how_many": 5.43,
    "why": 4.52,
}


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    shipped = read_shipped(configure("parashoot", []), DATA, tmp_path_factory.mktemp("cache"))
    return shipped.splits


@pytest.fixture(scope="module")
def described(splits):
    return question_statistics(splits, "he")


def test_table_1_is_that_of_the_paper_for_every_file_that_is_there(described):
    found = {name: (d.articles, d.paragraphs, d.questions) for name, d in described.items()}
    found.pop(ALL)
    assert {"train", "validation"} <= found.keys()
    assert found == {name: TABLE_1[name] for name in found}


def test_table_3_is_the_papers_but_for_one_question_in_each_of_its_first_two_rows(described):
    counts = described["validation"].first_words
    printed = {name: round(share / 100 * 221) for name, share in TABLE_3.items()}
    assert {name: counts[name] - n for name, n in printed.items() if counts[name] != n} == {
        "what": 1,
        "which": 1,
    }
    assert sum(TABLE_3.values()) == pytest.approx(87.33)
    assert counts["other"] == 26


def test_without_two_inflected_words_table_3_is_exactly_the_papers(splits):
    """The paper does not list its words; these two in no cluster give all eight of its rows."""
    questions = [example.text_pair for example in splits["validation"]]
    left = [text for text in questions if text.split()[0] not in ("ממה", "מאיזו")]
    found = question_clusters(left, HEBREW, reach=1)
    shares = {name: round(100 * found.count(name) / 221, 2) for name in TABLE_3}
    assert shares == TABLE_3


def test_the_share_of_complex_questions_is_the_papers_over_all_files(described):
    """The paper says 27.6 % "of the data"; without the test file the share is higher."""
    shares = [described[name].complex for name in ("train", "validation")]
    assert shares == pytest.approx([0.276, 0.317], abs=0.0005)
    expected = 0.276 if "test" in described else 0.281
    assert described[ALL].complex == pytest.approx(expected, abs=0.0005)


def test_most_questions_have_4_to_7_words_and_most_answers_1_to_4(described):
    questions, answers = described[ALL].question_lengths, described[ALL].answer_lengths
    assert sum(4 <= words <= 7 for words in questions) / len(questions) > 0.6
    assert sum(1 <= words <= 4 for words in answers) / len(answers) > 0.6
    assert min(questions) == 2
