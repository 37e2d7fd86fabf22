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
    """A tiny run with a head of transformers; its command names a folder of this machine."""
    folder = tmp_path_factory.mktemp("export")
    encoder = (f"encoder={tiny_encoder}", "encoder.max_length=256")
    return train(folder, "head=seq_cls", *encoder, "trainer.max_epochs=1")


@pytest.fixture(scope="module")
def run_without_dynamics(run, tmp_path_factory):
    """The run without its records: no data map is drawn, which takes longer than all else."""
    folder = tmp_path_factory.mktemp("run_without_dynamics") / "run"
    shutil.copytree(run.path, folder, ignore=shutil.ignore_patterns("dynamics"))
    return folder


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "tiny-model"
    assert heron("export", f"run={run.path}", f"out={out}") == 0
    return out


def test_the_card_has_the_runs_scores_rows_settings_and_map(run, exported, tiny_encoder):
    card = ModelCard.load(exported / "README.md")
    scores = read_json(run.scores)["test"]
    results = {result.metric_type: result.metric_value for result in card.data.eval_results}
    assert results["macro_f1"] == pytest.approx(scores["macro_f1"], abs=1e-4)
    assert (card.data.language, card.data.pipeline_tag) == ("he", "text-classification")
    assert card.data.base_model is None  # a folder is no id of the hub
    low, high = scores["macro_f1_low"], scores["macro_f1_high"]
    assert f"| macro_f1 | {scores['macro_f1']:.3f} [{low:.3f}, {high:.3f}] |" in card.text
    for fact in (
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
        assert fact in card.text
    assert str(tiny_encoder.parent) not in card.content  # nothing of this machine
    assert str(run.path.parents[2]) not in card.content
    assert (exported / "map.png").read_bytes().startswith(b"\x89PNG")
    assert not (run.path / "map").exists()  # the run is as it was


def test_a_card_names_no_folder_of_this_computer():
    for name, hashes, hub_name in (
        ("onlplab/alephbert-base", {}, "onlplab/alephbert-base"),
        ("models/my-bert", {"encoder": "0f"}, None),  # read from another folder than this one
        ("../my-bert", {}, None),
    ):
        encoder = {"encoder": {"name": name}}
        assert hub_id(RunRecord(Path("run"), encoder, {"sources": hashes}, {})) == hub_name
    for override, on_card in (
        ("encoder=/home/dana levi/models/heb", "encoder=PATH/heb"),
        ("stages=[{data: a, freeze: /home/dana/b}]", "stages=[{data: a, freeze: PATH/b}]"),
        ("optim.lr=1e-4", "optim.lr=1e-4"),
    ):
        assert without_folders(override) == on_card


def test_the_card_lists_the_runs_warnings_without_folders_of_this_computer(
    run_without_dynamics, tmp_path
):
    other = shutil.copytree(run_without_dynamics, tmp_path / "other")
    status = read_json(other / "status.json")
    warnings = ["train: 7 of 112 texts are cut", "test: left out /home/dana/b.csv, row 3"]
    write_json(other / "status.json", {**status, "warnings": warnings})
    assert heron("export", f"run={other}", f"out={tmp_path / 'out'}") == 0
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "- train: 7 of 112 texts are cut\n" in card
    assert "- test: left out PATH/b.csv, row 3\n" in card
    assert "map.png" not in card


def test_a_folder_with_an_edited_card_is_not_called_damaged(exported, tmp_path):
    edited = shutil.copytree(exported, tmp_path / "edited")
    card = edited / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + "license: mit", encoding="utf-8")
    assert damaged_files(edited) == []


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_the_card_states_the_measured_difference_between_its_code_and_heron(
    precision, run_without_dynamics, tmp_path
):
    out, word = tmp_path / "out", f"trainer.precision={precision}"
    assert heron("export", f"run={run_without_dynamics}", f"out={out}", word) == 0
    trained = open_trained(
        RunFolder(run_without_dynamics), settings={"trainer.precision": precision}
    )
    predictions, _ = trained.predict(read_splits(trained)["test"][:32])
    texts = [with_markers(example, trained.config.data) for example in predictions.examples]
    difference = 0.0
    for text, heron_C in zip(texts, predictions.probabilities_RC, strict=True):
        card_scores = {row["label"]: row["score"] for row in run_card(out, text=text)[0]}
        card_C = [card_scores[label] for label in trained.config.data.label_order]
        difference = max(difference, float(np.abs(heron_C - card_C).max()))
    card = (out / "README.md").read_text(encoding="utf-8")
    (stated,) = re.findall(rf"computed in {precision}\D* by (\S+) at most .*32 test rows", card)
    assert float(stated) == pytest.approx(difference, rel=0.1, abs=1e-7)
    assert (difference < 1e-5) == (precision == "32-true")


def test_a_difference_that_cannot_be_measured_is_not_stated(
    run_without_dynamics, tmp_path, monkeypatch
):
    def find_no_file(trained):
        raise DataError("train.csv", "no such file")

    monkeypatch.setattr("heron_tools.export.difference.read_splits", find_no_file)
    assert heron("export", f"run={run_without_dynamics}", f"out={tmp_path / 'out'}") == 0
    usage = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("## Data and")[0]
    assert not re.search(r"\de-\d|\d rows", usage)


def test_a_full_disk_is_one_line_that_names_the_folder(
    run_without_dynamics, tmp_path, monkeypatch, capfd
):
    def run_out_of_space(*_):
        raise SafetensorError(
            "Error while serializing: I/O error: No space left on device (os error 28)"
        )

    monkeypatch.setattr("heron.training.exported.save_file", run_out_of_space)
    out = tmp_path / "out"
    assert heron("export", f"run={run_without_dynamics}", f"out={out}") == 2
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
