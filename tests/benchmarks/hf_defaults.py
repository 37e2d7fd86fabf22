"""A whole training by the Hugging Face Trainer, as its examples set it up, in a run folder.

Run as `python -m tests.benchmarks.hf_defaults FOLDER BATCH RATE EPOCHS [key=value ...]`: its data,
tokens and validation scores are heron's; model, batches, optimizer and loop are the Trainer's.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from transformers import (
    DataCollatorForSeq2Seq,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
    set_seed,
)

from heron.base.files import write_json
from heron.base.libraries import silence_libraries
from heron.base.run_folder import RunFolder
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.tasks.config import Config
from heron.tasks.predictions import ClassPredictions, Predictions
from heron.training.compose import compose
from heron.training.job import score
from heron.training.run import Run
from heron.training.trainer import build_module, predict_split, prediction_trainer

from .hf_rows import is_windowed, trainer_rows
from .hf_trainer import build_plain


def train(folder: Path, batch: int, rate: float, epochs: int, words: Sequence[str]) -> None:
    """Train and score one run; its folder is a run folder of heron's."""
    silence_libraries()
    config = compose(words)
    run = Run(config, RunFolder(folder), words)
    with run.claimed():
        run.begin()
        with run.running():
            predictions = _train_and_predict(config, batch, rate, epochs)
            scores = {VALIDATION: score(config, run.folder, VALIDATION, predictions)}
            write_json(run.folder.scores, scores)
        run.end(scores)


def _train_and_predict(config: Config, batch: int, rate: float, epochs: int) -> Predictions:
    set_seed(config.seed)
    data = DataModule(config)
    model = build_plain(config, data)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=batch,
        learning_rate=rate,
        num_train_epochs=epochs,
        seed=config.seed,
        use_cpu=True,
        remove_unused_columns=False,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    is_written = config.task.name == "summarization"
    collator = DataCollatorForSeq2Seq if is_written else DataCollatorWithPadding
    rows = _rows(data, TRAIN)
    trainer = Trainer(model, arguments, collator(data.tokenizer), cast(Any, rows))
    trainer.train()

    if config.task.name in ("qa", "summarization"):
        return _predict_by_heron(config, data, model)

    logits_RC = torch.as_tensor(trainer.predict(cast(Any, _rows(data, VALIDATION))).predictions)
    probabilities_RC = logits_RC.softmax(dim=1).numpy()
    features = data.features[VALIDATION]
    examples = {example.guid: example for example in data.examples[VALIDATION]}
    ordered = [examples[guid] for guid in features.guids]
    return ClassPredictions.most_probable(ordered, probabilities_RC, config)


def _rows(data: DataModule, split: str) -> list[dict[str, Any]]:
    features = data.features[split]
    count = len(features.lengths_S) if is_windowed(features) else len(features)
    return trainer_rows(features, np.arange(count))


def _predict_by_heron(config: Config, data: DataModule, model: Any) -> Predictions:
    """Let heron decode what the Trainer's model scores, so that only the trainings differ."""
    module = build_module(config, data)
    if config.task.name == "qa":
        module.encoder.model.load_state_dict(model.base_model.state_dict(), strict=False)
        module.head.borders.load_state_dict(model.qa_outputs.state_dict())  # type: ignore[union-attr]
    else:
        module.encoder.model.load_state_dict(model.state_dict())

    with tempfile.TemporaryDirectory() as folder:
        trainer = prediction_trainer(config, Path(folder))
        return predict_split(trainer, module.eval(), data, VALIDATION)


if __name__ == "__main__":
    place, size, peak, passes, *given = sys.argv[1:]
    train(Path(place), int(size), float(peak), int(passes), given)
