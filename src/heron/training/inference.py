"""Prediction with finished runs: with one, the mean of several, or one under several settings."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from heron.base.errors import ConfigError, Problem
from heron.base.libraries import own_threads, silence_libraries
from heron.base.run_folder import BASELINE, RunFolder, open_run
from heron.data.config import TRAIN, DataConfig
from heron.data.datamodule import DataModule, feature_options
from heron.data.examples import Example
from heron.data.hub import load_tokenizer
from heron.data.overrides import override
from heron.data.readers import load
from heron.languages import get_language
from heron.models.encoder import untrained_model
from heron.models.precision import precision, recorded_precision
from heron.tasks import BASELINES
from heron.tasks.base import FittedBaseline, TaskModule
from heron.tasks.config import Config, read
from heron.tasks.predictions import Predictions
from heron.tasks.several import Mean, WithEachSetting
from heron.tasks.task import new_head, task_of
from heron.training.checkpointing import load_weights, read_checkpoint
from heron.training.exported import load_exported, require_whole
from heron.training.stored import derive, read_stored
from heron.training.trainer import predict_split, prediction_trainer

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

    Heads may differ: of a linear and a biaffine one the scores of each span are averaged.

    Args:
        folders: of the runs.
        paths: folders that lie elsewhere than in training, `{field of PathsConfig: folder}`.
        settings: values of keys such as `task.max_answer_tokens`, other than in training.
        run_code: whether code that comes with the weights may run, whatever the run itself says.

    Raises:
        ConfigError: a run has left no model, or one that this version of heron cannot open; or the
            runs cannot be averaged, because they do not read their texts alike.
    """
    silence_libraries()
    if isinstance(folders, RunFolder):
        folders = [folders]

    runs = [_open(folder, paths or {}, run_code) for folder in folders]
    trained = runs[0]
    if len(runs) > 1:
        _check_alike(runs)
        head = trained.module.head
        if hasattr(head, "threshold"):  # each was tuned on its own logits
            thresholds = torch.stack([run.module.head.threshold for run in runs])
            head.threshold.copy_(thresholds.mean())

        trained = dataclasses.replace(trained, keep=None, members=runs)

    return trained.with_settings(settings or {})


def _open(folder: RunFolder, paths: Mapping[str, str], run_code: bool) -> Trained:
    """Open one run."""
    config = read_stored(folder.config)
    new_paths = dataclasses.replace(config.paths, **paths)
    if config.baseline.name != "none":
        folder.require_model(BASELINE)
        require_whole(folder.model)
        kind = BASELINES[config.baseline.name]
        baseline = kind.load(config, folder.model)
        config = dataclasses.replace(config, paths=new_paths)
        return Trained(folder, config, baseline)

    folder.require_model()
    config, encoder, head = load_exported(folder, run_code)
    data = dataclasses.replace(config.data, on_cut="drop")
    config = dataclasses.replace(config, data=data, paths=new_paths)
    config = recorded_precision(config, folder)

    added = task_of(config).added_tokens(config)
    cache = Path(config.paths.cache)
    tokenizer = load_tokenizer(config.encoder, added, (), cache)
    module = inference_module(config, encoder, head)

    keep = None
    if os.access(folder.path, os.W_OK):
        keep = folder.generated

    return Trained(folder, config, module, tokenizer, keep)


@dataclass(frozen=True, eq=False)
class Trained:
    """A finished run that can predict.

    With `members`, it stands for all of them; it is the first.
    """

    folder: RunFolder
    config: Config  # the run's, its paths replaced where others were given
    system: TaskModule | FittedBaseline
    tokenizer: Any = None
    keep: Path | None = None  # see `predict_split`
    members: Sequence[Trained] = ()

    @cached_property
    def module(self) -> Any:
        """What gives logits: the run's own module, or the mean of the members'."""
        if not self.members:
            return self.system
        return Mean([member.system for member in self.members]).eval()

    def predict(self, examples: Sequence[Example], cleanups: Cleanups | None = None) -> Predicted:
        """Predict examples, in their order, and name a problem for each that could not be used.

        A problem's `where` is the guid, such as of an event that the length limit cuts; for
        `cleanups`, used for a part of a file, see `predict_split`.
        """
        if not isinstance(self.system, TaskModule):
            return self.system.predict(examples, self.config), []
        return self.predict_with(self.module, examples, self.keep, cleanups)

    def predict_with(self, module: Any, examples: Sequence[Example], *kept: Any) -> Any:
        """Predict with a module; texts are read as by this run. `kept`: see `predict_split`."""
        data = DataModule(self.config, {_SPLIT: list(examples)}, self.tokenizer)
        trainer = prediction_trainer(self.config, Path(self.config.paths.cache))
        with own_threads(None):
            predictions = predict_split(trainer, module, data, _SPLIT, *kept)
        return predictions, data.features[_SPLIT].refused

    def with_settings(self, settings: Mapping[str, Any]) -> Trained:
        """Copy with other settings, see `open_trained`; the copy shares the weights.

        Raises:
            ConfigError: a setting does not go with the run.
        """
        if not settings:
            return self

        config = derive(self.config, settings)
        system = self.system
        if isinstance(system, TaskModule):
            system = inference_module(config, system.encoder, system.head)

        members = [member.with_settings(settings) for member in self.members]
        return dataclasses.replace(self, config=config, system=system, members=members)


