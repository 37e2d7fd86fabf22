"""A table with two texts becomes sentence pairs, whatever it calls its columns and classes."""

import json

import pytest

from heron.base.errors import DataError
from heron.base.folders import data_set_file
from heron.base.tables import write_table
from heron.data.config import (
    Columns,
    DataConfig,
    FileConfig,
    HoldoutConfig,
    read_config,
)
from heron.data.readers import load, load_with_report, read_rows

PREMISE, HYPOTHESIS = "The strike ended on Monday.", "The strike is over."


@pytest.fixture
def config() -> DataConfig:
    own = DataConfig(
        name="own",
        language="en",
        task="nli",
        format="pair_table",
        label_order=["contradiction", "entailment", "neutral"],
        label_aliases={"c": "contradiction", "e": "entailment", "n": "neutral"},
        no_label=["-"],
        columns=Columns("premise", text_pair="hypothesis"),
        files={"train": FileConfig("train.jsonl")},
    )
    own.validation.fraction = 0
    return own


@pytest.fixture
def write(tmp_path):
    def write(*rows: dict, name: str = "train.jsonl") -> None:
        lines = [json.dumps({"premise": PREMISE, "hypothesis": HYPOTHESIS, **row}) for row in rows]
        (tmp_path / name).write_text("\n".join(lines))

    return write


@pytest.fixture
def read(tmp_path, config):
    return lambda: load_with_report(config, tmp_path, tmp_path / "cache")


def problems(read) -> list[str]:
    with pytest.raises(DataError) as error:
        read()
    return [str(problem).partition("/train")[2] for problem in error.value.problems]


def test_a_row_becomes_a_premise_and_a_hypothesis(write, read, config):
    config.columns.group, config.columns.side = "premise", ["uid"]
    write({"label": "E", "uid": "id_0"})
    (example,) = read().examples["train"]
    assert (example.text, example.text_pair) == (PREMISE, HYPOTHESIS)
    assert (example.guid, example.label, example.group) == ("train:1", "entailment", PREMISE)
    assert example.side == {"file": "train.jsonl", "line": 1, "uid": "id_0"}
    assert example.spans == ()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_every_kind_of_table_reads_alike(tmp_path, config, read, suffix):
    path = tmp_path / f"train.{suffix}"
    columns = {"premise": [PREMISE], "hypothesis": [HYPOTHESIS], "label": ["n"]}
    config.files["train"].path = path.name
    if suffix in ("csv", "jsonl", "parquet"):
        write_table(path, columns)
    elif suffix == "tsv":
        path.write_text(f"premise\thypothesis\tlabel\n{PREMISE}\t{HYPOTHESIS}\tn\n")
    else:
        path.write_text(json.dumps([{name: values[0] for name, values in columns.items()}]))
    (example,) = read().examples["train"]
    assert (example.text_pair, example.label) == (HYPOTHESIS, "neutral")


def test_both_texts_are_normalised_and_trimmed(write, read, config):
    config.language = "ro"
    write({"premise": " şi\u200f ", "hypothesis": "ţi\n", "label": "n"})
    (example,) = read().examples["train"]
    assert (example.text, example.text_pair) == ("și", "ți")


@pytest.mark.parametrize("column", ["premise", "hypothesis"])
@pytest.mark.parametrize(
    ("value", "what"),
    [("", "is empty"), (None, "is empty"), (True, "is not text: True"), ("\u200f", "invisible")],
)
def test_a_cell_that_holds_no_text_is_reported_by_line(write, read, column, value, what):
    write({"label": "e"}, {"label": "e", column: value})
    (problem,) = problems(read)
    assert problem.startswith(f".jsonl:2: '{column}' ")
    assert what in problem


def test_a_row_without_gold_label_is_refused_unless_told_otherwise(write, read):
    write({"label": "e"}, {"label": "-"}, {"label": ""})
    dash, empty = problems(read)
    assert ".jsonl:2: 'label' is '-', which is no gold label" in dash
    assert ".jsonl:3: 'label' is empty" in empty
    assert "data.unlabelled=drop" in dash


def test_a_row_without_gold_label_is_counted_and_dropped(write, read, config):
    config.unlabelled = "drop"
    write({"label": "e"}, {"label": "-", "hypothesis": ""}, {"label": None})
    loaded = read()
    assert [e.guid for e in loaded.examples["train"]] == ["train:1"]
    assert loaded.dropped == {"train": {"unlabelled": 2}}


def test_counts_are_those_of_the_file_before_anything_is_dropped(write, read, config):
    config.unlabelled = "drop"
    config.files["train"].rows = 3
    config.counts = {"train": {"entailment": 2, "-": 1}}
    write({"label": "e"}, {"label": "-"}, {"label": "E"})
    assert len(read().examples["train"]) == 2
    config.counts = {"train": {"entailment": 3}}
    wrong, extra = problems(read)
    assert "2 rows of class entailment, expected 3" in wrong
    assert "1 rows of class -, expected 0" in extra


