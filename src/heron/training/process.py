"""One job in this process: what it prints, how it fails, and its exit code.

Light to import: Lightning and transformers are loaded when a job begins, so that a mistake in a
command line is answered at once.
"""

import math
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heron.base.errors import ConfigError, HeronError, os_error_text, visible
from heron.base.registry import on_demand
from heron.base.run_folder import RunFolder, Scores
from heron.base.secrets import redact
from heron.base.signals import INTERRUPTED
from heron.base.terminal import say
from heron.tasks.config import Config
from heron.training.claim import BusyError
from heron.training.run_names import path_words
from heron.training.status import Clock

DONE, FAILED, BUSY = 0, 1, 75  # exit codes of a job's process, beside `INTERRUPTED`

run_job = on_demand("heron.training.job:run_job")
run_in_hydra = on_demand("heron.config.compose:run_in_hydra")
note_failure = on_demand("heron.training.status:note_failure")


@dataclass(frozen=True, slots=True)
class Job:
    """One run that a command asks for."""

    config: Config  # resolved
    folder: RunFolder  # its run folder
    overrides: list[str]  # what the user typed; in a sweep, with this job's values
    whole: Any = None  # of a sweep's job: Hydra's configuration

    def train(self) -> Scores:
        """Run the job in this process; returns its scores."""
        words = self.config, self.folder, self.overrides
        if self.whole is None:
            return run_job(*words)
        return run_in_hydra(self.whole, lambda: run_job(*words))


def validation_score(job: Job) -> float | None:
    """Read what a finished job has scored on validation, by its `trainer.monitor`."""
    return read_score(job.folder, job.config.trainer.monitor)


def read_score(folder: RunFolder, monitor: str) -> float | None:
    """Read one score on validation; None where there is none."""
    try:
        scores = folder.read_scores()
    except ConfigError as error:
        say(str(error))
        return None
    score = scores.get("validation", {}).get(monitor)
    return None if score is None or not math.isfinite(score) else float(score)


def caught(action: Callable[[], Any]) -> BaseException | None:
    """Call `action`; returns the error that ended it, also Ctrl+C or SIGTERM (`Terminated`)."""
    try:
        action()
    except (Exception, KeyboardInterrupt) as error:
        return error
    return None


def job_exit_code(error: BaseException | None) -> int:
    """Choose the exit code of a job's process from what `caught` returned."""
    if error is None:
        return DONE
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return BUSY if isinstance(error, BusyError) else FAILED


def print_error(error: BaseException, job: Job) -> None:
    """Print a job's error on standard error, with a traceback unless it is the user's mistake."""
    if not isinstance(error, HeronError | OSError):
        text = "".join(traceback.format_exception(error))
        print(visible(redact(text.rstrip("\n"))), file=sys.stderr, flush=True)
    message = str(error)
    if isinstance(error, OSError):
        message = os_error_text(error, path_words(job.config))
    print(visible(redact(f"heron train: {message}")), file=sys.stderr, flush=True)


def run_here(job: Job, in_sweep: bool = False) -> int:
    """Run a job in this process; returns `DONE`, `FAILED` or, in a sweep, `BUSY`."""
    clock = Clock()
    done = job.config.run.resume and job.folder.state() == "done"
    note = ": done already; run.resume=false starts over" if done else ""
    print(f"heron train: {job.folder.path}{note}", flush=True)
    error = caught(job.train)
    if error is None:
        return DONE
    if isinstance(error, KeyboardInterrupt):
        raise error
    if in_sweep and isinstance(error, BusyError):
        return BUSY
    print_error(error, job)
    if in_sweep:
        note_failure(job.folder, error, clock)
    return FAILED
