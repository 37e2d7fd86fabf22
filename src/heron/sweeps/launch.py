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
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact, redacted
from heron.base.signals import TERMINATED
from heron.config.compose import explained
from heron.config.hydra_door import result_of
from heron.sweeps.devices import check_devices
from heron.sweeps.grid import JobComposer, grid
from heron.sweeps.sweep import Outcome, Sweep
from heron.training.compose import Composition
from heron.training.run import Run
from heron.training.run_names import config_key

MULTIRUN = "multirun.yaml"


class JobError(HeronError):
    """How a job of a sweep ended, where it did not end well."""

    interrupted = False


@dataclass
class Plan:
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


def plan_jobs(found: Sequence[Composition]) -> Plan:
    """Plan composed jobs; a mistake in one does not end the others."""
    plan = Plan()
    for composition in found:
        try:
            plan.add(composition, several=len(found) > 1)
        except HeronError as error:
            plan.refuse(composition.overrides, error)
    return plan


class Launch:
    """Runs batches of a sweep's jobs for Hydra; keeps what the progress lines show of all."""

    def __init__(self, context: HydraContext, master: DictConfig, n_jobs: int):
        self.context, self.master = context, master
        self.plan = Plan()
        self.sweep = Sweep(n_jobs)

    def __call__(self, job_overrides: Sequence[Sequence[str]], first: int) -> list[JobReturn]:
        """Run one batch; `first` is the number of its first job."""
        make = JobComposer(self.context.config_loader, self.master, job_overrides)
        planned: list[Run | HeronError] = []
        for number, words in enumerate(job_overrides, first):
            try:
                several = max(self.sweep.total, len(job_overrides)) > 1
                with explained(words), make.lent(words) as lent:
                    job = self.plan.add(Composition(_numbered(lent, number)), several)
                    place = lent.hydra.sweep.dir, lent.hydra.sweep.subdir
                # Most jobs of a sweep that is called again are done: only others need a copy.
                job.whole = partial(_compose, make, words, number, place)
                planned.append(job)
            except HeronError as error:
                self.plan.refuse(words, error)
                planned.append(error)
        jobs = {each.folder.path: each for each in planned if isinstance(each, Run)}
        outcomes = self.sweep.run(list(jobs.values())) if jobs else []
        by_path = {each.job.folder.path: each for each in outcomes}
        return [
            returned(words, by_path.get(job.folder.path) if isinstance(job, Run) else job)
            for words, job in zip(job_overrides, planned, strict=True)
        ]


def _compose(make: JobComposer, words: Sequence[str], number: int, place: Any) -> DictConfig:
    """Compose a job that is to be run, whose folder is known."""
    whole = _numbered(make(words), number)
    with open_dict(whole.hydra):
        whole.hydra.sweep.dir, whole.hydra.sweep.subdir = place
    return whole


def _numbered(whole: DictConfig, number: int) -> DictConfig:
    with open_dict(whole.hydra):
        whole.hydra.job.id, whole.hydra.job.num = str(number), number
    return whole


def returned(words: Sequence[str], outcome: Outcome | HeronError | None) -> JobReturn:
    """Tell Hydra how a job ended: with its score on validation, or an error."""
    found = JobReturn(overrides=list(words))
    if isinstance(outcome, Outcome):
        found.working_dir = str(outcome.job.folder.path)
    if isinstance(outcome, Outcome) and outcome.state in ("done", "pruned"):
        found.return_value, found.status = outcome.job.score(), JobStatus.COMPLETED
        return found
    error = outcome
    if isinstance(outcome, Outcome):
        error = JobError(outcome.error or outcome.state)
        error.interrupted = outcome.state == "interrupted"
        found.overrides = outcome.job.overrides
    found.return_value, found.status = error, JobStatus.FAILED
    return found


def run_grid(sweeper: Any) -> list[list[JobReturn]]:
    """Launch every point of a grid."""
    loader, config = sweeper.hydra_context.config_loader, sweeper.config
    jobs = grid(loader, config)
    begin_sweep(loader, config, jobs[0])
    size, found = sweeper.max_batch_size or len(jobs), []
    for start in range(0, len(jobs), size):
        found.append(sweeper.launcher.launch(jobs[start : start + size], start))
    end_sweep(Path(config.hydra.sweep.dir), getattr(sweeper.launcher, "batch", None))
    return found


def begin_sweep(loader: Any, config: DictConfig, words: Sequence[str]) -> Composition:
    """Make the sweep's folder, as its first job names it, with Hydra's `multirun.yaml`."""
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
    """Say that tables include runs of other commands; leave no folder where nothing could run."""
    if {path.name for path in folder.iterdir()} == {MULTIRUN}:
        (folder / MULTIRUN).unlink()
        folder.rmdir()
    elif batch is not None:
        own = {job.folder.path for job in batch.plan.jobs}
        sweeps = {path.parent for path in own} or {folder}
        marks = [mark for sweep in sweeps for mark in sweep.glob("*/config.yaml")]
        others = sorted({mark.parent for mark in marks} - own)
        if others:
            print(
                f"The tables also show runs that this command did not ask for ({len(others)}, such "
                f"as {others[0].name}); run.sweep=NAME keeps runs apart"
            )


def run_apart(job: Run) -> Outcome:
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
    """Run jobs that a command has planned itself; returns its exit code."""
    outcomes = Sweep().run(jobs)
    ended = [returned(outcome.job.overrides, outcome) for outcome in outcomes]
    if any(outcome.state == "done" for outcome in outcomes):
        report(ended)
    return conclude(ended, refused)


def conclude(found: Sequence[JobReturn], refused: Sequence[tuple[str, str]] = ()) -> int:
    """Print which jobs of a sweep failed; returns the exit code."""
    bad = [each for each in found if each.status == JobStatus.FAILED]
    cut = [each for each in bad if getattr(result_of(each), "interrupted", False)]
    shared = set.intersection(*(set(each.overrides or ()) for each in found)) if found else set()
    reasons = [
        (", ".join(w for w in each.overrides or () if w not in shared), result_of(each))
        for each in bad
        if each not in cut
    ]
    failed: dict[str, list[str]] = {}  # jobs by reason
    for words, error in [*refused, *((words, first_line(error)) for words, error in reasons)]:
        failed.setdefault(error, []).append(words)
    jobs, number = len(found) + len(refused), sum(map(len, failed.values()))
    if number == jobs and not any(isinstance(result_of(each), JobError) for each in bad):
        return 2  # no job was run, and the reasons are printed
    if failed:
        said = [
            f"{number} of {jobs} jobs failed:",
            *(f"  {'; '.join(names)}: {error}" for error, names in failed.items()),
            "The same command resumes what was interrupted (killed, out of memory, disk full); "
            "run.retry=failed tries the others again, too. What a job printed is in its log.txt.",
        ]
    else:
        said = [f"{len(cut)} of {jobs} jobs interrupted; the same command resumes them"]
    if failed or cut:
        print(redact("heron train: " + "\n".join(said)), file=sys.stderr)
    return 2 if failed else TERMINATED if cut else 0
