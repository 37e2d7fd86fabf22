"""Every benchmark runs on tiny input, and what it compares does the same work."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import frozen_cache, long_premises
from benchmarks.epoch import choose_batches, estimate, padded_tokens
from benchmarks.frame import AbsentError, Found, Headline, compare, main, time_rounds
from benchmarks.rouge import heron, plain, plain_tokens
from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.data.batching import plan_epoch
from heron.data.features import Units
from heron.tasks.config import Config
from made_up_texts import PHRASES, write_dump

# Options of a small run, and what its record holds.
SMALL = {
    "cartography": ("examples=60 lines=20 records=2 rounds=2", "ratio"),
    "rouge": ("pairs=2 articles=1 rounds=2", "seconds"),
    "span_scores": ("few=20 pairs=40 rounds=2", "seconds"),
    "significance": ("rows=60 draws=20 loop=2 seeds=2 rounds=2", "seconds"),
    "token_loss": ("tokens=6 rounds=2", "seconds"),
    "prompting": (
        "prompts=4 own=10 written=3 threads=1 shared=40 hidden=32 layers=1 rounds=2",
        "seconds",
    ),
}
# They take seconds.
SLOW = {
    "generation": (
        "articles=4 tokens=5 hidden=32 layers=1 rounds=1 beams=1,2 sizes=4",
        "seconds",
    ),
    "recorder": ("steps=6", "ms"),
    "threads": ("seconds=0.1 rounds=1 shapes=1", "ms"),
    "wiki_pairs": ("pages=30 words=100 rounds=1", "rounds"),
}
WRITING = SLOW["generation"][0].split()
FORK = json.loads(Path(__file__).parent.joinpath("metrics/rouge_fork.json").read_text())


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out real data and encoders, and keep the number of threads."""
    monkeypatch.delenv("HERON_DATA", raising=False)
    monkeypatch.delenv("HERON_ENCODER", raising=False)
    monkeypatch.setattr("torch.set_num_threads", lambda count: None)


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(name, marks=pytest.mark.real) for name in SLOW)]
)
def test_a_small_run_prints_a_table_and_keeps_every_measurement(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark: Any = import_module(f"benchmarks.{name}")
    monkeypatch.setattr(benchmark, "VOCABULARIES", (50, 200), raising=False)
    options, key = (SMALL | SLOW)[name]
    out = tmp_path / "kept.json"
    assert main(benchmark.Options, benchmark.run, [*options.split(), f"out={out}"]) == 0
    assert capsys.readouterr().out.endswith(f"{out}\n")
    kept = read_json(out)
    assert kept[key]
    assert {"python", "torch", "heron-nlu"} <= kept["versions"].keys()


@pytest.mark.parametrize("name", ["training", "long_premises", "frozen_cache", "tokenizing"])
def test_without_data_and_encoder_a_benchmark_is_skipped(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark: Any = import_module(f"benchmarks.{name}")
    words = [f"encoder={tmp_path}", f"out={tmp_path / 'x.json'}"]
    assert main(benchmark.Options, benchmark.run, words) == 0
    assert "HERON_" in capsys.readouterr().out
    assert not (tmp_path / "x.json").exists()


@dataclass
class Options:
    """Options of a benchmark of the test."""

    out: Path = Path("nowhere")


@pytest.mark.parametrize("error", [AbsentError("no encoder"), HeronError("the scores differ")])
def test_what_is_absent_or_fails_writes_no_file(error: HeronError, tmp_path: Path) -> None:
    def benchmark(options: Options) -> Found:
        raise error

    out = tmp_path / "kept.json"
    assert main(Options, benchmark, [f"out={out}"]) == (0 if "encoder" in str(error) else 2)
    assert not out.exists()


def test_ways_run_in_turn_and_ratios_are_taken_within_rounds() -> None:
    order, checked = [], []
    ways = {name: lambda name=name: order.append(name) or name for name in "ab"}
    assert set(time_rounds(ways, 2, checked.append)) == {"a", "b"}
    assert order == ["a", "b", "a", "b"]
    assert checked == [{"a": "a", "b": "b"}] * 2
    times = {"loop": [40.0, 60.0, 50.0], "heron": [0.1, 0.1, 0.2]}
    rows = compare("title", {"case": times}, "loop").rows
    assert [(spent.value, ratio.value) for _, _, spent, ratio in rows] == [(50, 1), (0.1, 400)]
    assert Headline("", "", [1.0, 5.0, 2.0], 2.0).result == "reached"
    assert Headline("", "", [0.06], 0.05, "ms").result == "missed"


@given(
    lengths=st.lists(st.integers(1, 200), min_size=8, max_size=200),
    size=st.integers(1, 8),
    count=st.integers(1, 9),
)
def test_cost_proportional_to_padded_tokens_is_estimated_exactly(
    lengths: list[int], size: int, count: int
) -> None:
    lengths_S = np.asarray(lengths)
    plan = [np.arange(i, min(i + size, len(lengths))) for i in range(0, len(lengths), size)]
    chosen = choose_batches(plan, lengths_S, count)
    times = np.asarray([[1.0, 2.0]]) * [[padded_tokens([batch], lengths_S)] for batch in chosen]
    measured = estimate(plan, chosen, lengths_S, np.full(len(lengths), 3), times)
    pairs = 3 * len(lengths)
    assert measured.samples_per_cpu_second == pytest.approx(pairs / padded_tokens(plan, lengths_S))


def test_trainer_and_heron_compute_the_same_loss(
    chronicle_config: Callable[..., Config], tiny_encoder: Path
) -> None:
    from transformers import DataCollatorWithPadding

    from benchmarks.rivals import build_event_start, trainer_rows
    from heron.data.collate import Collator
    from heron.data.config import TRAIN
    from heron.data.datamodule import DataModule
    from heron.training.build import build_module

    config = chronicle_config("data.validation.fraction=0", "trainer.select=last")
    config.encoder.name, config.encoder.max_length = str(tiny_encoder), 256
    data = DataModule(config)
    features, chosen_R = data.features[TRAIN], np.arange(7)
    ours, theirs = build_module(config, data).eval(), build_event_start(config, data).eval()
    theirs.encoder.load_state_dict(ours.encoder.model.state_dict())
    theirs.linear.load_state_dict(ours.head.classifier[1].state_dict())
    collate = Collator(features, data.tokenizer.pad_token_id)
    batch = DataCollatorWithPadding(data.tokenizer)(trainer_rows(features, chosen_R))
    with torch.no_grad():
        their_loss, their_logits = theirs(**batch)
        our_output = ours.step(collate(features.sequences_R[chosen_R]))
    torch.testing.assert_close(their_loss, our_output.loss)
    torch.testing.assert_close(their_logits, our_output.logits_RC)


@pytest.mark.parametrize("grouped", [False, True])
def test_trainer_plan_holds_every_sample_once_and_heron_takes_as_many_steps(grouped: bool) -> None:
    from benchmarks.rivals import BATCH, equal_tokens, plan_trainer_epoch
    from heron.data.config import BatchingConfig

    lengths_R = np.random.default_rng(0).integers(20, 200, size=100 * BATCH)
    plan = plan_trainer_epoch(lengths_R, grouped, seed=0)
    assert sorted(np.concatenate(plan)) == list(range(100 * BATCH))
    batching = BatchingConfig(plan="bucket", tokens=equal_tokens(lengths_R))
    steps = len(plan_epoch(Units.single(lengths_R), batching, seed=0, epoch=0))
    assert steps == pytest.approx(100, rel=0.05)


def test_windows_cut_nothing_of_long_premises(
    chronicle_config: Callable[..., Config], tiny_encoder: Path
) -> None:
    long = ("data=chronicle_nli", "task=nli", "head=mlp3")
    long += ("data.generator.premise_sentences=[6,8]", "data.validation.fraction=0")
    config = chronicle_config(*long, "trainer.select=last")
    config.encoder.name, config.encoder.max_length = str(tiny_encoder), 96
    assert long_premises.measure(config, steps=1).truncated == 1
    config.encoder.overflow, config.encoder.stride = "windows", 8
    assert long_premises.measure(config, steps=1).truncated == 0


def test_a_run_whose_later_epochs_are_alike_is_scaled_exactly() -> None:
    timed = frozen_cache.Timed(10.0, (3.0, 5.0, 7.0))
    assert frozen_cache.scale(timed, 6) == pytest.approx(3 + 2 * 5 + 3)
    measured = frozen_cache.Measurement(120.0, 100.0, 30.0, 10.0, 200.0, 180, 0.8)
    assert asdict(measured)["jobs"] == 180
    assert measured.encoding == 20.0


def test_the_plain_scorer_restates_the_fork_on_ordinary_text() -> None:
    # It leaves out the fork's rarest rules: CJK, marks on spaces, pyonmttok's own symbols.
    rare = "中\u0301\u05b0￭▁\x0b\x85"
    pairs = [pair[:2] for pair in FORK["pairs"] if not set(rare) & set("".join(pair[:2]))]
    assert len(pairs) > 25
    np.testing.assert_allclose(plain(pairs), heron(pairs))
    for text, tokens in FORK["tokens"]:
        if not set(rare) & set(text):
            assert plain_tokens(text) == tokens


def test_the_plain_script_finds_linked_pairs(tmp_path: Path) -> None:
    from benchmarks.wiki_pairs import plain_script

    assert plain_script(write_dump(tmp_path / "dump.xml", 40, words=200), PHRASES) > 10


@pytest.mark.parametrize(
    ("name", "way", "wrong", "words"),
    [
        ("generation", "one_by_one", lambda module, data: ["x"] * 4, WRITING),
        ("span_scores", "official_scores", lambda one: [(1.0, 0.5)] * 20, ["few=20", "pairs=20"]),
    ],
)
def test_ways_that_give_something_else_are_no_benchmark(
    name: str, way: str, wrong: Any, words: list[str], tmp_path: Path, monkeypatch
) -> None:
    benchmark: Any = import_module(f"benchmarks.{name}")
    monkeypatch.setattr(benchmark, way, wrong)
    assert main(benchmark.Options, benchmark.run, [*words, f"out={tmp_path / 'kept.json'}"]) == 2
    assert not (tmp_path / "kept.json").exists()
