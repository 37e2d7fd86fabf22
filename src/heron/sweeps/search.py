"""A search with Optuna as a queue of jobs: each next one is chosen by how the earlier ones scored.

Several processes may search together, each with a `Search` of its own on the same folder: they
share the study's journal, under a lock. A job's result is in its folder, as for any sweep; whoever
sees it first tells the study. A trial that was cut goes on when its turn comes.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState, create_trial

from heron.base.errors import ConfigError, HeronError, first_line
from heron.base.files import fingerprint, locked
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact
from heron.config.run_names import decisive, run_path
from heron.config.schema import Config
from heron.config.space import Composer, Dimension, Point, draws, size
from heron.config.words import job_words
from heron.sweeps.ledger import Outcome, Queue, validation_score
from heron.sweeps.study import (
    distributions,
    forget_study,
    open_study,
    parameters,
    point,
    seed_sampler,
    trial_of,
)
from heron.training.process import Job

_MOST_CUTS = 3  # of one job in one command; then the search goes on without it
_MOST_REPEATS = 100  # trials in a row whose job exists already


class Search(Queue):
    """The trials of one study.

    All that is not searched is in the space's first point, which `overrides` led to.

    Raises:
        ConfigError: a value of the space holds a secret, or the space varies what its points are
            compared by.
    """

    def __init__(self, composer: Composer, first: Config, overrides: list[str]):
        super().__init__((), searches=True)
        _check_for_secrets(composer.space)
        if any(each.key == "trainer.monitor" for each in composer.space):
            raise ConfigError(
                "trainer.monitor: a search compares its trials by one score. Give it one value, or "
                "sweep over it with sweeper=grid"
            )
        if any(each.key == "data.folds.fold" for each in composer.space):
            raise ConfigError(
                "folds=N: a search compares its trials on the same rows. Search on one fold "
                "(data.folds.count=N data.folds.fold=0), then train the best point with folds=N"
            )
        if first.run.job:
            raise ConfigError(
                f"run.job={first.run.job} names one folder for all trials of a search: leave it out"
            )
        self.composer, self.settings = composer, first.sweeper
        self.folder = run_path(first, overrides).parent
        self.epochs, self.monitor = first.trainer.max_epochs, first.trainer.monitor
        self.name = _study_name(composer, first)
        # Without a pruner, no training asks the study anything.
        self.preload = ("optuna",) if self.settings.pruner != "none" else ()
        self._resumes = first.run.resume
        self._cuts = Counter[str]()
        self._jobs: dict[int, Job] = {}
        self._exhausted = False

    def start(self) -> None:
        """Make the folder; forget the study where the search is to start over."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._resumes:
            forget_study(self.folder, self.name)

    @property
    def total(self) -> int:
        """How many jobs there are to be: `sweeper.trials`, or fewer in a small space."""
        return int(min(self.settings.trials, size(self.composer.space))) - len(self.refused())

    def known(self) -> list[Job]:
        """List the jobs of all trials so far."""
        return [self._job_of(trial) for trial in self._trials() if "job" in trial.user_attrs]

    def refused(self) -> list[tuple[str, str]]:
        """List the points that are no valid configuration, and why."""
        attributes = [trial.user_attrs for trial in self._trials()]
        words = self.composer.words
        return [
            (", ".join(words(tuple(each["point"]))), each["refused"])
            for each in attributes
            if "refused" in each
        ]

    def take(self) -> Job | None:
        """Take a job that was put back, or ask for a new trial; None when there are enough."""
        if self._waiting:
            return self._waiting.popleft()
        with self._lock():
            self._drop_unfinished()
            for _ in range(_MOST_REPEATS):
                if self._exhausted or len(self._trials()) >= self.settings.trials:
                    return None
                job = self._ask()
                if job is not None:
                    return job
        return None

    def take_back(self, job: Job) -> bool:
        """Put back a job that was cut: the points after it depend on its score.

        A job that is cut three times (such as for lack of memory) is left to the next command.
        """
        self._cuts[job.folder.path.name] += 1
        if self._cuts[job.folder.path.name] >= _MOST_CUTS:
            return False
        self._waiting.appendleft(job)
        return True

    def ended(self, outcome: Outcome) -> None:
        """Tell the study how a job ended; a job that the same command tries again stays open."""
        name = outcome.job.folder.path.name
        with self._lock():
            mine = [trial for trial in self._all() if trial.user_attrs.get("job") == name]
            if not mine or any(trial.state == TrialState.COMPLETE for trial in mine):
                return
            running = [trial for trial in mine if not trial.state.is_finished()]
            if outcome.state in ("failed", "interrupted"):
                status = outcome.job.folder.read_status()
                is_own = status.get("state") == "failed" and status.get("retry") is False
                if running and is_own:
                    self._study.tell(running[0].number, state=TrialState.FAIL)
                return
            score = validation_score(outcome.job)
            state = TrialState.PRUNED if outcome.state == "pruned" else TrialState.COMPLETE
            if state == TrialState.COMPLETE and score is None:
                state = TrialState.FAIL
            value = score if state == TrialState.COMPLETE else None
            if running:
                self._study.tell(running[0].number, value, state)
            elif value is not None:
                self._add_again(mine[0], value)

    def _ask(self) -> Job | None:
        """Ask for one point; None where it makes no new job. The lock is held."""
        seed_sampler(self._study, self.settings)
        trial = self._study.ask(distributions(self.composer.space))
        values = point(self.composer.space, trial.params)
        before = [
            t.number for t in self._trials() if tuple(t.user_attrs.get("point", ())) == values
        ]
        trial.set_user_attr("point", list(values))
        if before:
            self._repeat(trial.number, before[0])
            return None
        try:
            job = self._compose(values, trial.number, new=True)
        except HeronError as error:
            self._refuse(trial.number, first_line(error))
            return None
        name = job.folder.path.name
        before = [t.number for t in self._trials() if t.user_attrs.get("job") == name]
        if before:
            self._repeat(trial.number, before[0])
            return None
        trial.set_user_attr("job", name)
        self._jobs[trial.number] = job
        return job

    def _drop_unfinished(self) -> None:
        """Drop trials for which a killed process has not made a job yet. The lock is held."""
        for trial in self._trials():
            if trial.state == TrialState.RUNNING and "job" not in trial.user_attrs:
                trial_of(self._study, trial.number).set_user_attr("repeats", trial.number)
                self._study.tell(trial.number, state=TrialState.FAIL)
                if drawn := trial.system_attrs.get("fixed_params"):  # by `_repeat`
                    self._study.enqueue_trial(drawn)

    def _refuse(self, number: int, error: str) -> None:
        error = redact(error)
        print(f"heron train: {error}", flush=True)
        trial_of(self._study, number).set_user_attr("refused", error)
        self._study.tell(number, state=TrialState.FAIL)

    def _repeat(self, number: int, before: int) -> None:
        """Drop a point that was tried before, and draw one that was not."""
        trial_of(self._study, number).set_user_attr("repeats", before)
        self._study.tell(number, state=TrialState.FAIL)
        every = self._all()
        tried = [tuple(trial.user_attrs.get("point", ())) for trial in every]
        # Not counted: trials that a kill has dropped, so that the same points follow.
        number -= sum(trial.user_attrs.get("repeats") == trial.number for trial in every)
        seed = random.Random(f"{self.settings.seed}/{number}").randrange(2**31)
        new = next(draws(self.composer.space, len(tried) + 1, seed, tried), None)
        if new is None:
            print("heron train: the space has no more points to try", flush=True)
            self._exhausted = True
        else:
            self._study.enqueue_trial(parameters(self.composer.space, new))

    def _add_again(self, ended: FrozenTrial, value: float) -> None:
        """Add the score of a job whose trial has failed or was pruned: Optuna reopens no trial."""
        self._study.add_trial(
            create_trial(
                params=ended.params,
                distributions=ended.distributions,
                value=value,
                user_attrs={**ended.user_attrs, "repeats": ended.number},
            )
        )

    def _job_of(self, trial: FrozenTrial) -> Job:
        if trial.number not in self._jobs:
            values = tuple(trial.user_attrs["point"])
            self._jobs[trial.number] = self._compose(values, trial.number, new=False)
        return self._jobs[trial.number]

    def _compose(self, values: Point, number: int, new: bool) -> Job:
        composition = self.composer.compose(values)
        config = composition.resolved()
        config.sweeper = replace(self.settings, study=self.name, trial=number)
        # The folder of a job that another process works on must not be cleared.
        config.run.resume = self._resumes or not new
        name = run_path(config, composition.overrides).name
        return Job(config, RunFolder(self.folder / name), job_words(composition.overrides))

    def _trials(self) -> list[FrozenTrial]:
        """List the trials that count: not those that turned out to repeat another."""
        return [trial for trial in self._all() if "repeats" not in trial.user_attrs]

    def _all(self) -> list[FrozenTrial]:
        trials = self._study.get_trials(deepcopy=False)
        return [trial for trial in trials if trial.state != TrialState.WAITING]

    @cached_property
    def _study(self) -> optuna.Study:
        return open_study(self.folder, self.name, self.settings, self.epochs, self.monitor)

    def _lock(self) -> Any:
        return locked(self.folder / ".search.lock")

    def __getstate__(self) -> dict[str, Any]:
        # Another process opens the journal itself.
        return {key: value for key, value in self.__dict__.items() if key != "_study"}


def _check_for_secrets(space: Sequence[Dimension]) -> None:
    """Refuse to write secrets into the journal, which holds the values of every point."""
    for each in space:
        secret = next((word for word in each.values if redact(word) != word), None)
        if secret is not None:
            raise ConfigError(
                f"{each.key}: {redact(secret)} holds a secret, which a search would write into its "
                "journal. Give the key one value, or sweep over it with sweeper=grid"
            )


def _study_name(composer: Composer, first: Config) -> str:
    """Name a search by the fixed settings and the space: only then are its scores comparable."""
    keys = {each.key.lstrip("+") for each in composer.space}
    fixed = {key: value for key, value in decisive(first).items() if key not in keys}
    return f"search-{fingerprint(fixed, [each.describe() for each in composer.space])[:8]}"
