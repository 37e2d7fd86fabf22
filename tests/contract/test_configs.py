"""Every file in `conf/` composes with every other, and a new one is held to the same from day one.

Nothing here knows an experiment, encoder or head by name, except the two that reproduce a paper's
table and figure.
"""

import dataclasses
import re
from functools import cache
from itertools import product
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from compositions import raw, unchecked
from heron.base.errors import ConfigError
from heron.base.folders import conf_dir, conf_dirs, config_groups
from heron.config.constraints import all_keys, choices, key_types
from heron.config.parsing import check, parse
from heron.data import TASKS as RULES
from heron.data.config import SPLITS, read_config
from heron.data.markers import event_markers
from heron.models.config import EncoderConfig, HeadConfig
from heron.sweeps.grid import compose_jobs
from heron.tasks import BASELINES as SYSTEMS
from heron.tasks import BaselineConfig
from heron.tasks.checks import tasks_of_baseline
from heron.tasks.config import resolve
from heron.training.run_names import run_path
from heron_tools.prompting.config import PromptingConfig
from tiers import one_in, quick

CONF = conf_dir()
FORKS = conf_dirs()[1:]


def options(group):
    """List a group's options, those in its folders as `folder/option`, of heron and all forks."""
    folders = [path / group for path in (CONF, *FORKS)]
    files = [(file, folder) for folder in folders for file in folder.rglob("*.yaml")]
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file, folder in files)


def option_file(group, name):
    """Find an option's file; heron's comes before a fork's of the same name."""
    files = [folder / group / f"{name}.yaml" for folder in (CONF, *FORKS)]
    return next(file for file in files if file.is_file())


EXPERIMENTS, ENCODERS, HEADS, PROTOCOLS, BASELINES = map(
    options, ("experiment", "encoder", "head", "protocol", "baseline")
)
SCHEMAS = {"encoder": EncoderConfig, "head": HeadConfig}


@pytest.fixture(scope="module")
def compose(hydra):
    """Return a function that composes and resolves one job, as `heron train` would."""

    def compose_one(*words):
        return resolve(raw(hydra, *words)[0])

    return compose_one


@cache
def option(group, name, protocol="fixed"):
    """Read what an option of encoder, head or baseline says, over the defaults."""
    values = OmegaConf.to_container(OmegaConf.load(option_file(group, name)))
    values.pop("defaults", None)
    # encoder=scratch sets the learning rate as well and so holds its keys one level down.
    values = values.get(group, values)
    if group == "encoder" and values["name"] == "???":
        values |= {"name": "some/folder"}
    changed = OmegaConf.to_container(deviation(f"of_{group}", f"{name}_{protocol}"))
    changed = changed.get(group, {})
    if group == "baseline":
        known = values["name"] != "none" and SYSTEMS[values["name"]].options
        return (known or BaselineConfig)(**values | changed)
    return SCHEMAS[group](**values | changed)


def deviation(group, name):
    """Read what a protocol changes, with what it inherits; nothing where there is no file."""
    if name not in options(f"deviations/{group}"):
        return OmegaConf.create()
    own = OmegaConf.load(option_file(f"deviations/{group}", name))
    inherited = [each for each in own.pop("defaults", []) if each != "_self_"]
    return OmegaConf.merge(*(deviation(group, each) for each in inherited), own)


def swap(config, choices, group, name):
    """Choose another option; what experiment and protocol say about its keys stays.

    What Hydra makes of these words, without its quarter of a second; held to it below.
    """
    chosen, node = option(group, choices[group], config.protocol), getattr(config, group)
    keys = [field.name for field in dataclasses.fields(node)] if group != "baseline" else []
    own = {key: getattr(node, key) for key in keys if getattr(node, key) != getattr(chosen, key)}
    other = option(group, name, config.protocol)
    return dataclasses.replace(config, **{group: dataclasses.replace(other, **own)})


def turn(i, task):
    """Choose options for the i-th experiment, so that each of them has its turn."""
    fitting = [head for head in HEADS if option("head", head).input in RULES[task].forms]
    chosen = {"encoder": ENCODERS[i % len(ENCODERS)], "head": fitting[i % len(fitting)]}
    chosen["baseline"] = BASELINES[i % len(BASELINES)]
    return chosen


