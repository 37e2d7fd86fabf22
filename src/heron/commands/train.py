"""`heron train`: a Hydra application whose task is one run."""

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from heron.base.errors import ConfigError, HeronError
from heron.base.files import dump_yaml, read_yaml
from heron.base.run_folder import RunFolder, open_run
from heron.base.secrets import redacted
from heron.base.signals import Terminated
from heron.base.terminal import begin, print_lines
from heron.config.compose import run_application, shortened
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
    whole = HydraConfig.get()._get_root()  # type: ignore[attr-defined]  # `config` is a part of it
    composition = Composition(whole)
    settings, hydra = composition.resolved(), composition.whole.hydra
    place = hydra.runtime.output_dir
    folder = RunFolder(Path(place) if hydra.job.chdir else shortened(place))
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
    work(job)
    return job.score()


def work(job: Run) -> None:
    """Train in this process, or in those that the settings ask for; `Printed` where it fails."""
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

    first = next(word for word in words if word.startswith(_FROM))
    before, rest = open_run(Path(first.removeprefix(_FROM))), [w for w in words if w != first]
    config = configure(before, rest)
    after = RunFolder(run_path(config, rest))
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
        of_sweep = Path(str(config.hydra.sweep.dir), "multirun.yaml")  # written by other sweepers
        for file in (*folder.glob("*.yaml"), *([of_sweep] if of_sweep.is_file() else [])):
            values = read_yaml(file)
            if (masked := redacted(values)) != values:
                file.write_text(dump_yaml(masked), "utf-8")


def report(jobs: Sequence[JobReturn]) -> None:
    """Write the report of a run, or of every sweep that the jobs lie in; print where it is."""
    from heron.results.collect import collect, is_run

    folders = [folder for folder in map(folder_of, jobs) if folder is not None and is_run(folder)]
    if not folders:
        return
    if is_single(jobs[0]):
        from heron.reports.run import write_run_report

        files = [write_run_report(collect(folders[0])[0], folders[0])]
    else:
        from heron.reports.sweep import write_reports

        files = write_reports(list(dict.fromkeys(folder.parent for folder in folders)))
    for written in files:
        print_lines(written.html, written.figure, *written.tables)


def folder_of(job: JobReturn) -> Path | None:
    """Find a job's folder: heron's launcher names it, Hydra's leave the job's configuration."""
    if job.hydra_cfg is not None:
        return shortened(job.hydra_cfg.hydra.runtime.output_dir)
    return Path(job.working_dir) if job.working_dir else None


def is_single(job: JobReturn) -> bool:
    """Tell a run from a job of a sweep."""
    return job.hydra_cfg is not None and job.hydra_cfg.hydra.mode == RunMode.RUN
