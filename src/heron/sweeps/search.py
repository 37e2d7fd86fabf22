"""`hydra/sweeper=optuna`: each next point is chosen by how the earlier ones scored on validation.

The sweep's folder holds the study. Several commands may search together: they ask under a lock.
A job's result is in its folder, as for any sweep, and interrupted trials are resumed first.
"""

import math
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import optuna
from hydra.core.override_parser.types import IntervalSweep, Override
from hydra.core.utils import JobReturn, JobStatus
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState, create_trial

from heron.base.errors import ConfigError, HeronError, first_line
from heron.base.files import fingerprint, locked
from heron.base.run_folder import SETTLED, RunFolder
from heron.base.secrets import redact
from heron.config.compose import explained, typed_words
from heron.config.constraints import Count, OneOf, Seed, key_of
from heron.config.parsing import parse
from heron.config.words import job_words
from heron.sweeps.grid import JobComposer, sweep_rows, vary
from heron.sweeps.launch import begin_sweep, launch, returned
from heron.tasks.config import Config, SweeperConfig
from heron.training.compose import Composition
from heron.training.run_names import identifying
from heron.training.study import open_storage, open_study, trial_of

_MOST_CUTS = 3  # interruptions of one job in one command; then the search continues without it
_MOST_REPEATS = 1000  # already tried points in a row; then the search ends
_DIGITS = 6  # of a drawn number: more make commands and folder names unreadable
_REFUSED = {
    "trainer.monitor": "a search compares its trials by one score",
    "data.folds.fold": "a search compares its trials on the same rows",
    "experiment": "one search searches one experiment",
    "run.job": "it names one folder for all trials",
}


@dataclass
class SearchConfig(SweeperConfig):
    """Keys of `hydra.sweeper`; a trial's own configuration has only those of its pruner."""

    n_trials: Count = 20  # number of points
    seed: Seed = 0  # of the sampler
    # Optuna's name of what chooses the points
    sampler: Annotated[str, OneOf("tpe", "gp", "random")] = "tpe"


def settings_of(sweeper: Mapping[str, Any]) -> SearchConfig:
    """Read the keys of `hydra.sweeper`; a ConfigError names a wrong one.

    Args:
        sweeper: `hydra.sweeper`.
    """
    keys = {field.name for field in fields(SearchConfig)} - {"study", "trial"}
    return parse(SearchConfig, {key: sweeper[key] for key in keys}, "hydra.sweeper.")


def distribution(override: Override) -> BaseDistribution:
    """Read the values or the interval of a swept override as Optuna has them.

    Args:
        override: of a swept key.

    Raises:
        ConfigError: a value holds a secret.
    """
    swept = override.value()
    if isinstance(swept, IntervalSweep):
        low = swept.start or 0
        high = swept.end or 0
        kind = _kind_of_numbers(low, high)
        return kind(low, high, "log" in swept.tags)
    values = list(dict.fromkeys(override.sweep_string_iterator()))
    if override.is_range_sweep():
        numbers = sorted(literal_eval(value) for value in values)
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        return _kind_of_numbers(*numbers)(numbers[0], numbers[-1], step=step)
    for value in values:
        masked = redact(value)
        if masked != value:
            raise ConfigError(
                f"{override.get_key_element()}: {masked} holds a secret, which a search would "
                "write into its journal. Give the key one value, or take hydra/sweeper=grid"
            )
    return CategoricalDistribution(values)


def _kind_of_numbers(*numbers: float) -> Any:
    is_whole = all(isinstance(number, int) for number in numbers)
    return IntDistribution if is_whole else FloatDistribution


def _word(space: Any, value: Any) -> str:
    """Write a drawn value as on the command line, numbers to six digits.

    Args:
        space: of the key.
        value: drawn from it.
    """
    if not isinstance(space, FloatDistribution):
        return str(value)
    rounded = float(f"{value:.{_DIGITS}g}")
    return repr(min(max(rounded, space.low), space.high))  # still in the interval


