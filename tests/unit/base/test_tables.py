"""What heron promises about files of rows."""

import csv
import gzip
import io
import json
import re
import tracemalloc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import DataError
from heron.base.tables import (
    cell_text,
    is_missing,
    read_chunks,
    read_table,
    received,
    write_chunks,
    write_table,
)
from tiers import quick

ROWS = [{"guid": "a", "text": "אמר"}, {"guid": "b", "text": "spune, „da”"}]


def save(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("t.csv", 'guid,text\na,אמר\nb,"spune, „da”"\n', [2, 3]),
        ("t.tsv", "guid\ttext\na\tאמר\nb\tspune, „da”\n", [2, 3]),
        ("t.jsonl", "\n".join(json.dumps(row) for row in ROWS), [1, 2]),
        ("t.json", json.dumps(ROWS, ensure_ascii=False, indent=1), [1, 2]),
        ("t.CSV", 'guid,text\na,אמר\nb,"spune, „da”"', [2, 3]),
    ],
)
def test_every_text_format_gives_the_same_rows_and_their_lines(tmp_path, name, content, lines):
    table = read_table(save(tmp_path, name, content))
    assert table.rows == ROWS
    assert table.columns == ("guid", "text")
    assert table.lines == lines
    assert table.where(1) == f"{tmp_path / name}:{lines[1]}"


def many(folder: Path, name: str, count: int) -> Path:
    """Write some rows, of JSON the last one with a column that the others lack."""
    rows: list[dict] = [{"guid": f"row {n}", "text": f"אמר {n}\n" * 20} for n in range(count)]
    path = folder / name.removesuffix(".gz")
    if path.suffix == ".json":
        path.write_text(json.dumps([*rows, {"guid": "z", "group": 3}]))
    else:
        write_table(path, {column: [row[column] for row in rows] for column in rows[0]})
    if path.suffix == ".jsonl":
        path.write_text(path.read_text() + '{"text": 1\n{"guid": "z", "group": 3}\n')
    if name.endswith(".gz"):
        return save(folder, name, gzip.compress(path.read_bytes()))
    return path


@pytest.mark.parametrize(
    "name", ["t.csv", "t.jsonl", "t.json", "t.parquet", "t.csv.gz", "t.jsonl.gz", "t.parquet.gz"]
)
def test_chunks_are_together_what_the_table_is(tmp_path, name):
    path = many(tmp_path, name, 25)
    whole = read_table(path, bad_rows="report")
    chunks = list(read_chunks(path, 10))
    assert [len(chunk) + len(chunk.problems) for chunk in chunks][:2] == [10, 10]
    assert {chunk.columns for chunk in chunks} == {whole.columns}
    for part in ("rows", "lines", "problems"):
        assert [each for chunk in chunks for each in getattr(chunk, part)] == getattr(whole, part)


@pytest.mark.parametrize(
    "name", quick(["t.csv", "t.parquet", "t.jsonl", "t.csv.gz", "t.jsonl.gz"], 2)
)
def test_reading_in_chunks_holds_few_rows_at_once(tmp_path, name):
    def peak(read) -> int:
        tracemalloc.start()
        read()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    path = many(tmp_path, name, 5000)
    whole = peak(lambda: read_table(path, bad_rows="report"))
    assert peak(lambda: [len(chunk) for chunk in read_chunks(path, 100)]) < whole / 3


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_table_written_in_chunks_is_the_one_written_at_once(tmp_path, suffix):
    columns = {
        "guid": ["a", "b", "c", "=d"],
        "start": [None, None, 3, None],
        "p": [0.5, 1.0, 0.0, 2.0],
    }
    write_table(tmp_path / f"whole{suffix}", columns)
    parts = [slice(0, 2), slice(2, 2), slice(2, 3), slice(3, 4)]
    chunks = [{name: values[part] for name, values in columns.items()} for part in parts]
    write_chunks(tmp_path / f"parts{suffix}", iter(chunks))
    parts_of, whole = (read_table(tmp_path / f"{name}{suffix}") for name in ("parts", "whole"))
    assert (parts_of.rows, parts_of.columns) == (whole.rows, whole.columns)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json"])
def test_packed_files_are_read_and_broken_ones_reported(tmp_path, name):
    plain = {"t.csv": "guid,text\na,x\n", "t.jsonl": '{"guid": "a", "text": "x"}'}
    content = gzip.compress(plain.get(name, '[{"guid": "a", "text": "x"}]').encode())
    assert read_table(save(tmp_path, f"{name}.gz", content)).rows == [{"guid": "a", "text": "x"}]
    for broken in (content[:-9], b"no gzip", b"\x1f\x8b" + content[5:]):
        with pytest.raises(DataError, match=r"\.gz: cannot be read"):
            read_table(save(tmp_path, f"{name}.gz", broken))


DEEP, LONG = "[" * 100_000 + "]" * 100_000, "9" * 5000
GOOD = '{"id": "1", "text": "\\ud83d\\ude00 \\\\ud83d"}'  # a character, a backslash and a word


