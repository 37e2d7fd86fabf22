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
class TestFlippedLabels:
    def test_low_confidence_ranks_flipped_rows_above_right_ones(self, run):
        found = read_json(run.path / "noise" / "detection.json")
        assert found["confidence"]["examples"] == 16800
        assert found["confidence"]["base_rate"] == pytest.approx(0.1)
        for score in ("confidence", "loss", "aum", "eq1_swapped"):
            assert found[score]["auroc"] >= 0.9

    def test_the_hardest_tenth_holds_five_times_the_base_rate(self, run):
        found = read_json(run.path / "noise" / "detection.json")["confidence"]
        assert found["decile_rate"] >= 5 * found["base_rate"]

    def test_length_and_chance_find_nothing(self, run):
        found = read_json(run.path / "noise" / "detection.json")
        for score in ("length", "random"):
            assert found[score]["auroc"] == pytest.approx(0.5, abs=0.03)

    def test_suspects_are_listed_with_label_and_truth(self, run):
        table = read_table(run.path / "noise" / "suspects.csv")
        assert len(table) == 200
        confidences = [float(value) for value in table.values("confidence")]
        assert confidences == sorted(confidences)
        wrong = sum(row["label"] != row["truth"] for row in table.rows)
        assert wrong > 150


def test_without_a_wrong_label_there_is_nothing_to_grade(tmp_path, capsys):
    run = train(tmp_path)
    assert heron("noise", f"run={run.path}") == 0
    assert "no training label is known to be wrong" in capsys.readouterr().out
    assert not (run.path / "noise" / "detection.json").exists()


def test_wrong_options_are_answered_in_one_line(tmp_path, capsys):
    for words, said in (
        ((f"run={tmp_path}", "score=confidnce"), "Did you mean 'confidence'"),
        ((f"run={tmp_path}", "top=0"), "top=0: "),
        ((f"run={tmp_path}",), "is not a run folder"),
    ):
        assert heron("noise", *words) == 2
        error = capsys.readouterr().err
        assert said in error
        assert "Traceback" not in error