def _first(space: Any) -> str:
    """Write the first value, or the lower end of an interval."""
    if isinstance(space, CategoricalDistribution):
        return str(space.choices[0])
    return _word(space, space.low)


def _size(space: Any) -> float:
    """Count the values; infinite for an interval of fractions."""
    if isinstance(space, CategoricalDistribution):
        return len(space.choices)
    if space.step is None:
        return math.inf
    return round((space.high - space.low) / space.step) + 1


def run_search(sweeper: Any) -> list[list[JobReturn]]:
    """Ask, launch and tell until there are enough trials; returns how the last try of each ended.

    Args:
        sweeper: Hydra's plugin, set up.

    Raises:
        ConfigError: nothing varies, or what varies cannot be searched.
    """
    search = Search(sweeper)
    ended = {}
    batch = search.ask()
    while batch:
        for number, job in zip(batch, search.launch(batch), strict=True):
            search.tell(number, job)
            ended[number] = job
        batch = search.ask()
    return [[*ended.values(), *search.refused]]


def problems(config: Config) -> Iterator[str]:
    """Check that a search with Optuna has scores to choose by."""
    if not config.is_validated():
        yield (
            "sweeper=optuna chooses by scores on validation: name data.files.validation, or set "
            "data.validation.fraction above 0"
        )
    if config.baseline.name != "none" and config.trainer.monitor == "loss":
        yield f"trainer.monitor=loss: baseline={config.baseline.name} has none; set macro_f1"
    if config.sweeper.pruner != "none" and config.stages:
        yield f"sweeper.pruner={config.sweeper.pruner} compares epochs of one training, no stages"


