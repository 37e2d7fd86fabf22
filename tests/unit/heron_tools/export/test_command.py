"""`heron export`: a folder whose card has code that predicts as heron does."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import ModelCard
from safetensors import SafetensorError

from heron.base.errors import DataError
from heron.base.files import damaged_files, read_json, write_json
from heron.base.run_folder import RunFolder
from heron.data.markers import with_markers
from heron.results.collect import RunRecord
from heron.training.inference import open_trained, read_splits
from heron_tools.export.model_card import hub_id, without_folders
from small_baselines import train as train_baseline
from small_exports import run_card
from small_runs import heron, train


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_encoder):
    """A tiny run whose head transformers has, with a folder of this machine in its command."""
    folder, encoder = tmp_path_factory.mktemp("export"), f"encoder={tiny_encoder}"
    return train(folder, "head=seq_cls", encoder, "encoder.max_length=256", "trainer.max_epochs=1")


@pytest.fixture(scope="module")
def unmapped(run, tmp_path_factory):
    """The run without its records: no data map is drawn, which takes longer than all else."""
    folder = tmp_path_factory.mktemp("unmapped") / "run"
    shutil.copytree(run.path, folder, ignore=shutil.ignore_patterns("dynamics"))
    return folder


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "tiny-model"
    assert heron("export", f"run={run.path}", f"out={out}") == 0
    return out


def test_the_card_says_what_is_known_of_the_run(run, exported, tiny_encoder):
    card = ModelCard.load(exported / "README.md")
    scores = read_json(run.scores)["test"]
    results = {each.metric_type: each.metric_value for each in card.data.eval_results}
    assert results["macro_f1"] == pytest.approx(scores["macro_f1"], abs=1e-4)
    assert (card.data.language, card.data.pipeline_tag) == ("he", "text-classification")
    assert card.data.base_model is None  # a folder is no id of the hub
    low, high = scores["macro_f1_low"], scores["macro_f1_high"]
    assert f"| macro_f1 | {scores['macro_f1']:.3f} [{low:.3f}, {high:.3f}] |" in card.text
    for known in (
        "**Synthetic data: not a research result.**",
        "licence of the data: MIT, as heron itself",
        "| train | 112 |",
        "come from 16 validation rows and 32 test rows",
        "one training run (seed 0)",
        "head=seq_cls",
        f"encoder.name=PATH/{tiny_encoder.name}",
        "(map.png)",
        '"tiny-model"',  # its own folder
    ):
        assert known in card.text
    assert str(tiny_encoder.parent) not in card.content  # nothing of this machine
    assert str(run.path.parents[2]) not in card.content
    assert (exported / "map.png").read_bytes().startswith(b"\x89PNG")
    assert not (run.path / "map").exists()  # the run is as it was


def test_a_card_names_no_folder_of_this_computer():
    for name, hashes, known in (
        ("onlplab/alephbert-base", {}, "onlplab/alephbert-base"),
        ("models/my-bert", {"encoder": "0f"}, None),  # read from another folder than this one
        ("../my-bert", {}, None),
    ):
        encoder = {"encoder": {"name": name}}
        assert hub_id(RunRecord(Path("run"), encoder, {"sources": hashes}, {})) == known
    for word, written in (
        ("encoder=/home/dana levi/models/heb", "encoder=PATH/heb"),
        ("stages=[{data: a, freeze: /home/dana/b}]", "stages=[{data: a, freeze: PATH/b}]"),
        ("optim.lr=1e-4", "optim.lr=1e-4"),
    ):
        assert without_folders(word) == written


def test_the_card_lists_the_runs_warnings_without_folders_of_this_computer(unmapped, tmp_path):
    other = shutil.copytree(unmapped, tmp_path / "other")
    status = read_json(other / "status.json")
    warnings = ["train: 7 of 112 texts are cut", "test: left out /home/dana/b.csv, row 3"]
    write_json(other / "status.json", {**status, "warnings": warnings})
    assert heron("export", f"run={other}", f"out={tmp_path / 'out'}") == 0
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "- train: 7 of 112 texts are cut\n" in card
    assert "- test: left out PATH/b.csv, row 3\n" in card
    assert "map.png" not in card


def test_the_card_can_be_edited_and_heron_still_trusts_the_weights(exported, tmp_path):
    edited = shutil.copytree(exported, tmp_path / "edited")
    card = edited / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + "license: mit", encoding="utf-8")
    assert damaged_files(edited) == []


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_the_card_states_the_difference_that_is_there(precision, unmapped, tmp_path):
    out, word = tmp_path / "out", f"trainer.precision={precision}"
    assert heron("export", f"run={unmapped}", f"out={out}", word) == 0
    trained = open_trained(RunFolder(unmapped), settings={"trainer.precision": precision})
    predictions, _ = trained.predict(read_splits(trained)["test"][:32])
    texts = [with_markers(example, trained.config.data) for example in predictions.examples]
    difference = 0.0
    for text, heron_C in zip(texts, predictions.probabilities_RC, strict=True):
        plain = {row["label"]: row["score"] for row in run_card(out, text=text)[0]}
        plain_C = [plain[label] for label in trained.config.data.label_order]
        difference = max(difference, float(np.abs(heron_C - plain_C).max()))
    card = (out / "README.md").read_text(encoding="utf-8")
    (stated,) = re.findall(rf"computed in {precision}\D* by (\S+) at most .*32 test rows", card)
    assert float(stated) == pytest.approx(difference, rel=0.1, abs=1e-7)
    assert (difference < 1e-5) == (precision == "32-true")


def test_a_difference_that_cannot_be_measured_is_not_stated(unmapped, tmp_path, monkeypatch):
    def absent(trained):
        raise DataError("train.csv", "no such file")

    monkeypatch.setattr("heron_tools.export.difference.read_splits", absent)
    assert heron("export", f"run={unmapped}", f"out={tmp_path / 'out'}") == 0
    usage = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("## Data and")[0]
    assert not re.search(r"\de-\d|\d rows", usage)


def test_a_full_disk_is_one_line_that_names_the_folder(unmapped, tmp_path, monkeypatch, capfd):
    def fill(*_):
        raise SafetensorError(
            "Error while serializing: I/O error: No space left on device (os error 28)"
        )

    monkeypatch.setattr("heron.training.exported.save_file", fill)
    out = tmp_path / "out"
    assert heron("export", f"run={unmapped}", f"out={out}") == 2
    error = capfd.readouterr().err
    assert error.startswith("heron export:")
    assert error.count("\n") == 1
    assert f"out={out}" in error
    assert "No space left" in error
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


def test_a_baseline_is_refused(tmp_path, capsys):
    baseline = train_baseline(tmp_path, "baseline=majority")
    assert heron("export", f"run={baseline.path}", f"out={tmp_path / 'out'}") == 2
    assert "a baseline has no encoder to export" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
