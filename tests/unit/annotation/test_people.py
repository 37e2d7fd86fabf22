"""Tables that people fill in: what spreadsheet programs read, and what they write."""

import csv

from heron.annotation.people import write_for_people
from heron.base.tables import read_table

COLUMNS = {"guid": ["1", "2"], "text": ['=1+1, "so"', "שלום\nעולם"], "q1": ["", ""]}


def test_a_sheet_says_that_it_is_utf8_runs_nothing_and_comes_back_as_it_was(tmp_path):
    path = tmp_path / "new" / "anna.csv"
    write_for_people(path, COLUMNS)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        assert next(csv.DictReader(file))["text"] == '\'=1+1, "so"'
    table = read_table(path, own=True)
    assert {name: table.values(name) for name in table.columns} == COLUMNS


def test_a_table_in_another_format_has_no_mark_of_a_spreadsheet(tmp_path):
    write_for_people(tmp_path / "anna.jsonl", COLUMNS)
    assert (tmp_path / "anna.jsonl").read_bytes().startswith(b"{")
    assert read_table(tmp_path / "anna.jsonl").values("text") == COLUMNS["text"]
