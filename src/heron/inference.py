"""A trained run, ready to predict: what `heron predict` and `heron evaluate` share."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytorch_lightning as pl

from heron.config import from_yaml
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.data.readers import load
from heron.errors import Problem
from heron.models.baselines.systems import load_baseline, require_baseline
from heron.models.export import load_exported
from heron.models.tokenizer import load_tokenizer
from heron.runtime.baseline_job import predict_examples
from heron.runtime.build import task_module
from heron.runtime.evaluation import predict_split
from heron.runtime.progress import progress_bar
from heron.runtime.run_folder import RunFolder
from heron.runtime.trainer import precision, quiet
from heron.schema import Config
from heron.tasks.base import Predictions

_SPLIT = "input"


class Trained(Protocol):
    """The model of one run folder, whatever kind of system it is."""

    @property
    def config(self) -> Config:
        """The run's configuration, its paths replaced where others were given."""

    def predict(self, examples: Sequence[Example]) -> tuple[Predictions, list[Problem]]:
        """Predict examples.

        Returns:
            Predictions in the order of `examples`, and a problem for each example that could not
            be used, its guid as `where`.
        """


def open_trained(folder: RunFolder, paths: Mapping[str, str] | None = None) -> Trained:
    """Open a finished run.

    Args:
        folder: the run.
        paths: folders that lie elsewhere than in training, as `{field of PathsConfig: folder}`.

    Raises:
        ConfigError: the run has left no model, or one that this version of heron cannot open.
    """
    quiet()
    config = from_yaml(folder.config.read_text(encoding="utf-8"))
    if config.baseline.name != "none":
        require_baseline(folder.model, folder.state())
        return TrainedBaseline(folder, _moved(config, paths))
    folder.require_model()
    return TrainedEncoder(folder, paths)


def read_splits(trained: Trained) -> dict[str, list[Example]]:
    """Read the splits that a run was trained and scored on, from where its data lies now."""
    paths = trained.config.paths
    return load(trained.config.data, Path(paths.data), Path(paths.cache))


class TrainedEncoder:
    """Encoder and head of one run folder.

    Args:
        folder: a finished run.
        paths: as for `open_trained`.
    """

    def __init__(self, folder: RunFolder, paths: Mapping[str, str] | None = None):
        config, encoder, head = load_exported(folder)
        data = dataclasses.replace(config.data, on_cut="drop")
        self.config: Config = dataclasses.replace(_moved(config, paths), data=data)
        markers = config.data.event_markers() if config.head.input == "marked" else ()
        cache = Path(self.config.paths.cache)
        self.tokenizer = load_tokenizer(self.config.encoder, markers, (), cache)
        self.module = task_module(self.config, encoder, head).eval()

    def predict(self, examples: Sequence[Example]) -> tuple[Predictions, list[Problem]]:
        """See `Trained`; examples whose event the length limit cuts are refused."""
        data = DataModule(self.config, {_SPLIT: list(examples)}, self.tokenizer)
        predictions = predict_split(self._trainer(), self.module, data, _SPLIT)
        return predictions, data.features[_SPLIT].refused

    def _trainer(self) -> pl.Trainer:
        settings = self.config.trainer
        bars = progress_bar(settings.progress)
        return pl.Trainer(
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


class TrainedBaseline:
    """The baseline of one run folder.

    Args:
        folder: a finished run.
        config: its configuration.
    """

    def __init__(self, folder: RunFolder, config: Config):
        self.config = config
        self.baseline = load_baseline(config, folder.model)

    def predict(self, examples: Sequence[Example]) -> tuple[Predictions, list[Problem]]:
        """See `Trained`; nothing is refused, baselines have no length limit that matters."""
        return predict_examples(self.baseline, examples, self.config), []


def _moved(config: Config, paths: Mapping[str, str] | None) -> Config:
    return dataclasses.replace(config, paths=dataclasses.replace(config.paths, **(paths or {})))
