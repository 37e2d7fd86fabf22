"""Articles and summaries from tables: what is read, refused, left out and counted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import DataError
from heron.base.folders import conf_dir
from heron.data.config import FileConfig, SummariesConfig, read_config
from heron.data.readers import load_with_report, read_rows
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.tasks.summarization.reader import EMPTY, OTHER_SCRIPT, SHORT, as_given, other_script

ROWS = [
    {
        "guid": "a",
        "article": "הממשלה התכנסה ביום שני. היא דנה בתקציב.",
        "summary": "ישיבה על התקציב",
    },
    {"guid": "b", "article": "השביתה הסתיימה בערב.", "summary": "סוף השביתה"},
]


@pytest.fixture
def own():
    return read_config(conf_dir() / "data" / "own_summaries.yaml")


@pytest.fixture
def table(tmp_path):
    """Return a function that writes rows to a JSONL file."""

    def write(rows, name="rows.jsonl"):
        path = tmp_path / name
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return write


def test_without_ids_rows_are_named_by_file_and_line(own, table):
    rows = [{key: row[key] for key in ("article", "summary")} for row in ROWS]
    assert [e.guid for e in read_rows(table(rows), own, "required").examples] == [
        "rows:1",
        "rows:2",
    ]


def test_a_row_to_predict_needs_no_summary_and_has_none(own, table):
    (example,) = read_rows(table([{"article": "שלום"}]), own, "ignored").examples
    assert (example.target, example.label) == (None, None)
    (example, _) = read_rows(table(ROWS), own, "ignored").examples
    assert (example.target, example.label) == (None, None)


def test_everything_wrong_is_said_at_once_with_its_line(own, table):
    rows = [
        {"guid": "a", "article": "", "summary": "x"},
        {"guid": "a", "article": "שלום", "summary": None},
        {"guid": "c", "article": [7, 8], "summary": "x"},
    ]
    with pytest.raises(DataError) as error:
        read_rows(table(rows), own, "required")
    found = {problem.where.rpartition(":")[2]: problem.what for problem in error.value.problems}
    assert "'article' is empty" in found["1"]
    assert "'summary' is empty" in found["2"]
    assert "no text" in found["3"]
    assert any("already on line 1" in problem.what for problem in error.value.problems)


def test_the_paper_s_filters_are_counted_steps(own, table, tmp_path):
    rows = [
        *ROWS,
        {"guid": "c", "article": "The strike is over. שלום", "summary": "סוף השביתה הגדולה"},
        {"guid": "d", "article": "", "summary": "סוף"},
        {"guid": "e", "article": "סוף", "summary": "   "},
        {"guid": "f", "article": "", "summary": ""},  # one row, not two
    ]
    own.summaries = SummariesConfig(empty="drop", other_script=0.5, min_summary_tokens=3)
    own.files = {"train": FileConfig(str(table(rows)))}
    own.language = "he"
    own.validation.fraction = own.holdout.fraction = 0.0
    loaded = load_with_report(own, tmp_path, tmp_path)
    assert [e.guid for e in loaded.examples["train"]] == ["a"]
    assert loaded.dropped["train"] == {SHORT: 1, OTHER_SCRIPT: 1, EMPTY: 3}


def test_what_the_file_spells_otherwise_is_kept_beside_what_was_read(own, table):
    marked = {**ROWS[0], "summary": f"\u200f{ROWS[0]['summary']} "}
    first, second = read_rows(table([marked, ROWS[1]]), own, "required").examples
    assert first.target == ROWS[0]["summary"]
    assert as_given(first) == (ROWS[0]["article"], marked["summary"].strip())
    assert as_given(second) == (second.text, second.target)


@given(st.text(alphabet=HEBREW.alphabet, min_size=1), st.text(alphabet="abcdz", min_size=1))
def test_the_share_of_other_letters_is_theirs_among_all(hebrew, latin):
    assert other_script(hebrew, frozenset(HEBREW.alphabet)) == 0
    assert other_script(latin, frozenset(HEBREW.alphabet)) == 1
    both = other_script(f"{hebrew} 17, {latin}!", frozenset(HEBREW.alphabet))
    assert both == pytest.approx(len(latin) / len(hebrew + latin))


def test_points_capitals_and_diacritics_are_of_the_language():
    assert other_script("שָׁלוֹם", frozenset(HEBREW.alphabet)) == 0
    assert other_script("Școală ÎNALTĂ", frozenset(ROMANIAN.alphabet)) == 0
    assert other_script("1234 ...", frozenset(ROMANIAN.alphabet)) == 1
