"""Worker processes: they end with their parent, and those of builders know the forks."""

import multiprocessing
import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

from heron.base.forks import load_forks


def end_with_parent(shared: str = "") -> None:
    """End this worker process with exit code 1 when its parent is gone; its work can be resumed.

    A folder that the parent has `shared` is removed: nobody else will.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        if shared:
            shutil.rmtree(shared, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def begin_worker(roots: Sequence[Path]) -> None:
    """Begin a worker process: it ends with its parent and can run functions of forks."""
    end_with_parent()
    load_forks(roots)
