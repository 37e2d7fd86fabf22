"""The work of heron's launcher and grid: plan a batch's jobs, run them, report how they ended.

Skipping of finished jobs, locks and resuming belong to the jobs; a job that fails ends no other.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from hydra.types import HydraContext
from omegaconf import DictConfig, OmegaConf, open_dict

from heron.base.errors import ConfigError, HeronError, first_line
from heron.base.files import dump_yaml, parse_yaml
from heron.base.run_folder import SETTLED, RunFolder
from heron.base.secrets import redact, redacted
from heron.base.signals import TERMINATED
from heron.config.compose import explained
from heron.config.hydra_door import result_of
from heron.sweeps.devices import check_devices
from heron.sweeps.grid import JobComposer, grid
from heron.sweeps.sweep import JobOutcome, Sweep
from heron.training.compose import Composition
from heron.training.run import Run
from heron.training.run_names import config_key

MULTIRUN = "multirun.yaml"


class JobError(HeronError):
    """The error of a job of a sweep that failed or was interrupted."""

    interrupted = False


@dataclass
class JobPlan:
    """The jobs of a command."""

    by_folder: dict[Path, Run] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)  # overrides, and why
    _mistakes: dict[str, HeronError | None] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)

    @property
    def jobs(self) -> list[Run]:
        """One job per folder, in order."""
        return list(self.by_folder.values())

    def add(self, composition: Composition, several: bool) -> Run:
        """Resolve a composition and name its folder; of two equal runs the later one counts.

        Args:
            composition: of the job.
            several: whether the command has other jobs, so that data read to check one are kept.

        Raises:
            ConfigError: it cannot be run.
        """
        config = composition.resolved()
        folder = RunFolder(composition.place())
        other = self.by_folder.get(folder.path)
        if other and config_key(other.config) != config_key(config):
            raise ConfigError(
                f"{folder.path} is the folder of several jobs: leave run.job out, or give each job "
                "a name of its own"
            )
        job = Run(config, folder, composition.overrides, composition.whole)
        if not job.is_kept():
            check_devices(config)
            job.check(self._mistakes, read=several)
        self.by_folder[folder.path] = job
        return job

    def refuse(self, overrides: Sequence[str], error: HeronError) -> None:
        """Count a job that cannot be run; the same mistake is printed once."""
        if str(error) not in self._said:
            print(f"heron train: {error}", file=sys.stderr, flush=True)
        self._said.add(str(error))
        self.refused.append((", ".join(overrides), first_line(error)))


def plan_jobs(compositions: Sequence[Composition]) -> JobPlan:
    """Plan composed jobs; a mistake in one does not end the others.

    Args:
        compositions: of all jobs of a command.
    """
    plan = JobPlan()
    for composition in compositions:
        try:
            plan.add(composition, several=len(compositions) > 1)
        except HeronError as error:
            plan.refuse(composition.overrides, error)
    return plan


class Launch:
    """Runs a sweep's jobs for Hydra, which may launch them in several batches."""

    def __init__(self, context: HydraContext, master: DictConfig, n_jobs: int):
        self.context = context
        self.master = master
        self.plan = JobPlan()
        self.sweep = Sweep(n_jobs)

    def __call__(self, job_overrides: Sequence[Sequence[str]], first: int) -> list[JobReturn]:
        """Run one batch.

        Args:
            job_overrides: of each job.
            first: number of the first job among those of all batches.

        Returns:
            How each job ended, in the same order.
        """
        compose = JobComposer(self.context.config_loader, self.master, job_overrides)
        several = max(self.sweep.total, len(job_overrides)) > 1
        planned: list[Run | HeronError] = []
        for number, words in enumerate(job_overrides, first):
            try:
                with explained(words), compose.in_place(words) as whole:
                    job = self.plan.add(Composition(_numbered(whole, number)), several)
                    sweep = whole.hydra.sweep.dir, whole.hydra.sweep.subdir
            except HeronError as error:
                self.plan.refuse(words, error)
                planned.append(error)
                continue
            # Most jobs of a sweep that is called again are done: only others need a copy.
            job.whole = partial(_compose, compose, words, number, sweep)
            planned.append(job)

        jobs = {job.folder.path: job for job in planned if isinstance(job, Run)}
        outcomes = {}
        if jobs:
            for outcome in self.sweep.run(list(jobs.values())):
                outcomes[outcome.job.folder.path] = outcome

        ended = []
        for words, job_or_error in zip(job_overrides, planned, strict=True):
            ending: JobOutcome | HeronError | None
            if isinstance(job_or_error, Run):
                ending = outcomes.get(job_or_error.folder.path)
            else:
                ending = job_or_error
            ended.append(returned(words, ending))
        return ended


