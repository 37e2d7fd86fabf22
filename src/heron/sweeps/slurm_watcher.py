"""How submitit learns of the ends of its jobs on a cluster without accounting.

submitit asks `sacct`. Without accounting, `sacct` fails at each question: submitit prints the
failure, and would wait for ever for a job that was cancelled or killed.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from submitit.core.utils import FailedJobError, UncompletedJobError
from submitit.slurm.slurm import SlurmInfoWatcher, SlurmJob

from heron.base.errors import HeronError

_SECONDS = 60  # between two questions at most; the controller forgets jobs after some minutes


class ControllerWatcher(SlurmInfoWatcher):
    """Asks SLURM's controller (`squeue`) for the states of jobs."""

    def _make_command(self) -> list[str]:
        """Spell out the question."""
        return ["squeue", "--me", "--array", "--states=all", "--noheader", "--format=%i %T"]

    def read_info(self, string: bytes | str) -> dict[str, dict[str, str]]:
        """Read the answer: the state of each job, which is `COMPLETED` once it is forgotten."""
        text = string if isinstance(string, str) else string.decode()
        states = {job: {"State": "COMPLETED"} for job in self._registered}
        for line in text.splitlines():
            job, state = line.split()
            if job in states:
                states[job]["State"] = state
        return states


@contextmanager
def waiting_for_slurm(sweep: str) -> Iterator[None]:
    """Wait in the block for jobs of submitit; on a cluster without accounting, by the controller.

    Raises:
        HeronError: SLURM has ended a job, and does not run it again.
    """
    answer = subprocess.run(["sacct"], capture_output=True, check=False)
    if answer.returncode:
        SlurmJob.watcher = ControllerWatcher(delay_s=_SECONDS)
    try:
        yield
    except (UncompletedJobError, FailedJobError) as error:
        raise HeronError(
            f"a job was cancelled or killed: heron sweep {sweep} shows all jobs; the same command "
            "resumes them"
        ) from error
