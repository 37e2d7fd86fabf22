"""A small table of sentence pairs that shallow systems can learn, and baselines trained on it."""

from __future__ import annotations

import csv
import random
from pathlib import Path

from heron.base.run_folder import RunFolder
from heron.tasks.config import Config
from heron.training import compose as composition
from heron.training.job import train_baseline
from heron.training.run import Run, source_hashes
from tiny_models import save_model, tokenizer_of

LABELS = ["contradiction", "entailment", "neutral"]
_PEOPLE = ["Ana", "Ion", "Maria", "Dan", "Elena", "Radu", "Ioana", "Mihai"]
_VERBS = ["cântă", "doarme", "pleacă", "scrie", "citește", "râde", "aleargă", "învață"]
_CUES = {"contradiction": "nu {verb} deloc", "entailment": "{verb} acum", "neutral": "are un câine"}

TINY = (
    "data=own_nli",
    "data.language=ro",
    "data.validation.by=row",
    "data.validation.fraction=0.2",
    "task.bootstrap=20",
    "trainer.enable_progress_bar=false",
    "trainer.accelerator=cpu",
)


CBOW = "baseline.dim=8", "baseline.epochs=3", "baseline.min_count=1", "baseline.buckets=200"


def write_pairs(path: Path, rows: int, seed: int) -> Path:
    """Write labelled pairs; the words of the hypothesis give the label away."""
    draw = random.Random(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["guid", "premise", "hypothesis", "label"])
        for row in range(rows):
            label, person, verb = LABELS[row % 3], draw.choice(_PEOPLE), draw.choice(_VERBS)
            hypothesis = f"{person} {_CUES[label].format(verb=verb)}."
            place = draw.choice(["acasă", "la școală", "în parc", "pe deal"])
            writer.writerow([f"{path.stem}-{row}", f"{person} {verb} {place}.", hypothesis, label])
    return path


def overrides(folder: Path) -> list[str]:
    """List the overrides of a run on the pairs in `folder`, writing them where needed."""
    for split, rows in (("train", 120), ("test", 30)):
        if not (folder / f"{split}.csv").is_file():
            write_pairs(folder / f"{split}.csv", rows, seed=rows)
    return [
        *TINY,
        *(f"data.files.{split}.path={folder / split}.csv" for split in ("train", "test")),
        f"paths.cache={folder / 'cache'}",
        f"paths.runs={folder / 'runs'}",
    ]


def compose(folder: Path, *words: str) -> Config:
    """Compose the configuration of a run on the pairs in `folder`."""
    return composition.compose([*overrides(folder), *words])


def train(folder: Path, *words: str, job: str = "tiny") -> RunFolder:
    """Train one baseline; returns its finished run folder."""
    config = compose(folder, "run.resume=false", *words)
    run = RunFolder(folder / "runs" / job)
    with Run(config, run).claimed():
        run.update_status(sources=source_hashes(config))
    train_baseline(config, run)
    run.update_status(state="done", overrides=list(words))
    return run


def save_nli_model(folder: Path, tiny_encoder: Path, names: list[str]) -> Path:
    """Save a random sequence classifier on the tiny encoder's shape; returns its folder."""
    import torch
    from transformers import AutoModelForSequenceClassification

    labels = {"id2label": dict(enumerate(names)), "label2id": {n: i for i, n in enumerate(names)}}
    auto = "AutoModelForSequenceClassification"
    save_model("bert", tokenizer_of(tiny_encoder), folder, auto, seed=1, **labels)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        # Far from zero, or all probabilities are alike.
        torch.nn.init.normal_(model.classifier.weight, std=2.0)
    model.save_pretrained(folder)
    return folder
