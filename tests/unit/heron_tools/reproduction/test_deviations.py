"""Which runs count as made from a paper's own files."""

from pathlib import Path

import pytest

from heron.base.files import sha256_file
from heron.data.manifests import write_built
from heron.results.collect import RunRecord
from heron_tools.reproduction.deviations import deviations, is_verified

NOT_VERIFIED = "data set own, not verified"


@pytest.fixture
def built(tmp_path):
    """Build a table with its manifest; returns the table's path."""
    path, _ = write_built(tmp_path / "train.jsonl", {"text": ["a"]}, "heron build own", [], {})
    return path


def record_of(data_dir: Path, hashes: dict[str, str], **data: object) -> RunRecord:
    """Make the record of a run with one pinned file and one that `heron build` makes."""
    pinned = {"path": "test.jsonl", "sha256": "0" * 64}
    files = {"train": {"path": "train.jsonl", "build": "heron build own"}, "test": pinned}
    config = {
        "data": {"name": "own", "files": files, **data},
        "paths": {"data": str(data_dir), "cache": str(data_dir / "cache")},
    }
    return RunRecord(Path("runs/s/j"), config, {"state": "done", "sources": hashes}, {})


def test_a_built_file_is_verified_by_its_manifest(built):
    run = record_of(built.parent, {"train": sha256_file(built)})
    assert is_verified(run)
    assert NOT_VERIFIED not in deviations(run, ["own"], ())


@pytest.mark.parametrize("hashes", [{}, {"train": "1" * 64}])
def test_a_manifest_of_another_file_than_the_run_has_read_verifies_nothing(built, hashes):
    run = record_of(built.parent, hashes)
    assert not is_verified(run)
    assert NOT_VERIFIED in deviations(run, ["own"], ())


def test_nothing_is_verified_by_a_damaged_manifest_or_without_verification(built):
    hashes = {"train": sha256_file(built)}
    assert not is_verified(record_of(built.parent, hashes, verify=False))
    built.with_name("train.jsonl.manifest.json").write_text("{")
    assert not is_verified(record_of(built.parent, hashes))
