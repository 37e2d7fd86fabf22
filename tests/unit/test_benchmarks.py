"""The benchmark is fair, and its arithmetic holds; a tiny encoder stands for the real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.epoch import choose_batches, estimate, padded_tokens
from benchmarks.frame import main
from benchmarks.names import BASELINE, OURS, RIVALS
from benchmarks.training import Options, report, run, table, verdict
from heron.base.cells import show
from heron.data.batching import plan_epoch
from heron.data.features import Units
from heron.tasks.config import Config


@pytest.fixture
def config(chronicle_config: Callable[..., Config], tiny_encoder: Path) -> Config:
    """Compose a run that trains the tiny encoder and validates nothing."""
    config = chronicle_config(
        "data.validation.fraction=0", "trainer.select=last", "data.on_cut=drop"
    )
    config.encoder.name, config.encoder.max_length = str(tiny_encoder), 128
    return config


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
    assert measured.samples_per_second == pytest.approx(measured.samples_per_cpu_second / 2)


def test_chosen_batches_spread_over_all_lengths() -> None:
    lengths_S = np.arange(1, 101)
    plan = np.split(np.random.default_rng(0).permutation(lengths_S) - 1, 100)
    chosen = choose_batches(plan, lengths_S, 4)
    assert [int(lengths_S[batch][0]) for batch in chosen] == [13, 38, 63, 88]


@pytest.mark.parametrize("name", ["trainer", "heron_fp32", "heron_window"])
@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_each_rival_trains_and_is_measured(name: str, config: Config) -> None:
    from benchmarks.rivals import measure

    rival = RIVALS[name]._replace(precision="32-true")
    if rival.head == "window":
        config.head.input, config.head.pooling = "window", "span_ends"
    measured = measure(rival, config, steps=2)
    assert len(measured.cpu_seconds) == len(measured.seconds) == 2
    assert min(measured.cpu_seconds) > 0
    assert 0 < measured.padding_efficiency <= 1


def test_trainer_and_heron_compute_the_same_loss(config: Config) -> None:
    from transformers import DataCollatorWithPadding

    from benchmarks.rivals import build_event_start, trainer_rows
    from heron.data.collate import Collator
    from heron.data.config import TRAIN
    from heron.data.datamodule import DataModule
    from heron.training.build import build_module

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
    assert our_output.loss is not None
    torch.testing.assert_close(their_loss, our_output.loss)
    torch.testing.assert_close(their_logits, our_output.logits_RC)


@pytest.mark.parametrize("grouped", [False, True])
def test_trainer_plan_holds_every_sample_of_its_full_batches_once(grouped: bool) -> None:
    from benchmarks.rivals import BATCH, plan_trainer_epoch

    lengths_R = np.random.default_rng(0).integers(20, 200, size=20 * BATCH)
    plan = plan_trainer_epoch(lengths_R, grouped, seed=0)
    assert sorted(np.concatenate(plan)) == list(range(20 * BATCH))
    spread = np.mean([np.ptp(lengths_R[batch]) for batch in plan])
    assert (spread < 40) == grouped


def test_heron_takes_as_many_steps_as_the_trainer() -> None:
    from benchmarks.rivals import BATCH, equal_tokens
    from heron.data.config import BatchingConfig

    lengths_S = np.random.default_rng(0).integers(20, 200, size=5000)
    batching = BatchingConfig(plan="bucket", tokens=equal_tokens(lengths_S))
    steps = len(plan_epoch(Units.single(lengths_S), batching, seed=0, epoch=0))
    assert steps == pytest.approx(5000 / BATCH, rel=0.05)


def test_ratio_is_the_median_of_the_rounds_and_the_report_keeps_them_all() -> None:
    speeds = {BASELINE: [2.0, 1.0, 4.0], OURS: [8.0, 4.0, 4.0]}
    rounds = {
        name: [
            {
                "samples_per_cpu_second": speed,
                "samples_per_second": speed / 2,
                "padding_efficiency": 0.5,
                "steps_per_epoch": 10,
            }
            for speed in values
        ]
        for name, values in speeds.items()
    }
    assert "4 (1 to 4); 1.5 reached" in verdict(rounds)
    rounds["trainer_grouped_bf16"] = [
        {**each, "samples_per_cpu_second": 4 * each["samples_per_cpu_second"]}
        for each in rounds[BASELINE]
    ]
    rounds["heron_bf16"] = [
        {**each, "samples_per_cpu_second": 1.1 * each["samples_per_cpu_second"]}
        for each in rounds[OURS]
    ]
    assert "the best of 2 settings of the Trainer: 1 (0.25 to 1); 1.5 missed" in " ".join(
        verdict(rounds).split()
    )
    assert "the best of its precisions: 0.909 (0.909 to 0.909); 0.97 missed" in verdict(rounds)
    shown = {row[0]: row[-1] for row in table(rounds, Options()).rows}
    assert show(shown[RIVALS[OURS].title]) == "4.00"
    kept = json.loads(json.dumps(report(rounds, "encoder")))
    assert kept["rivals"][OURS]["rounds"] == rounds[OURS]
    assert kept["rivals"][BASELINE]["median"]["samples_per_cpu_second"] == 2.0


def test_absent_data_and_encoder_are_said_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HERON_DATA", raising=False)
    monkeypatch.delenv("HERON_ENCODER", raising=False)
    assert main(Options, run, [f"data={tmp_path}"]) == 0
    shown = capsys.readouterr().out
    assert "skipped" in shown
    assert "no config.json (None): set HERON_ENCODER" in shown
    assert f"train.csv ({tmp_path}): set HERON_DATA" in shown


def test_unknown_rival_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(Options, run, ["rivals=trianer"]) == 2
    assert "Did you mean 'trainer" in capsys.readouterr().err
