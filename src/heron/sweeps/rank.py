"""One of the processes of a job on several devices; `heron.sweeps.devices` starts it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

from heron.base import ranks
from heron.base.errors import ConfigError, HeronError
from heron.base.files import locked, write_json
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact, redacted
from heron.base.signals import INTERRUPTED, exit_code, raise_at_sigterm
from heron.config.checks import from_yaml
from heron.sweeps.devices import ALIVE, JOB, was_left_alone
from heron.sweeps.isolation import BUSY, DONE, FAILED, Job, print_to
from heron.training.claim import BusyError, count_ranks
from heron.training.status import Clock, failure


def main() -> int:
    """Run this process's part of the job that the environment describes; returns the exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    raise_at_sigterm()
    job, scratch = read_job(os.environ.pop(JOB))
    _end_with_parent(scratch)
    print_to(job.folder.log)
    job.config.run.resume = True  # the parent has cleared the folder where that was asked for
    number, clock = int(os.environ["RANK"]), Clock()
    if number:
        _mute()
    code, error = run_part(job)
    if error is not None:
        end = {"code": code, "time": time.time(), "failure": failure(error, clock.seconds())}
        write_json(scratch / f"rank={number}.json", redacted(end))
    return code


def run_by_hand(job: Job) -> int:
    """Run a job in the processes that somebody has started with `torchrun`.

    Returns:
        The command's exit code.

    Raises:
        ConfigError: there are not as many as the configuration says.
    """
    wanted, there = count_ranks(job.config), ranks.launched()
    if wanted != there:
        raise ConfigError(
            f"torchrun has started {there} processes, but trainer.devices="
            f"{job.config.trainer.devices} and trainer.num_nodes={job.config.trainer.num_nodes} "
            f"make {wanted}: set them to --nproc-per-node and --nnodes"
        )
    if int(os.environ["RANK"]):
        _mute()
    code, error = run_part(job)
    if isinstance(error, KeyboardInterrupt):
        print("heron train: interrupted; the same command goes on from here", flush=True)
        return exit_code(error)
    return 0 if code == DONE else 2


def run_part(job: Job) -> tuple[int, BaseException | None]:
    """Meet the other processes, train with them; returns the exit code and what went wrong."""
    try:
        print(f"heron train: {job.folder.path}", flush=True)
        ranks.join(job.config.trainer.accelerator)
        from heron.training.job import run_job

        run_job(job.config, job.folder, job.overrides)
        ranks.leave()
    except BusyError as error:
        return BUSY, error
    except KeyboardInterrupt as error:
        return INTERRUPTED, error
    except Exception as error:
        if was_left_alone(str(error)):
            print(f"heron train: process {ranks.rank()} lost the others", file=sys.stderr)
        elif isinstance(error, HeronError | OSError):
            print(redact(f"heron train: {error}"), file=sys.stderr, flush=True)
        else:
            print(redact(traceback.format_exc()), file=sys.stderr, flush=True)
        return FAILED, error
    return DONE, None


def read_job(text: str) -> tuple[Job, Path]:
    """Read what `launch.describe` wrote: the job, and the scratch folder."""
    value = json.loads(text)
    folder = RunFolder(Path(value["folder"]))
    return Job(from_yaml(value["config"]), folder, value["overrides"]), Path(value["scratch"])


def leave_at_once(code: int) -> None:
    """End this process without waiting for others, who may be gone."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _mute() -> None:
    """Print nothing to standard output: the first process says it all."""
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _end_with_parent(scratch: Path) -> None:
    """End when the process that has started all this lets go of its lock, or is gone."""

    def watch() -> None:
        with locked(scratch / ALIVE):
            shutil.rmtree(scratch, ignore_errors=True)  # nobody else will
            os._exit(FAILED)

    threading.Thread(target=watch, name="parent", daemon=True).start()


if __name__ == "__main__":
    leave_at_once(main())