@pytest.mark.parametrize(
    "i",
    one_in(16, range(len(EXPERIMENTS))),
    ids=lambda i: EXPERIMENTS[i],
)
def test_options_typed_are_what_the_product_below_takes_them_for(i, hydra, run_as_published):
    experiment, protocol = EXPERIMENTS[i], PROTOCOLS[i % len(PROTOCOLS)]
    expected, choices = run_as_published(experiment, protocol)
    chosen = turn(i, expected.task.name)
    if expected.baseline.name == "prompted":  # its experiment chooses a prompt as well
        chosen["baseline"] = "prompted"
    elif chosen["baseline"] == "prompted" and expected.task.name not in options("prompt"):
        chosen["baseline"] = "none"
    for group, name in chosen.items():
        expected = swap(expected, choices, group, name)
    typed = [f"{group}={name}" for group, name in chosen.items()]
    typed += [f"experiment={experiment}", f"protocol={protocol}"]
    if chosen["baseline"] == "prompted":
        typed += ["model=gpt-4o", f"prompt={expected.task.name}"]
    found, _ = raw(hydra, *typed, "encoder.name=" + expected.encoder.name)
    found = unchecked(found)
    if found.baseline.name != "none":
        own = SYSTEMS[found.baseline.name].options or BaselineConfig
        found.baseline = own(**vars(found.baseline))
    if "prompting" in found.parts:
        found.parts["prompting"] = parse(PromptingConfig, found.parts["prompting"])
    assert (found.encoder, found.head) == (expected.encoder, expected.head)
    assert found.baseline.name == expected.baseline.name
    require(found)


def refusal(config):
    """Say which message a combination must be refused with; None where it must work."""
    head, encoder, task = config.head, config.encoder, config.task.name
    baseline = config.baseline
    if encoder.overflow == "windows" and encoder.separator is not None:
        return "encoder.overflow=windows needs encoder.separator=null"
    if baseline.name != "none":
        if task not in (tasks := tasks_of_baseline(baseline.name)):
            fitting = " or ".join(tasks)
            return f"baseline={baseline.name} needs task={fitting}, not task={task}"
        if baseline.name == "prompted" and "prompting" not in config.parts:
            return "needs a model and a prompt"
        if baseline.name == "prompted" and not config.prompting.model.name:
            return "prompting.model.name"
        asks = baseline.name == "zero_shot" and baseline.zero_shot == "definitions"
        if asks and not set(config.data.label_order) <= set(baseline.hypotheses):
            return "baseline.hypotheses has no sentence for"
        return None
    if head.input not in RULES[task].forms:
        return f"task={task} reads .*; head={head.name} is for another task"
    if head.classifier == "seq2seq" and encoder.name == "scratch":
        return "encoder=scratch has none"
    if encoder.overflow == "windows" and head.input == "separate":
        return "encoder.overflow=windows needs head.input="
    if encoder.separator is not None and head.input != "pair":
        return "encoder.separator needs head.input=pair"
    return None


def require(config):
    """Check that a combination works, or is refused with the message that it should have."""
    expected = refusal(config)
    if expected is None:
        check(config)
        return
    with pytest.raises(ConfigError, match=expected):
        check(config)


def require_everything(experiment, protocol, run_as_published):
    config, choices = run_as_published(experiment, protocol)
    assert (config.protocol, choices["experiment"]) == (protocol, experiment)
    # Only windows cannot follow a repository that writes both texts into one.
    assert refusal(config) is None or config.encoder.overflow == "windows"
    require(config)
    for encoder, head in product(ENCODERS, HEADS):
        require(swap(swap(config, choices, "encoder", encoder), choices, "head", head))
    for baseline in BASELINES:
        require(swap(config, choices, "baseline", baseline))


@pytest.mark.parametrize(
    "i",
    one_in(16, range(len(EXPERIMENTS))),
    ids=lambda i: EXPERIMENTS[i],
)
def test_every_experiment_works_with_every_encoder_head_and_baseline(i, run_as_published):
    require_everything(EXPERIMENTS[i], PROTOCOLS[i % len(PROTOCOLS)], run_as_published)


@pytest.mark.real  # a minute: every change checks a third of it
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_works_with_them_under_every_protocol(experiment, run_as_published):
    for protocol in PROTOCOLS:
        require_everything(experiment, protocol, run_as_published)


def test_every_paper_s_task_has_its_protocols():
    published = {
        f"{task}_{protocol}" for task in ("nli", "qa", "relation") for protocol in PROTOCOLS
    }
    # HeSum publishes no setting beside its experiments'; `fixed` is what conf/ says elsewhere.
    assert published - set(options("deviations")) == {"nli_fixed", "qa_fixed", "relation_fixed"}


GROUPS = [folder.name for folder in sorted((CONF / "deviations").iterdir()) if folder.is_dir()]


@pytest.mark.parametrize("group", GROUPS)
def test_a_deviation_names_an_option_and_a_protocol(group):
    for name in options(f"deviations/{group}"):
        option_name, _, protocol = name.rpartition("_")
        assert option_name in options(group.removeprefix("of_"))
        assert protocol in PROTOCOLS


