"""Run folders made up for the tests: every file of the contract, none of it trained."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from omegaconf import OmegaConf

from heron.dynamics.files import Meta, dynamics_table, write_dynamics

CLASSES = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
HEBREW = "הנשיא [א1] הגיע [/א1] לעיר לפני שהמשלחת [א2] עזבה [/א2] אותה"

MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path):
    """Return a function that writes one run folder under `tmp_path/sweep` and gives its path."""

    def make(
        job: str = "seed=0-1a2b3c4d",
        overrides: tuple[str, ...] = ("seed=0",),
        scores: dict[str, float] | None = None,
        config: dict[str, Any] | None = None,
        state: str = "done",
        rows: int = 40,
        texts: list[str] | None = None,
        pairs: list[str] | None = None,
        epochs: int = 3,
        ledger: dict[str, Any] | None = None,
        skill: float = 0.7,
    ) -> Path:
        folder = tmp_path / "sweep" / job
        folder.mkdir(parents=True)
        _write_config(folder, overrides, config or {})
        status: dict[str, Any] = {"state": state, "seconds": 61.5, "overrides": list(overrides)}
        status |= {"seed": 0, "git": {"commit": "abc1234"}, "versions": {"torch": "2.13.0"}}
        if state == "failed":
            status["error"] = "RuntimeError: out of memory"
        (folder / "status.json").write_text(json.dumps(status))
        if state == "done":
            test = scores or {"macro_f1": 0.5, "weighted_f1": 0.6, "accuracy": 0.62}
            (folder / "scores.json").write_text(json.dumps({"test": test}))
            _write_predictions(folder, rows, texts or [HEBREW], pairs, skill)
            _write_metrics(folder, epochs)
            _write_dynamics(folder, epochs)
            if ledger:
                (folder / "ledger.json").write_text(json.dumps(ledger))
        return folder

    return make


@pytest.fixture
def make_ledger():
    """Return a function that makes up `ledger.json`: stages of equal length, twice padded."""

    def make(
        steps: int = 100, stages: tuple[str, ...] = ("everything",), **counts: int
    ) -> dict[str, Any]:
        one = {"steps": steps // len(stages), "batches": steps // len(stages), "samples": 320}
        one |= {"tokens": 4000, "padded": 8000, "unique": 80, **counts}
        each = [{"stage": name, **one} for name in stages]
        total = {name: count * len(stages) for name, count in one.items()}
        return {"planned_steps": steps, "total": total | {"unique": one["unique"]}, "stages": each}

    return make


@pytest.fixture
def write_record():
    """Return a function that writes one epoch's dynamics."""
    return _write_record


def _write_config(folder: Path, overrides: tuple[str, ...], extra: dict[str, Any]) -> None:
    config = OmegaConf.create(
        {
            "seed": 0,
            "report": None,
            "data": {
                "name": "trc",
                "language": "he",
                "label_order": CLASSES,
                "synthetic": False,
                "sample": {"fraction": 1.0},
            },
            "encoder": {"name": "onlplab/alephbert-base"},
            "head": {"name": "ess"},
            "optim": {"lr": 3e-5},
            "trainer": {"monitor": "macro_f1"},
        }
    )
    for key, value in (word.split("=", 1) for word in overrides):
        # As Hydra does: `head=ess` chooses a group, `optim.lr=1e-4` sets a value.
        group = key in ("head", "curriculum")
        OmegaConf.update(config, f"{key}.name" if group else key, _number(value))
    for key, value in extra.items():
        OmegaConf.update(config, key, value)
    OmegaConf.save(config, folder / "config.yaml")


def _number(value: str) -> str | float | int:
    try:
        return int(value) if value.isdigit() else float(value)
    except ValueError:
        return value


def _write_predictions(
    folder: Path, rows: int, texts: list[str], pairs: list[str] | None, skill: float
) -> None:
    generator = np.random.default_rng(0)
    gold = generator.choice(CLASSES, rows, p=[0.42, 0.33, 0.09, 0.16])
    prediction = np.where(generator.random(rows) < skill, gold, generator.choice(CLASSES, rows))
    # The predicted class is the most probable one, as in any run.
    rest = generator.dirichlet(np.ones(len(CLASSES)), rows) / 2
    probabilities = rest + 0.5 * (prediction[:, None] == np.array(CLASSES))
    columns = {
        "guid": [f"trc-{index}" for index in range(rows)],
        "text": [texts[index % len(texts)] for index in range(rows)],
        "gold": gold.tolist(),
        "prediction": prediction.tolist(),
        **{f"p/{name}": probabilities[:, i].tolist() for i, name in enumerate(CLASSES)},
    }
    if pairs:
        columns["text_pair"] = [pairs[index % len(pairs)] for index in range(rows)]
    (folder / "predictions").mkdir()
    pq.write_table(pa.table(columns), folder / "predictions" / "test.parquet")


def _write_metrics(folder: Path, epochs: int) -> None:
    """As Lightning's CSVLogger does: training and validation land in rows of their own."""
    lines = ["epoch,step,train/loss,validation/loss,validation/macro_f1"]
    for epoch in range(epochs):
        lines.append(f"{epoch},{10 * epoch},{1.4 - 0.3 * epoch},,")
        lines.append(f"{epoch},{10 * epoch + 5},{1.2 - 0.3 * epoch},,")
        lines.append(f"{epoch},{10 * epoch + 9},,{1.3 - 0.2 * epoch},{0.3 + 0.05 * epoch}")
    (folder / "metrics.csv").write_text("\n".join(lines) + "\n")


def _write_dynamics(folder: Path, epochs: int, examples: int = 300) -> None:
    generator = np.random.default_rng(1)
    ease = generator.beta(2, 1.2, examples)
    (folder / "dynamics").mkdir()
    for epoch in range(epochs):
        noise = generator.normal(0, 0.2 * (1 - np.abs(2 * ease - 1)), examples)
        p_gold = np.clip(ease * (0.6 + 0.2 * epoch) + noise, 0, 1)
        _write_record(folder / "dynamics", epoch, [f"train-{i}" for i in range(examples)], p_gold)


def _write_record(folder: Path, epoch: int, guids: list[str], p_gold: Any) -> None:
    """Write one epoch's dynamics; an example is right where its gold label has more than .4."""
    p_gold_N = np.asarray(p_gold, np.float32)
    rows = len(guids)
    table = dynamics_table(
        guids,
        np.zeros(rows, np.int16),
        p_gold_N,
        p_gold_N > 0.4,
        np.full(rows, np.nan),
        np.ones(rows, np.int16),
        None,
        Meta(epoch + 1.0, "train", "relation", tuple(CLASSES)),
    )
    write_dynamics(folder / f"epoch={epoch}.parquet", table)
