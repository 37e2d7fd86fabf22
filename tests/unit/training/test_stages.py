"""Sequential fine-tuning is one run: in order, exact after a stop, scored on every data set."""

import copy
import json
from dataclasses import replace

import pytest
from safetensors.torch import load_file

from heron.base.errors import ConfigError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.data.readers import data_set
from heron.reports.run import score_table
from heron.results.collect import collect
from heron.tasks.config import StageConfig
from heron.training import job
from heron.training.exported import POINTER
from heron.training.inference import open_trained, read_splits
from heron.training.stages import stage_config
from heron.training.stored import read_own

NLI = (
    "data=chronicle_nli",
    "task=nli",
    "head=mlp3",
    "encoder.scratch.layers=1",
    "task.bootstrap=0",
)


@pytest.fixture
def village(tmp_path, monkeypatch):
    """Add a second data set with chronicle's classes: another corpus of the same kind."""
    folder = tmp_path / "conf" / "data"
    folder.mkdir(parents=True)
    rows = [
        {"premise": f"אדם {n} הלך הביתה", "hypothesis": f"אדם {n} יצא", "label": label, "guid": n}
        for n, label in enumerate(["contradiction", "entailment", "neutral"] * 12)
    ]
    for split in ("train", "test"):
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (tmp_path / f"{split}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "village.yaml").write_text(
        "name: village\ntask: nli\nformat: pair_table\n"
        "label_order: [contradiction, entailment, neutral]\n"
        "columns: {text: premise, text_pair: hypothesis, label: label, guid: guid}\n"
        f"files: {{train: {{path: {tmp_path}/train.jsonl}}, "
        f"test: {{path: {tmp_path}/test.jsonl}}}}\n"
        "validation: {fraction: 0.2, by: row}\n",
        encoding="utf-8",
    )
    (folder / "others.yaml").write_text(
        (folder / "village.yaml")
        .read_text()
        .replace("contradiction, ", "")
        .replace("village", "x"),
        encoding="utf-8",
    )
    found = {path.stem: path for path in folder.glob("*.yaml")}
    monkeypatch.setattr("heron.base.folders.data_sets", lambda: found)
    return found


def composed(chronicle_config, stages, *overrides):
    config = copy.deepcopy(chronicle_config(*NLI, *overrides))
    config.stages = stages
    return config


def test_stages_train_in_order_and_each_is_scored_on_every_data_set(
    chronicle_config, village, tmp_path
):
    stages = ["village", {"data": "chronicle_nli", "max_epochs": 2, "lr": 2e-3}]
    folder = RunFolder(tmp_path / "run")
    scores = job.run_job(composed(chronicle_config, stages), folder)
    assert set(scores) == {
        "validation",
        "test",
        "village.test",
        *(f"1-village/{split}" for split in ("validation", "test", "chronicle_nli.test")),
        *(f"2-chronicle_nli/{split}" for split in ("validation", "test", "village.test")),
    }
    assert scores == read_json(folder.scores)
    assert scores["test"] == scores["2-chronicle_nli/test"]
    first, second = (folder.path / "stages" / n for n in ("1-village", "2-chronicle_nli"))
    assert RunFolder(first).dynamics(0).is_file()
    assert RunFolder(second).dynamics(1).is_file()
    assert folder.predictions("village.test").is_file()
    spent = [read_json(RunFolder(each).ledger)["total"] for each in (first, second)]
    ledger = read_json(folder.ledger)
    assert ledger["total"] == {name: spent[0][name] + spent[1][name] for name in spent[0]}
    assert [row["stage"] for row in ledger["stages"]] == ["1-village", "2-chronicle_nli"]
    assert folder.read_status()["data"] == RunFolder(second).read_status()["data"]
    (run,) = collect(folder.path)
    shown = score_table(run).columns
    assert {"test", "1-village/test"} <= {*shown}
    assert "2-chronicle_nli/test" not in shown, "the last stage's scores are the run's"


