"""The Optuna study of a search: a journal in the sweep's folder, written by several processes.

`study.journal` holds one JSON object a line, no pickle; `optuna-dashboard` reads it, too. A search
with another space or other settings is another study in the same file.
"""

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import optuna
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner, NopPruner
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend
from optuna.trial import FrozenTrial, Trial

from heron.base.files import locked
from heron.config.parsing import parse
from heron.metrics.names import is_minimised
from heron.sweeps.ledger import JOURNAL
from heron.tasks.config import SweeperConfig


def settings_of(sweeper: Mapping[str, Any]) -> SweeperConfig:
    """Read the keys of `hydra.sweeper`; a ConfigError names one that cannot be."""
    keys = ("seed", "sampler", "pruner", "startup_trials", "startup_epochs")
    values = {key: sweeper[key] for key in keys}
    values |= {"name": "optuna", "trials": sweeper["n_trials"]}
    return parse(SweeperConfig, values, "hydra.sweeper.", {"trials": "n_trials"})


def open_study(
    folder: Path, name: str, settings: SweeperConfig, epochs: int, monitor: str
) -> optuna.Study:
    """Open a study, or begin it; `epochs` are those of a training that is not ended early."""
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
    """Seed the sampler by its seed and the number of trials, whichever process asks.

    Trials that a killed process had only asked for do not count: without them, the points are the
    same.
    """
    trials = study.get_trials(deepcopy=False)
    number = sum(each.user_attrs.get("repeats") != each.number for each in trials)
    seed = (settings.seed * 100_003 + number) % 2**32
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


class Journal(BaseJournalBackend):
    """The lines of a file that only its owner can read; lines that are no logs are skipped.

    Optuna's own backend does not survive a full disk or a kill while it writes: the next line is
    appended to half of one, and every later command stops at the line that cannot be read.
    """

    def __init__(self, path: Path):
        self.path = path
        self._starts = [0]  # in bytes, where each log begins, as far as they were read
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Read all logs from the n-th on; half a line at the end does not count."""
        with open(self.path, "rb") as file:
            number = min(log_number_from, len(self._starts) - 1)
            end = self._starts[number]
            file.seek(end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                log = _log(line)
                if log is None:
                    continue
                number += 1
                if number == len(self._starts):
                    self._starts.append(end)
                if number > log_number_from:
                    yield log

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append logs, all or, where the disk is full, none of them."""
        text = "".join(f"{json.dumps(log, separators=(',', ':'))}\n" for log in logs)
        lock = self.path.with_name(f".{self.path.name}.lock")
        with locked(lock), open(self.path, "r+b", buffering=0) as file:
            whole = _cut_half_line(file)
            left = text.encode()
            try:
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(whole)
                raise


def _log(line: bytes) -> dict[str, Any] | None:
    try:
        log = json.loads(line)
    except ValueError:
        return None
    return log if isinstance(log, dict) and "op_code" in log else None


def _cut_half_line(file: IO[bytes]) -> int:
    """Remove half a line that a killed writer has left; returns the size. The lock is held."""
    size = file.seek(0, os.SEEK_END)
    if size:
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.seek(0)
            size = file.truncate(file.read().rfind(b"\n") + 1)
    return file.seek(size)
