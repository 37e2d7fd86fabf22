"""A built file is known by the manifest beside it, whatever the YAML of its data set counts."""

import json

import pytest

from heron.base.errors import DataError
from heron.base.tables import write_table
from heron.commands.data import describe
from heron.data.config import Columns, DataConfig, FileConfig, ValidationConfig
from heron.data.manifests import read_manifest, write_built
from heron.data.readers import load
from heron.data.sources import State, inspect

COLUMNS = {"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": ["yes", "no"]}


@pytest.fixture
def config():
    return DataConfig(
        name="own",
        task="nli",
        format="pair_table",
        label_order=["yes", "no"],
        columns=Columns(text="premise", text_pair="hypothesis"),
        files={"train": FileConfig("train.jsonl", rows=3, build="heron build own")},
        counts={"train": {"yes": 2, "no": 1}},
        validation=ValidationConfig(fraction=0),
    )


@pytest.fixture
def built(tmp_path):
    """Build a table of two rows, from a source of three; returns its folder."""
    source = tmp_path / "source.txt"
    source.write_text("a\nb\nx\n")
    left_out = {"too short": 1, "too long": 0}
    write_built(tmp_path / "train.jsonl", COLUMNS, "heron build own", [source], left_out)
    return tmp_path


def test_a_built_file_is_verified_and_counted_by_its_manifest(built, config):
    (source,) = inspect(config, built, built).values()
    assert (source.state, source.file.rows) == (State.VERIFIED, 2)
    assert len(load(config, built, built)["train"]) == 2
    manifest = read_manifest(built / "train.jsonl")
    assert manifest.left_out == {"too short": 1}
    assert [*manifest.sources] == ["source.txt"]
    shown = {title: text for t in describe(config, built, built) for title, *text in t.rows}
    assert shown["built by"] == ["heron build own"]
    assert "too short: 1" in shown["left out"][0]


def test_without_a_manifest_the_counts_of_the_yaml_hold(built, config):
    (built / "train.jsonl.manifest.json").unlink()
    with pytest.raises(DataError, match="2 rows, expected 3"):
        load(config, built, built)


def test_a_built_file_that_was_changed_is_refused_until_it_is_built_again(built, config):
    write_table(built / "train.jsonl", {name: of[:1] for name, of in COLUMNS.items()})
    with pytest.raises(DataError, match="heron build own"):
        load(config, built, built)
    config.verify = False
    assert len(load(config, built, built)["train"]) == 1


@pytest.mark.parametrize("content", ["[", "[]", json.dumps({"rows": "two"})])
def test_a_damaged_manifest_is_named(built, config, content):
    (built / "train.jsonl.manifest.json").write_text(content)
    with pytest.raises(DataError, match="manifest"):
        load(config, built, built)


def test_a_missing_file_names_the_command_that_makes_it(tmp_path, config):
    with pytest.raises(DataError, match="heron build own makes it"):
        load(config, tmp_path, tmp_path)
