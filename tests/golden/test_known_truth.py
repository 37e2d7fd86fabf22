"""Training dynamics find labels that are known to be wrong: the figures that the docs print."""

from __future__ import annotations

import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from small_runs import heron, in_folder, train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The demo's model on a corpus with a tenth of its training labels flipped."""
    home = tmp_path_factory.mktemp("noise")
    words = (
        "experiment=demo",
        "data.generator.size=24000",
        "data.generator.label_noise=0.1",
        "trainer.max_epochs=4",
        "trainer.select=last",
        "trainer.threads=1",
        "trainer.accelerator=cpu",
        "task.bootstrap=0",
        "run.export=false",
    )
    assert heron("train", *words, *in_folder(home), "run.job=noise") == 0
    folder = RunFolder(home / "runs" / "demo" / "noise")
    assert heron("noise", f"run={folder.path}", "top=200") == 0
    return folder


@pytest.mark.slow
@pytest.mark.real  # half a minute: `make test-real` has the time
def test_flipped_labels_are_found_by_dynamics_and_not_by_length_or_chance(run):
    found = read_json(run.path / "noise" / "detection.json")
    assert found["confidence"]["examples"] == 16800
    assert found["confidence"]["base_rate"] == pytest.approx(0.1)
    assert found["confidence"]["decile_rate"] >= 5 * found["confidence"]["base_rate"]
    for score in ("confidence", "loss", "aum", "eq1_swapped"):
        assert found[score]["auroc"] >= 0.9
    for score in ("length", "random"):
        assert found[score]["auroc"] == pytest.approx(0.5, abs=0.03)
    table = read_table(run.path / "noise" / "suspects.csv")
    assert len(table) == 200
    confidences = [float(value) for value in table.values("confidence")]
    assert confidences == sorted(confidences)
    assert sum(row["label"] != row["truth"] for row in table.rows) > 150


def test_without_a_wrong_label_there_is_nothing_to_grade(tmp_path):
    run = train(tmp_path)
    assert heron("noise", f"run={run.path}") == 0
    assert not (run.path / "noise" / "detection.json").exists()
