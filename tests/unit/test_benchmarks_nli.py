"""The benchmarks of long premises and of stored vectors: what they run, and their arithmetic."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from benchmarks import frame, frozen_cache, long_premises
from benchmarks.frozen_cache import Timed, scale, shares
from benchmarks.long_premises import BASELINE, VARIANTS, build_longformer, padded_tokens
from heron.base.cells import show
from heron.base.errors import HeronError
from heron.base.folders import conf_dir
from heron.data.features import Units
from heron.tasks.config import Config
from heron.training.compose import compose

LONG = ("data=chronicle_nli", "task=nli", "head=mlp3", "data.generator.premise_sentences=[6,8]")


@pytest.fixture
def config(chronicle_config: Callable[..., Config], tiny_encoder: Path) -> Config:
    """Compose a run on long premises that validates nothing."""
    config = chronicle_config(*LONG, "data.validation.fraction=0", "trainer.select=last")
    config.encoder.name, config.encoder.max_length = str(tiny_encoder), 96
    return config


def test_cut_premises_are_counted_and_windows_cut_nothing(config: Config) -> None:
    cut = long_premises.measure(config, steps=2)
    config.encoder.overflow, config.encoder.stride = "windows", 8
    windows = long_premises.measure(config, steps=2)
    assert (cut.truncated, windows.truncated) == (1.0, 0.0)
    assert cut.sequences_per_pair == 1 < windows.sequences_per_pair
    assert windows.pairs_per_batch < cut.pairs_per_batch
    for measured in (cut, windows):
        assert len(measured.seconds) == 2
        assert measured.tokens_per_batch <= config.batching.tokens
        assert min(measured.seconds_per_pair, measured.cpu_seconds_per_pair) > 0
        assert measured.peak_rss_mb > 50


def test_the_longformer_has_the_encoders_shape_and_reads_premises_whole(
    config: Config, tiny_encoder: Path, tmp_path: Path
) -> None:
    build_longformer(tiny_encoder, tmp_path / "longformer", length=512)
    kept = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
    shape, made = (
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
        for folder in (tiny_encoder, tmp_path / "longformer")
    )
    assert [made[key] for key in kept] == [shape[key] for key in kept]
    config.encoder.name, config.encoder.max_length = str(tmp_path / "longformer"), 512
    config.encoder.gradient_checkpointing = True
    measured = long_premises.measure(config, steps=1)
    assert measured.truncated == 0
    assert measured.sequences_per_pair == 1


def test_padded_tokens_count_every_sequence_of_a_unit() -> None:
    units = Units(
        sequences_V=np.asarray([0, 1, 4]),
        rows_V=np.asarray([0, 1, 2]),
        longest_U=np.asarray([10, 20]),
    )
    assert padded_tokens(np.asarray([0, 1]), units) == 4 * 20


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_composes_with_the_same_tokens_per_batch(name: str, tmp_path: Path) -> None:
    options = long_premises.Options(tokens=4096)
    config = long_premises.configure(VARIANTS[name], tmp_path, tmp_path, options)
    assert config.batching.tokens == 4096
    assert config.data.name == "control_dev"
    assert (config.encoder.max_length == 4096) is VARIANTS[name].longformer
    assert config.encoder.truncation == "only_first"


def test_variants_stand_beside_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {
        "truncated": 0.25,
        "sequences_per_pair": 1.0,
        "tokens_per_batch": 4000.0,
        "pairs_per_batch": 9.0,
        "seconds_per_step": 2.0,
        "seconds_per_pair": 0.2,
        "cpu_seconds_per_pair": 0.2,
        "peak_rss_mb": 1000.0,
        "seconds": [2.0],
    }
    double = one | {"cpu_seconds_per_pair": 0.5, "peak_rss_mb": 1500.0}
    measured = {BASELINE: one, "windows": double}
    first, second = long_premises.table(measured).rows
    assert (show(first[1]), *map(show, second[-2:])) == ("25.0%", "2.50", "1.50")
    monkeypatch.setattr(long_premises, "find", lambda *_, **__: [Path("encoder"), Path("data")])
    monkeypatch.setattr(long_premises, "measure_all", lambda *_: measured)
    kept = long_premises.run(long_premises.Options()).record
    assert json.loads(json.dumps(kept))["variants"]["windows"]["peak_rss_mb"] == 1500.0


@given(
    first=st.floats(0.1, 100),
    each=st.floats(0.1, 100),
    rest=st.floats(0, 100),
    seen=st.integers(2, 5),
    more=st.integers(0, 10),
)
def test_a_run_whose_later_epochs_are_alike_is_scaled_exactly(
    first: float, each: float, rest: float, seen: int, more: int
) -> None:
    ends = tuple(first + each * epoch for epoch in range(seen))
    timed = Timed(ends[-1] + rest, ends)
    assert scale(timed, seen + more) == pytest.approx(first + each * (seen + more - 1) + rest)


def test_one_epoch_alone_cannot_be_scaled() -> None:
    with pytest.raises(HeronError, match="timed=2"):
        scale(Timed(10.0, (8.0,)), 10)


@given(seeds=st.integers(1, 20), count=st.integers(1, 8))
def test_processes_share_all_seeds_and_none_twice(seeds: int, count: int) -> None:
    parts = shares(seeds, count)
    assert len(parts) == min(seeds, count)
    assert sorted(int(seed) for part in parts for seed in part.split(",")) == list(range(seeds))


def test_the_grid_has_as_many_jobs_as_are_waited_for() -> None:
    grid = OmegaConf.load(conf_dir() / "experiment" / "ronli" / "grid.yaml")
    params = {key: str(swept) for key, swept in grid.hydra.sweeper.params.items()}
    counts = {k: v.count("],[" if "[" in v else ",") + 1 for k, v in params.items()}
    assert counts.pop("seed") == frozen_cache.Options().seeds
    assert math.prod(counts.values()) == frozen_cache.JOBS_PER_SEED


def test_the_run_that_encodes_anew_is_a_job_of_the_grid() -> None:
    words = ["experiment=ronli/grid", *frozen_cache._STAND_IN, "encoder=scratch"]
    words += [*frozen_cache.first_job(), "encoder.cache=false"]
    config = compose(words)
    assert (config.encoder.freeze, config.encoder.cache) == ("all", False)
    assert config.head.hidden == [512, 512]
    assert not config.run.export


def test_epochs_are_noted_when_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "print('epoch 1/2', flush=True); time.sleep(.05); print('epoch 2/2')"
    script = [sys.executable, "-c", f"import time; {lines}"]
    popen = frozen_cache.subprocess.Popen
    monkeypatch.setattr(
        frozen_cache.subprocess, "Popen", lambda command, **rest: popen(script, **rest)
    )
    timed = frozen_cache.time_command(["experiment=ronli/grid"], threads=1)
    assert len(timed.epochs) == 2
    assert 0 < timed.epochs[0] < timed.epochs[1] <= timed.seconds
    assert timed.epochs[1] - timed.epochs[0] >= 0.04


def test_a_command_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    script = [sys.executable, "-c", "import sys; sys.exit('no such head')"]
    popen = frozen_cache.subprocess.Popen
    monkeypatch.setattr(
        frozen_cache.subprocess, "Popen", lambda command, **rest: popen(script, **rest)
    )
    with pytest.raises(HeronError, match="no such head"):
        frozen_cache.time_command([], threads=1)
    with pytest.raises(HeronError, match="no such head"):
        frozen_cache.time_grid([], frozen_cache.Options())


def test_the_grid_is_set_beside_as_many_runs_that_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = frozen_cache.Measurement(
        anew=120.0, anew_job=100.0, first=30.0, again=10.0, grid=200.0, jobs=180, narrow_job=0.8
    )
    assert measured.encoding == 20.0
    rows = frozen_cache.table(measured, frozen_cache.Options()).rows
    shown = {show(cell) for row in rows for cell in row}
    assert {"18,000.0", "90.0", "12.0"} <= shown
    assert "220 s with the encoding pass" in frozen_cache.verdict(measured)
    assert "reached" in frozen_cache.verdict(measured)
    assert "missed" in frozen_cache.verdict(replace(measured, grid=301.0))
    assert "no verdict" in frozen_cache.verdict(replace(measured, jobs=36))
    monkeypatch.setattr(frozen_cache, "find", lambda *_, **__: [Path("encoder")])
    monkeypatch.setattr(frozen_cache, "measure", lambda *_: measured)
    kept = frozen_cache.run(frozen_cache.Options(data=Path("absent"))).record
    assert kept["seconds"] == {**asdict(measured), "encoding": 20.0}
    assert kept["data"] == "chronicle_ronli"


@pytest.mark.parametrize("benchmark", [long_premises, frozen_cache])
def test_an_absent_encoder_is_said_and_skipped(
    benchmark: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("HERON_DATA", raising=False)
    monkeypatch.delenv("HERON_ENCODER", raising=False)
    words = [f"encoder={tmp_path}", f"data={tmp_path}"]
    assert frame.main(benchmark.Options, benchmark.run, words) == 0
    assert f"skipped:\n  no config.json ({tmp_path}): set HERON_ENCODER" in capsys.readouterr().out


def test_unknown_variant_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert frame.main(long_premises.Options, long_premises.run, ["variants=window"]) == 2
    assert "Did you mean 'windows" in capsys.readouterr().err


def test_measuring_processes_stay_offline_and_do_not_spin() -> None:
    variables = frame.environment(threads=2)
    assert variables["OMP_NUM_THREADS"] == "2"
    assert variables["HF_HUB_OFFLINE"] == "1"
    assert int(variables["GOMP_SPINCOUNT"]) <= 1000
