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
    """Return a function that runs `heron train`; its jobs note their settings and train nothing."""
    jobs: list[Any] = []

    def run_job(config: Any, folder: Any, overrides: Any) -> dict[str, Any]:
        jobs.append(SimpleNamespace(config=config, folder=folder.path, words=overrides))
        jobs[-1].working_dir = os.getcwd()
        if config.seed == 666:
            raise ValueError("a bug")
        scores = {"validation": {config.trainer.monitor: config.optim.lr}}
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.scores.write_text(json.dumps(scores))
        folder.update_status(state="done")
        return scores

    monkeypatch.setattr("heron.training.job.run_job", run_job)
    monkeypatch.setattr("heron.commands.train.report", lambda folder: None)
    for reader in ("locate", "load_with_report"):  # no data of a paper is there to be read
        monkeypatch.setattr(f"heron.training.run.{reader}", lambda *arguments: {})
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Any:
        jobs.clear()
        code = main(["train", "paths.cache=cache", "run.isolate=false", *words])
        output, error = capfd.readouterr()
        return SimpleNamespace(code=code, jobs=list(jobs), output=output, error=error)

    return run


@pytest.fixture
def own_conf(tmp_path):
    """Write a folder like conf/ somewhere, with a data set, experiments and a head."""
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
    def test_hydras_run_dir_sweep_dir_and_subdir_are_the_jobs_folders(self, train):
        (job,) = train("hydra.run.dir=out/mine").jobs
        assert job.folder == Path("out/mine")
        numbered = ("hydra.sweep.dir=s", "hydra.sweep.subdir=${hydra.job.num}")
        jobs = train("-m", "seed=0,1", *numbered).jobs
        assert [job.folder for job in jobs] == [Path("s/0"), Path("s/1")]
        words = ("-m", "head=ess,emp", "hydra.sweep.dir=t")
        subdir = "hydra.sweep.subdir=${hydra.job.override_dirname}"
        config = "hydra.job.config.override_dirname.exclude_keys=[paths.cache,run.isolate]"
        jobs = train(*words, subdir, config).jobs
        assert [job.folder for job in jobs] == [Path("t/head=ess"), Path("t/head=emp")]

    def test_without_hydras_folders_a_job_is_named_by_the_overrides_that_vary(self, train):
        (job,) = train("seed=3", "head=emp", "run.sweep=s").jobs
        assert job.folder.parent == Path("runs/s")
        assert job.folder.name.startswith("head=emp,seed=3-")
        (job,) = train("run.sweep=s", "run.job=j").jobs
        assert job.folder == Path("runs/s/j")
        long = [f"data.homepage={'x' * 60}", "encoder.scratch.hidden=8", "encoder.scratch.heads=2"]
        jobs = train("-m", *long, "optim.lr=0.5,0.25", "encoder.scratch.layers=1").jobs
        assert [job.folder.name.split(",")[0] for job in jobs] == ["optim.lr=0.5", "optim.lr=0.25"]

    @pytest.mark.parametrize("sweeper", ["grid", "basic"])
    def test_the_job_folder_stores_its_composition_without_secrets(self, sweeper, train):
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

    def test_chdir_enters_the_job_folder_and_output_subdir_null_writes_no_hydra_folder(self, train):
        (job,) = train("hydra.job.chdir=true", "hydra.output_subdir=null").jobs
        assert job.working_dir == str(job.folder)
        assert Path(job.config.paths.cache).is_absolute()
        assert not list(Path().rglob(".hydra"))


