"""One job in the command's own process."""

from __future__ import annotations

import sys
import traceback

from heron.base.errors import HeronError, os_error_text
from heron.base.secrets import redact
from heron.config.run_names import path_words
from heron.sweeps.isolation import BUSY, DONE, FAILED, Job
from heron.training.claim import BusyError
from heron.training.status import Clock, note_failure


def run_here(job: Job, in_sweep: bool = False) -> int:
    """Run a job in this process; returns `DONE`, `FAILED` or, in a sweep, `BUSY`."""
    clock = Clock()
    done = job.config.run.resume and job.folder.state() == "done"
    note = ": done already; run.resume=false starts over" if done else ""
    print(f"heron train: {job.folder.path}{note}", flush=True)
    # Lightning and transformers take seconds to import; a typo in a key should not wait for them.
    from heron.training.job import run_job

    try:
        run_job(job.config, job.folder, job.overrides)
    except Exception as error:
        if in_sweep and isinstance(error, BusyError):
            return BUSY
        if not isinstance(error, HeronError | OSError):
            print(redact(traceback.format_exc()), file=sys.stderr, flush=True)
        said = str(error)
        if isinstance(error, OSError):
            said = os_error_text(error, path_words(job.config))
        print(redact(f"heron train: {said}"), file=sys.stderr, flush=True)
        if in_sweep:
            note_failure(job.folder, error, clock)
        return FAILED
    return DONE
