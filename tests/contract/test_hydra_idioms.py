"""`heron train` is a Hydra application: Hydra's flags and keys do what its documentation says."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import OmegaConf

from heron.base.errors import ConfigError
from heron.base.files import read_json, read_yaml
from heron.base.run_folder import config_text
from heron.base.secrets import redact
from heron.cli import main
from heron.config.constraints import all_keys
from heron.config.describe import SYNONYMS
from heron.config.hydra_door import open_hydra
from heron.sweeps.grid import compose_jobs
from heron.training.compose import compose

SECRET = "hf_" + "a1B2" * 8


@pytest.fixture
def train(monkeypatch, tmp_path, capfd):
    """Run `heron train` with trainings that only note what they were asked for."""
    jobs: list[Any] = []

    def run_job(config: Any, folder: Any, overrides: Any) -> dict[str, Any]:
        jobs.append(SimpleNamespace(config=config, folder=folder.path, words=overrides))
        jobs[-1].here = os.getcwd()
        if config.seed == 666:
            raise ValueError("a bug")
        scores = {"validation": {config.trainer.monitor: config.optim.lr}}
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.scores.write_text(json.dumps(scores))
        folder.update_status(state="done")
        return scores

    monkeypatch.setattr("heron.training.job.run_job", run_job)
    monkeypatch.setattr("heron.commands.train.report", lambda folder: None)
    for look in ("locate", "load_with_report"):  # nor is a paper's data looked for
        monkeypatch.setattr(f"heron.training.run.{look}", lambda *asked: {})
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Any:
        jobs.clear()
        code = main(["train", "paths.cache=cache", "run.isolate=false", *words])
        output, error = capfd.readouterr()
        return SimpleNamespace(code=code, jobs=list(jobs), output=output, error=error)

    return run


@pytest.fixture
def village(tmp_path):
    """Lay out a folder like conf/ somewhere, with a data set, experiments and a head."""
    folder = tmp_path / "elsewhere"
    files = {
        "data/village_nli.yaml": "defaults: [{override /task@_global_.task: nli}, "
        "{override /head@_global_.head: mlp3}]\nname: village_nli\ntask: nli\nformat: pair_table\n"
        "language: ro\nlabel_order: [contradiction, entailment, neutral]\n"
        "files: {train: {path: t.csv}, test: {path: t.csv}}\n"
        "columns: {text: premise, text_pair: hypothesis}\nvalidation: {fraction: 0.1}\n",
        "experiment/village/first.yaml": "# @package _global_\ndefaults:\n"
        "  - override /data: village_nli\n  - override /task: nli\n  - override /head: own\n",
        "experiment/village/table.yaml": "# @package _global_\nhydra:\n  mode: MULTIRUN\n"
        "  sweeper: {params: {experiment: village/first, seed: '0,1'}}\n",
        "head/own.yaml": "name: own\ninput: pair\npooling: mean\nclassifier: linear\n",
        "own.yaml": "defaults: [train, _self_]\nseed: 11\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


class TestFolders:
    def test_run_dir_sweep_dir_and_subdir(self, train):
        (job,) = train("hydra.run.dir=out/mine").jobs
        assert job.folder == Path("out/mine")
        jobs = train("-m", "seed=0,1", "hydra.sweep.dir=s", "hydra.sweep.subdir=${hydra.job.num}")
        assert [job.folder for job in jobs.jobs] == [Path("s/0"), Path("s/1")]
        words = ("-m", "head=ess,emp", "hydra.sweep.dir=t")
        subdir = "hydra.sweep.subdir=${hydra.job.override_dirname}"
        config = "hydra.job.config.override_dirname.exclude_keys=[paths.cache,run.isolate]"
        found = train(*words, subdir, config).jobs
        assert [job.folder for job in found] == [Path("t/head=ess"), Path("t/head=emp")]

    def test_without_them_heron_names_the_folder_by_what_varies(self, train):
        (job,) = train("seed=3", "head=emp", "run.sweep=s").jobs
        assert job.folder.parent == Path("runs/s")
        assert job.folder.name.startswith("head=emp,seed=3-")
        (job,) = train("run.sweep=s", "run.job=j").jobs
        assert job.folder == Path("runs/s/j")
        long = [f"data.homepage={'x' * 60}", "encoder.scratch.hidden=8", "encoder.scratch.heads=2"]
        jobs = train("-m", *long, "optim.lr=0.5,0.25", "encoder.scratch.layers=1").jobs
        assert [job.folder.name.split(",")[0] for job in jobs] == ["optim.lr=0.5", "optim.lr=0.25"]

    @pytest.mark.parametrize("sweeper", ["grid", "basic"])
    def test_the_folder_says_what_was_composed_without_secrets(self, sweeper, train):
        (job,) = train("seed=3", f"++logger.wandb.project=https://me:{SECRET}@a.org").jobs
        assert read_yaml(job.folder / ".hydra" / "config.yaml")["seed"] == 3
        assert "seed=3" in read_yaml(job.folder / ".hydra" / "overrides.yaml")
        hydra = read_yaml(job.folder / ".hydra" / "hydra.yaml")["hydra"]
        assert hydra["runtime"]["output_dir"] == str(job.folder.absolute())
        words = ("-m", "seed=3,4", f"++logger.wandb.project=https://me:{SECRET}@a.org")
        jobs = train(*words, f"hydra/sweeper={sweeper}").jobs
        sweep = read_yaml(jobs[0].folder.parent / "multirun.yaml")
        assert "seed=3,4" in sweep["hydra"]["overrides"]["task"]
        files = [path for path in Path().rglob("*.yaml") if path.parent.name == ".hydra"]
        for path in [*files, jobs[0].folder.parent / "multirun.yaml"]:
            assert SECRET not in path.read_text("utf-8")

    def test_chdir_and_output_subdir(self, train):
        (job,) = train("hydra.job.chdir=true", "hydra.output_subdir=null").jobs
        assert job.here == str(job.folder)
        assert Path(job.config.paths.cache).is_absolute()
        assert not list(Path().rglob(".hydra"))


class TestShown:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--cfg", "job"), "seed: 0"),
            (("--cfg", "job", "--package", "optim"), "lr:"),
            (("--cfg", "job", "--resolve"), "data: data"),
            (("--cfg", "hydra"), "HeronLauncher"),
            (("--cfg", "all"), "GridSweeper"),
            (("--info", "searchpath"), "hydra"),
            (("--info", "defaults"), "data/chronicle"),
            (("--info",), "HeronLauncher"),
            (("--hydra-help",), "--multirun"),
            (("-sc", "install=bash"), "hydra_bash_completion"),
            (("experiment=ronli/table4", "--cfg", "job"), "report: ronli/table4"),
        ],
    )
    def test_what_only_shows_starts_no_job(self, words, said, train, capfd):
        if words[0] == "-sc":  # its words are its own
            assert main(["train", *words]) == 0
            assert said in capfd.readouterr().out
            return
        found = train(*words)
        assert (found.code, found.jobs) == (0, [])
        assert said in found.output

    def test_hydra_verbose_shows_the_libraries_log(self, train, monkeypatch):
        shown: list[int] = []
        monkeypatch.setattr(logging, "basicConfig", lambda: shown.append(1))
        assert train("hydra.verbose=true").code == 0
        assert shown == [1]


class TestSearchPath:
    def test_config_dir_and_searchpath_add_yaml(self, train, village):
        for where in (f"--config-dir={village}", f"hydra.searchpath=[file://{village}]"):
            (job,) = train(where, "data=village_nli").jobs
            config = job.config
            assert (config.data.name, config.task.name, config.head.name) == (
                *("village_nli", "nli"),
                "mlp3",
            )
        (job,) = train(f"--config-dir={village}", "data=village_nli", "head=own").jobs
        assert job.config.head.pooling == "mean"
        jobs = train(f"--config-dir={village}", "experiment=village/table").jobs
        assert [(job.config.head.name, job.config.seed) for job in jobs] == [("own", 0), ("own", 1)]
        assert {job.folder.parent.name for job in jobs} == {"village-table"}

    def test_a_primary_configuration_of_ones_own(self, train, village):
        (job,) = train(f"--config-dir={village}", "-cn", "own").jobs
        assert job.config.seed == 11

    def test_a_package_on_the_search_path(self, train, village, monkeypatch):
        (village / "__init__.py").touch()
        (village / "head" / "__init__.py").touch()
        monkeypatch.syspath_prepend(village.parent)
        words = ("data=chronicle_nli", "head=own")
        (job,) = train("hydra.searchpath=[pkg://elsewhere]", *words).jobs
        assert job.config.head.name == "own"

    def test_data_sets_elsewhere_can_be_stages_and_further_tests(self, train, village):
        words = ("data=chronicle_nli", "stages=[village_nli]", "also_test=[village_nli]")
        (job,) = train(f"--config-dir={village}", *words).jobs
        assert job.config.others["village_nli"].language == "ro"


class TestWords:
    def test_added_and_deleted(self, train):
        (job,) = train("+data.counts={train: {BEFORE: 1}}", "experiment=demo").jobs
        assert job.config.data.counts["train"]["BEFORE"] == 1
        (job,) = train("~logger", "seed=1").jobs
        assert job.config.seed == 1
        (job,) = train("seed=1", "experiment=trc/ess", "experiment=trc/emp", "seed=2").jobs
        assert (job.config.experiment, job.config.head.name, job.config.seed) == (
            "trc/emp",
            "emp",
            2,
        )

    @pytest.mark.parametrize("value", ["עברית", "română", "a b", "'x,y'"])
    def test_values_of_any_script(self, value, train):
        (job,) = train("logger=wandb", f"logger.wandb.project={value}").jobs
        assert job.config.logger["wandb"]["project"] == value.strip("'")

    def test_synonyms_lead_to_keys(self):
        assert {name for name in SYNONYMS.values() if "." in name} <= {*all_keys(), "hydra.run.dir"}


class TestLoggersAndCallbacks:
    def test_several_of_each_and_ones_own_as_in_lightning_hydra_template(self, train):
        own = ("+callbacks.mine._target_=my.Callback", "callbacks.early_stopping.patience=7")
        groups = ("logger=[csv,wandb,tensorboard]", "callbacks=[default,lr_monitor,early_stopping]")
        (job,) = train(*groups, *own, "logger.wandb.project=p", "logger.tensorboard.name=t").jobs
        assert list(job.config.logger) == ["wandb", "tensorboard"]  # metrics.csv is always written
        assert job.config.logger["wandb"]["project"] == "p"
        assert list(job.config.callbacks) == ["lr_monitor", "early_stopping", "mine"]
        assert job.config.callbacks["early_stopping"]["patience"] == 7
        assert train("logger=mlflow").jobs[0].config.logger["mlflow"]["experiment_name"] == "heron"
        assert train("callbacks=none", "~logger").jobs[0].config.logger == {}

    def test_words_may_have_dashes_as_wandbs_agent_writes_them(self, train):
        (job,) = train("--optim.lr=1e-4").jobs
        assert (job.config.optim.lr, job.config.logger) == (1e-4, {})
        with pytest.raises(SystemExit):
            train("--nothing=1")

    def test_the_monitor_by_the_name_that_wandb_shows(self, train):
        (job,) = train("trainer.monitor=validation/accuracy").jobs
        (same,) = train("trainer.monitor=accuracy").jobs
        assert job.config.trainer.monitor == "accuracy"
        assert job.folder.name.rpartition("-")[2] == same.folder.name.rpartition("-")[2]

    def test_no_secret_of_a_logger_is_written(self, train, monkeypatch):
        monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:hunter2hunter2@mlflow.org")
        own = ("+logger.mine._target_=my.Logger", "+logger.mine.api_key=hunter3hunter3")
        (job,) = train("logger=mlflow", *own).jobs
        texts = [path.read_text("utf-8") for path in (job.folder / ".hydra").glob("*.yaml")]
        texts += [config_text(job.config), redact(" ".join(job.words))]
        assert len(texts) == 5
        assert not any(secret in text for text in texts for secret in ("hunter2", "hunter3"))


def compositions(*words: str) -> list[Any]:
    return compose_jobs(words)


class TestSweeps:
    @pytest.mark.parametrize(
        "words",
        [
            ["head=ess,emp", "seed=0,1"],
            ["seed=0,1", "head=window", "head.hidden=[8],[16,16]", "encoder.dropout=0.1"],
            ["++logger.wandb.project='a,b',\"c d\",e", "trainer.enable_progress_bar=null"],
            ["seed=range(1,3)", "optim.lr=choice(2e-5,1e-5)"],
            ["head=glob(e*)", "seed=3"],
            ["seed=0,1", "head=emp", "seed=5,6"],
            ["+data.columns.side=[a],[b]", "seed=0,1"],
            ["encoder.scratch={hidden:8,heads:2},{hidden:16}", "data.generator.seed=${seed},7"],
        ],
        ids=lambda words: " ".join(words),
    )
    def test_a_grid_has_hydras_own_jobs_in_hydras_own_order(self, words):
        found = compositions("-m", *words)
        parse = OverridesParser.create().parse_overrides
        with open_hydra("train") as hydra:
            parser = OverridesParser.create(config_loader=hydra.config_loader)
            (jobs,) = BasicSweeper.split_arguments(parser.parse_overrides(words), None)
            for mine, overrides in zip(found, jobs, strict=True):
                config = hydra.compose_config("train", overrides, run_mode=RunMode.RUN)
                both = (OmegaConf.to_container(each) for each in (mine.whole, config))
                one, other = ({**each, "hydra": None} for each in both)
                assert one == other
                values = [(o.key_or_group, o.value()) for o in parse(mine.overrides)]
                assert values == [(o.key_or_group, o.value()) for o in parse(overrides)]

    def test_params_in_an_experiment_and_words_that_take_their_place(self):
        found = compositions("experiment=lchaim/grid", "optim.lr=1e-4,1e-3", "batching.size=4")
        values = [(c.whole.batching.size, c.whole.optim.lr) for c in found]
        assert values == [(4, lr) for _ in (1, 2, 4) for lr in (1e-4, 1e-3)]
        with pytest.raises(ConfigError):
            compose(["experiment=lchaim/grid"])

    def test_tables_of_experiments_and_experiments_with_grids_of_their_own(self):
        found = compositions("-m", "experiment=trc/table4,trc/figure1", "encoder=mbert", "head=emp")
        rows = [(c.experiment, c.whole.data.sample.fraction) for c in found]
        assert {name for name, _ in rows} == {"trc/table4", "trc/figure1"}
        assert len(rows) > 5
        found = compositions("experiment=ronli/table4", "seed=3", "encoder=mbert")
        names = [c.experiment for c in found]
        assert len(set(names)) == len(names) > 10
        assert {(c.whole.report, c.whole.run.sweep) for c in found} == {
            ("ronli/table4", "ronli-table4")
        }

    @pytest.mark.parametrize("launcher", ["heron", "basic"])
    @pytest.mark.parametrize("sweeper", ["grid", "basic"])
    def test_hydras_own_launcher_and_sweeper_run_the_same_jobs(self, launcher, sweeper, train):
        words = ("-m", "seed=0,1", f"hydra/launcher={launcher}", f"hydra/sweeper={sweeper}")
        found = train(*words)
        assert (found.code, [job.config.seed for job in found.jobs]) == (0, [0, 1])
        assert len({job.folder for job in found.jobs}) == 2
        assert {job.folder.parent for job in found.jobs} == {Path("runs/chronicle-relation")}

    @pytest.mark.parametrize("launcher", ["heron", "basic"])
    def test_a_failing_job_ends_no_other(self, launcher, train):
        found = train("-m", "seed=666,1", f"hydra/launcher={launcher}")
        assert [job.config.seed for job in found.jobs] == [666, 1]
        assert found.code == 2
        assert "ValueError: a bug" in found.error

    def test_optuna_takes_the_space_of_an_experiment(self, train):
        params = "hydra.sweeper.params={seed: 'range(0,9)', head: 'choice(ess,emp)'}"
        found = train("-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=3", params)
        assert len({(job.config.seed, job.config.head.name) for job in found.jobs}) == 3


def test_a_full_error_when_asked_for(train, monkeypatch):
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(Exception, match="sed"):
        train("sed=1")


PLUGINS = {  # each word, and the module of the plugin behind it
    "hydra/launcher=joblib": "hydra_joblib_launcher",
    "hydra/launcher=submitit_local": "hydra_submitit_launcher",
    "hydra/launcher=ray": "hydra_ray_launcher",
    "hydra/sweeper=optuna2": "hydra_optuna_sweeper",
}


@pytest.mark.parametrize("word", PLUGINS)
@pytest.mark.real
def test_hydras_plugins_run_heron(word, tmp_path):
    import subprocess

    module = f"hydra_plugins.{PLUGINS[word]}"
    pytest.importorskip(module, reason="not installed: see conf/hydra and heron-nlu[launchers,ray]")
    from small_runs import TINY, in_folder

    tiny = [each for each in TINY if not each.startswith("run.isolate")]
    swept = ["seed=range(0,2)", "hydra.sweeper.n_trials=2"] if "sweeper" in word else ["seed=0,1"]
    words = [*tiny, *in_folder(tmp_path), "-m", *swept, word, "trainer.max_epochs=1"]
    command = [sys.executable, "-m", "heron", "train", *words, "run.sweep=s"]
    subprocess.run(command, check=True, timeout=600)
    ended = [read_json(path)["state"] for path in (tmp_path / "runs/s").glob("*/status.json")]
    assert set(ended) == {"done"}
    assert len(ended) == 2 or "sweeper" in word  # a sampler may ask for one point twice


def test_a_sweep_composes_each_choice_of_groups_once_and_only_sets_plain_keys(monkeypatch):
    composed, load = [], ConfigLoaderImpl.load_sweep_config
    monkeypatch.setattr(
        ConfigLoaderImpl,
        "load_sweep_config",
        lambda *parts: composed.append(parts[2]) or load(*parts),
    )
    found = compose_jobs(["data=chronicle", "-m", "head=ess,emp", "seed=0,1,2"])
    assert {(job.whole.head.name, job.whole.seed) for job in found} == {
        (head, seed) for head in ("ess", "emp") for seed in range(3)
    }
    assert len(composed) == 2
