"""`heron train` and its words: composed, swept, shown, or refused with what was probably meant."""

import sys
from types import SimpleNamespace

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import RunMode
from omegaconf import OmegaConf, open_dict

from heron.base.errors import ConfigError
from heron.cli import main
from heron.config.compose import compose, compose_and_run, open_hydra
from heron.config.data import read_config
from heron.config.hydra_words import search_path
from heron.config.resolve import resolve
from heron.config.shorthands import follow_the_data, spell_out_encoder, unfold

(HYDRAS_SWEEPER,) = (
    each for each in Plugins.instance().discover(Sweeper) if each.__name__ == "BasicSweeper"
)


@pytest.fixture
def train(monkeypatch, tmp_path, capfd):
    """Run `heron train` up to the point where a job would start; returns what happened."""
    jobs = []
    stub = SimpleNamespace(run_job=lambda config, folder, overrides: jobs.append((config, folder)))
    monkeypatch.setitem(sys.modules, "heron.training.job", stub)
    monkeypatch.setattr("heron.commands.train._report", lambda folders: None)
    # Nor is a paper's data looked for.
    for look in ("locate", "load_with_report"):
        monkeypatch.setattr(f"heron.training.claim.{look}", lambda *asked: None)

    def run(*words):
        jobs.clear()
        code = main(["train", f"paths.runs={tmp_path}/runs", "run.isolate=false", *words])
        output, error = capfd.readouterr()
        return SimpleNamespace(code=code, jobs=jobs, output=output, error=error)

    return run


@pytest.mark.parametrize("key", ["paths.runs", "paths.cache", "paths.data"])
def test_a_file_in_place_of_a_folder_is_refused_by_its_key(train, tmp_path, key):
    (tmp_path / "file").touch()
    found = train(f"{key}={tmp_path}/file/sub")
    assert (found.code, found.jobs) == (2, [])
    assert f"heron train: {key}={tmp_path}/file/sub: " in found.error
    assert "Errno" not in found.error


def test_a_folder_that_may_not_be_written_to_is_refused_by_its_key(train, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: "shut" not in str(path))
    (tmp_path / "shut").mkdir()
    found = train(f"paths.cache={tmp_path}/shut/sub")
    assert (found.code, found.jobs) == (2, [])
    assert f"{tmp_path}/shut cannot be written to; name another folder" in found.error


def test_the_way_to_add_a_split_that_an_error_names_is_taken():
    files = compose(["data=own_relation", "+data.files={validation: {path: v}}"]).data.files
    assert (files["validation"].path, files["train"].path) == ("v", "own/train.csv")


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
    assert "seed=-1: " in found.error
    assert "1 of 2 jobs failed" in found.error


def test_an_experiment_names_the_sweep(train, tmp_path):
    ((config, folder),) = train("experiment=trc/ess").jobs
    assert config.experiment == "trc/ess"
    assert folder.path.parent == tmp_path / "runs" / "trc-ess"


@pytest.mark.parametrize(
    ("words", "sweep"),
    [
        ([], "chronicle-relation"),
        (["head=emp", "seed=3", "optim.lr=1e-3"], "chronicle-relation"),
        (["trainer.max_epochs=1"], "chronicle-relation,trainer.max_epochs=1"),
        (["experiment=demo", "data.generator.size=400"], "demo,data.generator.size=400"),
        (["experiment=demo", "data=chronicle", "seed=1"], "demo,data=chronicle"),
        (["-m", "data.generator.size=200,400", "seed=0"], "chronicle-relation"),
        (["-m", "head=ess,emp", "protocol=repo"], "chronicle-relation,protocol=repo"),
        (["trainer.max_epochs=1", "run.job=mine"], "chronicle-relation"),
        (["trainer.max_epochs=1", "run.sweep=mine"], "mine"),
    ],
)
def test_runs_on_other_rows_or_of_another_length_get_a_sweep_of_their_own(
    words, sweep, train, tmp_path
):
    found = train(*words)
    assert found.code == 0
    assert {folder.path.parent for _, folder in found.jobs} == {tmp_path / "runs" / sweep}
    assert {config.run.sweep for config, _ in found.jobs} == {sweep}


def test_a_shortened_table_of_experiments_is_no_part_of_the_whole_one():
    assert "run.sweep='ronli-table4'" in unfold(["experiment=ronli/table4", "seed=1"])
    words = unfold(["experiment=ronli/table4", "trainer.max_epochs=1"])
    assert "run.sweep='ronli-table4,trainer.max_epochs=1'" in words