def test_a_protocol_wins_over_the_experiment_and_what_is_typed_wins_over_both(hydra):
    words = ["experiment=ronli/siamese", "protocol=paper"]
    config, _ = raw(hydra, *words)
    assert (config.batching.size, config.optim.lr) == (256, 1e-3)
    config, _ = raw(hydra, *words, "batching.size=64")
    assert config.batching.size == 64
    config, _ = raw(hydra, "experiment=ronli/siamese", "protocol=repo")
    assert (config.batching.size, config.optim.lr) == (128, 1e-4)


def test_what_a_grid_sweeps_wins_over_the_protocol(tmp_path):
    words = ["experiment=ronli/grid", "protocol=repo", "head.dropout=0.1", "seed=0"]
    words += ["head.hidden=[256]", "batching.size=64"]
    found = compose_jobs([*words, f"paths.runs={tmp_path}"])
    assert {each.whole.optim.lr for each in found} == {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}
    assert {each.whole.trainer.patience for each in found} == {4}


TASKS = {
    "relation": "chronicle",
    "nli": "chronicle_ronli",
    "qa": "chronicle_qa",
    "summarization": "chronicle_summaries",
    "classification": "own_classification",
    "mlm": "own_text",
}


@pytest.fixture(scope="module")
def plain_run(hydra):
    """Return a function that composes a task with its default head under a protocol, once."""

    @cache
    def compose_one(task, protocol):
        words = [f"data={TASKS[task]}", f"task={task}", f"head={RULES[task].head}"]
        config = raw(hydra, *words, f"protocol={protocol}")[0]
        OmegaConf.set_struct(config, False)  # a protocol adds keys to curriculum.changes
        return config

    return compose_one


def under(config, curriculum, protocol):
    """Choose a curriculum and its deviation: what Hydra makes of it, held to it below."""
    chosen = OmegaConf.load(option_file("curriculum", curriculum))
    parts = [chosen if "curriculum" in chosen else {"curriculum": chosen}]
    parts.append(deviation("of_curriculum", f"{curriculum}_{protocol}"))
    return OmegaConf.merge(config, *parts)


@pytest.mark.parametrize(
    ("curriculum", "protocol", "task"),
    # Each curriculum under two protocols or tasks with each change, all in `make test-real`.
    [
        pytest.param(*case, marks=[pytest.mark.real] if sum(places) % 9 else [])
        for places, case in (
            ((i, 3 * j, k), (name, protocol, task))
            for i, name in enumerate(options("curriculum"))
            for j, protocol in enumerate(PROTOCOLS)
            for k, task in enumerate(TASKS)
        )
    ],
)
def test_every_curriculum_composes_with_every_task_and_protocol(
    curriculum, protocol, task, plain_run
):
    config = under(plain_run(task, protocol), curriculum, protocol)
    if task != "nli" and config.curriculum.difficulty == "sts":
        with pytest.raises(ConfigError, match=r"curriculum\.difficulty=sts"):
            resolve(config)
    else:
        assert resolve(config).curriculum.name == curriculum


@pytest.mark.parametrize("i", quick(range(len(options("curriculum"))), 4))
def test_a_curriculum_typed_is_what_the_product_above_takes_it_for(i, hydra, plain_run):
    curriculum, protocol = options("curriculum")[i], PROTOCOLS[i % len(PROTOCOLS)]
    expected = resolve(under(plain_run("nli", protocol), curriculum, protocol))
    words = [f"data={TASKS['nli']}", "task=nli", f"head={RULES['nli'].head}"]
    found, _ = raw(hydra, *words, f"curriculum={curriculum}", f"protocol={protocol}")
    assert resolve(found) == expected


@pytest.mark.parametrize("name", options("deviations/of_curriculum"))
def test_a_deviation_of_one_curriculum_is_reached_and_changes_it(name, plain_run):
    curriculum, _, protocol = name.rpartition("_")
    assert curriculum in options("curriculum")
    assert protocol in PROTOCOLS
    without = under(plain_run("nli", protocol), curriculum, "no protocol")
    with_it = under(plain_run("nli", protocol), curriculum, protocol)
    assert resolve(with_it) != resolve(without)


