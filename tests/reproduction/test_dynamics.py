"""Dynamics, data maps and curricula on real text with a pretrained encoder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.dynamics.cartography import allenai, read_statistics
from heron.dynamics.difficulty import difficulty
from real_data import DATA, ENCODER, needs
from small_runs import heron

pytestmark = [pytest.mark.slow, *needs(DATA, ENCODER)]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("dynamics")


def train(home: Path, *words: str, job: str) -> RunFolder:
    places = (f"paths.data={DATA}", f"paths.cache={home / 'cache'}", f"paths.runs={home / 'runs'}")
    given = (*words, *places, f"encoder={ENCODER}", "run.sweep=real", f"run.job={job}")
    assert heron("train", *given, "trainer.threads=1", "trainer.accelerator=cpu") == 0
    return RunFolder(home / "runs" / "real" / job)


@pytest.fixture(scope="module")
def automatic(home):
    """A head on the frozen encoder, trained on the labels that linking phrases gave."""
    words = ("experiment=ronli/siamese", "data=ronli_auto", "head.pooling=mean")
    more = ("head.combine=compare", "batching.size=32", "task.bootstrap=0")
    return train(home, *words, *more, job="automatic")


def test_cartography_finds_the_labels_of_ronli_that_people_corrected(automatic):
    assert heron("noise", f"run={automatic.path}") == 0
    found = read_json(automatic.path / "noise" / "detection.json")
    assert found["confidence"]["base_rate"] == pytest.approx(0.13, abs=0.02)
    for score in ("confidence", "loss", "aum", "eq1_swapped"):
        assert found[score]["auroc"] > 0.68
        assert found[score]["decile_rate"] > 2.5 * found[score]["base_rate"]
    for score in ("length", "random"):
        assert abs(found[score]["auroc"] - 0.5) < 0.06


def test_the_map_of_a_real_run_holds_its_texts_and_groups(automatic):
    assert heron("map", f"run={automatic.path}", "format=png,jsonl") == 0
    folder = automatic.path / "map"
    table = read_table(folder / "map.csv")
    assert len(table) == read_json(automatic.ledger)["total"]["unique"]
    page = (folder / "map.html").read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "")
    lines = (folder / "training_dynamics" / "dynamics_epoch_0.jsonl").read_text().splitlines()
    assert len(lines) == len(table)
    assert set(json.loads(lines[0])) == {"guid", "gold", "logits_epoch_0"}


@pytest.mark.parametrize("head", ["window", "ess"])
def test_a_curriculum_and_a_map_work_on_temporal_relations(home, head):
    words = (
        f"experiment=trc/{head}",
        "encoder.max_length=256",
        "encoder.num_layers=2",
        "encoder.freeze=none",
        "data.sample.fraction=0.05",
        "data.sample.by=window",
        "data.on_cut=drop",
        "trainer.max_epochs=2",
        "trainer.patience=null",
        "task.bootstrap=0",
    )
    plain = train(home, *words, job=f"plain-{head}")
    run = train(home, *words, "curriculum=cart_clpp", f"curriculum.dynamics={plain.path}", job=head)
    ours, theirs = read_json(run.ledger), read_json(plain.ledger)
    assert ours["total"]["steps"] == theirs["total"]["steps"] == ours["planned_steps"]
    assert ours["stages"][0]["unique"] < theirs["total"]["unique"]
    assert heron("map", f"run={run.path}", f"with={plain.path}", "format=png") == 0
    assert (run.path / f"map-with-{plain.path.name}" / "map.html").is_file()


def test_published_statistics_are_read_and_grouped_as_their_tool_does():
    name = "data_map_coordinates/winogrande_roberta_0_6_data_map_coordinates.jsonl"
    found = read_statistics(DATA / "cartography_sample" / name)
    assert (len(found), found.correctness_count_N.max()) == (40_398, 6)
    assert round(found.variability_N.max(), 3) == 0.478
    groups = allenai(found)
    assert {int(mask_N.sum()) for mask_N in groups.values()} == {int(0.3319 * 40_398) + 1}
    assert np.isfinite(difficulty("repo", found)).all()
