"""`heron train` and its words: composed, swept, shown, or refused with what was probably meant."""

import sys
from types import SimpleNamespace

import pytest

from heron.cli import main
from heron.composition import compose_and_run, spell_out_encoder
from heron.config import resolve


@pytest.fixture
def train(monkeypatch, tmp_path, capfd):
    """Run `heron train` up to the point where a job would start; returns what happened."""
    jobs = []
    stub = SimpleNamespace(run_job=lambda config, folder, overrides: jobs.append((config, folder)))
    monkeypatch.setitem(sys.modules, "heron.runtime.job", stub)
    monkeypatch.setattr("heron.train._report", lambda folders: None)

    def run(*words):
        jobs.clear()
        code = main(["train", f"paths.runs={tmp_path}/runs", *words])
        output, error = capfd.readouterr()
        return SimpleNamespace(code=code, jobs=jobs, output=output, error=error)

    return run


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("sed=1", "'seed'"),
        ("optm.lr=1e-3", "'optim.lr'"),
        ("+optim.weight_decy=1", "'optim.weight_decay'"),
        ("++trainer.max_epoch=1", "'trainer.max_epochs'"),
        ("encoder.scratch.hiden=8", "'encoder.scratch.hidden'"),
        ("data=trcc", "'trc'"),
        ("experiment=trc/es", "'trc/ess'"),
        ("experiment=ess", "'trc/ess'"),
        ("head=seqcls", "'seq_cls'"),
        ("encoder=alephbrt", "'alephbert'"),
        ("protocol=papr", "'paper'"),
        ("optim=null", "Allowed: adamw."),
        ("head.pooling=clss", "'cls'"),
        ("--multirunn", "'--multirun'"),
        ("--cfgg", "'--cfg'"),
    ],
)
def test_a_typo_exits_with_2_and_names_the_nearest(train, typed, meant):
    found = train(typed)
    assert found.code == 2
    assert found.jobs == []
    assert meant in found.error
    assert typed.strip("+-").partition("=")[0].split(".")[-1] in found.error
    assert "Traceback" not in found.error + found.output


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("trainer.max_epochs=three", "trainer.max_epochs: Value 'three' of type 'str'"),
        ("optim.betas=0.9", "optim.betas: Invalid value assigned: float"),
        ("paths.runs=null", "paths.runs: field 'paths.runs' is not Optional"),
        ("data.generator=3", "data.generator: Invalid type assigned: int"),
        ("data.join.key=x", "data.join is null here; give it whole, data.join={...}"),
        ("data.files.validation.path=v", "add it, '+data.files.validation={path: v}'"),
        ("seed=${nowhere}", "Interpolation key 'nowhere' not found"),
        ("a=b=c", "unknown key 'a'. heron train --cfg job lists them all."),
    ],
)
def test_a_wrong_value_exits_with_2_and_says_which_and_why(train, typed, message):
    found = train(typed)
    assert (found.code, found.jobs) == (2, [])
    assert message in found.error
    assert "Traceback" not in found.error + found.output


def test_a_typo_in_a_file_of_ones_own_is_named(train):
    found = train("data=own_relation", "+data.files.train.pth=x")
    assert (found.code, found.jobs) == (2, [])
    assert "Did you mean 'data.files.train.path'" in found.error


def test_a_job_gets_its_configuration_and_folder(train, tmp_path):
    found = train("seed=3", "head=emp", "run.sweep=s")
    ((config, folder),) = found.jobs
    assert (found.code, config.seed, config.head.pooling) == (0, 3, "mention_pool")
    assert folder.path.parent == tmp_path / "runs" / "s"
    assert folder.path.name.startswith("head=emp,seed=3-")


def test_a_sweep_runs_every_combination_in_a_folder_of_its_own(train):
    found = train("-m", "head=ess,emp", "seed=0,1")
    assert [(config.head.name, config.seed) for config, _ in found.jobs] == [
        ("ess", 0),
        ("ess", 1),
        ("emp", 0),
        ("emp", 1),
    ]
    assert len({folder.path for _, folder in found.jobs}) == 4


def test_a_sweep_goes_on_after_a_job_that_cannot_run(train):
    found = train("-m", "seed=-1,1")
    assert [config.seed for config, _ in found.jobs] == [1]
    assert found.code == 2
    assert "seed=-1: must be at least 0" in found.error
    assert "1 of 2 jobs failed" in found.error


def test_an_experiment_names_the_sweep(train, tmp_path):
    ((config, folder),) = train("experiment=trc/ess").jobs
    assert config.experiment == "trc/ess"
    assert folder.path.parent == tmp_path / "runs" / "trc-ess"


def test_showing_the_configuration_starts_no_job(train):
    found = train("--cfg", "job", "seed=7")
    assert (found.code, found.jobs) == (0, [])
    assert "seed: 7" in found.output


def test_a_folder_or_hub_id_is_an_encoder(train):
    ((config, _),) = train("encoder=some/folder").jobs
    assert config.encoder.name == "some/folder"
    words = ["encoder=mbert", "encoder=./x", "seed=1"]
    assert spell_out_encoder(words) == [
        "encoder=mbert",
        "encoder=pretrained",
        "encoder.name=./x",
        "seed=1",
    ]


def test_composing_leaves_no_file_and_no_folder_behind(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = []
    compose_and_run("train", [], lambda composition: found.append(resolve(composition.config)))
    assert len(found) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_hydra_can_be_used_again_after_a_refusal(train):
    assert train("sed=1").code == 2
    assert train("seed=1").code == 0