def inference_module(config: Config, encoder: Any, head: Any) -> TaskModule:
    """Put a trained encoder and head into the module of the run's task, in eval mode."""
    return task_of(config).model().module(config, encoder, head, None).eval()


def predict_each(systems: Sequence[Trained], examples: Sequence[Example]) -> list[Predicted]:
    """Predict with each of several copies of one system, which differ in their settings.

    Texts are tokenized and encoded once for all systems that read the same windows in the same
    precision; these systems share their logits. Baselines, and systems that write texts, share
    nothing.
    """
    groups: dict[Any, list[int]] = {}
    for number, system in enumerate(systems):
        key: Any = number
        if system.tokenizer is not None and not task_of(system.config).about.writes:
            key = feature_options(system.config), precision(system.config)
        groups.setdefault(key, []).append(number)

    predicted = {}
    for numbers in groups.values():
        first = systems[numbers[0]]
        if len(numbers) == 1:
            predicted[numbers[0]] = first.predict(examples)
            continue

        together = WithEachSetting([systems[number].module for number in numbers]).eval()
        predictions, refused = first.predict_with(together, examples)
        for number, of_system in zip(numbers, predictions, strict=True):
            predicted[number] = of_system, refused

    return [predicted[number] for number in range(len(systems))]


def load_checkpoint(path: Path) -> TaskModule:
    """Load a module with the weights of a checkpoint, from the checkpoint alone where it can be.

    A checkpoint has no weights of an encoder whose vectors are stored, and no tokenizer, which some
    encoders mask with: these are read from the run folder that the checkpoint lies in.
    """
    checkpoint = read_checkpoint(path)
    parameters = checkpoint.get("hyper_parameters", {})
    if parameters.get("encoder"):
        config = read(parameters["config"])
        with TemporaryDirectory() as folder:
            untrained_model(parameters["encoder"]).save_pretrained(folder)
            exported = dataclasses.replace(
                config.encoder,
                name=folder,
                revision=None,
                num_layers=None,
                trust_remote_code=False,
            )
            of_export = dataclasses.replace(config, encoder=exported)
            encoder = task_of(config).model().encoder(of_export, None)

        module = inference_module(config, encoder, new_head(config, encoder))
    else:
        module = open_trained(open_run(path.parent.parent)).module

    load_weights(module, checkpoint)
    return module


def _check_alike(runs: Sequence[Trained]) -> None:
    """Check that runs can be averaged; a ConfigError names what differs."""
    first, *rest = runs
    for run in runs:
        if not isinstance(run.system, TaskModule) or not run.system.averages:
            task = first.config.task.name
            raise ConfigError(f"baselines and runs of task={task} cannot be averaged: name one run")

    expected = _reading(first)
    for run in rest:
        reading = _reading(run)
        differing = [key for key, value in reading.items() if value != expected[key]]
        if differing:
            raise ConfigError(
                f"{run.folder.path} and {first.folder.path} differ in {', '.join(differing)}: the "
                "logits of runs can be averaged where they read texts alike"
            )


def _reading(run: Trained) -> dict[str, Any]:
    """List the settings that decide which tokens a run reads, and what its logits mean."""
    config = run.config
    data = run.config.data

    # The setting has no effect in a language without variants.
    cedilla = data.unicode.cedilla if get_language(data.language).variants else "keep"
    return {
        **dataclasses.asdict(feature_options(config)),
        "task.name": config.task.name,
        "data.unicode": dataclasses.replace(data.unicode, cedilla=cedilla),
        "data.normalize_case": data.normalize_case,
        "data.phrases": data.phrases,
        **{f"task.{key}": getattr(config.task, key) for key in task_of(config).averaged_keys},
        "the tokenizer": run.tokenizer.backend_tokenizer.to_str(),
    }


def changed_data(trained: Trained, words: Sequence[str]) -> DataConfig:
    """Override a run's data set by words `data.<key>=value`; its classes stay.

    Raises:
        ConfigError: see `heron.data.overrides.override`; other classes.
    """
    own = trained.config.data
    data = override(own, words)
    if data.label_order != own.label_order or data.task != own.task:
        raise ConfigError("data.label_order and data.task of a trained run cannot be changed")

    return data


def read_splits(trained: Trained, words: Sequence[str] = ()) -> dict[str, list[Example]]:
    """Read the splits that a run was trained and scored on, from its current data folder.

    `words` are those of `changed_data`.

    Raises:
        DataError: files are missing or hold bad rows.
    """
    data = changed_data(trained, words)
    return load(data, *trained.config.paths.folders)


def require_unseen(
    trained: Trained, split: str, examples: Sequence[Example], words: Sequence[str] = ()
) -> None:
    """Make sure that no member was trained on the rows to be scored.

    Raises:
        ConfigError: names a member that was, and the number of rows.
    """
    if split == TRAIN:
        return

    row_of = attrgetter("guid", "text", "text_pair")
    scored = {row_of(example) for example in examples}
    for run in trained.members:
        if run.config.data == trained.config.data:
            continue
        train = read_splits(run, words).get(TRAIN, ())
        common = len(scored.intersection(map(row_of, train)))
        if common:
            raise ConfigError(
                f"these runs cannot be averaged: {run.folder.path} was trained on {common} of the "
                f"{len(scored)} {split} rows of {trained.folder.path}. Name runs with the same "
                "data.validation, data.holdout and data.files"
            )
