"""Every benchmark runs on tiny input, and what it compares does the same work."""

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import all as together
from benchmarks import long_premises, rivals
from benchmarks.epoch import choose_batches, padded_tokens, scale
from benchmarks.frame import AbsentError, Found, Headline, main, set_beside, time_rounds
from benchmarks.rouge import heron, plain, plain_tokens
from benchmarks.wiki_pairs import plain_script
from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.data.batching import plan_epoch
from heron.data.collate import Collator
from heron.data.config import TRAIN, BatchingConfig
from heron.data.datamodule import DataModule
from heron.data.features import Units
from heron.training.trainer import build_module
from made_up_texts import PHRASES, write_dump

SMALL = {
    "cartography": "examples=60 lines=20 records=2 rounds=2",
    "rouge": "pairs=2 articles=1 rounds=2",
    "span_scores": "pairs=20,40 rounds=2",
    "significance": "rows=60 draws=20 loop=2 seeds=2 rounds=2",
    "prompting": "prompts=4 own=10 written=3 threads=1 shared=40 hidden=32 layers=1 rounds=2",
}
# They take seconds.
SLOW = {
    "generation": "articles=4 tokens=5 hidden=32 layers=1 rounds=1 beams=1,2 sizes=4",
    "recorder": "steps=6",
    "gpu": "device=cpu size=tiny steps=2 only=pairs,window,overhead",
    "wiki_pairs": "pages=30 words=100 rounds=1",
}
FORK = json.loads(Path(__file__).parent.joinpath("metrics/rouge_fork.json").read_text())


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch):
    """Leave out real data and encoders, and keep the number of threads."""
    monkeypatch.delenv("HERON_DATA", raising=False)
    monkeypatch.delenv("HERON_ENCODER", raising=False)
    monkeypatch.setattr("torch.set_num_threads", lambda count: None)


def measured(name, *words, out):
    """Run a benchmark; returns its exit code."""
    benchmark = import_module(f"benchmarks.{name}")
    return main(benchmark.Options, benchmark.run, [*words, f"out={out}"])


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(name, marks=pytest.mark.real) for name in SLOW)]
)
def test_a_small_run_keeps_every_measurement_and_its_headlines(name, tmp_path, capsys):
    assert measured(name, *(SMALL | SLOW)[name].split(), out=tmp_path / "kept.json") == 0
    kept = read_json(tmp_path / "kept.json")
    assert any(kept.get(key) for key in ("seconds", "ms", "rows"))
    assert "Traceback" not in str(kept.get("rows"))
    assert {"python", "torch", "heron-nlu"} <= kept["versions"].keys()
    said = capsys.readouterr().out
    assert all(str(Headline(**headline)) in said for headline in kept["headlines"])
    assert kept["headlines"]


@pytest.mark.parametrize("name", ["training", "long_premises", "frozen_cache", "tokenizing"])
def test_without_data_and_encoder_a_benchmark_is_skipped(name, tmp_path):
    assert measured(name, f"encoder={tmp_path}", out=tmp_path / "x.json") == 0
    assert not (tmp_path / "x.json").exists()


def test_without_a_gpu_no_row_is_measured(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert measured("gpu", out=tmp_path / "x.json") == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) > 10
    assert all(line.endswith("not measured: no GPU") for line in said)
    assert not (tmp_path / "x.json").exists()


@dataclass
class Options:
    """Options of a benchmark of the test."""

    out: Path = Path("nowhere")


@pytest.mark.parametrize("error", [AbsentError("no encoder"), HeronError("the scores differ")])
def test_what_is_absent_or_fails_writes_no_file(error, tmp_path):
    def benchmark(options: Options) -> Found:
        raise error

    out = tmp_path / "kept.json"
    assert main(Options, benchmark, [f"out={out}"]) == (0 if "encoder" in str(error) else 2)
    assert not out.exists()


def test_ways_run_in_turn_and_ratios_are_taken_within_rounds():
    order, checked = [], []
    ways = {name: lambda name=name: order.append(name) or name for name in "ab"}
    assert set(time_rounds(ways, 2, checked.append)) == {"a", "b"}
    assert order == ["a", "b", "a", "b"]
    assert checked == [{"a": "a", "b": "b"}] * 2
    times = {"loop": [40.0, 60.0, 50.0], "heron": [0.1, 0.1, 0.2]}
    found = set_beside("title", {"case": times}, "loop", bars={"case": {"heron": 500.0}})
    rows = found.tables[0].rows
    assert [(spent.value, ratio.value) for _, _, spent, ratio in rows] == [(50, 1), (0.1, 400)]
    assert found.headlines[0].cells()[1:] == (
        "loop", "400 times", "250 to 600", "≥ 500: missed"
    )  # fmt: skip
    assert Headline("", "", [0.04], 0.05, "ms").cells()[-1] == "≤ 0.05: reached"


