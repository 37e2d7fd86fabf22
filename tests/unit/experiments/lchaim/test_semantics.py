"""LCHAIM's semantic check: the same labels for rows and for their back-translations."""

import json

import pytest

from heron.base.errors import DataError
from heron.data.overrides import configure
from heron_forks.lchaim.semantics import agreement
from heron_tools.reproduction.results import of_function
from heron_tools.reproduction.targets import TargetRequest, read_targets
from real_data import DATA, on_real

LABELS = "cen"
WORDS = {"c": "never", "e": "always", "n": "perhaps"}


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))


def pairs(count, words=WORDS):
    """Make up rows whose label is a word of the hypothesis."""
    return [
        {
            "uid": f"id_{n}",
            "premise": f"the union met in town {n // 2}",
            "hypothesis": f"they {words[LABELS[n % 3]]} met {n}",
            "label": LABELS[n % 3],
        }
        for n in range(count)
    ]


@pytest.fixture
def request_of(tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.setattr(
        "heron_tools.reproduction.targets.configure",
        lambda name, _: configure(name, ["data.verify=false"]),
    )
    write(tmp_path / "control/dev.jsonl", pairs(30))
    write(tmp_path / "control/test.jsonl", pairs(12))
    write(tmp_path / "lchaim/eng_lchaim_test.json", pairs(12))
    return TargetRequest(tmp_path, tmp_path / "cache", encoder=str(tiny_encoder))


def test_rows_that_come_back_as_they_were_keep_their_labels(request_of):
    write(request_of.data_dir / "control/train.jsonl", pairs(30))
    filled = agreement(request_of)
    same = filled.values["semantics"]["test", "same label"]
    assert (same.value, same.n) == (1.0, 12)
    assert same.mark.startswith("encoder "), "not the paper's"
    (table,) = of_function(read_targets()["lchaim:S2.2"], filled).tables
    (row,) = [row for row in table.rows if row[1] == "same label"]
    assert row[2] == "0.9211"
    assert all("†" in cell for cell in row[3:5])


def test_rows_that_come_back_with_another_meaning_change_their_labels(request_of):
    write(request_of.data_dir / "control/train.jsonl", pairs(30))
    turned = dict(zip("cen", ("always", "perhaps", "never"), strict=True))
    write(request_of.data_dir / "lchaim/eng_lchaim_test.json", [*reversed(pairs(10, turned))])
    filled = agreement(request_of)
    values = filled.values["semantics"]
    assert values["test", "same label"].value < values["test", "accuracy, original"].value
    assert values["test", "same label"].n == 10, "paired by uid, not by place"
    assert any("2 rows" in note for note in filled.notes)


def test_the_validation_file_replaces_a_missing_train_file_and_is_marked(request_of):
    same = agreement(request_of).values["semantics"]["test", "same label"]
    assert "validation in place of train" in same.mark


def test_missing_back_translations_are_named(request_of):
    (request_of.data_dir / "lchaim/eng_lchaim_test.json").unlink()
    with pytest.raises(DataError, match="eng_lchaim_test"):
        agreement(request_of)


@on_real
@pytest.mark.real
def test_control_s_own_rows_as_their_back_translations_agree(tmp_path, tiny_encoder, monkeypatch):
    lines = (DATA / "control/dev.jsonl").read_text("utf-8").splitlines()
    for name in ("train", "test"):
        write(tmp_path / f"control/{name}.jsonl", map(json.loads, lines))
    write(tmp_path / "lchaim/eng_lchaim_test.json", map(json.loads, lines))
    monkeypatch.setattr(
        "heron_tools.reproduction.targets.configure",
        lambda name, _: configure(name, ["data.verify=false"]),
    )
    request = TargetRequest(tmp_path, tmp_path / "cache", encoder=str(tiny_encoder))
    same = agreement(request).values["semantics"]["test", "same label"]
    assert (same.value, same.n) == (1.0, 799)
