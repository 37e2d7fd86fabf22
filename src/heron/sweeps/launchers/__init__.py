"""Workers for a sweep on a cluster: the command plans the jobs, workers run them, it reports.

A worker is one more process that takes jobs from the sweep's folder, like a further command.
"""

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from heron.base.errors import ConfigError, visible
from heron.base.registry import Registry
from heron.base.secrets import redact
from heron.config.schema import Config, LauncherConfig
from heron.sweeps.launchers.worker import Worker, remove_pickles
from heron.sweeps.ledger import LAUNCHER, Outcome, Queue
from heron.sweeps.sweep import Sweep
from heron.training.process import Job

WORKERS = "workers"  # a file with the number of workers
_GRACE = 40.0  # seconds that workers have to stop their jobs (which have 30)

# What `require` says how to install, as in requirements.txt and pyproject.toml.
PINS = {"optuna": "optuna==5.0.0", "ray": "ray==2.60.0", "submitit": "submitit==1.5.4"}


class Workers(Protocol):
    """Workers that a library has started."""

    def working(self) -> bool:
        """Tell whether any of them works or waits for its turn."""

    def errors(self) -> list[str]:
        """List the errors with which workers have ended."""

    def cancel(self) -> None:
        """End all workers at once."""

    def names(self) -> list[str]:
        """List the workers' names in the library."""


# Starts workers: the worker, how many, the settings, and a folder for what the library keeps.
STARTERS: Registry[Callable[[Worker, int, LauncherConfig, Path], Workers]] = Registry(
    "launcher",
    {
        "slurm": "heron.sweeps.launchers.slurm:start_slurm",
        "ray": "heron.sweeps.launchers.on_ray:start_ray",
    },
)


def launch(sweep: Sweep, config: Config, folder: Path) -> list[Outcome] | None:
    """Let workers run the jobs of a sweep, which plans them and shows how they end.

    The configuration of one of the jobs says how many workers, and where.

    Returns:
        How all jobs ended; None when the workers are left to themselves (`launcher.wait=false`).

    Raises:
        ConfigError: a library is missing, or refuses what it is asked for.
    """
    settings = config.launcher
    start = STARTERS[settings.name]
    todo = sweep.plan()
    own, ended = (folder / LAUNCHER).absolute(), len(sweep.outcomes) >= sweep.queue.total
    for earlier in own.glob(f"*/{WORKERS}"):
        # If nothing is left to do, workers that have not started yet need no pickle.
        number = 0 if ended and not todo else int(earlier.read_text("utf-8"))
        remove_pickles(earlier.parent, number)
    if not todo and ended:
        return sweep.outcomes
    # A worker's pickle may hold secrets of the configuration: only its owner may read it.
    own.mkdir(mode=0o700, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=own))
    (place / WORKERS).write_text(str(settings.workers), encoding="utf-8")
    worker = _worker(sweep, todo, config, place)
    workers = start(worker, settings.workers, settings, place)
    print(f"heron train: {settings.name} has started {', '.join(workers.names())}", flush=True)
    if not settings.wait:
        print(f"heron sweep {folder} --watch", flush=True)
        return None
    try:
        outcomes = sweep.follow(workers.working, settings.workers * sweep.n_jobs)
        for error in workers.errors():
            print(visible(redact(f"heron train: {error}; see {place}")), flush=True)
    except BaseException:
        _stop(worker, workers)
        raise
    finally:
        remove_pickles(place, 0)
    return outcomes


def check_launcher(settings: LauncherConfig) -> None:
    """Make sure that workers can be started, or raise a ConfigError that says why; starts none."""
    # Optional dependencies: each imports its library.
    if settings.name == "ray":
        from heron.sweeps.launchers.on_ray import check_ray  # start-up time

        check_ray(settings)
    elif settings.name == "slurm":
        from heron.sweeps.launchers.slurm import make_executor  # start-up time

        make_executor(settings, Path())


def require(library: str, needed_by: str | None = None) -> None:
    """Make sure that a library is there; a ConfigError names the command that installs it."""
    if importlib.util.find_spec(library) is None:
        raise ConfigError(
            f"{needed_by or f'launcher={library}'} needs {library}, which is not installed: "
            f"pip install {PINS[library]}"
        )


def _worker(sweep: Sweep, todo: list[Job], config: Config, place: Path) -> Worker:
    queue = Queue(todo) if type(sweep.queue) is Queue else sweep.queue
    for job in todo:
        job.config.run.resume = True  # its folder has been cleared where that was asked for
    return Worker(
        queue=queue,
        isolate=sweep.isolate,
        n_jobs=sweep.n_jobs,
        of=config.launcher.workers,
        folder=os.getcwd(),
        place=place,
        alone=not config.launcher.wait,
    )


def _stop(worker: Worker, workers: Workers) -> None:
    """Let workers interrupt their jobs, which can be resumed; then cancel the rest."""
    worker.stop.touch()
    until = time.monotonic() + _GRACE
    while workers.working() and time.monotonic() < until:
        time.sleep(0.2)
    workers.cancel()
    worker.stop.unlink(missing_ok=True)
