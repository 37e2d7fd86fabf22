"""Small runs with training dynamics, made up: data, configuration and records; none is trained."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.tables import write_table
from heron.data.config import Columns, DataConfig, FileConfig, ValidationConfig
from heron.dynamics.files import Meta, dynamics_table, write_dynamics
from heron.models.config import HeadConfig
from heron.tasks.config import Config, PathsConfig, TaskConfig
from heron.training.stored import to_yaml

CLASSES = ("contradiction", "entailment", "neutral")
WORDS = ("הילדים", "הולכים", "לבית", "הספר", "בבוקר", "וההורים", "אל", "העיר", "עד", "הערב")


def make_records(
    folder: Path,
    guids: Sequence[str],
    records: int = 4,
    labels: Sequence[str] = CLASSES,
    seed: int = 0,
) -> np.ndarray:
    """Write `records` records under `folder/dynamics`; returns the float32 p_gold_EN."""
    random = np.random.default_rng(seed)
    shape = (records, len(guids))
    p_gold_EN = random.uniform(0.02, 0.98, shape).astype(np.float32)
    gold_N = np.arange(len(guids)) % max(len(labels), 1) if labels else np.full(len(guids), -1)
    meta = {"mode": "train", "task": "nli" if labels else "extractive_qa", "labels": tuple(labels)}
    for record, p_gold_N in enumerate(p_gold_EN):
        margin_N = np.full(len(guids), np.nan)
        right_N = p_gold_N > 0.5
        logits_NC = None
        if labels:
            # All other classes have a logit of 0: the gold one is right from p = 1 / C on.
            margin_N = np.log(p_gold_N * (len(labels) - 1) / (1 - p_gold_N))
            right_N = margin_N > 0
            logits_NC = np.zeros((len(guids), len(labels)), np.float32)
            logits_NC[np.arange(len(guids)), gold_N] = margin_N
        table = dynamics_table(
            list(guids),
            gold_N,
            p_gold_N,
            right_N,
            margin_N,
            np.ones(len(guids)),
            logits_NC,
            Meta(record + 1.0, **meta),
        )
        write_dynamics(folder / "dynamics" / f"epoch={record}.parquet", table)
    return p_gold_EN


def make_run(
    place: Path,
    name: str = "seed=0-1a2b",
    rows: int = 60,
    texts: Sequence[str] = (),
    records: int = 4,
    seed: int = 0,
    language: str = "he",
) -> Path:
    """Write a run on sentence pairs, with its data set in `place/data`; returns its folder.

    Args:
        place: a folder.
        name: of the run folder.
        rows: examples, with the guids p0, p1, ...
        texts: the first texts; default: random words. The first of four rows that share one.
        records: of dynamics.
        seed: of the dynamics; the data is always the same.
        language: of the data.
    """
    random = np.random.default_rng(0)
    guids = [f"p{row}" for row in range(rows)]
    premises = list(texts) or [" ".join(random.choice(WORDS, 6)) for _ in range(-(-rows // 4))]
    columns = {
        "guid": guids,
        "premise": [premises[row // 4 % len(premises)] for row in range(rows)],
        "hypothesis": [" ".join(random.choice(WORDS, 2 + row % 5)) for row in range(rows)],
        "label": [CLASSES[row % 3] for row in range(rows)],
        "genre": [("fiction", "travel")[row % 2] for row in range(rows)],
    }
    write_table(place / "data" / "train.jsonl", columns)
    folder = place / name
    folder.mkdir(parents=True)
    text = to_yaml(_config(place, language))
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    make_records(folder, guids, records, seed=seed)
    return folder


def _config(place: Path, language: str) -> Config:
    data = DataConfig(
        name="pairs",
        language=language,
        task="nli",
        format="pair_table",
        label_order=list(CLASSES),
        columns=Columns(text="premise", text_pair="hypothesis", label="label", side=["genre"]),
        files={"train": FileConfig(path="train.jsonl")},
        validation=ValidationConfig(fraction=0.1, by="row"),
    )
    return Config(
        seed=0,
        task=TaskConfig(name="nli"),
        data=data,
        head=HeadConfig(name="cross", input="pair", pooling="cls"),
        paths=PathsConfig(data=str(place / "data"), cache=str(place / "cache")),
    )


def read_payload(page: str) -> dict[str, Any]:
    """Read back what a map's page holds, as `map_core.js` does."""
    found = re.search(r'<script type="application/json" id="map-data">(.*?)</script>', page, re.S)
    assert found is not None
    return dict(json.loads(found.group(1)))


def unpack(block: dict[str, str]) -> np.ndarray:
    """Read one array of a payload."""
    return np.frombuffer(base64.b64decode(block["data"]), f"<{block['type']}")
