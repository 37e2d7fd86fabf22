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
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact
from heron.config.compose import explained, typed_words
from heron.config.constraints import Count, OneOf, Seed, key_of
from heron.config.parsing import parse
from heron.config.words import job_words
from heron.sweeps.grid import JobComposer, sweep_rows, vary
from heron.sweeps.launch import begin_sweep, returned
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
    """Read the keys of `hydra.sweeper`; a ConfigError names a wrong one."""
    own = {each.name for each in fields(SearchConfig)} - {"study", "trial"}
    return parse(SearchConfig, {key: sweeper[key] for key in own}, "hydra.sweeper.")


def distribution(override: Override) -> BaseDistribution:
    """Read the values or the interval of a swept override as Optuna has them.

    Raises:
        ConfigError: a value holds a secret.
    """
    swept = override.value()
    if isinstance(swept, IntervalSweep):
        low, high = swept.start or 0, swept.end or 0
        whole = isinstance(low, int) and isinstance(high, int)
        return (IntDistribution if whole else FloatDistribution)(low, high, "log" in swept.tags)
    values = list(dict.fromkeys(override.sweep_string_iterator()))
    if override.is_range_sweep():
        numbers = sorted(map(literal_eval, values))
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        whole = all(isinstance(each, int) for each in numbers)
        kind = IntDistribution if whole else FloatDistribution
        return kind(numbers[0], numbers[-1], step=step)
    secret = next((word for word in values if redact(word) != word), None)
    if secret is not None:
        raise ConfigError(
            f"{override.get_key_element()}: {redact(secret)} holds a secret, which a search would "
            "write into its journal. Give the key one value, or take hydra/sweeper=grid"
        )
    return CategoricalDistribution(values)


def _word(of: Any, value: Any) -> str:
    """Write a drawn value as on the command line, numbers to six digits."""
    if not isinstance(of, FloatDistribution):
        return str(value)
    # Rounding must not leave the interval.
    return repr(min(max(float(f"{value:.{_DIGITS}g}"), of.low), of.high))


def _first(of: Any) -> str:
    """Write the first value, or the lower end of an interval."""
    return str(of.choices[0]) if isinstance(of, CategoricalDistribution) else _word(of, of.low)


def _size(of: Any) -> float:
    """Count the values; infinite for an interval of fractions."""
    if isinstance(of, CategoricalDistribution):
        return len(of.choices)
    return math.inf if of.step is None else round((of.high - of.low) / of.step) + 1