@pytest.mark.parametrize(
    ("name", "content", "read", "bad"),
    [
        ("t.csv", 'id,text\n1,"one\ntwo\n"\n\n2,three\n', {2: "one\ntwo\n", 6: "three"}, []),
        ("t.csv", b'id,text\n1,a\n2\n3,a,b\n4,"x"y,\n"5",caf\xe9\n', {2: "a"}, [3, 4, 5, 6]),
        ("t.csv", "id,text,\n1,a,\n1,b,3\n1,c\n", {2: "a", 4: "c"}, [3]),
        ("t.csv", "id,text\n1,go\0od\n2,a\n", {3: "a"}, [2]),
        ("t.csv", 'text\n"a;b"\n', {2: "a;b"}, []),
        ("t.jsonl", f"{GOOD}\n" + '{"text": "a\u2028b"}\n', {1: "😀 \\ud83d", 2: "a\u2028b"}, []),
        ("t.jsonl", b'{"text": "a"}\n{"id": 2\n[3]\n\n{"id": "\xff"}\n', {1: "a"}, [2, 3, 5]),
        *(
            ("t.jsonl", f'{{"text": {value}}}\n{GOOD}', {2: "😀 \\ud83d"}, [1])
            for value in ('"\\ud83d"', '"\\ude00 \\ud83d\\ude00"', DEEP, LONG)
        ),
        ("t.json", f'[{GOOD}, {{"\\udfff": 2}}]', {1: "😀 \\ud83d"}, [2]),
        ("t.json", f'[{GOOD}, {{"text": {LONG}}}]', {}, [1]),  # nothing of it is read
    ],
    ids=range(13),
)  # fmt: skip
def test_a_bad_row_is_reported_by_its_line_and_costs_no_other(tmp_path, name, content, read, bad):
    table = read_table(save(tmp_path, name, content), bad_rows="report")
    assert {line: row["text"] for line, row in zip(table.lines, table.rows, strict=True)} == read
    assert [problem.number for problem in table.problems] == bad


@pytest.mark.parametrize("content", ["", "guid,text\n", "guid,guid\n1,a\n"])
def test_a_file_without_a_readable_row_is_one_part_with_a_problem(tmp_path, content):
    (chunk,) = read_chunks(save(tmp_path, "t.csv", content), 10)
    assert (len(chunk), len(chunk.problems)) == (0, 1)


@pytest.mark.parametrize("after", ["", '4,"quoted, too"\n'])
def test_a_quote_that_is_never_closed_costs_its_line_and_no_other(tmp_path, after):
    path = save(tmp_path, "t.csv", f'id,text\n1,"open\n2,"one, more"\n3,b\n{after}')
    table = read_table(path, bad_rows="report", quoting="csv")
    assert table.values("id") == ["2", "3", *(["4"] if after else [])]
    assert table.values("text")[:2] == ["one, more", "b"]
    assert [problem.number for problem in table.problems] == [2]


def test_quotes_around_what_looks_like_rows_are_characters_and_that_is_said(tmp_path, capsys):
    lines = ['"Aa\tBb\tx', "Cc\tDd\ty", 'Ee"\tFf\tx', *["a\tb\ty"] * 16]
    path = save(tmp_path, "t.tsv", "\n".join(["one\ttwo\tlabel", *lines]))
    table = read_table(path)
    assert [list(row.values()) for row in table.rows] == [line.split("\t") for line in lines]
    assert "data.quoting=csv" in capsys.readouterr().err
    quoted = read_table(path, quoting="csv")
    assert (len(quoted), quoted.rows[0]["two"]) == (17, "Ff")
    assert "data.quoting=none" in capsys.readouterr().err


CELL = st.text(st.sampled_from("\"'ab ,;\t\nא"), max_size=6)


