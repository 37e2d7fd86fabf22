"""`heron train`: a Hydra application whose task is one run."""

import logging
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from heron.base.errors import ConfigError, HeronError
from heron.base.files import dump_yaml, read_yaml
from heron.base.folders import shortened
from heron.base.run_folder import RunFolder, open_run
from heron.base.secrets import redacted
from heron.base.signals import Terminated
from heron.base.slurm import submitit_returns
from heron.base.terminal import begin, print_lines
from heron.config.compose import run_application
from heron.config.hydra_door import running_config
from heron.config.words import read_agent
from heron.training.compose import Composition
from heron.training.run import Run, count_ranks
from heron.training.run_names import run_path

_FROM = "run.from="  # a run to repeat


class AlreadyPrinted(Exception):  # noqa: N818
    """A run has failed, and its error is printed."""


def run(arguments: Sequence[str]) -> int:
    """Train as the command line says; returns the exit code."""
    begin()
    words = read_agent(arguments)
    try:
        if any(word.startswith(_FROM) for word in words):
            return repeat(words)
        jobs = run_application("train", words, train)
    except AlreadyPrinted:
        return 2
    except BrokenExecutor as error:  # of hydra/launcher=joblib, which ends its other workers, too
        raise HeronError(
            "a worker was killed, perhaps because memory ran out; the same command goes on, and "
            "hydra/launcher=heron would lose that job alone"
        ) from error

    report(jobs)
    if any(job.status == JobStatus.FAILED for job in jobs):
        from heron.sweeps.launch import conclude

        return conclude(jobs)
    return 0


def train(config: DictConfig) -> float | None:
    """Train one run and return its score on validation: what Hydra calls, under any launcher.

    Raises:
        ConfigError: what is asked for cannot be run.
        Printed: the run has failed.
    """
    composition = Composition(running_config())  # `config` lacks the key `hydra`
    settings = composition.resolved()
    hydra = composition.whole.hydra
    output_dir = Path(hydra.runtime.output_dir)
    if not hydra.job.chdir:
        output_dir = shortened(output_dir)

    folder = RunFolder(output_dir)
    job = Run(settings, folder, composition.overrides)
    try:
        if not job.is_kept():
            job.check({})
            if count_ranks(settings) > 1:
                from heron.sweeps.devices import check_devices

                check_devices(settings)
    except HeronError:
        if folder.is_new():
            folder.discard()
        raise

    with submitit_returns():
        work(job)
    return job.score()


def work(job: Run) -> None:
    """Train here or in other processes, as settings ask; raises `AlreadyPrinted` if it fails."""
    if job.config.run.isolate or count_ranks(job.config) > 1:
        from heron.sweeps.launch import run_apart

        state = run_apart(job).state
    else:
        from heron.training.job import train as train_here  # start-up time

        failed = job.attempt(partial(train_here, job), in_sweep=False)
        state = "failed" if failed else "done"

    if state == "interrupted":  # one of the run's processes was
        raise Terminated
    if state == "failed":
        raise AlreadyPrinted(str(job.folder.read_status().get("error")))


def repeat(words: Sequence[str]) -> int:
    """Train the run that `run.from=` names again, and compare scores; returns the exit code."""
    from heron.commands.train_from import compare, configure

    name = next(word for word in words if word.startswith(_FROM))
    before = open_run(Path(name.removeprefix(_FROM)))
    changes = [word for word in words if word != name]
    config = configure(before, changes)
    after = RunFolder(run_path(config, changes))
    if after.path.resolve() == before.path.resolve():
        raise ConfigError(f"{before.path} would be overwritten: name another run.job")

    job = Run(config, after, list(words))
    job.check({})
    after.path.mkdir(parents=True, exist_ok=True)
    work(job)
    print_lines(*compare(before, after))
    return 0


class SecretMasker(Callback):
    """`hydra.callbacks.heron`."""

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """Mask secrets in what Hydra has just written."""
        if config.hydra.verbose:
            logging.basicConfig()
        if config.hydra.output_subdir is None:
            return

        folder = Path(config.hydra.runtime.output_dir, config.hydra.output_subdir)
        files = list(folder.glob("*.yaml"))
        of_sweep = Path(str(config.hydra.sweep.dir), "multirun.yaml")  # written by other sweepers
        if of_sweep.is_file():
            files.append(of_sweep)

        for file in files:
            values = read_yaml(file)
            masked = redacted(values)
            if masked != values:
                file.write_text(dump_yaml(masked), "utf-8")


def report(jobs: Sequence[JobReturn]) -> None:
    """Write the report of a run, or of every sweep that the jobs lie in; print where it is."""
    from heron.results.collect import collect, is_run

    folders = []
    for job in jobs:
        folder = folder_of(job)
        if folder is not None and is_run(folder):
            folders.append(folder)
    if not folders:
        return

    if is_single(jobs[0]):
        from heron.reports.run import write_run_report

        (run,) = collect(folders[0])
        files = [write_run_report(run, folders[0])]
    else:
        from heron.reports.sweep import write_reports

        sweeps = dict.fromkeys(folder.parent for folder in folders)
        files = write_reports(list(sweeps))

    for written in files:
        print_lines(written.html, written.figure, *written.tables)


def folder_of(job: JobReturn) -> Path | None:
    """Find a job's folder: heron's launcher names it, Hydra's leave the job's configuration."""
    if job.hydra_cfg is not None:
        return shortened(Path(job.hydra_cfg.hydra.runtime.output_dir))
    return Path(job.working_dir) if job.working_dir else None


def is_single(job: JobReturn) -> bool:
    """Tell a run from a job of a sweep."""
    return job.hydra_cfg is not None and job.hydra_cfg.hydra.mode == RunMode.RUN