class TestFlagsThatOnlyShow:
    @pytest.mark.parametrize(
        ("words", "shown"),
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
    def test_a_flag_that_only_shows_prints_and_starts_no_job(self, words, shown, train, capfd):
        if words[0] == "-sc":  # takes no overrides beside it
            assert main(["train", *words]) == 0
            assert shown in capfd.readouterr().out
            return
        command = train(*words)
        assert (command.code, command.jobs) == (0, [])
        assert shown in command.output

    def test_hydra_verbose_prints_the_logs_of_libraries(self, train, monkeypatch):
        calls: list[str] = []
        monkeypatch.setattr(logging, "basicConfig", lambda: calls.append("basicConfig"))
        assert train("hydra.verbose=true").code == 0
        assert calls == ["basicConfig"]


class TestSearchPath:
    def test_yaml_of_config_dir_and_of_searchpath_can_be_chosen_by_name(self, train, own_conf):
        for option in (f"--config-dir={own_conf}", f"hydra.searchpath=[file://{own_conf}]"):
            (job,) = train(option, "data=village_nli").jobs
            config = job.config
            assert (config.data.name, config.task.name, config.head.name) == (
                *("village_nli", "nli"),
                "mlp3",
            )
        (job,) = train(f"--config-dir={own_conf}", "data=village_nli", "head=own").jobs
        assert job.config.head.pooling == "mean"
        jobs = train(f"--config-dir={own_conf}", "experiment=village/table").jobs
        assert [(job.config.head.name, job.config.seed) for job in jobs] == [("own", 0), ("own", 1)]
        assert {job.folder.parent.name for job in jobs} == {"village-table"}

    def test_cn_starts_from_ones_own_primary_configuration(self, train, own_conf):
        (job,) = train(f"--config-dir={own_conf}", "-cn", "own").jobs
        assert job.config.seed == 11

    def test_the_search_path_may_name_a_python_package(self, train, own_conf, monkeypatch):
        (own_conf / "__init__.py").touch()
        (own_conf / "head" / "__init__.py").touch()
        monkeypatch.syspath_prepend(own_conf.parent)
        words = ("data=chronicle_nli", "head=own")
        (job,) = train("hydra.searchpath=[pkg://elsewhere]", *words).jobs
        assert job.config.head.name == "own"

    def test_data_sets_elsewhere_can_be_stages_and_further_tests(self, train, own_conf):
        words = ("data=chronicle_nli", "stages=[village_nli]", "also_test=[village_nli]")
        (job,) = train(f"--config-dir={own_conf}", *words).jobs
        assert job.config.others["village_nli"].language == "ro"


class TestOverrides:
    def test_keys_are_added_and_groups_deleted_and_the_last_override_counts(self, train):
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
    def test_a_value_of_any_script_is_kept_as_typed(self, value, train):
        (job,) = train("logger=wandb", f"logger.wandb.project={value}").jobs
        assert job.config.logger["wandb"]["project"] == value.strip("'")

    def test_every_synonym_names_a_key_that_exists(self):
        assert {name for name in SYNONYMS.values() if "." in name} <= {*all_keys(), "hydra.run.dir"}


class TestLoggersAndCallbacks:
    def test_several_loggers_and_callbacks_and_ones_own_are_configured_together(self, train):
        own = ("+callbacks.mine._target_=my.Callback", "callbacks.early_stopping.patience=7")
        groups = ("logger=[csv,wandb,tensorboard]", "callbacks=[default,lr_monitor,early_stopping]")
        (job,) = train(*groups, *own, "logger.wandb.project=p", "logger.tensorboard.name=t").jobs
        assert list(job.config.logger) == ["wandb", "tensorboard"]  # metrics.csv is always written
        assert job.config.logger["wandb"]["project"] == "p"
        assert list(job.config.callbacks) == ["lr_monitor", "early_stopping", "mine"]
        assert job.config.callbacks["early_stopping"]["patience"] == 7
        assert train("logger=mlflow").jobs[0].config.logger["mlflow"]["experiment_name"] == "heron"
        assert train("callbacks=none", "~logger").jobs[0].config.logger == {}

    def test_overrides_may_begin_with_dashes_as_wandbs_agent_writes_them(self, train):
        (job,) = train("--optim.lr=1e-4").jobs
        assert (job.config.optim.lr, job.config.logger) == (1e-4, {})
        with pytest.raises(SystemExit):
            train("--nothing=1")

    def test_the_monitor_may_have_the_name_that_wandb_shows(self, train):
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
        composed_jobs = compose_jobs(["-m", *words])
        parse = OverridesParser.create().parse_overrides
        with open_hydra("train") as hydra:
            parser = OverridesParser.create(config_loader=hydra.config_loader)
            (hydras_jobs,) = BasicSweeper.split_arguments(parser.parse_overrides(words), None)
            for job, overrides in zip(composed_jobs, hydras_jobs, strict=True):
                config = hydra.compose_config("train", overrides, run_mode=RunMode.RUN)
                settings = {**OmegaConf.to_container(job.whole), "hydra": None}
                assert settings == {**OmegaConf.to_container(config), "hydra": None}
                values = [(o.key_or_group, o.value()) for o in parse(job.overrides)]
                assert values == [(o.key_or_group, o.value()) for o in parse(overrides)]

    def test_an_override_takes_the_place_of_an_experiments_own_grid(self):
        jobs = compose_jobs(["experiment=lchaim/grid", "optim.lr=1e-4,1e-3", "batching.size=4"])
        values = [(job.whole.batching.size, job.whole.optim.lr) for job in jobs]
        assert values == [(4, lr) for _ in (1, 2, 4) for lr in (1e-4, 1e-3)]
        with pytest.raises(ConfigError):
            compose(["experiment=lchaim/grid"])

    def test_a_table_of_experiments_runs_each_with_its_own_grid(self):
        tables = ["-m", "experiment=trc/table4,trc/figure1", "encoder=mbert", "head=emp"]
        jobs = compose_jobs(tables)
        assert {job.experiment for job in jobs} == {"trc/table4", "trc/figure1"}
        assert len(jobs) > 5
        jobs = compose_jobs(["experiment=ronli/table4", "seed=3", "encoder=mbert"])
        names = [job.experiment for job in jobs]
        assert len(set(names)) == len(names) > 10
        reports = {(job.whole.report, job.whole.run.sweep) for job in jobs}
        assert reports == {("ronli/table4", "ronli-table4")}

    @pytest.mark.parametrize("launcher", ["heron", "basic"])
    @pytest.mark.parametrize("sweeper", ["grid", "basic"])
    def test_hydras_own_launcher_and_sweeper_run_the_same_jobs(self, launcher, sweeper, train):
        words = ("-m", "seed=0,1", f"hydra/launcher={launcher}", f"hydra/sweeper={sweeper}")
        sweep = train(*words)
        assert (sweep.code, [job.config.seed for job in sweep.jobs]) == (0, [0, 1])
        assert len({job.folder for job in sweep.jobs}) == 2
        assert {job.folder.parent for job in sweep.jobs} == {Path("runs/chronicle-relation")}

    @pytest.mark.parametrize("launcher", ["heron", "basic"])
    def test_a_failing_job_ends_no_other(self, launcher, train):
        sweep = train("-m", "seed=666,1", f"hydra/launcher={launcher}")
        assert [job.config.seed for job in sweep.jobs] == [666, 1]
        assert sweep.code == 2
        assert "ValueError: a bug" in sweep.error

    def test_the_optuna_sweeper_reads_its_space_from_hydra_sweeper_params(self, train):
        params = "hydra.sweeper.params={seed: 'range(0,9)', head: 'choice(ess,emp)'}"
        search = train("-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=3", params)
        assert len({(job.config.seed, job.config.head.name) for job in search.jobs}) == 3


def test_hydra_full_error_raises_the_error_itself(train, monkeypatch):
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(Exception, match="sed"):
        train("sed=1")


PLUGINS = {  # each override, and the module of the plugin that it chooses
    "hydra/launcher=joblib": "hydra_joblib_launcher",
    "hydra/launcher=submitit_local": "hydra_submitit_launcher",
    "hydra/launcher=ray": "hydra_ray_launcher",
    "hydra/sweeper=optuna2": "hydra_optuna_sweeper",
}


@pytest.mark.parametrize("choice", PLUGINS)
@pytest.mark.real
def test_hydras_own_launchers_and_sweepers_train_every_job(choice, tmp_path):
    import subprocess

    module = f"hydra_plugins.{PLUGINS[choice]}"
    pytest.importorskip(module, reason="not installed: see conf/hydra and heron-nlu[launchers,ray]")
    from small_runs import TINY, in_folder

    tiny = [setting for setting in TINY if not setting.startswith("run.isolate")]
    is_sampler = "sweeper" in choice
    seeds = ["seed=range(0,2)", "hydra.sweeper.n_trials=2"] if is_sampler else ["seed=0,1"]
    words = [*tiny, *in_folder(tmp_path), "-m", *seeds, choice, "trainer.max_epochs=1"]
    command = [sys.executable, "-m", "heron", "train", *words, "run.sweep=s"]
    subprocess.run(command, check=True, timeout=600)
    states = [read_json(path)["state"] for path in (tmp_path / "runs/s").glob("*/status.json")]
    assert set(states) == {"done"}
    assert len(states) == 2 or is_sampler  # a sampler may ask for one point twice


def test_a_sweep_composes_each_choice_of_groups_once_however_many_plain_keys_it_varies(monkeypatch):
    compositions = []
    load = ConfigLoaderImpl.load_sweep_config

    def load_sweep_config(self, master, overrides):
        compositions.append(overrides)
        return load(self, master, overrides)

    monkeypatch.setattr(ConfigLoaderImpl, "load_sweep_config", load_sweep_config)
    jobs = compose_jobs(["data=chronicle", "-m", "head=ess,emp", "seed=0,1,2"])
    settings = {(job.whole.head.name, job.whole.seed) for job in jobs}
    assert settings == {(head, seed) for head in ("ess", "emp") for seed in range(3)}
    assert len(compositions) == 2
