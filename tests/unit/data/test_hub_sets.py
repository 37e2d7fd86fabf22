"""Splits come through the library `datasets`, with the names of columns and classes."""

import pytest
import yaml

from heron.base.errors import ConfigError
from heron.base.tables import read_table, write_table
from heron.config.parsing import check
from heron.data.config import Columns, DataConfig, ValidationConfig
from heron.data.readers import load
from small_runs import TINY, heron, in_folder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def rows(count, first=0):
    texts = [f"משפט {row} על מזג האוויר" for row in range(first, first + count)]
    labels = [("entailment", "contradiction")[row % 2] for row in range(count)]
    return {"sentence": texts, "claim": [f"טענה {t}" for t in texts], "answer": labels}


@pytest.fixture
def folder(tmp_path):
    """A folder of the kind that the library reads: one file for each split."""
    pytest.importorskip("datasets", reason="needs datasets: pip install 'heron-nlu[hub]'")
    write_table(tmp_path / "data" / "weather" / "train.parquet", rows(40))
    write_table(tmp_path / "data" / "weather" / "test.parquet", rows(10, 100))
    return tmp_path


def config(hub="weather", **more):
    columns = Columns(text="sentence", text_pair="claim", label="answer")
    made = DataConfig(
        name="own",
        task="nli",
        format="pair_table",
        label_order=["entailment", "contradiction"],
        columns=columns,
        hub=hub,
        validation=ValidationConfig(fraction=0.2, by="row"),
        **more,
    )
    check(made, "data.")
    return made


def load_in(folder, config):
    return load(config, folder / "data", folder / "cache")


def test_a_local_folder_is_read_with_its_columns_and_a_carved_validation_split(folder):
    splits = load_in(folder, config())
    assert {split: len(examples) for split, examples in splits.items()} == {
        "train": 32,
        "validation": 8,
        "test": 10,
    }
    first = splits["test"][0]
    assert (first.guid, first.text, first.label) == (
        "test:1",
        "משפט 100 על מזג האוויר",
        "entailment",
    )
    assert first.text_pair == "טענה משפט 100 על מזג האוויר"


def dict_on_disk(made, folder):
    made.save_to_disk(folder)


def set_on_disk(made, folder):
    made["train"].save_to_disk(folder)


def repository(made, folder):
    made["train"].to_csv(folder / "he" / "rows.tsv", sep="\t", index=False)
    card = {"config_name": "hebrew", "sep": "\t", "quoting": 3}
    files = [{"split": "train", "path": "he/*.tsv"}]
    configs = {"configs": [{**card, "data_files": files}, {**card, "config_name": "other"}]}
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(configs)}---\n", "utf-8")


@pytest.mark.parametrize("store", [dict_on_disk, set_on_disk, repository])
def test_every_form_of_folder_that_the_library_writes_or_names_is_read(
    folder, monkeypatch, capfd, store
):
    from datasets import Dataset, DatasetDict

    store(DatasetDict(train=Dataset.from_dict(rows(40))), folder / "here")
    monkeypatch.chdir(folder)  # where one stands, before paths.data
    subset = {"hub_config": "hebrew"} if store is repository else {}
    splits = load_in(folder, config("here", **subset))
    assert {split: len(examples) for split, examples in splits.items()} == {
        "train": 32,
        "validation": 8,
    }


def test_a_folder_is_stored_once_and_again_when_it_has_changed(folder):
    load_in(folder, config())
    (stored,) = (folder / "cache" / "hub").glob("*/train.parquet")
    before = stored.stat().st_mtime_ns
    load_in(folder, config())
    assert stored.stat().st_mtime_ns == before
    write_table(folder / "data" / "weather" / "train.parquet", rows(20))
    assert len(load_in(folder, config())["train"]) == 16


def test_classes_have_names_and_inner_columns_are_columns(folder):
    from datasets import ClassLabel, Dataset, Features, List, Value

    answers = {"text": List(Value("string")), "answer_start": List(Value("int64"))}
    features = Features(
        {"answer": ClassLabel(names=["entailment", "contradiction"]), "answers": answers}
    )
    row = {"answer": [1, 0, -1], "answers": [{"text": ["a"], "answer_start": [2]}] * 3}
    path = folder / "data" / "weather" / "train.parquet"
    Dataset.from_dict(row, features=features).to_parquet(path)
    (folder / "data" / "weather" / "test.parquet").unlink()
    with pytest.raises(Exception, match="no column 'sentence'"):
        load_in(folder, config())
    (stored,) = (folder / "cache" / "hub").glob("*/train.parquet")
    assert read_table(stored).rows == [
        {"answer": name, "answers.text": ["a"], "answers.answer_start": [2]}
        for name in ("contradiction", "entailment", None)
    ]


def test_splits_of_other_names_are_named(folder):
    data = folder / "data" / "weather"
    (data / "test.parquet").rename(data / "validation.parquet")
    splits = load_in(folder, config(hub_splits={"test": "validation", "validation": "train"}))
    assert len(splits["test"]) == 10
    with pytest.raises(ConfigError, match=r"no split dev, only .*; data\.hub_splits="):
        load_in(folder, config(hub_splits={"test": "dev"}))


def test_an_id_that_cannot_be_reached_is_an_error_that_names_the_keys(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")

    def load_dataset(*asked, **named):
        assert (asked, named["revision"]) == (("owner/name", "ro"), COMMIT)
        raise ConnectionError("Couldn't reach 'owner/name' on the Hub")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(ConfigError, match=r"data\.hub=owner/name: Couldn't reach .*data\.revision"):
        load_in(tmp_path, config("owner/name", revision=COMMIT, hub_config="ro"))
    assert not list((tmp_path / "cache" / "hub").glob("*/train.parquet"))


def test_a_run_trains_on_a_folder_in_place_of_the_files_of_its_data_set(folder, capsys):
    words = [
        "data=own_nli",
        "data.hub=weather",
        "data.columns.text=sentence",
        "data.columns.text_pair=claim",
        "data.columns.label=answer",
    ]
    places = [f"paths.data={folder / 'data'}", f"paths.cache={folder / 'cache'}"]
    assert heron("data", "own_nli", *words[1:], *places) == 0
    assert "weather" in capsys.readouterr().out
    tiny = [word for word in TINY if not word.startswith(("data.", "trainer.max_epochs"))]
    where = [f"paths.data={folder / 'data'}", *in_folder(folder)]
    names = ["run.sweep=hub", "run.job=tiny", "trainer.max_epochs=1"]
    assert heron("train", *tiny, *words, "head=cross", *where, *names) == 0
    assert (folder / "runs" / "hub" / "tiny" / "scores.json").is_file()
