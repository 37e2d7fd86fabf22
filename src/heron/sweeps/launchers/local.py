"""Workers on this machine, in processes of joblib's (loky)."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from concurrent.futures import Future
from pathlib import Path

from heron.base.errors import first_line
from heron.config.schema import LauncherConfig
from heron.sweeps.launchers.worker import Worker

_LOOK = 1.0  # seconds between looks at the command
_GRACE = 40.0  # seconds to stop jobs (which have 30)


class JoblibWorkers:
    """Processes that loky has started; each runs one worker.

    An executor of loky's that loses one of its processes ends them all: each worker has its own.

    Args:
        worker: what they run.
        number: how many.
    """

    def __init__(self, worker: Worker, number: int):
        from joblib.externals.loky import ProcessPoolExecutor, cpu_count

        threads = str(max(1, cpu_count() // number))
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
        env = {name: os.environ.get(name, threads) for name in names}
        self._executors = [ProcessPoolExecutor(max_workers=1, env=env) for _ in range(number)]
        self._futures: list[Future[int]] = [
            executor.submit(_work, worker, each) for each, executor in enumerate(self._executors)
        ]

    def working(self) -> bool:
        """Tell whether any of them works."""
        if all(future.done() for future in self._futures):
            self.cancel()
            return False
        return True

    def errors(self) -> list[str]:
        """List why workers have ended that should not have."""
        found = [future.exception() for future in self._futures if future.done()]
        texts = (first_line(error) for error in found if error)
        return list(dict.fromkeys(f"a worker has ended: {text}" for text in texts))

    def cancel(self) -> None:
        """Kill them."""
        for executor in self._executors:
            executor.shutdown(wait=True, kill_workers=True)

    def names(self) -> list[str]:
        """Say how many there are."""
        return [f"{len(self._futures)} workers"]


def start_joblib(
    worker: Worker, number: int, settings: LauncherConfig, folder: Path
) -> JoblibWorkers:
    """Start workers on this machine."""
    return JoblibWorkers(worker, number)


def _work(worker: Worker, number: int) -> int:
    # loky names itself the way in which processes are started, and theirs would not know it.
    multiprocessing.set_start_method(None, force=True)
    ended = threading.Event()
    threading.Thread(target=_end_with_parent, args=(ended,), daemon=True).start()
    try:
        return worker(number)
    finally:
        ended.set()


def _end_with_parent(ended: threading.Event) -> None:
    """End this process when the command is gone: loky's would wait for its next task for ever."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(_LOOK)
    ended.wait(_GRACE)
    os._exit(1)