@given(
    st.integers(2, 3).flatmap(lambda n: st.lists(st.tuples(*[CELL] * n), min_size=1)),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC, None]),
    st.sampled_from(["csv", "tsv"]),
)
def test_every_row_is_read_and_every_cell_as_it_was_written(tmp_path_factory, rows, manner, kind):
    sign = {"csv": ",", "tsv": "\t"}[kind]
    names = [f"column {n}" for n in range(len(rows[0]))]
    if manner is None:  # quotes are characters; such a table has no separators in its cells
        rows = [[re.sub(r"[\n\t,]", " ", cell) for cell in row] for row in rows]
        written = "".join(f"{sign.join(row)}\n" for row in [names, *rows])
    else:
        file = io.StringIO()
        writer = csv.writer(file, delimiter=sign, lineterminator="\n", quoting=manner)
        writer.writerows([names, *rows])
        written = file.getvalue()
    readings = [[line.split(sign) for line in written.split("\n") if line.strip()]]
    with suppress(csv.Error):
        readings.append(list(csv.reader(io.StringIO(written), delimiter=sign, strict=True)))
    right = [one for one in readings if all(len(row) == len(names) for row in one)]
    if len(right) == 1 or manner in (csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        right = [[names, *map(list, rows)]]  # else nothing tells in which manner it was written
    path = tmp_path_factory.mktemp("t") / f"t.{kind}"
    path.write_text(written)
    table = read_table(path, bad_rows="report")
    assert not table.problems
    assert [names, *(list(row.values()) for row in table.rows)] in right


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json"])
@pytest.mark.parametrize(
    "content",
    [
        "guid,text,,\r\na,x,,\r\nb,y,,\r\n",
        "guid;text\na;x\nb;y\n",
        "guid\ttext\t\na\tx\t\nb\ty\n",
        '"guid"|"text"\n"a"|"x"\n"b"|"y"\n',
        '{"guid": "a", "text": "x"}\r\n{"guid": "b", "text": "y"}\r\n',
        '\n[{"guid": "a", "text": "x"}, {"guid": "b", "text": "y"}]',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_format_is_seen_from_the_content_not_from_the_name(tmp_path, name, content, encoding):
    path = save(tmp_path, name, content.encode(encoding))
    if content[0] in "{\n" or name in ("t.csv", "t.tsv"):
        expected = [{"guid": "a", "text": "x"}, {"guid": "b", "text": "y"}]
        assert read_table(path).rows == expected
        assert [row for chunk in read_chunks(path, 1) for row in chunk.rows] == expected
    else:
        assert len(read_table(path, bad_rows="report")) == 0


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
def test_standard_input_is_a_table_in_any_format(tmp_path, monkeypatch, kind, count):
    if kind == "json":
        save(tmp_path, "t.json", json.dumps(ROWS[:count], indent=1))
    else:
        write_table(tmp_path / f"t.{kind}", {n: [r[n] for r in ROWS[:count]] for n in ROWS[0]})
    received.cache_clear()
    with (tmp_path / f"t.{kind}").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        for _ in range(2):
            assert read_table(received(Path("-"))).rows == ROWS[:count]
    received.cache_clear()
    assert received(Path("t.csv")) == Path("t.csv")


def test_empty_cells_and_repeated_ids_are_reported_with_their_lines(tmp_path):
    content = '{"id": 3}\n{"id": "3"}\n{"id": null}\n{"id": 3.0}\n{"id": " "}\n{"id": "nan"}\n'
    table = read_table(save(tmp_path, "t.jsonl", content))
    assert [problem.number for problem in table.missing_values("id")] == [3, 5]
    assert [problem.number for problem in table.duplicates("id")] == [2, 4]
    assert is_missing(float("nan"))


@pytest.mark.parametrize(
    "form", ["s\u0326tiri", "\u200f știri\u200b", "\ufeffștiri", "ști\u2060ri"]
)
def test_a_name_is_the_same_in_every_unicode_form(form):
    assert cell_text(form) == "știri"


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
LIVE = st.builds("".join, st.tuples(st.text("'"), st.sampled_from("=+-@\t\r\n＝"), TEXT))


@given(st.lists(st.tuples(TEXT, LIVE), min_size=1, max_size=5), st.sampled_from(["csv", "jsonl"]))
def test_any_text_survives_writing_and_reading(tmp_path_factory, pairs, kind):
    path = tmp_path_factory.mktemp("t") / f"t.{kind}"
    columns = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}
    write_table(path, columns)
    table = read_table(path, own=True)
    assert {name: table.values(name) for name in table.columns} == columns


def test_a_spreadsheet_runs_no_text_of_a_csv(tmp_path):
    live = ["=1+1", "@SUM(A1)", "- a dash", "\t=1", "'=1", "-1+cmd|' /C calc'!A0"]
    plain = ["-5", "+1.5e-3", "12,5%", "a=1", "'quoted'"]
    write_table(tmp_path / "t.csv", {"=c": [*live, *plain]})
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        assert [row[0] for row in csv.reader(file)] == ["'=c", *(f"'{x}" for x in live), *plain]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_numbers_survive_writing_and_reading(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    write_table(path, {"guid": ["a", "b"], "p": np.array([0.25, 0.5]), "n": np.array([1, 2])})
    table = read_table(path)
    assert table.rows == [{"guid": "a", "p": 0.25, "n": 1}, {"guid": "b", "p": 0.5, "n": 2}]
    assert table.lines == [1, 2]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = save(tmp_path, "t.csv", "a\nold\n")
    with pytest.raises(ValueError, match="zip"):
        write_table(path, {"a": [1, 2], "b": [1]})
    with pytest.raises(DataError, match=r"cannot write a '\.txt' file"):
        write_table(tmp_path / "t.txt", {"a": [1]})
    assert path.read_text() == "a\nold\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]


def test_parquet_of_datasets_has_the_names_of_its_classes(tmp_path):
    features = {
        "label": {"names": ["neg", "pos"], "_type": "ClassLabel"},
        "idx": {"dtype": "int32", "_type": "Value"},
    }
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pa.table({"label": [-1, 1, 0, None], "idx": [-1, 1, 0, 2]})
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    assert read.values("label") == [None, "pos", "neg", None]
    assert read.values("idx") == [-1, 1, 0, 2]


def test_records_under_a_key_are_rows(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"version": 1, "reviews": ROWS}), "utf-8")
    assert read_table(path).rows == ROWS


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_a_git_lfs_pointer_is_called_that(name, tmp_path):
    (tmp_path / name).write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(DataError, match="LFS"):
        read_table(tmp_path / name)