def test_files_of_one_name_in_two_folders_are_two_sweeps(train):
    def sweep(file):
        ((config, _),) = train("data=own_relation", f"data.files.train.path={file}").jobs
        return config.run.sweep

    first, second = sweep("/a/train.csv"), sweep("/b/train.csv")
    assert first.startswith("own_relation-relation,data.files.train.path=train.csv-")
    assert first != second


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


@pytest.mark.parametrize(
    "name",
    ["xlm-roberta-base", "gpt2", "bert-base-multilingual-cased", "roberta-large", "distilgpt2"],
)
def test_a_hub_id_without_an_owner_is_an_encoder(name):
    assert spell_out_encoder([f"encoder={name}"]) == ["encoder=pretrained", f"encoder.name={name}"]


def test_a_folder_here_and_a_model_in_the_hub_cache_are_encoders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    (tmp_path / "hub" / "models--anybert").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text("{}")
    for name in ("anybert", "mine"):
        assert spell_out_encoder([f"encoder={name}"])[1] == f"encoder.name={name}"
    for word in ("encoder=", "encoder=nobody", "encoder=robert", "encoder=pretrained"):
        assert spell_out_encoder([word]) == [word]


def test_an_encoder_that_is_neither_names_both_ways_out(train):
    found = train("encoder=alephbrt")
    assert (found.code, found.jobs) == (2, [])
    assert "Did you mean 'alephbert'" in found.error
    assert "encoder=pretrained encoder.name=alephbrt" in found.error


def test_a_sweep_over_options_and_hub_ids_together_is_refused(train):
    found = train("-m", "encoder=mbert,xlm-roberta-base")
    assert (found.code, found.jobs) == (2, [])
    assert "mbert is an option of conf/encoder, xlm-roberta-base a hub id" in found.error


@pytest.fixture
def village(tmp_path):
    """Lay out a folder like conf/ somewhere, with a data set, an experiment and a head."""
    folder = tmp_path / "elsewhere"
    files = {
        "data/village_nli.yaml": "name: village_nli\ntask: nli\nformat: pair_table\n"
        "language: ro\nlabel_order: [contradiction, entailment, neutral]\n"
        "files: {train: {path: t.csv}, test: {path: t.csv}}\n"
        "columns: {text: premise, text_pair: hypothesis}\nvalidation: {fraction: 0.1}\n",
        "experiment/village/first.yaml": "# @package _global_\ndefaults:\n"
        "  - override /data: village_nli\n  - override /task: nli\n  - override /head: own\n",
        "experiment/village/table.yaml": "# @package _global_\nhydra:\n  mode: MULTIRUN\n"
        "  sweeper: {params: {experiment: village/first, seed: '0,1'}}\n",
        "head/own.yaml": "name: own\ninput: pair\npooling: mean\nclassifier: linear\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_folders_for_yaml_are_named_as_hydra_does(village):
    for word in ("hydra.searchpath=[{}]", "hydra.searchpath=['file://{}']"):
        assert search_path([word.format(village), "seed=1"]) == ([village], ["seed=1"])
    assert search_path([f"hydra.searchpath=[{village},{village}]"], str(village))[0] == 3 * [
        village
    ]


def test_yaml_elsewhere_is_found_with_its_task_head_and_experiments(village, train):
    where = f"--config-dir={village}"
    ((config, _),) = train(where, "data=village_nli").jobs
    assert (config.data.name, config.task.name, config.head.name) == ("village_nli", "nli", "mlp3")
    ((config, _),) = train(where, "data=village_nli", "head=own").jobs
    assert config.head.pooling == "mean"
    jobs = train(where, "experiment=village/table").jobs
    assert [(config.head.name, config.seed) for config, _ in jobs] == [("own", 0), ("own", 1)]
    found = train(where, "data=vilage_nli")
    assert "Did you mean 'village_nli'" in found.error
    assert "no such option" in train("data=village_nli").error


def test_data_sets_elsewhere_can_be_stages_and_further_tests(village, train):
    words = ("data=chronicle_nli", "stages=[village_nli]", "also_test=[village_nli]")
    ((config, _),) = train(f"--config-dir={village}", *words).jobs
    assert config.others["village_nli"].language == "ro"
    assert "no data set 'village_nli'" in train(*words).error


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("--config-name=other", "--config-dir DIR experiment=NAME"),
        ("--config-path=conf", "--config-dir DIR adds a folder"),
        ("--shell-completion", "heron has none"),
        ("--experimental-rerun=x", "run.from=DIR"),
        ("--config-dir=nowhere", "--config-dir: no folder nowhere; name one that is laid out"),
        ("hydra.searchpath=[pkg://a.b]", "hydra.searchpath: no folder pkg://a.b"),
        ("hydra.run.dir=out", "hydra.run.dir=out: heron names run folders by paths.runs=DIR"),
        ("hydra.sweep.dir=out", "run.sweep=NAME"),
        ("hydra/launcher=joblib", "launcher=NAME"),
        ("hydra/sweeper=optuna", "sweeper=NAME"),
        ("+hydra.job.chdir=true", "heron does not use it"),
    ],
)
def test_what_heron_does_not_take_from_hydra_is_refused_by_name(typed, advice, train):
    found = train(typed)
    assert (found.code, found.jobs) == (2, [])
    assert advice in found.error
    assert typed.partition("=")[0] in found.error


