"""The jobs of a sweep as those who run them see them: take one, say how it ended.

`JobList` knows all of them from the start. `heron.sweeps.search.Search` makes them as it goes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Protocol

from heron.sweeps.isolation import Job
from heron.sweeps.ledger import Outcome


class Queue(Protocol):
    """Where jobs come from; several processes may each have one on the same sweep."""

    preload: tuple[str, ...]  # modules that the jobs' server imports besides its own
    searches: bool  # whether the jobs are points of one space, the best of which is wanted

    @property
    def total(self) -> int:
        """How many jobs there are to be."""

    def known(self) -> list[Job]:
        """List the jobs that there are so far."""

    def take(self) -> Job | None:
        """Take a job to run; None when there is none left for now."""

    def put_back(self, jobs: Iterable[Job]) -> None:
        """Let jobs be taken, before all others."""

    def take_back(self, job: Job) -> bool:
        """Put back a job that was cut, if it has to be done before the jobs after it."""

    def ended(self, outcome: Outcome) -> None:
        """Hear how a job ended; more than once does no harm."""

    def refused(self) -> list[tuple[str, str]]:
        """List jobs that cannot be: their overrides and why."""


class JobList:
    """Jobs that are known from the start.

    Args:
        jobs: all of them; their folders differ.
        searches: whether they are points of one space.
    """

    preload: tuple[str, ...] = ()

    def __init__(self, jobs: Sequence[Job], searches: bool = False):
        self._jobs, self.searches = list(jobs), searches
        self._waiting = deque[Job]()

    @property
    def total(self) -> int:
        """How many jobs there are."""
        return len(self._jobs)

    def known(self) -> list[Job]:
        """List all jobs."""
        return list(self._jobs)

    def take(self) -> Job | None:
        """Take the next job of those that were put back."""
        return self._waiting.popleft() if self._waiting else None

    def put_back(self, jobs: Iterable[Job]) -> None:
        """Let jobs be taken; those that are left of all, to begin with."""
        self._waiting.extend(jobs)

    def take_back(self, job: Job) -> bool:
        """Refuse: no job waits for another one, and the next command goes on with it."""
        return False

    def ended(self, outcome: Outcome) -> None:
        """Do nothing: the jobs' folders say how they ended."""

    def refused(self) -> list[tuple[str, str]]:
        """List nothing: jobs that cannot be are not on the list."""
        return []