class Search:
    """The trials of one study.

    Args:
        sweeper: Hydra's plugin, set up.

    Raises:
        ConfigError: nothing varies, or what varies cannot be searched.
    """

    def __init__(self, sweeper: Any):
        config = sweeper.config
        loader = sweeper.hydra_context.config_loader
        self.rows: dict[str, str] = {}  # overrides as typed, by key
        self.space: dict[str, BaseDistribution] = {}
        for row in sweep_rows(loader, typed_words(config), config.hydra.sweeper.params):
            name = row.get_key_element()
            is_swept = row.is_sweep_override()
            key = key_of(name)
            if key in _REFUSED and (is_swept or key == "run.job"):
                why = _REFUSED[key]
                raise ConfigError(f"{key}: {why}; give it one value, or take hydra/sweeper=grid")

            self.rows[name] = str(row.input_line)
            if is_swept:
                self.space[name] = distribution(row)

        vary(config, map(key_of, self.space))
        self.settings = settings_of(config.hydra.sweeper)
        self.refused: list[JobReturn] = []

        lowest = [_first(space) for space in self.space.values()]
        first = begin_sweep(loader, config, self._words(lowest)).resolved()
        mistakes = list(problems(first))
        if mistakes:
            raise ConfigError("\n".join(mistakes))

        self.monitor = first.trainer.monitor
        self.folder = Path(str(config.hydra.sweep.dir))
        self.name = _study_name(first, self.space)
        if not first.run.resume:
            forget_study(self.folder, self.name)

        epochs = first.trainer.max_epochs
        self._study = open_study(self.folder, self.name, self.settings, epochs, self.monitor)

        fixed = [line for key, line in self.rows.items() if key not in self.space]
        self._compose = JobComposer(loader, config, [fixed])
        self.sweeper = sweeper
        n_jobs = getattr(sweeper.launcher, "n_jobs", None)  # another package's may have none
        self.n_jobs = max(1, int(n_jobs or 1))
        self._cuts = Counter[int]()  # interruptions of each trial's job in this command
        self._launched = 0
        self._asked: set[int] | None = None  # trials of this command, and earlier ones

        # A space with few points ends the search early.
        points = math.prod(_size(space) for space in self.space.values())
        self.total = int(min(self.settings.n_trials, points))
        batch = getattr(sweeper.launcher, "batch", None)
        if batch is not None:  # heron's own: it counts, and its server imports Optuna once
            batch.sweep.total = self.total
            batch.sweep.preload = ("optuna",) if self.settings.pruner != "none" else ()

    def ask(self) -> list[int]:
        """Choose the next trials, at most `n_jobs`; the first call returns all that exist.

        Returns:
            Numbers of trials of the study; empty where the search has ended.
        """
        with self._lock():
            self._drop_unfinished()
            with_job = [t for t in self._trials() if "job" in t.user_attrs]
            if self._asked is None:
                free = [t.number for t in with_job if not self._folder(t).is_busy()]
                self._asked = set(free)
                if free:
                    return free

            chosen = []
            for trial in with_job:  # those that were interrupted come first
                is_own = trial.number in self._asked and not trial.state.is_finished()
                if is_own and self._cuts[trial.number] < _MOST_CUTS:
                    chosen.append(trial.number)
            chosen = chosen[: self.n_jobs]
            for _ in range(_MOST_REPEATS):
                if len(chosen) >= self.n_jobs or len(self._trials()) >= self.total:
                    break
                number = self._ask()
                if number is not None:
                    chosen.append(number)
                    self._asked.add(number)
            return chosen

    def launch(self, numbers: Sequence[int]) -> Sequence[JobReturn]:
        """Run the jobs of some trials.

        Args:
            numbers: of trials of the study.

        Returns:
            How the job of each ended, in the same order.
        """
        points = {trial.number: trial.user_attrs["point"] for trial in self._trials()}
        jobs = [self._job(points[number], number) for number in numbers]
        first = self._launched
        self._launched += len(jobs)
        return launch(self.sweeper, jobs, first)

    def _job(self, point: Sequence[str], number: int) -> list[str]:
        """Write the overrides of a trial's job.

        Args:
            point: values in the order of the space.
            number: of the trial.
        """
        words = self._words(point)
        own = {"study": self.name, "trial": number}
        for field in fields(SweeperConfig):
            value = own.get(field.name, getattr(self.settings, field.name))
            words.append(f"sweeper.{field.name}={value}")
        if self._cuts[number]:  # the folder of a job that has begun must not be cleared again
            words.append("run.resume=true")
        return words

    def tell(self, number: int, ended: JobReturn) -> None:
        """Tell the study how a trial's job ended; trials that the command tries again stay open.

        Args:
            number: of the trial.
            ended: its job.
        """
        with self._lock():
            trial = self._all()[number]
            folder = self._folder(trial)
            status = folder.read_status()
            state = status.get("state")
            if state not in SETTLED:
                self._cuts[number] += 1

            score = folder.read_score(self.monitor) if state == "done" else None
            is_told = trial.state.is_finished()
            if score is not None and trial.state != TrialState.COMPLETE:
                if is_told:  # the trial failed or was pruned before, and Optuna cannot reopen it
                    self._add_again(trial, score)
                else:
                    self._study.tell(number, score)
                return
            if is_told:
                return

            was_refused = ended.status == JobStatus.FAILED and state is None
            has_failed = state == "failed" and status.get("retry") is False
            if was_refused or has_failed or state == "done":
                self._study.tell(number, state=TrialState.FAIL)
            elif state in SETTLED:
                self._study.tell(number, state=TrialState.PRUNED)

    def _ask(self) -> int | None:
        """Ask the study for one point. The caller holds the lock.

        Returns:
            The number of the new trial; None if the point was tried before, or if its job cannot be
            composed.
        """
        seed_sampler(self._study, self.settings)
        trial = self._study.ask(self.space)

        point = [_word(space, trial.params[key]) for key, space in self.space.items()]
        others = self._trials()
        same = [t.number for t in others if t.user_attrs.get("point") == point]
        trial.set_user_attr("point", point)

        if not same:
            words = self._job(point, trial.number)
            try:
                with explained(words):
                    name = Composition(self._compose(words)).place().name
            except HeronError as error:
                print(f"heron train: {error}", flush=True)
                trial.set_user_attr("refused", redact(first_line(error)))
                self._study.tell(trial.number, state=TrialState.FAIL)
                self.refused.append(returned(job_words(words), error))
                return None
            same = [t.number for t in others if t.user_attrs.get("job") == name]
            if not same:
                trial.set_user_attr("job", name)
                return int(trial.number)

        trial.set_user_attr("repeats", same[0])
        self._study.tell(trial.number, state=TrialState.FAIL)
        return None

    def _drop_unfinished(self) -> None:
        """Close trials that a killed process has left without a job. The caller holds the lock."""
        for trial in self._trials():
            if trial.state == TrialState.RUNNING and "job" not in trial.user_attrs:
                trial_of(self._study, trial.number).set_user_attr("repeats", trial.number)
                self._study.tell(trial.number, state=TrialState.FAIL)

    def _add_again(self, ended: FrozenTrial, value: float) -> None:
        self._study.add_trial(
            create_trial(
                params=ended.params,
                distributions=ended.distributions,
                value=value,
                user_attrs={**ended.user_attrs, "repeats": ended.number},
            )
        )

    def _words(self, point: Iterable[str]) -> list[str]:
        """Write out one trial's overrides."""
        rows = dict(self.rows)
        for key, value in zip(self.space, point, strict=True):
            rows[key] = f"{key}={value}"
        return list(rows.values())

    def _trials(self) -> list[FrozenTrial]:
        """List the trials that count: without those that repeat another."""
        return [trial for trial in self._all() if "repeats" not in trial.user_attrs]

    def _all(self) -> list[FrozenTrial]:
        return self._study.get_trials(deepcopy=False)

    def _folder(self, trial: FrozenTrial) -> RunFolder:
        return RunFolder(self.folder / trial.user_attrs["job"])

    def _lock(self) -> Any:
        return locked(self.folder / ".search.lock")


