"""Judgement sheets: what is drawn, what is read back, what is refused."""

import csv

import pytest

from heron.base.cells import Interval
from heron.base.errors import ConfigError, DataError
from heron.data.examples import Example, Span
from heron_forks.parashoot.answer_sheet import (
    COLUMNS,
    SIZES,
    measure_ceiling,
    quality_table,
    read_sheet,
    write_sheet,
)

CONTEXT = "בשנת 1948 נסע דוד כהן מחיפה אל העיר תל אביב"


def example(number, answer="דוד כהן"):
    start = CONTEXT.index(answer)
    spans = (Span(start, start + len(answer)),)
    return Example(f"q{number}", CONTEXT, f"מי? {number}", spans, "answer", group=f"a{number % 3}")


def fill(path, **marks):
    """Write marks into a sheet as a person would; `q3="too_long=x corrected_answer=דוד"`."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for mark in marks.get(row["guid"], marks.get("rest", "")).split(" "):
            name, _, value = mark.partition("=")
            if name:
                row[name] = value.replace("_", " ")
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.csv"
    write_sheet(path, [example(number) for number in range(10)], sample=10, seed=0)
    return path


def guids(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [row["guid"] for row in csv.DictReader(file)]


def test_a_seed_draws_the_same_questions_whatever_their_order(tmp_path):
    examples = [example(number) for number in range(30)]
    first, second, third = (tmp_path / f"{name}.csv" for name in "abc")
    assert write_sheet(first, examples, sample=8, seed=3) == 30
    write_sheet(second, examples[::-1], sample=8, seed=3)
    write_sheet(third, examples, sample=8, seed=4)
    assert len(set(guids(first))) == 8
    assert guids(first) == guids(second)[::-1]
    assert guids(first) == sorted(guids(first), key=lambda guid: int(guid[1:]))
    assert set(guids(first)) != set(guids(third))


def test_a_sheet_shows_question_context_and_answer_and_leaves_the_marks_empty(sheet):
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf")
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        first = next(csv.DictReader(file))
    shown = [first[name] for name in ("article", "question", "context", "answer")]
    assert shown == ["a0", "מי? 0", CONTEXT, "דוד כהן"]
    assert not any(first[name] for name in COLUMNS[5:])


def test_a_spreadsheet_runs_nothing_in_a_sheet_and_its_texts_come_back(tmp_path):
    path, text = tmp_path / "sheet.csv", "=HYPERLINK(0) was the answer"
    live = Example("@q", text, "-which?", (Span(0, 13),), "answer", group="=a")
    write_sheet(path, [live], sample=1, seed=0)
    with path.open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    shown = [row[name] for name in ("guid", "article", "question", "context", "answer")]
    assert shown == ["'@q", "'=a", "'-which?", f"'{text}", "'=HYPERLINK(0)"]
    fill(path, rest="minimal=x")
    (judged,), _ = read_sheet(path)
    assert (judged.guid, judged.group, judged.answer) == ("@q", "=a", "=HYPERLINK(0)")


def test_empty_rows_below_the_last_one_are_no_questions(sheet):
    fill(sheet, rest="minimal=x")
    with sheet.open("a", encoding="utf-8") as file:
        file.write("," * (len(COLUMNS) - 1) + "\n")
    judged, empty = read_sheet(sheet)
    assert (len(judged), empty) == (10, 0)


def test_questions_without_an_answer_are_not_drawn(tmp_path):
    examples = [example(0), Example("none", CONTEXT, "מי?", (), "no_answer")]
    assert write_sheet(tmp_path / "s.csv", examples, sample=1, seed=0) == 1
    with pytest.raises(ConfigError, match="sample=2: from 1 to 1"):
        write_sheet(tmp_path / "t.csv", examples, sample=2, seed=0)


def test_a_sheet_that_is_there_is_never_overwritten(sheet):
    before = sheet.read_bytes()
    with pytest.raises(ConfigError, match="exists already"):
        write_sheet(sheet, [example(0)], sample=1, seed=0)
    assert sheet.read_bytes() == before


def test_marks_add_up_to_shares_with_intervals(sheet):
    fill(
        sheet,
        q0="too_long=x corrected_answer=דוד",
        q1="too_long=1 corrected_answer=כהן",
        q2="too_short=yes corrected_answer=דוד_כהן_מחיפה_אל",
        q3="",
        rest="minimal=X correct=1",
    )
    judged, empty = read_sheet(sheet)
    assert (len(judged), empty) == (9, 1)
    rows = {row[0]: row[1:] for row in quality_table(judged, empty).rows}
    assert [rows[size][0] for size in SIZES[:3]] == [6, 2, 1]
    assert rows["minimal"][1].value == pytest.approx(6 / 9)
    assert rows["answers the question"][0] == 9
    measured = measure_ceiling(judged)
    assert measured.ratio == pytest.approx(2.0)
    # A half of two words: F1 2/3; two words of four: 2/3 as well.
    assert isinstance(measured.score, Interval)
    assert measured.score.value == pytest.approx((6 + 3 * 2 / 3) / 9)


def test_a_wrong_answer_needs_no_size_and_earns_nothing(sheet):
    fill(sheet, q0="correct=no", rest="minimal=x")
    judged, empty = read_sheet(sheet)
    rows = {row[0]: row[1:] for row in quality_table(judged, empty).rows}
    assert rows["wrong"][0] == 1
    assert rows["answers the question"][0] == 9
    assert measure_ceiling(judged).score.value == pytest.approx(0.9)


def test_a_ceiling_is_measured_only_when_every_long_answer_was_corrected(sheet):
    fill(sheet, q0="too_long=x", q1="too_long=x corrected_answer=דוד", rest="minimal=x")
    measured = measure_ceiling(read_sheet(sheet)[0])
    assert measured.score is None
    assert measured.ratio == pytest.approx(2.0)


def test_all_marks_that_make_no_sense_are_named_by_line(sheet):
    fill(
        sheet,
        q0="minimal=x too_long=x",
        q1="minimal=perhaps",
        q2="too_long=x corrected_answer=משה",
        q3="correct=yes",
        q4="too_long=x corrected_answer=נסע_דוד_כהן",
        q5="minimal=x corrected_answer=דוד",
        q6="too_short=x corrected_answer=דוד",
        rest="minimal=x",
    )
    with pytest.raises(DataError) as caught:
        read_sheet(sheet)
    said = [str(problem) for problem in caught.value.problems]
    assert len(said) == 7
    for row, one in enumerate(said):
        assert f"sheet.csv:{row + 2} (q{row})" in one
