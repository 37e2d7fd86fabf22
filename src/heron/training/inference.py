"""Finished runs opened to predict: one, the mean of several, or one under several settings."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytorch_lightning as pl
import torch
from torch import nn

from heron.base.errors import ConfigError, Problem
from heron.base.files import dump_yaml
from heron.base.libraries import has_accelerator, own_threads, silence_libraries
from heron.base.run_folder import BASELINE, RunFolder, open_run
from heron.base.signals import leave_signals_alone
from heron.data.config import TRAIN, DataConfig
from heron.data.datamodule import DataModule, feature_options
from heron.data.examples import Example
from heron.data.readers import load
from heron.data.tokenizer import load_tokenizer
from heron.languages import get_language
from heron.models.encoder import Encoder
from heron.models.precision import precision, recorded_precision
from heron.models.pretrained import untrained_model
from heron.tasks.base import Predictions, TaskModule
from heron.tasks.config import Config
from heron.tasks.several import Mean, WithEachSetting
from heron.tasks.task import new_head, task_of
from heron.training.callbacks import progress_bar
from heron.training.checkpointing import load_weights, read_checkpoint
from heron.training.exported import load_exported
from heron.training.outcome import predict_split
from heron.training.overrides import changed, override
from heron.training.stored import from_yaml, read_stored

_SPLIT = "input"

# What a command calls once it has written its predictions; see `predict_split`.
Cleanups = list[Callable[[], None]]
Predicted = tuple[Predictions, list[Problem]]


def open_trained(
    folders: RunFolder | Sequence[RunFolder],
    paths: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    run_code: bool = False,
) -> Trained:
    """Open a finished run, or several as one: the mean of their logits decides.

    `paths` names folders that lie elsewhere than in training, as `{field of PathsConfig: folder}`;
    `settings` values of keys such as `task.max_answer_tokens`, other than in training. With
    `run_code`, code that comes with the weights may run, whatever the run itself says.

    Raises:
        ConfigError: a run has left no model, or one that this version of heron cannot open; the
            runs do not read their texts alike; or a setting does not go with the run.
    """
    silence_libraries()
    if not isinstance(folders, RunFolder):
        opened = [open_trained(folder, paths, settings, run_code) for folder in folders]
        return opened[0] if len(opened) == 1 else Ensemble(opened, [f.path for f in folders])
    folder = folders
    config = read_stored(folder.config)
    if config.baseline.name != "none":
        folder.require_model(BASELINE)
        return TrainedBaseline(folder, _moved(config, paths)).with_settings(settings or {})
    folder.require_model()
    return TrainedEncoder(folder, paths, settings, run_code)


def open_with_settings(
    folders: Sequence[RunFolder],
    paths: Mapping[str, str] | None,
    points: Sequence[Mapping[str, Any]],
    run_code: bool = False,
) -> list[Trained]:
    """Open finished runs once, as a system for each of several settings of the same keys."""
    first = open_trained(folders, paths, points[0], run_code)
    return [first, *(first.with_settings(point) for point in points[1:])]


def predict_each(systems: Sequence[Trained], examples: Sequence[Example]) -> list[Predicted]:
    """Predict with each of the systems that `open_with_settings` returns.

    Texts are tokenized and encoded once for all systems that read the same windows; these systems
    share their logits. Systems that write texts share nothing.
    """
    alike: dict[Any, list[int]] = {}
    for place, system in enumerate(systems):
        key = place if task_of(system.config).about.writes else feature_options(system.config)
        alike.setdefault(key, []).append(place)
    found: dict[int, Predicted] = {}
    for places in alike.values():
        if len(places) == 1:
            found[places[0]] = systems[places[0]].predict(examples)
            continue
        members: list[Any] = [systems[place] for place in places]
        together = WithEachSetting([each.module for each in members]).eval()
        first = members[0]
        several: Any
        several, refused = _predict(together, first.config, first.tokenizer, examples)
        found |= {place: (each, refused) for place, each in zip(places, several, strict=True)}
    return [found[place] for place in range(len(systems))]


class _Modules:
    """What runs with encoders share: predicting with a module on tokenized texts."""

    config: Config  # the run's, its paths replaced where others were given
    tokenizer: Any
    module: Any
    keep: Path | None = None  # see `predict_split`

    def predict(self, examples: Sequence[Example], cleanups: Cleanups | None = None) -> Predicted:
        """Predict examples, in their order, and name a problem for each that could not be used.

        A problem's `where` is the guid, such as of an event that the length limit cuts; for
        `cleanups`, used for a part of a file, see `predict_split`.
        """
        return _predict(self.module, self.config, self.tokenizer, examples, self.keep, cleanups)


class TrainedEncoder(_Modules):
    """Encoder and head of one finished run; arguments as for `open_trained`."""

    def __init__(
        self,
        folder: RunFolder,
        paths: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        run_code: bool = False,
    ):
        config, encoder, head = load_exported(folder, run_code)
        config = recorded_precision(changed(config, settings or {}), folder)
        data = dataclasses.replace(config.data, on_cut="drop")
        self.config = dataclasses.replace(_moved(config, paths), data=data)
        cache, added = Path(self.config.paths.cache), task_of(config).added_tokens(config)
        self.tokenizer = load_tokenizer(self.config.encoder, added, (), cache)
        self.module = inference_module(self.config, encoder, head)
        self.keep = folder.generated if os.access(folder.path, os.W_OK) else None

    def with_settings(self, settings: Mapping[str, Any]) -> TrainedEncoder:
        """Copy with other settings, as in `open_trained`; the copy shares the weights."""
        other = copy.copy(self)
        other.config = changed(self.config, settings)
        other.module = inference_module(other.config, self.module.encoder, self.module.head)
        return other


def load_checkpoint(path: Path) -> TaskModule:
    """Load a module with the weights of a checkpoint, from the checkpoint alone where it can be.

    A checkpoint has no weights of an encoder whose vectors are stored, and no tokenizer, which some
    encoders mask with: these are read from the run folder that the checkpoint lies in.
    """
    stored = read_checkpoint(path)
    known = stored.get("hyper_parameters", {})
    if known.get("encoder"):
        config = from_yaml(dump_yaml(known["config"]))
        with TemporaryDirectory() as folder:
            untrained_model(known["encoder"]).save_pretrained(folder)
            exported = dataclasses.replace(config.encoder, name=folder, trust_remote_code=False)
            exported.revision = exported.num_layers = None
            there = dataclasses.replace(config, encoder=exported)
            encoder = task_of(config).model.encoder(there, None)
        module = inference_module(config, encoder, new_head(config, encoder))
    else:
        run = open_run(path.parent.parent)
        run.require_model()
        module = TrainedEncoder(run).module
    load_weights(module, stored)
    return module


class Ensemble(_Modules):
    """Several runs with encoders as one: the mean of their logits decides.

    Heads may differ: of a linear and a biaffine one the scores of each span are averaged.

    Raises:
        ConfigError: a member has no encoder, or the members differ in task, classes, tokenizer or
            in how they normalise and cut texts.
    """

    def __init__(self, members: Sequence[Trained], names: Sequence[Path]):
        runs = [member for member in members if isinstance(member, TrainedEncoder)]
        if len(runs) < len(members):
            raise ConfigError("baselines cannot be averaged: name runs with an encoder")
        if unfit := [run.config for run in runs if not run.module.averages]:
            raise ConfigError(
                f"predictions of several runs of task={unfit[0].task.name} cannot be averaged: "
                "name one run"
            )
        self.runs = runs
        first, *rest = runs
        for run, name in zip(rest, names[1:], strict=True):
            differing = [
                key for key, value in _reading(first).items() if _reading(run)[key] != value
            ]
            if differing:
                raise ConfigError(
                    f"{name} and {names[0]} differ in {', '.join(differing)}: the logits of runs "
                    "can be averaged where they read texts alike"
                )
        self.config, self.tokenizer = first.config, first.tokenizer
        self.names = names
        self.module = Mean([run.module for run in runs]).eval()
        heads: list[Any] = [run.module.head for run in runs]
        if hasattr(heads[0], "threshold"):  # each was tuned on its own logits
            heads[0].threshold.copy_(torch.stack([head.threshold for head in heads]).mean())

    def with_settings(self, settings: Mapping[str, Any]) -> Ensemble:
        """See `TrainedEncoder`."""
        other = copy.copy(self)
        other.runs = [run.with_settings(settings) for run in self.runs]
        other.config = other.runs[0].config
        # The heads are shared, and with them the threshold, which is the mean already.
        other.module = Mean([run.module for run in other.runs]).eval()
        return other


def _reading(run: TrainedEncoder) -> dict[str, Any]:
    """List what decides which tokens a run reads, and what its logits mean."""
    config, encoder, data = run.config, run.config.encoder, run.config.data
    # The setting has no effect in a language without variants.
    cedilla = data.unicode.cedilla if get_language(data.language).variants else "keep"
    return {
        "task.name": config.task.name,
        "data.label_order": data.label_order,
        "data.unicode": dataclasses.replace(data.unicode, cedilla=cedilla),
        "data.normalize_case": data.normalize_case,
        "data.phrases": data.phrases,
        "data.markers": task_of(config).added_tokens(config),
        "head.input": config.head.input,
        "encoder.max_length": encoder.max_length,
        "encoder.truncation": encoder.truncation,
        "encoder.overflow": encoder.overflow,
        "encoder.stride": encoder.stride,
        "encoder.separator": encoder.separator,
        "encoder.trailing_separator": encoder.trailing_separator,
        "task.max_answer_tokens": config.task.max_answer_tokens,
        "task.n_best": config.task.n_best,
        "the tokenizer": run.tokenizer.backend_tokenizer.to_str(),
    }


def _predict(
    module: Any,
    config: Config,
    tokenizer: Any,
    examples: Sequence[Example],
    keep: Path | None = None,
    cleanups: Cleanups | None = None,
) -> Predicted:
    data = DataModule(config, {_SPLIT: list(examples)}, tokenizer)
    with own_threads(None):
        predictions = predict_split(_trainer(config), module, data, _SPLIT, keep, cleanups)
    return predictions, data.features[_SPLIT].refused


def _trainer(config: Config) -> pl.Trainer:
    trained_on = config.trainer.accelerator  # perhaps on another machine
    return prediction_trainer(
        config,
        Path(config.paths.cache),
        accelerator=trained_on if has_accelerator(trained_on) else "auto",
        devices=1,
        precision=precision(config),
    )


class TrainedBaseline:
    """The baseline of one finished run."""

    def __init__(self, folder: RunFolder, config: Config):
        self.config = config
        from heron.training.baseline_job import load_baseline

        self.baseline = load_baseline(config, folder.model)

    def predict(self, examples: Sequence[Example], cleanups: Cleanups | None = None) -> Predicted:
        """See `TrainedEncoder`; nothing is refused, because baselines have no length limit."""
        return self.baseline.predict(examples, self.config), []

    def with_settings(self, settings: Mapping[str, Any]) -> TrainedBaseline:
        """See `TrainedEncoder`; a baseline has no such settings."""
        if settings:
            name = self.config.baseline.name
            raise ConfigError(f"{', '.join(settings)}: baseline={name} has none")
        return self


Trained = TrainedEncoder | Ensemble | TrainedBaseline  # the model of one run folder or several


def _moved(config: Config, paths: Mapping[str, str] | None) -> Config:
    return dataclasses.replace(config, paths=dataclasses.replace(config.paths, **(paths or {})))


def changed_data(trained: Trained, words: Sequence[str]) -> DataConfig:
    """Lay words `data.<key>=value` over a run's data set, whose classes stay.

    Raises:
        ConfigError: see `heron.training.overrides.override`; other classes.
    """
    known, data = trained.config.data, override(trained.config.data, words)
    if (data.label_order, data.task) != (known.label_order, known.task):
        raise ConfigError("data.label_order, data.task: those of a trained run are fixed")
    return data


def read_splits(trained: Trained, words: Sequence[str] = ()) -> dict[str, list[Example]]:
    """Read the splits that a run was trained and scored on, from where its data is now.

    `words` are those of `changed_data`.

    Raises:
        DataError: files are missing or hold bad rows.
    """
    paths = trained.config.paths
    return load(changed_data(trained, words), Path(paths.data), Path(paths.cache))


def require_unseen(
    trained: Trained, split: str, examples: Sequence[Example], words: Sequence[str] = ()
) -> None:
    """Make sure that no member of an ensemble was trained on the rows to be scored.

    Raises:
        ConfigError: names a member that was, and the number of rows.
    """
    if not isinstance(trained, Ensemble) or split == TRAIN:
        return
    asked = {(each.guid, each.text, each.text_pair) for each in examples}
    for name, run in zip(trained.names, trained.runs, strict=True):
        if run.config.data == trained.config.data:
            continue
        trained_on = read_splits(run, words).get(TRAIN, ())
        seen = {(each.guid, each.text, each.text_pair) for each in trained_on}
        if common := len(asked & seen):
            raise ConfigError(
                f"these runs cannot be averaged: {name} was trained on {common} of the "
                f"{len(asked)} {split} rows of {trained.names[0]}. Name runs with the same "
                "data.validation, data.holdout and data.files"
            )


def prediction_trainer(config: Config, folder: Path, **machine: Any) -> pl.Trainer:
    """Assemble a Trainer that only predicts, on the devices that Lightning's settings name."""
    bars = progress_bar(config.trainer.enable_progress_bar)
    trainer = pl.Trainer(
        **machine,
        logger=False,
        callbacks=bars,
        enable_progress_bar=bool(bars),
        enable_model_summary=False,
        enable_checkpointing=False,
        use_distributed_sampler=False,
        default_root_dir=folder,
    )
    return leave_signals_alone(trainer)


def inference_module(config: Config, encoder: Encoder, head: nn.Module) -> TaskModule:
    """Put a trained encoder and head into the module of the run's task, in eval mode."""
    return task_of(config).model.module(config, encoder, head, None).eval()
