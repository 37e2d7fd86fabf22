"""`heron data` says what is there, what is missing and where it goes."""

import hashlib

import pytest

from heron.cli import main
from heron.commands import data as listing
from heron.data.config import (
    Columns,
    DataConfig,
    FileConfig,
    HoldoutConfig,
    QaDataConfig,
    ValidationConfig,
)

TEXT = "text,label\nit [E1] began [/E1] before it [E2] ended [/E2],A\n" + (
    "it [E1] began [/E1] as it [E2] ended [/E2],B\n"
)


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    monkeypatch.setenv("HERON_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HERON_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def config(tmp_path):
    (tmp_path / "train.csv").write_text(TEXT)
    sha256 = hashlib.sha256(TEXT.encode()).hexdigest()
    return DataConfig(
        name="own",
        title="A corpus",
        language="en",
        licence="MIT",
        label_order=["A", "B"],
        files={"train": FileConfig("train.csv", "https://example.org/train.csv", sha256, rows=2)},
        validation=ValidationConfig(fraction=0),
    )


def test_overview_has_one_line_for_every_data_set(capsys):
    assert main(["data"]) == 0
    out = capsys.readouterr().out
    trc, hesum, chronicle = (
        next(line for line in out.splitlines() if line.startswith(name))
        for name in ("trc ", "hesum ", "chronicle ")
    )
    assert all(part in trc for part in ("Hebrew", "0 of 3", "3 of 3", "7,260"))
    assert hesum.count("0 of 3") == 2, "neither here nor seen"
    assert all(part in chronicle for part in ("generated", "synthetic"))


def described(config, folder):
    """Describe a data set; returns the rows of each table by its title and their first cells."""
    tables = listing.describe(config, folder, folder / "cache")
    return {table.title: {first: rest for first, *rest in table.rows} for table in tables}


def test_verified_files_come_with_the_splits_of_a_run(config, tmp_path):
    shown = described(config, tmp_path)
    assert shown["train: present, verified"]["rows"] == [2]
    assert shown["train: present, verified"]["seen"] == ["yes"]
    assert shown["splits as a run sees them"] == {"train": [2, 0, 2, 1, 1]}


def test_splits_that_are_carved_and_rows_left_out_are_said(tmp_path):
    rows = [f"p,h{i},{'-' if i == 3 else 'A'}" for i in range(11)]
    (tmp_path / "train.csv").write_text("\n".join(["text,other,label", *rows]))
    config = DataConfig(
        name="own",
        language="en",
        task="nli",
        format="pair_table",
        columns=Columns(text_pair="other"),
        label_order=["A", "B"],
        no_label=["-"],
        unlabelled="drop",
        files={"train": FileConfig("train.csv")},
        holdout=HoldoutConfig(0.2),
        validation=ValidationConfig(0.25, "row"),
    )
    shown = described(config, tmp_path)
    assert shown["left out of train"] == {"unlabelled": [1]}
    sizes = {split: row[0] for split, row in shown["splits as a run sees them"].items()}
    assert sizes == {"train": 6, "validation": 2, "test": 2}


def test_a_question_data_set_says_how_answers_are_read_and_what_was_done_to_them(tmp_path):
    rows = ["text,other,answer", "a b,which?,b", "a b,what?,a ", "a b,is it?,c"]
    (tmp_path / "test.csv").write_text("\n".join(rows))
    config = DataConfig(
        name="own",
        language="en",
        task="qa",
        format="qa_table",
        columns=Columns(text_pair="other"),
        label_order=["answer"],
        qa=QaDataConfig(misaligned="drop"),
        files={"test": FileConfig("test.csv")},
    )
    shown = described(config, tmp_path)
    assert shown["left out of test"] == {"misaligned answer": [1]}
    assert shown["answers in test"] == {"trimmed": [1]}


def test_keys_of_a_data_set_are_taken_as_audit_takes_them(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("premise,hypothesis,label\na b,c d,e\nx y,z w,n\n")
    words = [f"data.files.{split}.path={tmp_path}/a.csv" for split in ("train", "test")]
    assert main(["data", "own_nli", *words]) == 0
    out = capsys.readouterr().out
    assert out.count("present, any content accepted") == 2
    assert main(["data", "own_nli", "data.files.tset.path=x"]) == 2
    assert "data.files.tset" in capsys.readouterr().err
    assert main(["data", words[0]]) == 2


def test_fetch_offline_lists_every_file_and_leaves_with_2(capsys):
    assert main(["data", "trc", "fetch=true"]) == 2
    err = capsys.readouterr().err
    assert err.count("missing; Cannot reach") == 3
