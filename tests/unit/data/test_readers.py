"""Good rows become examples; everything wrong with the others is said at once, by line."""

import json

import pytest

from chronicle.options import CorpusOptions
from heron.base.errors import DataError
from heron.base.folders import conf_dir
from heron.base.tables import cell_text
from heron.data.config import (
    Columns,
    DataConfig,
    FileConfig,
    JoinConfig,
    SampleConfig,
    read_config,
)
from heron.data.readers import load, read_rows

A = "it [E1] began [/E1] before it [E2] ended [/E2]"
B = "he [E1] slept [/E1] while she [E2] read [/E2]"
C = "they [E1] won [/E1] after they [E2] trained [/E2]"
HEADER = "guid,text,label"


@pytest.fixture
def config() -> DataConfig:
    return DataConfig(
        name="own",
        language="en",
        label_order=["BEFORE", "AFTER"],
        files={"train": FileConfig("train.csv")},
    )


@pytest.fixture
def write(tmp_path):
    def write(*lines: str, name: str = "train.csv") -> None:
        (tmp_path / name).write_bytes("\n".join([*lines, ""]).encode())

    return write


@pytest.fixture
def read(tmp_path, config):
    def read() -> dict:
        config.validation.fraction = 0
        return load(config, tmp_path, tmp_path / "cache")

    return read


def problems(read) -> list[str]:
    with pytest.raises(DataError) as error:
        read()
    return [str(problem) for problem in error.value.problems]


def test_row_becomes_an_example_with_plain_text_and_spans(write, read):
    write(HEADER, f"g1,{A},BEFORE")
    (example,) = read()["train"]
    assert (example.guid, example.label) == ("g1", "BEFORE")
    assert example.text == "it began before it ended"
    assert [example.text[s.start : s.end] for s in example.spans] == ["began", "ended"]
    assert example.side == {"file": "train.csv", "line": 2}


def test_without_a_guid_column_the_file_and_line_are_the_guid(write, read):
    write("text,label", f"{A},BEFORE", f"{B},AFTER")
    assert [e.guid for e in read()["train"]] == ["train:2", "train:3"]


def test_the_right_label_is_read_with_the_labels_aliases_and_never_replaces_the_label(
    write, read, config
):
    config.label_aliases = {"b": "BEFORE"}
    config.columns.truth = "corrected"
    write("guid,text,label,corrected", f"k,{A},AFTER,b", f"l,{B},AFTER,")
    first, second = read()["train"]
    assert (first.label, first.side["truth"]) == ("AFTER", "BEFORE")
    assert second.side["truth"] is None
    write("guid,text,label,corrected", f"k,{A},AFTER,BEFOR")
    assert "unknown corrected 'BEFOR'. Did you mean 'BEFORE'?" in problems(read)[0]


def test_configured_columns_are_read_and_side_columns_kept(write, read, config):
    config.columns = Columns("body", "gold", "key", "document", side=["rater"])
    write("key,body,gold,document,rater", f"k,{A},AFTER,d7,anna")
    (example,) = read()["train"]
    assert (example.guid, example.label, example.group) == ("k", "AFTER", "d7")
    assert example.side["rater"] == "anna"


def test_text_is_normalised_before_spans_are_counted(write, read, config):
    config.language = "ro"
    write(HEADER, "g,e\u0302n [E1] ş\u200fi [/E1] [E2] ţi [/E2],AFTER")
    (example,) = read()["train"]
    assert example.text == "ên și ți"
    assert [example.text[s.start : s.end] for s in example.spans] == ["și", "ți"]


@pytest.mark.parametrize(
    "content",
    [
        f"\ufeff{HEADER}\ng1,{A},BEFORE\n",
        f"{HEADER}\r\ng1,{A},BEFORE\r\n",
        f"\ufeff{HEADER}\r\ng1,{A},BEFORE",
    ],
    ids=["byte-order mark", "CRLF", "both, no last line end"],
)
def test_byte_order_mark_and_crlf_make_no_difference(tmp_path, read, content):
    (tmp_path / "train.csv").write_bytes(content.encode())
    (example,) = read()["train"]
    assert (example.guid, example.label) == ("g1", "BEFORE")


def test_jsonl_reads_like_csv(tmp_path, read, config):
    config.files = {"train": FileConfig("train.jsonl")}
    row = {"guid": 7, "text": A, "label": "AFTER"}
    (tmp_path / "train.jsonl").write_text(json.dumps(row))
    (example,) = read()["train"]
    assert (example.guid, example.label) == ("7", "AFTER")


@pytest.mark.parametrize("nothing", ["", "  "])
@pytest.mark.parametrize("column", ["guid", "text", "label"])
def test_empty_cells_are_reported_by_column(write, read, nothing, column):
    cells = {"guid": "g1", "text": A, "label": "BEFORE", column: nothing}
    write(HEADER, ",".join(cells.values()), f"g2,{B},AFTER")
    (problem,) = problems(read)
    assert f"train.csv:2: '{column}' is empty" in problem


@pytest.mark.parametrize(
    ("named", "cell"),
    [("1", "1.0"), ("0", "\u200b0"), ("1.0", "1"), ("nan", "nan"), ("ța", "t\u0326\u200fa")],
)
def test_a_class_and_an_id_are_read_in_every_form_of_their_names(write, read, config, named, cell):
    config.label_order = [named, "other"]
    write(HEADER, f"{cell},{A},{cell}", f"g2,{A},other")
    first = read()["train"][0]
    assert (first.label, first.guid) == (named, cell_text(cell))


def test_a_number_where_a_text_is_meant_is_its_text(tmp_path, read, config):
    config.files = {"train": FileConfig("train.jsonl")}
    config.task, config.format = "classification", "text_table"
    (tmp_path / "train.jsonl").write_text('{"text": 1990, "label": "AFTER"}')
    assert read()["train"][0].text == "1990"


