"""Every experiment of LCHAIM and RoNLI runs on real text with a pretrained encoder; a few steps."""

from __future__ import annotations

import json

import pytest

from heron.base.run_folder import RunFolder
from real_data import DATA, ENCODER, needs
from small_runs import heron

pytestmark = [pytest.mark.slow, *needs(DATA, ENCODER)]

# One layer and a twentieth of the training rows: what is tested is that everything fits.
LITTLE = (
    "encoder.num_layers=1",
    "data.sample.fraction=0.05",
    "trainer.max_epochs=1",
    "trainer.threads=1",
    "task.bootstrap=0",
    "run.job=job",
)
EXPERIMENTS = {
    "lchaim/alephbert": ("data=control_dev",),
    "lchaim/longhero": ("data=control_dev",),
    "lchaim/windows": ("data=control_dev",),
    "lchaim/probe": ("data=hebnli_dev",),
    "lchaim/sequential": ("data=control_dev", "stages=[hebnli_dev,control_dev]"),
    "ronli/siamese": ("data=ronli_dev",),
    "ronli/siamese_oversampled": ("data=ronli_dev",),
    "ronli/hypothesis_only": ("data=ronli_dev",),
    "ronli/cross_encoder": ("data=ronli_dev",),
    "ronli/xnli": ("data=ronli_dev", "encoder.truncation=longest_first"),
    "ronli/rogpt2": ("data=ronli_dev",),
    "ronli/cbow_svm": ("data=ronli_dev", "baseline.dim=20", "baseline.epochs=1"),
    "ronli/cbow_softmax": ("data=ronli_dev", "baseline.dim=20", "baseline.epochs=1"),
}
TEST_ROWS = {"control_dev": 162, "hebnli_dev": 400, "ronli_dev": 612}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("nli")


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_experiment_runs_on_real_text(experiment, home):
    name = experiment.replace("/", "-")
    words = (
        f"experiment={experiment}",
        f"encoder={ENCODER}",
        f"paths.data={DATA}",
        f"paths.cache={home / 'cache'}",
        f"paths.runs={home / 'runs'}",
        *LITTLE,
        *EXPERIMENTS[experiment],
    )
    assert heron("train", *words) == 0
    folder = RunFolder(home / "runs" / name / "job")
    scores = json.loads(folder.scores.read_text())
    data = EXPERIMENTS[experiment][0].removeprefix("data=")
    classes = [key for key in scores["test"] if key.startswith("support/")]
    rows = sum(scores["test"][key] for key in classes) + scores["test"]["refused"]
    assert rows == TEST_ROWS[data]
    if experiment == "lchaim/sequential":
        assert "hebnli_dev.test" in scores
        assert "1-hebnli_dev/test" in scores