def test_a_stage_changes_single_keys_of_its_data_set(chronicle_config, village):
    changes = {"data.language": "ro", "others.chronicle_nli.language": "ro"}
    config = composed(chronicle_config, [{"data": "village", "changes": changes}])
    (stage,) = config.read_stages()
    found = stage_config(config, [stage], stage)
    assert found.data == replace(data_set(config, "village", of_stage=True), language="ro")
    assert found.others["chronicle_nli"] == replace(config.data, language="ro")


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_the_released_two_stages_of_lchaim_have_each_their_own_settings(
    chronicle_config, village, tmp_path
):
    """A classifier is fine-tuned with a schedule; a head of three layers learns on its states."""
    tuned = {
        "optim.warmup_steps": 2, "batching.plan": "shuffle", "batching.size": 8,
        "head.classifier": "linear", "head.dropout": 0.1,
    }  # fmt: skip
    probe = {"optim.schedule": "constant", "optim.warmup": 0, "optim.weight_decay": 0}
    stages = [
        {"data": "village", "max_epochs": 1, "lr": 1e-5, "changes": tuned},
        {"data": "village", "freeze": "all", "keep_head": False, "changes": probe},
    ]
    folder = RunFolder(tmp_path / "run")
    job.run_job(composed(chronicle_config, stages), folder)
    first, second = (
        read_own(folder.stages / name / "config.yaml") for name in ("1-village", "2-village")
    )
    assert (first.optim.warmup_steps, second.optim.warmup_steps) == (2, None)
    assert (first.batching.size, first.head.classifier) == (8, "linear")
    assert (second.optim.schedule, second.optim.weight_decay) == ("constant", 0.0)
    shapes = {
        name: [tuple(value.shape) for value in load_file(path).values() if value.ndim == 2]
        for name in ("1-village", "2-village")
        for path in (folder.stages / name / "model").glob("head.safetensors")
    }
    width = first.encoder.scratch.hidden
    assert shapes.get("1-village", [(3, width)]) == [(3, width)]
    assert set(shapes["2-village"]) == {(300, width), (100, 300), (50, 100), (3, 50)}


@pytest.mark.real  # takes too long for every change
def test_a_stop_between_or_inside_stages_ends_as_if_there_had_been_none(
    chronicle_config, village, tmp_path, monkeypatch
):
    stages = ["village", {"data": "chronicle_nli", "max_epochs": 2}]
    config = composed(chronicle_config, stages)
    whole = job.run_job(copy.deepcopy(config), RunFolder(tmp_path / "whole"))
    broken = RunFolder(tmp_path / "broken")
    write_table, calls = job.write_table, []

    def stop_once(path, columns):
        calls.append(path)
        if len(calls) in (2, 5):
            raise KeyboardInterrupt
        write_table(path, columns)

    monkeypatch.setattr(job, "write_table", stop_once)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            job.run_job(copy.deepcopy(config), broken)
    assert broken.state() == "interrupted"
    assert job.run_job(copy.deepcopy(config), broken) == whole


def test_a_probe_trains_only_the_head_and_points_to_the_encoder(
    chronicle_config, village, tiny_encoder, tmp_path
):
    encoder = (f"encoder.name={tiny_encoder}", "encoder.max_length=64")
    stages = [{"data": "chronicle_nli", "freeze": "all"}, "village"]
    folder = RunFolder(tmp_path / "run")
    job.run_job(composed(chronicle_config, stages, *encoder), folder)
    probe = RunFolder(folder.path / "stages" / "1-chronicle_nli")
    assert read_json(probe.model / POINTER)["name"] == str(tiny_encoder)
    assert not (folder.model / POINTER).exists()  # the second stage has trained it


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_what_follows_a_probe_has_the_encoder_that_an_earlier_stage_trained(
    chronicle_config, village, tiny_encoder, tmp_path
):
    encoder = (f"encoder.name={tiny_encoder}", "encoder.max_length=64")
    stages = ["village", {"data": "chronicle_nli", "freeze": "all"}]
    config, folder = composed(chronicle_config, stages, *encoder), RunFolder(tmp_path / "run")
    job.run_job(config, folder)
    tuned, probe = (
        RunFolder(folder.path / "stages" / name) for name in ("1-village", "2-chronicle_nli")
    )
    third = StageConfig("village")
    assert stage_config(config, [third], third, probe).encoder.name == str(tuned.model)
    system = open_trained(folder)  # the run itself begins with the tiny encoder
    assert system.config.encoder.name == str(tuned.model)
    examples = read_splits(system)["test"]
    table = read_table(folder.predictions("test"))
    predictions, _ = system.predict(examples)
    assert list(predictions.texts) == table.values("prediction")


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (["villag"], "Did you mean 'village'"),
        (["others"], "same classes"),
        ([{"data": "village", "changes": {"optim.lt": 1}}], r"optim\.lt: .*'optim\.lr'"),
        ([{"data": "village", "changes": {"batching.size": 0}}], "batching.size=0"),
        (
            [{"data": "village", "changes": {"head.classifier": "linear"}}],
            r"stage 2 \(village\): its head has other layers .* keep_head: false",
        ),
    ],
)
def test_a_wrong_stage_is_refused_before_any_training(
    chronicle_config, village, tmp_path, stages, message
):
    config = composed(chronicle_config, ["chronicle_nli", *stages])
    with pytest.raises(ConfigError, match=message):
        job.run_job(config, RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run" / "stages").exists()