@pytest.mark.parametrize("name", ["gpu", "cuda", "mps"])
def test_an_accelerator_that_is_not_here_is_refused_before_a_folder_is_made(
    name, train, tmp_path, monkeypatch
):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    found = train(f"trainer.accelerator={name}")
    assert (found.code, found.jobs) == (2, [])
    assert f"trainer.accelerator={name}: this machine has none" in found.error
    assert not (tmp_path / "runs").exists()


def test_an_unknown_task_in_a_file_of_ones_own_is_named(village, train):
    path = village / "data" / "village_nli.yaml"
    path.write_text(path.read_text().replace("task: nli", "task: nlii"))
    found = train(f"--config-dir={village}", "data=village_nli")
    assert (found.code, found.jobs) == (2, [])
    assert f"{path}: task: nlii: no such task. Did you mean 'nli'?" in found.error
    with pytest.raises(ConfigError, match=f"{path}: .*nlii"):
        read_config(path)


def test_composing_leaves_no_file_and_no_folder_behind(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = []
    compose_and_run("train", [], lambda composition: found.append(resolve(composition.config)))
    assert len(found) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_hydra_can_be_used_again_after_a_refusal(train):
    assert train("sed=1").code == 2
    assert train("seed=1").code == 0


def compositions(*words):
    """Compose a sweep as `heron train` does."""
    found = []
    compose_and_run("train", list(words), found.append)
    return found


def as_hydra_does(*words):
    """Compose a sweep as Hydra's own sweeper does: `[(overrides, configuration)]`."""
    with open_hydra("train") as hydra:
        parser = OverridesParser.create(config_loader=hydra.config_loader)
        (jobs,) = HYDRAS_SWEEPER.split_arguments(parser.parse_overrides(list(words)), None)
        composed = []
        for overrides in jobs:
            config = hydra.compose_config("train", overrides, run_mode=RunMode.RUN)
            with open_dict(config):
                del config["hydra"]
            composed.append((overrides, config))
    return composed


@pytest.mark.parametrize(
    "words",
    [
        ["head=ess,emp", "seed=0,1"],
        ["seed=0,1", "head=window", "head.hidden=[8],[16,16]", "encoder.dropout=0.1"],
        ["logger.project='a,b',\"c d\",e", "trainer.progress=null"],
        ["seed=range(1,3)", "optim.lr=choice(2e-5,1e-5)"],
        ["head=glob(e*)", "seed=3"],
        ["seed=0,1", "head=emp", "seed=5,6"],
        ["+data.columns.side=[a],[b]", "seed=0,1"],
        ["encoder.scratch={hidden:8,heads:2},{hidden:16}", "data.generator.seed=${seed},7"],
        ["stages=[chronicle],[{data:chronicle,max_epochs:2}],[]"],
    ],
    ids=lambda words: " ".join(words),
)
def test_a_grid_has_hydras_own_jobs_in_hydras_own_order(words):
    found, expected = compositions("-m", *words), as_hydra_does(*words)
    parse = OverridesParser.create().parse_overrides
    for mine, (overrides, config) in zip(found, expected, strict=True):
        assert [o.key_or_group for o in parse(mine.overrides)] == [
            o.key_or_group for o in parse(overrides)
        ]
        assert [o.value() for o in parse(mine.overrides)] == [o.value() for o in parse(overrides)]
        assert OmegaConf.to_container(mine.config) == OmegaConf.to_container(config)


def test_an_experiments_own_grid_expands_like_one_typed_behind_it():
    grid = ["batching.size=8,16,32", "optim.lr=1e-5,2e-5,3e-5,4e-5,5e-5", "optim.accumulate=1,2,4"]
    found = compositions("experiment=lchaim/grid", "seed=2")
    values = [(c.config.batching.size, c.config.optim.lr, c.config.optim.accumulate) for c in found]
    with open_hydra("train"):
        parsed = OverridesParser.create().parse_overrides(grid)
    (jobs,) = HYDRAS_SWEEPER.split_arguments(parsed, None)
    assert [c.overrides[:3] for c in found] == jobs
    assert len(set(values)) == 45
    assert values[:4] == [(8, 1e-5, 1), (8, 1e-5, 2), (8, 1e-5, 4), (8, 2e-5, 1)]
    assert {(c.config.seed, c.choices["experiment"]) for c in found} == {(2, "lchaim/grid")}


def test_a_key_named_on_the_command_line_takes_the_place_of_the_experiments_values():
    found = compositions("experiment=lchaim/grid", "optim.lr=1e-4,1e-3", "batching.size=4")
    values = [(c.config.batching.size, c.config.optim.lr, c.config.optim.accumulate) for c in found]
    assert values == [(4, lr, times) for times in (1, 2, 4) for lr in (1e-4, 1e-3)]


def test_lists_of_stages_are_values_of_a_grid():
    found = compositions("experiment=lchaim/table2", "encoder=alephbert")
    stages = [resolve(composition.config).stages for composition in found]
    assert stages == [
        [{"data": "lchaim", "freeze": "all"}],
        ["hebnli"],
        ["lchaim"],
        ["hebnli", "lchaim"],
    ]


@pytest.mark.real  # takes too long for every change
def test_a_table_of_experiments_runs_each_of_them_as_it_is():
    found = compositions("experiment=ronli/table4", "seed=3,4")
    names = [composition.choices["experiment"] for composition in found]
    assert names[::2] == names[1::2]
    assert len(set(names)) == len(names) // 2 > 1
    configs = [resolve(composition.config) for composition in found]
    assert [config.seed for config in configs] == [3, 4] * (len(names) // 2)
    assert {(config.report, config.run.sweep) for config in configs} == {
        ("ronli/table4", "ronli-table4")
    }
    with open_hydra("train") as hydra:
        alone = hydra.compose_config("train", [f"experiment={names[-1]}"], run_mode=RunMode.RUN)
    with open_dict(alone):
        del alone["hydra"]
    for part in ("data", "task", "encoder", "head", "baseline", "optim", "batching"):
        assert getattr(configs[-1], part) == getattr(resolve(alone), part)


def test_experiments_named_together_keep_their_own_grids():
    words = ["encoder=mbert,hebert", "head=emp", "data.sample.seed=0"]
    found = compositions("-m", "experiment=trc/table4,trc/figure1", *words)
    rows = [
        (c.choices["experiment"], c.choices["encoder"], c.config.data.sample.fraction)
        for c in found
    ]
    shares = [0.15, 0.25, 0.5, 0.75, 1.0]
    assert rows == [
        *(("trc/table4", encoder, 1.0) for encoder in ("mbert", "hebert")),
        *(("trc/figure1", encoder, f) for f in shares for encoder in ("mbert", "hebert")),
    ]
    assert {c.config.head.name for c in found} == {"emp"}


def test_a_forks_table_of_experiments_unfolds_too(tmp_path, monkeypatch):
    table = tmp_path / "conf" / "experiment" / "mine" / "table.yaml"
    table.parent.mkdir(parents=True)
    table.write_text("hydra: {sweeper: {params: {experiment: 'a,b', seed: '0,1'}}}\n")
    monkeypatch.setattr("heron.config.shorthands.conf_dirs", lambda folders: [tmp_path / "conf"])
    assert unfold(["experiment=mine/table", "seed=5"]) == [
        "experiment=a,b",
        "report=null",
        "hydra.mode=MULTIRUN",
        "run.sweep='mine-table'",
        "seed=5",
    ]
    assert unfold(["experiment=mine/other", "seed=5"]) == ["experiment=mine/other", "seed=5"]


def test_a_table_of_experiments_can_be_shown(train):
    found = train("experiment=ronli/table4", "--cfg", "job")
    assert (found.code, found.jobs) == (0, [])
    assert "report: ronli/table4" in found.output


def test_of_two_words_for_one_key_the_later_counts_as_in_hydra(train):
    ((config, _),) = train("experiment=trc/ess", "seed=1", "experiment=trc/emp", "seed=2").jobs
    assert (config.experiment, config.head.name, config.seed) == ("trc/emp", "emp", 2)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["-m", "optm.lr=1,2"], "'optim.lr'"),
        (["-m", "head=ess,emq"], "head=emq: no such option. Did you mean 'emp'"),
        (["-m", "experiment=demo,trc/figure2"], "'trc/figure1'"),
        (["experiment=trc/table4", "encoder=mbrt"], "'mbert'"),
        (["experiment=ronli/table4", "sed=1"], "'seed'"),
        (["experiment=ronli/tabel4"], "'ronli/table4'"),
        (["-m", "optim.lr=fast,slow"], "optim.lr: Value 'fast' of type 'str'"),
    ],
)
def test_a_typo_in_a_sweep_names_the_nearest(train, words, meant):
    found = train(*words)
    assert (found.code, found.jobs) == (2, [])
    assert meant in found.error
    assert "Traceback" not in found.error


