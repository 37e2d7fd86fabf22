"""How many processors this process may use, and how many threads that makes."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CGROUPS, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def threads(processes: int = 1) -> int:
    """Divide the cores (or `OMP_NUM_THREADS`) by a number of processes; at least 1 thread each."""
    return max(1, int(os.environ.get("OMP_NUM_THREADS") or count_cores()) // processes)


def count_cores() -> int:
    """Count the processor cores that this process may use, by its affinity and its cgroups' quota.

    Of a quota, whole cores count: of two threads on one and a half, one waits for the other.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, int(min([allowed or 1, *_quotas()])))


def _quotas() -> Iterator[float]:
    """List the quotas of this process's cgroups and those around them, in cores."""
    lines = _OWN.read_text().splitlines() if _OWN.is_file() else []
    for line in lines:
        _, kinds, place = line.split(":", 2)  # version 2 has no kinds
        if kinds and "cpu" not in kinds.split(","):
            continue
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if kinds else ("cpu.max",)
        mounted, inner = _CGROUPS / ("cpu" if kinds else ""), Path(place.strip("/"))
        for folder in (inner, *inner.parents):
            with suppress(OSError, ValueError):  # absent, or `max`
                files = [mounted / folder / name for name in names]
                quota, period = " ".join(file.read_text() for file in files).split()
                if float(quota) > 0:  # -1: none
                    yield float(quota) / float(period)
