"""Tables that people fill in: what spreadsheet programs read, and what they write."""

import csv

import pytest

from heron.base.errors import DataError
from heron.base.tables import read_table
from heron_tools.annotation.sheets import read_from_people, write_for_people

COLUMNS = {"guid": ["1", "2"], "text": ['=1+1, "so"', "שלום\nעולם"], "q1": ["", ""]}


def test_a_sheet_says_that_it_is_utf8_runs_nothing_and_comes_back_as_it_was(tmp_path):
    path = tmp_path / "new" / "anna.csv"
    write_for_people(path, COLUMNS)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        assert next(csv.DictReader(file))["text"] == '\'=1+1, "so"'
    table = read_table(path, own=True)
    assert {name: table.values(name) for name in table.columns} == COLUMNS


def test_rows_without_any_content_are_left_out_and_lines_are_the_files(tmp_path):
    path = tmp_path / "anna.csv"
    path.write_text("guid;q1\n1;yes\n ;\n2;\n;\n; \n")
    table = read_from_people(path)
    assert table.values("guid") == ["1", "2"]
    assert [table.where(n) for n in range(2)] == [f"{path}:2", f"{path}:4"]
    path.write_text("guid,q1\n,\n")
    with pytest.raises(DataError, match=r"anna\.csv.*has no rows"):
        read_from_people(path)


def test_a_table_in_another_format_has_no_mark_of_a_spreadsheet(tmp_path):
    write_for_people(tmp_path / "anna.jsonl", COLUMNS)
    assert (tmp_path / "anna.jsonl").read_bytes().startswith(b"{")
    assert read_table(tmp_path / "anna.jsonl").values("text") == COLUMNS["text"]