def _compose(
    compose: JobComposer, words: Sequence[str], number: int, sweep: tuple[str, str]
) -> DictConfig:
    """Compose a job that is to be run, whose folder is known.

    Args:
        compose: composes the sweep's jobs.
        words: the job's overrides.
        number: of the job in the sweep.
        sweep: its `hydra.sweep.dir` and `hydra.sweep.subdir`.
    """
    whole = _numbered(compose(words), number)
    with open_dict(whole.hydra):
        whole.hydra.sweep.dir, whole.hydra.sweep.subdir = sweep
    return whole


def _numbered(whole: DictConfig, number: int) -> DictConfig:
    with open_dict(whole.hydra):
        whole.hydra.job.id = str(number)
        whole.hydra.job.num = number
    return whole


def returned(words: Sequence[str], outcome: JobOutcome | HeronError | None) -> JobReturn:
    """Tell Hydra how a job ended: with its score on validation, or an error.

    Args:
        words: the job's overrides.
        outcome: how it ended, or why it could not be run.
    """
    ended = JobReturn(overrides=list(words))
    ended.status = JobStatus.FAILED
    if not isinstance(outcome, JobOutcome):
        ended.return_value = outcome
        return ended
    ended.working_dir = str(outcome.job.folder.path)
    if outcome.state in SETTLED:
        ended.status = JobStatus.COMPLETED
        ended.return_value = outcome.job.score()
        return ended
    error = JobError(outcome.error or outcome.state)
    error.interrupted = outcome.state == "interrupted"
    ended.return_value = error
    ended.overrides = outcome.job.overrides
    return ended


def run_grid(sweeper: Any) -> list[list[JobReturn]]:
    """Launch every point of a grid."""
    loader = sweeper.hydra_context.config_loader
    config = sweeper.config
    jobs = grid(loader, config)
    begin_sweep(loader, config, jobs[0])
    size = sweeper.max_batch_size or len(jobs)
    batches = []
    for start in range(0, len(jobs), size):
        batches.append(launch(sweeper, jobs[start : start + size], start))
    end_sweep(Path(config.hydra.sweep.dir), getattr(sweeper.launcher, "batch", None))
    return batches


def launch(sweeper: Any, jobs: Sequence[Sequence[str]], first: int) -> Any:
    """Run a batch of jobs by the sweeper's launcher, heron's or another package's.

    Args:
        sweeper: whose jobs they are.
        jobs: the overrides of each.
        first: number of the first job in the sweep.

    Returns:
        How each ended, as Hydra's `JobReturn`.
    """
    if type(sweeper.launcher).__name__ != "SlurmLauncher":
        return sweeper.launcher.launch(jobs, first)

    from heron.sweeps.slurm_watcher import waiting_for_slurm  # one of heron's extras

    with waiting_for_slurm(sweeper.config.hydra.sweep.dir):
        return sweeper.launcher.launch(jobs, first)