def test_a_split_may_have_a_label_column_of_its_own(write, tmp_path, config):
    config.files["test"] = FileConfig("test.jsonl")
    config.label_field = {"test": "hebrew_label"}
    write({"label": "e"})
    write({"label": "E", "hebrew_label": "neutral"}, name="test.jsonl")
    splits = load(config, tmp_path, tmp_path)
    assert [splits[split][0].label for split in ("train", "test")] == ["entailment", "neutral"]
    write({"label": "e"}, name="test.jsonl")
    with pytest.raises(DataError, match="no column 'hebrew_label'"):
        load(config, tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("how", "premise", "hypothesis"),
    [
        ("none", "La Iași", "În Cluj și Iași"),
        ("capitalize", "La Iași", "În cluj și iași"),
        ("lower", "la iași", "în cluj și iași"),
    ],
)
def test_case_is_normalised_as_configured(write, read, config, how, premise, hypothesis):
    config.normalize_case = how
    write({"premise": "La Iași", "hypothesis": "În Cluj și Iași", "label": "n"})
    (example,) = read().examples["train"]
    assert (example.text, example.text_pair) == (premise, hypothesis)


@pytest.fixture
def phrases(tmp_path, config) -> None:
    (tmp_path / "phrases.json").write_text(json.dumps({"entailment": ["So", "Thus"]}))
    config.files["phrases"], config.phrases = FileConfig("phrases.json"), "anywhere"


def test_linking_phrases_are_removed_from_hypotheses_only(write, read, phrases):
    write({"premise": "So it is.", "hypothesis": "So, it is Thus done.", "label": "e"})
    (example,) = read().examples["train"]
    assert (example.text, example.text_pair) == ("So it is.", "It is done.")


def test_a_hypothesis_of_nothing_but_phrases_is_reported(write, read, phrases):
    write({"label": "e"}, {"hypothesis": "So.", "label": "e"})
    (problem,) = problems(read)
    assert ".jsonl:2: 'hypothesis' consists of linking phrases only" in problem


def test_a_file_of_the_users_own_loses_its_phrases_too(write, tmp_path, config, phrases):
    write({"hypothesis": "Thus it is."})
    rows = read_rows(tmp_path / "train.jsonl", config, data_dir=tmp_path, cache_dir=tmp_path)
    assert rows.examples[0].text_pair == "It is."


def test_an_own_file_needs_both_texts_and_reads_labels_by_alias(write, tmp_path, config):
    path = tmp_path / "train.jsonl"
    write({}, {"label": "n"}, {"label": "-"}, {"hypothesis": ""})
    rows = read_rows(path, config, bad_rows="report")
    assert [e.label for e in rows.examples] == [None, "neutral", None]
    assert len(rows.problems) == 1
    path.write_text('{"premise": "p"}')
    with pytest.raises(DataError, match="no column 'hypothesis'"):
        read_rows(path, config)


def many(write, rows: int = 40, name: str = "train.jsonl", **more) -> None:
    numbered = [{"premise": f"premise {i // 4}", "hypothesis": f"h {i}"} for i in range(rows)]
    write(*({"label": "e", **row, **more} for row in numbered), name=name)


def test_a_test_split_is_held_out_before_validation_is_carved(write, read, config):
    many(write)
    config.holdout = HoldoutConfig(0.2)
    held_out = {e.guid for e in read().examples["test"]}
    config.validation.fraction, config.validation.by = 0.25, "row"
    splits = read().examples
    sizes = {split: len(examples) for split, examples in splits.items()}
    assert sizes == {"train": 24, "validation": 8, "test": 8}
    assert {e.guid for e in splits["test"]} == held_out
    assert len({e.guid for examples in splits.values() for e in examples}) == 40


@pytest.mark.parametrize(
    ("name", "rows", "labels"),
    [
        (
            "snli",
            [
                {"gold_label": "-", "pairID": "1r1n", "captionID": "1"},
                {"gold_label": "neutral", "pairID": "1r1e", "captionID": "1"},
            ],
            ["neutral"],
        ),
        ("control", [{"uid": "id_0", "label": "c"}, {"uid": "id_0", "label": "n"}], None),
        ("lchaim", [{"uid": "id_0", "label": 0}, {"uid": "id_1", "label": "n"}], None),
    ],
)
def test_the_snli_family_reads_its_json_lines(tmp_path, name, rows, labels):
    config = read_config(data_set_file(name))
    config.verify = False
    columns = config.columns
    for file in config.files.values():
        path = tmp_path / file.path
        path.parent.mkdir(exist_ok=True)
        texts = {columns.text: PREMISE, columns.text_pair: HYPOTHESIS}
        path.write_text("\n".join(json.dumps({**texts, **row}) for row in rows))
    splits = load(config, tmp_path, tmp_path / "cache")
    assert [e.label for e in splits["test"]] == (labels or ["contradiction", "neutral"])
    assert splits["train"][0].group