def test_one_table_has_the_headlines_of_every_benchmark_that_has_been_measured(tmp_path):
    headline = {"work": "heron", "rival": "the Trainer", "ratios": [2.0, 1.0, 3.0], "bar": 1.5}
    for name in together.BENCHMARKS:
        assert callable(import_module(f"benchmarks.{name}").run)
        (tmp_path / f"{name}.json").write_text(json.dumps({"headlines": [headline]}))
    assert measured("all", out=tmp_path) == 0
    row = "| heron | the Trainer | 2 times | 1 to 3 | ≥ 1.5: reached |"
    table = (tmp_path / "table.md").read_text().splitlines()
    assert table.count(row) == len(together.BENCHMARKS)


@given(
    lengths=st.lists(st.integers(1, 200), min_size=8, max_size=200),
    size=st.integers(1, 8),
    count=st.integers(1, 9),
)
def test_cost_proportional_to_padded_tokens_is_estimated_exactly(lengths, size, count):
    lengths_U = np.asarray(lengths)
    sizes_U = np.arange(len(lengths)) % 3 + 1
    plan = [np.arange(i, min(i + size, len(lengths))) for i in range(0, len(lengths), size)]
    chosen = choose_batches(plan, lengths_U, count)
    spent = sum(padded_tokens(chosen, lengths_U, sizes_U))
    whole = spent * scale(plan, chosen, lengths_U, sizes_U)
    assert whole == pytest.approx(sum(padded_tokens(plan, lengths_U, sizes_U)))


def test_trainer_and_heron_compute_the_same_loss(chronicle_config, tiny_encoder):
    from transformers import DataCollatorWithPadding

    config = chronicle_config("data.validation.fraction=0", "trainer.select=last")
    config.encoder.name, config.encoder.max_length = str(tiny_encoder), 256
    data = DataModule(config)
    features, chosen_R = data.features[TRAIN], np.arange(7)
    ours, theirs = build_module(config, data).eval(), rivals.build_plain(config, data).eval()
    theirs.encoder.load_state_dict(ours.encoder.model.state_dict())
    theirs.linear.load_state_dict(ours.head.classifier[1].state_dict())
    collate = Collator(features, data.tokenizer.pad_token_id)
    batch = DataCollatorWithPadding(data.tokenizer)(rivals.trainer_rows(features, chosen_R))
    with torch.no_grad():
        their_loss, their_logits = theirs(**batch)
        our_output = ours.step(collate(features.sequences_R[chosen_R]))
    torch.testing.assert_close(their_loss, our_output.loss)
    torch.testing.assert_close(their_logits, our_output.logits_RC)


@pytest.mark.parametrize("grouped", [False, True])
def test_trainer_plan_holds_every_sample_once_and_heron_takes_as_many_steps(grouped):
    lengths_R = np.random.default_rng(0).integers(20, 200, size=100 * rivals.BATCH)
    plan = rivals.plan_trainer_epoch(lengths_R, grouped, seed=0)
    assert sorted(np.concatenate(plan)) == list(range(100 * rivals.BATCH))
    batching = BatchingConfig(plan="bucket", tokens=rivals.equal_tokens(lengths_R))
    steps = len(plan_epoch(Units.single(lengths_R), batching, seed=0, epoch=0))
    assert steps == pytest.approx(100, rel=0.05)


def test_windows_cut_nothing_of_long_premises(chronicle_config, tiny_encoder):
    long = ("data=chronicle_nli", "task=nli", "head=mlp3", "trainer.select=last")
    long += ("data.generator.premise_sentences=[6,8]", "data.validation.fraction=0")
    config = chronicle_config(*long)
    config.encoder.name, config.encoder.max_length = str(tiny_encoder), 96
    assert long_premises.measure(config, steps=1).truncated == 1
    config.encoder.overflow, config.encoder.stride = "windows", 8
    assert long_premises.measure(config, steps=1).truncated == 0


def test_the_plain_scorer_restates_the_fork_on_ordinary_text():
    # It leaves out the fork's rarest rules: CJK, marks on spaces, pyonmttok's own symbols.
    rare = "中\u0301\u05b0￭▁\x0b\x85"
    pairs = [pair[:2] for pair in FORK["pairs"] if not set(rare) & set("".join(pair[:2]))]
    assert len(pairs) > 25
    np.testing.assert_allclose(plain(pairs), heron(pairs))
    for text, tokens in FORK["tokens"]:
        if not set(rare) & set(text):
            assert plain_tokens(text) == tokens


def test_the_plain_script_finds_linked_pairs(tmp_path):
    assert plain_script(write_dump(tmp_path / "dump.xml", 40, words=200), PHRASES) > 10


def test_ways_that_give_something_else_are_no_benchmark(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.span_scores.official_scores", lambda one: [(1.0, 0.5)] * 20)
    assert measured("span_scores", "pairs=20", out=tmp_path / "kept.json") == 2
    assert not (tmp_path / "kept.json").exists()