def run_search(sweeper: Any) -> list[list[JobReturn]]:
    """Ask, launch and tell until there are enough trials; returns how the last try of each ended.

    Raises:
        ConfigError: nothing varies, or what varies cannot be searched.
    """
    search = Search(sweeper)
    found: dict[int, JobReturn] = {}
    while batch := search.ask():
        for number, ended in zip(batch, search.launch(batch), strict=True):
            search.tell(number, ended)
            found[number] = ended
    return [[*found.values(), *search.refused]]


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
    """The trials of one study."""

    def __init__(self, sweeper: Any):
        config, loader = sweeper.config, sweeper.hydra_context.config_loader
        rows = sweep_rows(loader, typed_words(config), config.hydra.sweeper.params)
        self.rows = {each.get_key_element(): str(each.input_line) for each in rows}
        self.space = {
            each.get_key_element(): distribution(each) for each in rows if each.is_sweep_override()
        }
        for row in rows:
            why = _REFUSED.get(key := key_of(row.get_key_element()))
            if why and (row.is_sweep_override() or key == "run.job"):
                raise ConfigError(f"{key}: {why}; give it one value, or take hydra/sweeper=grid")
        vary(config, map(key_of, self.space))
        self.settings = settings_of(config.hydra.sweeper)
        self.refused: list[JobReturn] = []
        first = begin_sweep(loader, config, self._words(map(_first, self.space.values())))
        resolved = first.resolved()
        if wrong := list(problems(resolved)):
            raise ConfigError("\n".join(wrong))
        self.folder = Path(str(config.hydra.sweep.dir))
        self.epochs, self.monitor = resolved.trainer.max_epochs, resolved.trainer.monitor
        self.name = _study_name(resolved, self.space)
        if not resolved.run.resume:
            forget_study(self.folder, self.name)
        self._study = open_study(self.folder, self.name, self.settings, self.epochs, self.monitor)
        fixed = [line for key, line in self.rows.items() if key not in self.space]
        self._compose = JobComposer(loader, config, [fixed])
        self.launcher = sweeper.launcher
        self.n_jobs = max(1, int(getattr(self.launcher, "n_jobs", None) or 1))
        self._cuts, self._launched = Counter[int](), 0
        self._asked: set[int] | None = None  # trials of this command, and earlier ones
        self.total = int(min(self.settings.n_trials, math.prod(map(_size, self.space.values()))))
        batch = getattr(self.launcher, "batch", None)
        if batch is not None:  # heron's own: it counts, and its server imports Optuna once
            batch.sweep.total = self.total
            batch.sweep.preload = ("optuna",) if self.settings.pruner != "none" else ()

    def ask(self) -> list[int]:
        """Choose the next trials, at most `n_jobs`; at first all existing ones."""
        with self._lock():
            self._drop_unfinished()
            known = [t for t in self._trials() if "job" in t.user_attrs]
            if self._asked is None:
                free = [t.number for t in known if not self._folder(t).is_busy()]
                self._asked = set(free)
                if free:
                    return free
            cut = [
                t.number
                for t in known
                if t.number in self._asked
                and not t.state.is_finished()
                and self._cuts[t.number] < _MOST_CUTS
            ]
            found = cut[: self.n_jobs]
            for _ in range(_MOST_REPEATS):
                if len(found) >= self.n_jobs or len(self._trials()) >= self.total:
                    break
                if (number := self._ask()) is not None:
                    found.append(number)
                    self._asked.add(number)
            return found

    def launch(self, numbers: Sequence[int]) -> Sequence[JobReturn]:
        """Run the jobs of some trials."""
        points = {trial.number: trial.user_attrs["point"] for trial in self._trials()}
        jobs = [self._job(points[number], number) for number in numbers]
        first, self._launched = self._launched, self._launched + len(jobs)
        return self.launcher.launch(jobs, first)

    def _job(self, point: Sequence[str], number: int) -> list[str]:
        of = {each.name: getattr(self.settings, each.name) for each in fields(SweeperConfig)}
        of |= {"study": self.name, "trial": number}
        words = [*self._words(point), *(f"sweeper.{key}={value}" for key, value in of.items())]
        # The folder of a job that has begun must not be cleared again.
        return [*words, "run.resume=true"] if self._cuts[number] else words

    def tell(self, number: int, ended: JobReturn) -> None:
        """Tell the study how a trial's job ended; trials that the command tries again stay open."""
        with self._lock():
            trial = self._all()[number]
            status = self._folder(trial).read_status()
            state = status.get("state")
            self._cuts[number] += state not in ("done", "pruned")
            refused = ended.status == JobStatus.FAILED and state is None
            own = state == "failed" and status.get("retry") is False
            told = trial.state.is_finished()
            score = self._folder(trial).read_score(self.monitor) if state == "done" else None
            if score is not None and trial.state != TrialState.COMPLETE:
                if told:  # the trial failed or was pruned before, and Optuna cannot reopen it
                    self._add_again(trial, score)
                else:
                    self._study.tell(number, score)
            elif not told and (refused or own or state == "done"):
                self._study.tell(number, state=TrialState.FAIL)
            elif not told and state == "pruned":
                self._study.tell(number, state=TrialState.PRUNED)

    def _ask(self) -> int | None:
        """Ask for one point; None where it makes no new job. The lock is held."""
        seed_sampler(self._study, self.settings)
        trial = self._study.ask(self.space)
        point = [_word(of, trial.params[key]) for key, of in self.space.items()]
        others = self._trials()
        before = [t.number for t in others if t.user_attrs.get("point") == point]
        trial.set_user_attr("point", point)
        if not before:
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
            before = [t.number for t in others if t.user_attrs.get("job") == name]
            if not before:
                trial.set_user_attr("job", name)
                return int(trial.number)
        trial.set_user_attr("repeats", before[0])
        self._study.tell(trial.number, state=TrialState.FAIL)
        return None

    def _drop_unfinished(self) -> None:
        """Drop trials that a killed process had only asked for. The lock is held."""
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
        drawn = {key: f"{key}={value}" for key, value in zip(self.space, point, strict=True)}
        return list({**self.rows, **drawn}.values())

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
    """Name a search by the fixed settings and the space: only then are its scores comparable."""
    keys = set(map(key_of, space))
    fixed = {key: value for key, value in identifying(first).items() if key not in keys}
    described = {key: distribution_to_json(of) for key, of in space.items()}
    return f"search-{fingerprint(fixed, described)[:8]}"


def forget_study(folder: Path, name: str) -> None:
    """Remove a study, where there is one."""
    with suppress(KeyError):
        optuna.delete_study(study_name=name, storage=open_storage(folder))


def seed_sampler(study: optuna.Study, settings: SearchConfig) -> None:
    """Seed the sampler by its seed and the number of trials, whichever process asks.

    Trials that a killed process had only asked for do not count: without them, the points are the
    same. After a point that was tried before, the next one is drawn at random.
    """
    trials = study.get_trials(deepcopy=False)
    counted = [each for each in trials if each.user_attrs.get("repeats") != each.number]
    last = counted[-1] if counted else None
    seed = (settings.seed * 100_003 + len(counted)) % 2**32
    sampler: BaseSampler = RandomSampler(seed=seed)
    if last is not None and last.state == TrialState.FAIL and "repeats" in last.user_attrs:
        pass
    elif settings.sampler == "tpe":
        sampler = TPESampler(seed=seed, n_startup_trials=settings.startup_trials)
    elif settings.sampler == "gp":
        sampler = GPSampler(seed=seed, n_startup_trials=max(1, settings.startup_trials))
    study.sampler = sampler