def begin_sweep(loader: Any, config: DictConfig, words: Sequence[str]) -> Composition:
    """Make the sweep's folder, as its first job names it, with Hydra's `multirun.yaml`.

    Args:
        loader: Hydra's.
        config: that the jobs share; `hydra.sweep.dir` is set in it.
        words: overrides of the first job.

    Returns:
        The first job.
    """
    first = Composition(config)
    with suppress(HydraException):  # what is wrong with the job is said when its turn comes
        first = Composition(JobComposer(loader, config, [words])(words))
    folder = Path(str(first.whole.hydra.sweep.dir))
    config.hydra.sweep.dir = str(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = dump_yaml(redacted(parse_yaml(OmegaConf.to_yaml(config))))
    (folder / MULTIRUN).write_text(text, encoding="utf-8")
    return first


def end_sweep(folder: Path, batch: Launch | None) -> None:
    """Say that tables include runs of other commands; leave no folder where nothing could run.

    Args:
        folder: of the sweep.
        batch: heron's launcher, which knows the jobs; None for another one.
    """
    if [path.name for path in folder.iterdir()] == [MULTIRUN]:
        (folder / MULTIRUN).unlink()
        folder.rmdir()
        return
    if batch is None:
        return
    own = {job.folder.path for job in batch.plan.jobs}
    sweeps = {path.parent for path in own} or {folder}
    runs = {config.parent for sweep in sweeps for config in sweep.glob("*/config.yaml")}
    others = sorted(runs - own)
    if others:
        print(
            f"The tables also show runs that this command did not ask for ({len(others)}, such "
            f"as {others[0].name}); run.sweep=NAME keeps runs apart"
        )


def run_apart(job: Run) -> JobOutcome:
    """Run one job in processes of its own; it is tried again where it has failed."""
    (outcome,) = Sweep().run([job])
    if outcome.state == "failed":
        print(redact(f"heron train: {outcome.error}"), file=sys.stderr)
    return outcome


def run_planned(
    jobs: Sequence[Run],
    refused: Sequence[tuple[str, str]],
    report: Callable[[Sequence[JobReturn]], Any],
) -> int:
    """Run jobs that a command has planned itself; returns its exit code.

    Args:
        jobs: at least one.
        refused: overrides of jobs that cannot be run, and why.
        report: is called with the jobs if any is done.
    """
    outcomes = Sweep().run(jobs)
    ended = [returned(outcome.job.overrides, outcome) for outcome in outcomes]
    if any(outcome.state == "done" for outcome in outcomes):
        report(ended)
    return conclude(ended, refused)


def conclude(ended: Sequence[JobReturn], refused: Sequence[tuple[str, str]] = ()) -> int:
    """Print which jobs of a sweep failed; returns the exit code.

    Args:
        ended: the jobs that were run.
        refused: overrides of those that could not be, and why.
    """
    common = set[str]()
    if ended:
        common = set.intersection(*(set(job.overrides or ()) for job in ended))
    interrupted = 0
    was_run = False  # whether any job that did not end well was run
    failed: dict[str, list[str]] = {}  # jobs by reason

    for words, reason in refused:
        failed.setdefault(reason, []).append(words)
    for job in ended:
        if job.status != JobStatus.FAILED:
            continue
        error: Any = result_of(job)
        was_run = was_run or isinstance(error, JobError)
        if getattr(error, "interrupted", False):
            interrupted += 1
            continue
        own = ", ".join(word for word in job.overrides or () if word not in common)
        failed.setdefault(first_line(error), []).append(own)

    jobs = len(ended) + len(refused)
    number = sum(len(names) for names in failed.values())
    if number == jobs and not was_run:
        return 2  # no job was run, and the reasons are printed
    if failed:
        lines = [f"heron train: {number} of {jobs} jobs failed:"]
        for reason, names in failed.items():
            lines.append(f"  {'; '.join(names)}: {reason}")
        lines.append(
            "The same command resumes what was interrupted (killed, out of memory, disk full); "
            "run.retry=failed tries the others again, too. What a job printed is in its log.txt."
        )
        print(redact("\n".join(lines)), file=sys.stderr)
        return 2
    if interrupted:
        message = f"{interrupted} of {jobs} jobs interrupted; the same command resumes them"
        print(redact(f"heron train: {message}"), file=sys.stderr)
        return TERMINATED
    return 0
