"""A run on sentence pairs, made up: its data, its configuration and its predictions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heron.base.run_folder import config_text
from heron.base.tables import write_table
from heron.data.config import Columns, DataConfig, FileConfig, ValidationConfig
from heron.models.config import HeadConfig
from heron.tasks.config import Config, PathsConfig, TaskConfig

CLASSES = ["contradiction", "entailment", "neutral"]
WORDS = ["copiii", "merg", "la", "școală", "dimineața", "părinții", "în", "oraș", "până", "seara"]
TYPES = [["temporal"], ["logical", "temporal"], []]

MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Return a function that writes a run with predictions on 60 pairs, four to a premise."""

    def make(rows: int = 60, side: tuple[str, ...] = (), gold: list[str] | None = None) -> Path:
        random = np.random.default_rng(0)
        premises = [" ".join(random.choice(WORDS, 6 + i % 9)) for i in range(-(-rows // 4))]
        columns = {
            "guid": [f"p{row}" for row in range(rows)],
            "premise": [premises[row // 4] for row in range(rows)],
            "hypothesis": [" ".join(random.choice(WORDS, 2 + row % 5)) for row in range(rows)],
            "label": gold or [CLASSES[row % 3] for row in range(rows)],
            "genre": [("fiction", "travel")[row % 2] for row in range(rows)],
            "reasoning": [";".join(TYPES[row % 3]) for row in range(rows)],
        }
        for split in ("train", "test"):
            write_table(tmp_path / "data" / f"{split}.jsonl", columns)
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "config.yaml").write_text(config_text(_config(tmp_path, side)), encoding="utf-8")
        labels = columns["label"]
        answers = [CLASSES[(CLASSES.index(g) + (i % 5 == 0)) % 3] for i, g in enumerate(labels)]
        predictions = {"guid": columns["guid"], "gold": labels, "prediction": answers}
        write_table(folder / "predictions" / "test.parquet", predictions)
        return folder

    return make


def _config(folder: Path, side: tuple[str, ...]) -> Config:
    data = DataConfig(
        name="pairs",
        language="ro",
        task="nli",
        format="pair_table",
        label_order=CLASSES,
        columns=Columns(text="premise", text_pair="hypothesis", side=list(side)),
        files={split: FileConfig(f"{split}.jsonl") for split in ("train", "test")},
        validation=ValidationConfig(fraction=0.2, by="row"),
    )
    paths = PathsConfig(data=str(folder / "data"), cache=str(folder / "cache"), runs="runs")
    head = HeadConfig(name="cross", input="pair", pooling="cls")
    return Config(data=data, task=TaskConfig(name="nli"), head=head, paths=paths)
