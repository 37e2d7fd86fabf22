"""One of the processes of a job on several devices; `heron.sweeps.devices` starts it."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import locked, write_json
from heron.base.run_folder import RunFolder
from heron.base.secrets import redacted
from heron.base.signals import exit_code, raise_at_sigterm
from heron.sweeps.devices import ALIVE, JOB, is_lost_connection
from heron.sweeps.isolation import print_to, resuming
from heron.training.claim import BusyError, count_ranks
from heron.training.process import DONE, FAILED, Job, caught, job_exit_code, print_error
from heron.training.status import Clock, failure
from heron.training.stored import from_yaml


def main() -> int:
    """Run this process's part of the job that the environment describes; returns the exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    raise_at_sigterm()
    job, scratch = read_job(os.environ.pop(JOB))
    _end_with_parent(scratch)
    print_to(job.folder.log)
    number, clock = int(os.environ["RANK"]), Clock()
    if number:
        _mute()
    error = run_part(resuming(job))
    code = job_exit_code(error)
    if error is not None:
        end = {"code": code, "time": time.time(), "failure": failure(error, clock.seconds())}
        write_json(scratch / f"rank={number}.json", redacted(end))
    return code


def run_by_hand(job: Job) -> int:
    """Run a job in the processes that somebody has started with `torchrun`; returns the exit code.

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
    error = run_part(job)
    if isinstance(error, KeyboardInterrupt):
        print("heron train: interrupted; the same command goes on from here", flush=True)
        return exit_code(error)
    return 0 if job_exit_code(error) == DONE else 2


def run_part(job: Job) -> BaseException | None:
    """Meet the other processes and train with them; returns the error, which is printed."""
    print(f"heron train: {job.folder.path}", flush=True)

    def train() -> None:
        ranks.join(job.config.trainer.accelerator)
        job.train()
        ranks.leave()

    error = caught(train)
    if isinstance(error, Exception) and not isinstance(error, BusyError):
        if is_lost_connection(str(error)):
            print(f"heron train: process {ranks.rank()} lost the others", file=sys.stderr)
        else:
            print_error(error, job)
    return error


def read_job(text: str) -> tuple[Job, Path]:
    """Read what `describe` of `heron.sweeps.devices` wrote: the job, and the scratch folder."""
    value = json.loads(text)
    folder = RunFolder(Path(value["folder"]))
    return Job(from_yaml(value["config"]), folder, value["overrides"]), Path(value["scratch"])


def end_at_once(code: int) -> None:
    """End this process without waiting for others, who may be gone."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _mute() -> None:
    """Print nothing to standard output: the first process prints for all."""
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _end_with_parent(scratch: Path) -> None:
    """End when the parent releases its lock, or is gone."""

    def watch() -> None:
        with locked(scratch / ALIVE):
            shutil.rmtree(scratch, ignore_errors=True)  # nobody else will
            os._exit(FAILED)

    threading.Thread(target=watch, name="parent", daemon=True).start()


if __name__ == "__main__":
    end_at_once(main())