def test_all_problems_of_all_files_come_at_once_in_line_order(write, read, config):
    config.files["test"] = FileConfig("test.csv")
    write(HEADER, "g1,no markers,BEFORE", f"g2,{A},NEVER", f"g3,{B}", f"g2,{B},AFTER")
    write(HEADER, f"t1,{C},", name="test.csv")
    found = problems(read)
    assert [p.partition(": ")[0].rpartition("/")[2] for p in found] == [
        "train.csv:2",
        "train.csv:3",
        "train.csv:4",
        "train.csv:5",
        "test.csv:2",
    ]


def test_counts_of_another_revision_are_refused_unless_verify_is_off(write, read, config):
    config.counts = {"train": {"BEFORE": 2, "AFTER": 1}}
    config.files["train"].rows = 3
    write(HEADER, f"g1,{A},BEFORE", f"g2,{B},AFTER")
    rows, before = problems(read)
    assert "2 rows, expected 3" in rows
    assert "1 rows of class BEFORE, expected 2" in before
    assert "data.verify=false" in before
    config.verify = False
    assert len(read()["train"]) == 2


def joined(config: DataConfig) -> None:
    take = {"guid": "id", "group": "doc", "rater": "r1"}
    config.join, config.files["join"] = JoinConfig("text", take), FileConfig("all.csv")


def test_join_brings_guid_group_and_side_columns(write, read, config):
    joined(config)
    write("text,label", f"{A},BEFORE", f"{B},AFTER")
    write("id,doc,r1,text", f"1.1,1,x,{B}", f"2.1,2 ,y,{A}", name="all.csv")  # a blank: trimmed
    first, second = read()["train"]
    assert (first.guid, first.group, first.side["rater"]) == ("2.1", "2", "y")
    assert (second.guid, second.group) == ("1.1", "1")


def test_row_without_a_partner_in_the_join_is_reported(write, read, config):
    joined(config)
    write("text,label", f"{A},BEFORE", f"{B},AFTER")
    write("id,doc,r1,text", f"1.1,1,x,{B}", name="all.csv")
    (problem,) = problems(read)
    assert "train.csv:2: no row of all.csv has this text" in problem


def test_validation_is_carved_from_train_and_test_is_left_alone(write, tmp_path, config):
    config.columns.group = "doc"
    config.files["test"] = FileConfig("test.csv")
    config.validation.fraction = 0.2
    config.sample = SampleConfig(0.5)
    rows = [f"{d}.{i},{d},{text},AFTER" for d in range(10) for i, text in enumerate((A, B))]
    write(f"guid,doc,text{HEADER[9:]}", *rows)
    write(f"guid,doc,text{HEADER[9:]}", *rows, name="test.csv")
    splits = load(config, tmp_path, tmp_path / "cache")
    assert list(splits) == ["train", "validation", "test"]
    assert {split: len(examples) for split, examples in splits.items()} == {
        "train": 8,  # half of what carving left
        "validation": 4,
        "test": 20,
    }
    assert not {e.group for e in splits["train"]} & {e.group for e in splits["validation"]}


def test_shipped_validation_file_is_used_as_it_is(write, tmp_path, config):
    config.files["validation"] = FileConfig("dev.csv")
    write(HEADER, f"g1,{A},BEFORE", f"g2,{B},AFTER")
    write(HEADER, f"v1,{C},AFTER", name="dev.csv")
    splits = load(config, tmp_path, tmp_path / "cache")
    assert [e.guid for e in splits["validation"]] == ["v1"]
    assert len(splits["train"]) == 2


def test_own_file_needs_no_labels_and_bad_rows_are_reported_beside_the_good(
    write, tmp_path, config
):
    joined(config)  # a user's file is not joined with the data set's table
    write("text", A, "no markers", B)
    rows = read_rows(tmp_path / "train.csv", config, bad_rows="report")
    assert [(e.guid, e.label) for e in rows.examples] == [("train:2", None), ("train:4", None)]
    assert [p.where.rpartition("/")[2] for p in rows.problems] == ["train.csv:3"]


def test_own_file_with_invalid_utf8_loses_that_row_only(tmp_path, config):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"text\n" + A.encode() + b"\n\xff" + B.encode() + b"\n")
    rows = read_rows(path, config, bad_rows="report")
    assert [e.guid for e in rows.examples] == ["rows:2"]
    assert [p.where.rpartition("/")[2] for p in rows.problems] == ["rows.csv:3"]


def test_labels_of_an_own_file_are_optional_required_or_ignored(write, tmp_path, config):
    path = tmp_path / "train.csv"
    write(HEADER, f"g1,{A},BEFORE", f"g2,{B},", f"g3,{C},?")
    optional = read_rows(path, config, "optional", "report")
    assert [e.label for e in optional.examples] == ["BEFORE", None]
    assert len(read_rows(path, config, "required", "report").problems) == 2
    assert [e.label for e in read_rows(path, config, "ignored").examples] == [None] * 3


@pytest.mark.parametrize("language", ["he", "ro", "en"])
def test_built_in_corpus_loads_in_every_language_with_the_truth_beside_noise(tmp_path, language):
    config = read_config(conf_dir() / "data" / "chronicle.yaml")
    config.language = language
    config.generator = CorpusOptions(size=200, label_noise=0.1)
    splits = load(config, tmp_path, tmp_path / "cache")
    assert {split: len(examples) for split, examples in splits.items()} == {
        "train": 140,
        "validation": 20,
        "test": 40,
    }
    assert sum(e.label != e.side["truth"] for e in splits["train"]) == 14
    assert all(e.label == e.side["truth"] for e in splits["test"])
    assert all(e.group for e in splits["train"])