@pytest.mark.parametrize(
    ("words", "added"),
    [
        (["data=ronli"], ["task=nli", "head=mlp3"]),
        (["data=hebnli,snli", "seed=1"], ["task=nli", "head=mlp3"]),
        (["data=trc"], ["task=relation", "head=ess"]),
        (["data=ronli", "head=cross"], ["task=nli"]),
        (["data=ronli", "baseline=majority"], ["task=nli"]),
        (["data=ronli", "baseline=none"], ["task=nli", "head=mlp3"]),
        (["data=ronli", "task=nli"], []),
        (["data=ronli", "experiment=trc/ess"], []),
        (["data=ronli,trc"], []),
        (["data=no_such_data"], []),
        (["seed=1"], []),
    ],
)
def test_the_data_chooses_task_and_head_where_nobody_else_does(words, added):
    assert follow_the_data(words) == [*added, *words]


def test_data_of_two_tasks_in_one_sweep_is_refused_by_name(train):
    found = train("-m", "data=chronicle,chronicle_nli")
    assert found.code == 2
    assert [config.data.name for config, _ in found.jobs] == ["chronicle"]
    assert "task.name=relation: data=chronicle_nli is for task=nli" in found.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("head=ess", "head.input=marked: task=nli reads pair or separate or premise or hypothesis"),
        ("head.pooling=event_start", "head.pooling=event_start needs head.input=marked, not pair"),
        ("head.distance=4", "head.distance needs task=relation"),
        ("head.both_ways=true", "head.both_ways=true needs head.input=window and data.inverse"),
        ("head=siamese_cls encoder.overflow=windows", "needs head.input=pair or premise or hypo"),
        (
            "encoder.overflow=windows encoder.truncation=longest_first",
            "needs encoder.truncation=only_first or only_second",
        ),
        (
            "encoder.overflow=windows encoder.max_length=100 encoder.stride=51",
            "encoder.stride=51: must be at most half of encoder.max_length=100",
        ),
        (
            "encoder.overflow=windows encoder.separator=x",
            "encoder.overflow=windows needs encoder.separator=null",
        ),
        ("head=siamese_cls encoder.separator=x", "encoder.separator needs head.input=pair"),
        ("encoder.trailing_separator=true", "needs encoder.separator"),
        (
            "batching.oversample=multipliers +batching.multipliers={neutrl:2}",
            "batching.multipliers.neutrl: no such class. Did you mean 'neutral'?",
        ),
        ("stages=[{max_epochs:2}]", "stages.0.data: "),
        ("stages=[{data:snli,epochs:2}]", "stages.0.epochs: "),
        ("stages=[{data:snli,lr:fast}]", "stages.0.lr=fast: "),
        ("stages=[3]", "stages.0=3: "),
    ],
)
def test_a_combination_of_pair_settings_that_cannot_work_is_refused(words, message, pair_config):
    with pytest.raises(ConfigError) as refusal:
        resolve(pair_config(words))
    assert message in str(refusal.value)


