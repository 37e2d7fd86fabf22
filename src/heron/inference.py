"""A trained run, ready to predict: what `heron predict` and `heron evaluate` share."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytorch_lightning as pl
from transformers import AutoTokenizer

from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.models.export import load_exported
from heron.runtime.evaluation import Predictions, predict_split
from heron.runtime.progress import progress_bar
from heron.runtime.run_folder import RunFolder
from heron.runtime.trainer import precision, quiet
from heron.schema import Config
from heron.tasks.classification import ClassificationModule


class TrainedRun:
    """The model of one run folder.

    Args:
        folder: a finished run.
        paths: folders that lie elsewhere than in training, as `{field of PathsConfig: folder}`.
    """

    def __init__(self, folder: RunFolder, paths: dict[str, str] | None = None):
        quiet()
        config, encoder, head = load_exported(folder)
        config = dataclasses.replace(
            config,
            data=dataclasses.replace(config.data, on_cut="drop"),
            paths=dataclasses.replace(config.paths, **(paths or {})),
        )
        self.config: Config = config
        self.tokenizer = AutoTokenizer.from_pretrained(folder.model)
        self.module = ClassificationModule(config, encoder, head, total_steps=1).eval()

    def data(self, examples: dict[str, list[Example]] | None = None) -> DataModule:
        """Prepare given examples, or the splits that the run was trained and scored on."""
        return DataModule(self.config, examples, self.tokenizer)

    def predict(self, data: DataModule, split: str) -> Predictions:
        """Predict every row of a split."""
        settings = self.config.trainer
        bars = progress_bar(settings.progress)
        trainer = pl.Trainer(
            accelerator=settings.accelerator,
            devices=1,
            precision=precision(settings.precision),  # type: ignore[arg-type]
            logger=False,
            callbacks=bars,
            enable_progress_bar=bool(bars),
            enable_model_summary=False,
            enable_checkpointing=False,
            use_distributed_sampler=False,
            default_root_dir=Path(self.config.paths.cache),
        )
        return predict_split(trainer, self.module, data, split)
