"""One of the processes of a job on several devices; `heron.sweeps.devices` starts it."""

import os
import pickle
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from heron.base import ranks
from heron.base.files import locked, write_json
from heron.base.secrets import redacted
from heron.base.signals import raise_at_sigterm
from heron.sweeps.devices import ALIVE, JOB, is_lost_connection
from heron.sweeps.isolation import print_to, resuming
from heron.training.run import DONE, FAILED, BusyError, Run, job_exit_code
from heron.training.status import Clock, failure


def main() -> int:
    """Meet the other processes and train with them; returns the exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    raise_at_sigterm()
    scratch = Path(sys.argv[1])
    job: Run = pickle.loads((scratch / JOB).read_bytes())
    _end_with_parent(scratch)
    print_to(job.folder.log)
    number, clock = int(os.environ["RANK"]), Clock()
    if number:
        _mute()
    try:
        print(f"heron train: {job.folder.path}", flush=True)
        ranks.join(job.config.trainer.accelerator, f"file://{scratch}/ranks")
        resuming(job).train()
        ranks.leave()
    except (Exception, KeyboardInterrupt) as error:
        if is_lost_connection(str(error)):
            print(f"heron train: process {ranks.rank()} lost the others", file=sys.stderr)
        elif isinstance(error, Exception) and not isinstance(error, BusyError):
            job.print_error(error)
        code = job_exit_code(error)
        end = {"code": code, "time": time.time(), "failure": failure(error, clock.seconds())}
        write_json(scratch / f"rank={number}.json", redacted(end))
        return code
    return DONE


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
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # without waiting for others, who may be gone
