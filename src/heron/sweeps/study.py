"""The Optuna study of a search: a journal in the sweep's folder, written by several processes.

`study.journal` holds one JSON object a line, no pickle; `optuna-dashboard` reads it, too. A search
with another space or other settings is another study in the same file.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner, NopPruner
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.trial import FrozenTrial, Trial

from heron.config.schema import SweeperConfig
from heron.config.space import Dimension, Point
from heron.metrics.names import is_minimised
from heron.sweeps.journal import Journal
from heron.sweeps.ledger import JOURNAL


def open_study(
    folder: Path, name: str, settings: SweeperConfig, epochs: int, monitor: str
) -> optuna.Study:
    """Open a study, or begin it.

    Args:
        folder: the sweep's.
        name: of the study in the journal.
        settings: sampler and pruner.
        epochs: of a training that is not ended early.
        monitor: the score by which trials are compared.
    """
    return optuna.create_study(
        storage=_storage(folder),
        study_name=name,
        pruner=_pruner(settings, epochs),
        direction="minimize" if is_minimised(monitor) else "maximize",
        load_if_exists=True,
    )


def forget_study(folder: Path, name: str) -> None:
    """Remove a study, where there is one."""
    if (folder / JOURNAL).is_file():
        storage = _storage(folder)
        if name in optuna.get_all_study_names(storage):
            optuna.delete_study(study_name=name, storage=storage)


def seed_sampler(study: optuna.Study, settings: SweeperConfig) -> None:
    """Seed the sampler by `sweeper.seed` and the number of trials, whichever process asks."""
    seed = (settings.seed * 100_003 + len(study.get_trials(deepcopy=False))) % 2**32
    startup = settings.startup_trials
    sampler: BaseSampler = RandomSampler(seed=seed)
    if settings.sampler == "tpe":
        sampler = TPESampler(seed=seed, n_startup_trials=startup)
    elif settings.sampler == "gp":
        sampler = GPSampler(seed=seed, n_startup_trials=max(1, startup))
    study.sampler = sampler


def trial_of(study: optuna.Study, number: int) -> Trial:
    """Open a trial that another process has asked for."""
    return Trial(study, _frozen(study, number)._trial_id)


def is_over(study: optuna.Study, number: int) -> bool:
    """Tell whether the study has been told how a trial ended."""
    return _frozen(study, number).state.is_finished()


def _frozen(study: optuna.Study, number: int) -> FrozenTrial:
    (frozen,) = (each for each in study.get_trials(deepcopy=False) if each.number == number)
    return frozen


def distributions(space: Sequence[Dimension]) -> dict[str, BaseDistribution]:
    """Give the Optuna distribution of each key."""
    return {each.key: _distribution(each) for each in space}


def point(space: Sequence[Dimension], parameters: dict[str, Any]) -> Point:
    """Convert a trial's parameters to words of the command line."""
    return tuple(_word(each, parameters[each.key]) for each in space)


def parameters(space: Sequence[Dimension], point: Point) -> dict[str, Any]:
    """Convert words of the command line to a trial's parameters."""
    return {
        each.key: _number(word) if each.ordered or not each.values else word
        for each, word in zip(space, point, strict=True)
    }


def _distribution(dimension: Dimension) -> BaseDistribution:
    if dimension.ordered:
        numbers = sorted(map(_number, dimension.values))
        low, high = numbers[0], numbers[-1]
        step = numbers[1] - low if len(numbers) > 1 else 1
        if all(isinstance(number, int) for number in numbers):
            return IntDistribution(low, high, step=int(step))
        return FloatDistribution(low, high, step=step)
    if dimension.values:
        return CategoricalDistribution(list(dict.fromkeys(dimension.values)))
    if dimension.integer:
        return IntDistribution(round(dimension.low), round(dimension.high), dimension.log)
    return FloatDistribution(dimension.low, dimension.high, dimension.log)


def _word(dimension: Dimension, value: Any) -> str:
    if dimension.ordered:  # steps of fractions add up with errors in the last digit
        return min(dimension.values, key=lambda word: abs(float(word) - value))
    return str(value) if dimension.values else dimension.value(value)


def _number(word: str) -> Any:
    return int(word) if word.lstrip("-").isdigit() else float(word)


def _pruner(settings: SweeperConfig, epochs: int) -> BasePruner:
    if settings.pruner == "median":
        return MedianPruner(
            n_startup_trials=settings.startup_trials, n_warmup_steps=settings.startup_epochs
        )
    if settings.pruner == "hyperband":
        return HyperbandPruner(min_resource=settings.startup_epochs, max_resource=epochs)
    return NopPruner()


def _storage(folder: Path) -> JournalStorage:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return JournalStorage(Journal(folder / JOURNAL))
