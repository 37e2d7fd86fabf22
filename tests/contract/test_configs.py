"""Every file in `conf/` composes with every other, and a new one is held to the same from day one.

Nothing here knows an experiment, encoder or head by name, except the two that reproduce a paper's
table and figure.
"""

from pathlib import Path

import pytest
import yaml
from hydra.types import RunMode
from omegaconf import open_dict

from heron.composition import _hydra, compose_and_run, follow_the_data
from heron.config import CHOICES, all_keys, resolve
from heron.config_dir import conf_dir
from heron.data.config import read_config

CONF = conf_dir()
FORKS = sorted(CONF.parent.glob("experiments/*/conf"))


def options(group):
    """List a group's options, those in its folders as `folder/option`, of heron and all forks."""
    folders = [path / group for path in (CONF, *FORKS)]
    files = [(file, folder) for folder in folders for file in folder.rglob("*.yaml")]
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file, folder in files)


EXPERIMENTS, ENCODERS, HEADS, PROTOCOLS = map(
    options, ("experiment", "encoder", "head", "protocol")
)


@pytest.fixture(scope="module")
def compose():
    """Return a function that composes and resolves one job, as `heron train` would.

    One Hydra for the whole module, and no look at `hydra.mode`: a third of the time.
    """
    with _hydra("train") as hydra:

        def compose_one(*words):
            config = hydra.compose_config("train", list(words), run_mode=RunMode.RUN)
            with open_dict(config):
                del config["hydra"]
            return resolve(config)

        yield compose_one


def combinations():
    """Pair every two options of different groups at least once.

    Along each diagonal of the experiment x encoder square, head and protocol go round; with four
    heads and three protocols, twelve diagonals hold all of their pairs.
    """
    rows = max(len(EXPERIMENTS), len(HEADS), len(PROTOCOLS))
    columns = max(len(ENCODERS), len(HEADS) * len(PROTOCOLS) - rows + 1)
    for row in range(rows):
        for column in range(columns):
            yield (
                EXPERIMENTS[row % len(EXPERIMENTS)],
                ENCODERS[column % len(ENCODERS)],
                HEADS[(row + column) % len(HEADS)],
                PROTOCOLS[(row + column) % len(PROTOCOLS)],
            )


COMBINATIONS = sorted(set(combinations()))


def test_the_combinations_pair_every_two_options():
    groups = (EXPERIMENTS, ENCODERS, HEADS, PROTOCOLS)
    for one in range(4):
        for other in range(one):
            pairs = {(chosen[one], chosen[other]) for chosen in COMBINATIONS}
            assert pairs == {(a, b) for a in groups[one] for b in groups[other]}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_composes_with_every_encoder_head_and_protocol(experiment, compose):
    for _, encoder, head, protocol in (c for c in COMBINATIONS if c[0] == experiment):
        name = [] if encoder != "pretrained" else ["encoder.name=some/folder"]
        config = compose(
            f"experiment={experiment}",
            f"encoder={encoder}",
            f"head={head}",
            f"protocol={protocol}",
            *name,
        )
        assert config.head.name == head
        assert config.protocol == protocol
        assert config.data.label_order


@pytest.mark.parametrize("name", options("data"))
def test_every_data_set_is_described_whole(name):
    (path,) = (file for root in (CONF, *FORKS) for file in (root / "data").glob(f"{name}.yaml"))
    config = read_config(path)
    assert config.name == name
    assert config.title
    assert len(config.label_order) > 1
    assert config.generator or config.files
    assert config.event_markers()
    for split, file in config.files.items():
        assert (file.url is None) == (file.sha256 is None), f"{split}: an address needs a hash"
        assert not file.url or file.url.startswith("https://")
        assert not Path(file.path).is_absolute()
    for split, counts in config.counts.items():
        assert sum(counts.values()) == config.files[split].rows


@pytest.mark.parametrize("name", [n for n in options("data") if not n.startswith("own_")])
def test_a_published_data_set_names_licence_and_citation(name):
    files = [folder / "data" / f"{name}.yaml" for folder in (CONF, *FORKS)]
    config = read_config(next(file for file in files if file.is_file()))
    assert config.licence
    assert config.citation


@pytest.mark.parametrize("name", options("data"))
def test_every_data_set_composes(name, compose):
    config = compose(*follow_the_data([f"data={name}"]))
    assert config.data.name == name
    assert config.task.name == config.data.task


@pytest.mark.parametrize("group", ["batching", "logger", "optim", "task", "trainer"])
def test_every_option_of_the_other_groups_composes(group, compose):
    for option in options(group):
        compose(f"{group}={option}")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8")) or {}


FILES = sorted(path for root in (CONF, *FORKS) for path in root.rglob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONF.parent)))
def test_every_file_says_what_it_is_for_in_short_lines(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("#") for line in lines) or len(lines) <= 3
    assert max(len(line) for line in lines if "http" not in line) <= 100
    if "experiment" in path.relative_to(CONF.parent).parts:
        assert len(lines) <= 30


def grid(experiment):
    """Read what an experiment sweeps over: `{key: values}`."""
    files = [root / "experiment" / f"{experiment}.yaml" for root in (CONF, *FORKS)]
    (path,) = (file for file in files if file.is_file())
    hydra = read(path).get("hydra", {})
    params = hydra.get("sweeper", {}).get("params", {})
    assert (hydra.get("mode") == "MULTIRUN") == bool(params)
    return {key: str(values).split(",") for key, values in params.items()}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_swept_key_and_its_options_exist(experiment):
    groups = {folder.name for folder in CONF.iterdir() if folder.is_dir()}
    for key, values in grid(experiment).items():
        assert key in all_keys()
        if key in groups:
            assert set(values) <= set(options(key))


def test_trc_table_4_is_four_encoders_times_three_heads(compose):
    assert grid("trc/table4") == {
        "encoder": ["alephbertgimmel", "hebert", "mbert", "alephbert"],
        "head": ["seq_cls", "ess", "emp"],
    }
    config = compose("experiment=trc/table4")
    assert (config.data.name, config.report) == ("trc", "trc/table4")
    assert config.trainer.max_epochs == 10


def test_trc_figure_1_is_ess_on_growing_shares_of_the_training_data(compose):
    assert grid("trc/figure1") == {
        "data.sample.fraction": ["0.15", "0.25", "0.5", "0.75", "1.0"],
        "data.sample.seed": ["0", "1", "2"],
    }
    config = compose("experiment=trc/figure1")
    assert (config.data.name, config.report) == ("trc", "trc/figure1")
    assert config.head.name == "ess"


def test_a_sweep_runs_its_grid_and_an_override_narrows_it(tmp_path):
    found = []
    words = ["experiment=trc/table4", "encoder=mbert", "head=ess,emp", f"paths.runs={tmp_path}"]
    compose_and_run("train", words, lambda composition: found.append(resolve(composition.config)))
    assert {config.encoder.name for config in found} == {"google-bert/bert-base-multilingual-cased"}
    assert [config.head.name for config in found] == ["ess", "emp"]


def test_the_configuration_knows_every_pooling():
    from heron.models.pooling import POOLINGS

    assert set(CHOICES["head.pooling"]) == set(POOLINGS)
