"""Every benchmark runs on tiny input, and what it compares does the same work."""

import json
from importlib import import_module

import numpy as np
import pytest
import torch

from benchmarks import all as together
from benchmarks import hf_trainer, rouge
from benchmarks.__main__ import main
from benchmarks.apart import apart
from benchmarks.frame import Row, beside, number, time_rounds
from heron.base.files import read_json
from heron.data.collate import Collator
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.training.trainer import build_module

SMALL = {
    "dynamics": "examples=60 lines=20 records=2 rounds=2",
    "rouge": "pairs=2 articles=1 rounds=2",
    "significance": "rows=60 draws=20 loop=2 rounds=2",
    "prompting": "prompts=4 own=10 written=3 shared=40 hidden=32 layers=1 rounds=2",
}
# They take seconds.
SLOW = {
    "generation": "articles=4 tokens=5 hidden=32 layers=1 rounds=1 beams=1,2 sizes=4",
    "gpu": "device=cpu size=tiny steps=2 only=pairs,window,overhead",
}


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch):
    """Leave out real data and encoders, and keep the number of threads."""
    monkeypatch.delenv("HERON_DATA", raising=False)
    monkeypatch.delenv("HERON_ENCODER", raising=False)
    monkeypatch.setattr("torch.set_num_threads", lambda count: None)


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(name, marks=pytest.mark.real) for name in SLOW)]
)
def test_a_small_run_keeps_every_row(name, tmp_path, capsys):
    assert main(name, [*(SMALL | SLOW)[name].split(), f"out={tmp_path}"]) == 0
    kept = read_json(tmp_path / f"{name}.json")
    assert kept["rows"]
    assert "Traceback" not in str(kept)
    assert {"torch", "heron-nlu"} <= kept["versions"].keys()
    printed = capsys.readouterr().out.split()  # a long name takes several lines of its column
    assert {*kept["machine"].split()} <= {*printed}


@pytest.mark.parametrize("name", ["training", "cache", "tokenizing"])
def test_without_data_and_encoder_a_benchmark_is_skipped(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HERON_ENCODER", str(tmp_path))
    assert main(name, [f"out={tmp_path}"]) == 0
    assert not list(tmp_path.iterdir())


def test_without_a_gpu_no_row_is_measured(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main("gpu", [f"out={tmp_path}"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) > 10
    assert all(line.endswith("not measured: no GPU") for line in said)
    assert not list(tmp_path.iterdir())


def test_ways_that_give_something_else_are_no_benchmark(tmp_path, monkeypatch):
    monkeypatch.setattr(rouge, "plain", lambda pairs: np.ones((len(pairs), 3)))
    assert main("rouge", ["pairs=2", "articles=1", f"out={tmp_path}"]) == 2
    assert not list(tmp_path.iterdir())


def test_ways_run_in_turn_and_ratios_are_taken_within_rounds():
    order, checked = [], []
    ways = {name: lambda name=name: order.append(name) or name for name in "ab"}
    assert set(time_rounds(ways, 2, checked.append)) == {"a", "b"}
    assert order == ["a", "b", "a", "b"]
    assert checked == [{"a": "a", "b": "b"}] * 2
    times = {"loop": [40.0, 60.0, 50.0], "heron": [0.1, 0.1, 0.2]}
    loop, heron = (row.cells()[1:] for row in beside("work", times, "loop", {"heron": "≥ 500"}))
    assert loop == ("", "50 s (40 to 60)", "")
    assert heron == ("loop", "400 times (250 to 600)", "≥ 500: missed")
    assert Row("", "", [0.04], "ms", "≤ 0.05").cells()[-1] == "≤ 0.05: reached"


def test_a_function_runs_in_a_process_of_its_own():
    assert apart(number, 0.5) == [0.5, ".3g"]


def test_one_table_has_the_rows_of_every_benchmark_that_has_been_measured(tmp_path):
    row = {"work": "heron", "rival": "the Trainer", "values": [2.0, 1.0, 3.0], "limit": "≥ 1.5"}
    for name in together.BENCHMARKS:
        assert callable(import_module(f"benchmarks.{name}").run)
        (tmp_path / f"{name}.json").write_text(json.dumps({"rows": [row], "machine": "A"}))
    assert main("all", [f"out={tmp_path}"]) == 0
    shown = "| bench-{} | heron | the Trainer | 2 times (1 to 3) | ≥ 1.5: reached | A |"
    wanted = [name for name, words in together.BENCHMARKS.items() if words is not None]
    assert {*map(shown.format, wanted)} <= {*(tmp_path / "table.md").read_text().splitlines()}


def test_trainer_and_heron_compute_the_same_loss(chronicle_config, tiny_encoder):
    from transformers import DataCollatorWithPadding

    config = chronicle_config("data.validation.fraction=0", "trainer.select=last")
    config.encoder.name, config.encoder.max_length = str(tiny_encoder), 256
    data = DataModule(config)
    features, chosen_R = data.features[TRAIN], np.arange(7)
    ours, theirs = build_module(config, data).eval(), hf_trainer.build_plain(config, data).eval()
    theirs.encoder.load_state_dict(ours.encoder.model.state_dict())
    theirs.linear.load_state_dict(ours.head.classifier[1].state_dict())
    collate = Collator(features, data.tokenizer.pad_token_id)
    batch = DataCollatorWithPadding(data.tokenizer)(hf_trainer.trainer_rows(features, chosen_R))
    with torch.no_grad():
        their_loss, their_logits = theirs(**batch)
        our_output = ours.step(collate(features.sequences_R[chosen_R]))
    torch.testing.assert_close(their_loss, our_output.loss)
    torch.testing.assert_close(their_logits, our_output.logits_RC)