@pytest.mark.parametrize("name", one_in(3, options("data")))
def test_every_data_set_is_described_whole(name):
    (path,) = (file for root in (CONF, *FORKS) for file in (root / "data").glob(f"{name}.yaml"))
    config = read_config(path)
    assert config.name == name
    assert config.title
    # Of one's own table, the classes may be those of the file.
    assert len(config.label_order) > RULES[config.task].has_classes or name.startswith("own_")
    assert (config.licence and config.citation) or name.startswith("own_")
    assert config.generator or config.files or config.texts.sets
    assert event_markers(config)
    for split, file in config.files.items():
        assert not file.url or re.match(r"https://.*/[0-9a-f]{40}/", file.url), split  # a commit
        assert file.unseen or file.sha256 or not file.url, f"{split}: seen, so it has a hash"
        published = file.url or file.build or file.pinned
        assert file.unseen or file.rows or split not in SPLITS or not published, split
        assert re.fullmatch("[0-9a-f]{40}", file.git_blob or "0" * 40)
        assert not Path(file.path).is_absolute()
    for split, counts in config.counts.items():
        assert sum(counts.values()) == config.files[split].rows


@pytest.mark.parametrize("name", options("data"))
def test_every_data_set_composes(name, compose):
    config = compose(f"data={name}")
    assert config.data.name == name
    assert config.task.name == config.data.task


def test_every_task_has_data_and_heads():
    tasks = {read_config(option_file("data", name)).task for name in options("data")}
    assert tasks == set(options("task")) == set(RULES)
    forms = {option("head", head).input for head in HEADS}
    assert all(forms & set(RULES[task].forms) for task in RULES)


@pytest.mark.parametrize("group", ["batching", "callbacks", "logger", "optim", "trainer"])
def test_every_option_of_the_other_groups_composes(group, compose):
    for name in options(group):
        compose(f"{group}={name}")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8")) or {}


FILES = sorted(path for root in (CONF, *FORKS) for path in root.rglob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-4:]))
def test_every_file_says_what_it_is_for_in_short_lines(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("#") for line in lines) or len(lines) <= 3
    assert max(len(line) for line in lines if "http" not in line) <= 100
    if any(path.is_relative_to(root / "experiment") for root in (CONF, *FORKS)):
        assert len(lines) <= 30


def grid(experiment):
    """Read what an experiment sweeps over: `{key: values}`."""
    hydra = read(option_file("experiment", experiment)).get("hydra", {})
    params = hydra.get("sweeper", {}).get("params", {})
    assert (hydra.get("mode") == "MULTIRUN") == bool(params)
    return {key: str(values).split(",") for key, values in params.items()}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_swept_key_and_its_options_exist(experiment):
    groups = config_groups()
    for key, values in grid(experiment).items():
        assert key in all_keys() or key in groups
        if key in groups:
            assert set(values) <= set(options(key))


def parashoots_cells(experiment, folder):
    """Compose ParaShoot's grid: the jobs, and what each of them varies."""
    found = compose_jobs([f"experiment={experiment}", f"paths.runs={folder}"])
    cells = [each.whole for each in found]
    return found, [
        (cell.encoder.name, cell.optim.lr, cell.batching.size, cell.trainer.max_steps)
        for cell in cells
    ]


def parashoots_product(*encoders):
    names = [option("encoder", name).name for name in encoders]
    return set(product(names, (3e-5, 5e-5, 1e-4), (16, 32, 64), (512, 800, 1024)))


def test_parashoots_grid_is_the_papers_27_cells_each_in_a_folder_of_its_own(tmp_path):
    found, varied = parashoots_cells("parashoot/grid", tmp_path)
    assert len(found) == 27
    assert set(varied) == parashoots_product("alephbert")
    cells = [resolve(composition.whole) for composition in found]
    for cell in cells:
        assert (cell.data.name, cell.head.name) == ("parashoot", "span")
        assert cell.batching.plan == "shuffle", "the size of a batch is what the grid says"
        assert (cell.trainer.select, cell.trainer.monitor) == ("best", "f1")
        assert cell.report == "parashoot/table4"
    jobs = zip(cells, found, strict=True)
    assert len({run_path(cell, composition.overrides) for cell, composition in jobs}) == 27


def test_a_sweep_runs_its_grid_and_an_override_narrows_it(tmp_path):
    words = ["experiment=trc/table4", "encoder=mbert", "head=ess,emp", f"paths.runs={tmp_path}"]
    found = [resolve(each.whole) for each in compose_jobs(words)]
    assert {config.encoder.name for config in found} == {"google-bert/bert-base-multilingual-cased"}
    assert [config.head.name for config in found] == ["ess", "emp"]


def test_the_configuration_knows_every_input_form():
    forms = [form for task in RULES for form in RULES[task].forms]
    assert sorted(choices(key_types()["head.input"])) == sorted(forms)


def test_the_small_data_recipe_ends_with_the_run_s_own_data(compose):
    for data in ("parashoot", "parashoot_dev"):
        config = compose("experiment=parashoot/stages", f"data={data}")
        assert [stage.data for stage in config.read_stages()][-1] == data