def _study_name(first: Config, space: Mapping[str, BaseDistribution]) -> str:
    """Name a search by the fixed settings and the space: only then are its scores comparable.

    Args:
        first: configuration of one of its jobs.
        space: the distribution of each swept key.
    """
    keys = {key_of(key) for key in space}
    fixed = {key: value for key, value in identifying(first).items() if key not in keys}
    distributions = {key: distribution_to_json(values) for key, values in space.items()}
    return f"search-{fingerprint(fixed, distributions)[:8]}"


def forget_study(folder: Path, name: str) -> None:
    """Remove a study, where there is one."""
    with suppress(KeyError):
        optuna.delete_study(study_name=name, storage=open_storage(folder))


def seed_sampler(study: optuna.Study, settings: SearchConfig) -> None:
    """Seed the sampler by its seed and the number of trials, whichever process asks.

    Trials that a killed process had only asked for do not count: without them, the points are the
    same. After a point that was tried before, the next one is drawn at random.

    Args:
        study: gets the sampler.
        settings: of the search.
    """
    trials = study.get_trials(deepcopy=False)
    counted = [trial for trial in trials if trial.user_attrs.get("repeats") != trial.number]
    is_repeated = False
    if counted:
        last = counted[-1]
        is_repeated = last.state == TrialState.FAIL and "repeats" in last.user_attrs

    seed = (settings.seed * 100_003 + len(counted)) % 2**32
    sampler: BaseSampler = RandomSampler(seed=seed)
    if settings.sampler == "tpe" and not is_repeated:
        sampler = TPESampler(seed=seed, n_startup_trials=settings.startup_trials)
    elif settings.sampler == "gp" and not is_repeated:
        sampler = GPSampler(seed=seed, n_startup_trials=max(1, settings.startup_trials))
    study.sampler = sampler