@pytest.fixture(scope="module")
def pair_config():
    """Return a function that composes a run on sentence pairs; words as in a shell."""
    import shlex

    with open_hydra("train") as hydra:

        def compose(words):
            overrides = follow_the_data(["data=chronicle_nli", *shlex.split(words)])
            config = hydra.compose_config("train", overrides, run_mode=RunMode.RUN)
            with open_dict(config):
                del config["hydra"]
            return config

        yield compose


def test_a_configuration_composed_from_python_is_that_of_the_command(train, tmp_path):
    words = ["experiment=trc/ess", "seed=3", f"paths.runs={tmp_path}/runs", "run.isolate=false"]
    ((config, _),) = train(*words).jobs
    assert compose(words) == config
    assert (config.experiment, config.seed) == ("trc/ess", 3)


@pytest.mark.parametrize("words", [["seed=1,2", "-m"], ["experiment=trc/figure1"]])
def test_a_sweep_is_no_single_configuration(words):
    with pytest.raises(ConfigError, match="not the words of one run"):
        compose(words)


def test_a_folder_of_a_job_whose_name_has_commas_is_one_encoder(tmp_path):
    folder = tmp_path / "head=ess,seed=1" / "model"
    folder.mkdir(parents=True)
    assert compose([f"encoder={folder}"]).encoder.name == str(folder)
