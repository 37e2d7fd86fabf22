"""How processes end: SIGTERM, from clusters and people, like Ctrl+C; workers with their parent.

In a job of SLURM, SIGUSR1 and SIGUSR2 do what SIGTERM does: `sbatch --signal=` sends them before
the time limit. Lightning's users ask for the first, submitit for the second.
"""

import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Exit codes of commands: 128 + the signal; a job's is 130.
INTERRUPTED = 130
TERMINATED = 143

_TO_SAVE = 20.0  # seconds that a training has to reach a checkpoint; clusters give 30
_AGAIN = 30.0  # seconds in which a repeated signal is ignored: groups get it twice


class Terminated(KeyboardInterrupt):
    """SIGTERM, or another of `ending_signals`, has asked this process to end, as Ctrl+C does."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(number)
        self.signal = number

    def __str__(self) -> str:
        return f"by {signal.Signals(self.signal).name}"


def ending_signals() -> set[int]:
    """The signals that ask this process to end, besides Ctrl+C."""
    if "SLURM_JOB_ID" in os.environ:
        return {signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
    return {signal.SIGTERM}


def exit_code(error: KeyboardInterrupt) -> int:
    """Choose the exit code of an interrupted command (a job's own process always has 130)."""
    return TERMINATED if isinstance(error, Terminated) else INTERRUPTED


def raise_at_sigterm() -> None:
    """Raise `Terminated` in this process's main thread whenever SIGTERM comes."""
    _set(_Raise())


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` in the block when SIGTERM comes; outside it ends the process at once."""
    before = _set(_Raise())
    try:
        yield
    finally:
        _restore(before)


@contextmanager
def hold_sigterm() -> Iterator[None]:
    """Delay SIGTERM until the block ends; processes started in it call `let_sigterm_through`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ending_signals())
    try:
        yield
    finally:
        let_sigterm_through()


def let_sigterm_through() -> None:
    """Unblock SIGTERM; one that has come meanwhile is handled now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ending_signals())


@contextmanager
def interruptible() -> Iterator[None]:
    """Undo Lightning's handling of Ctrl+C: it exits with 1 and ignores the next Ctrl+C.

    Its clean-up can also fail where a data loader was interrupted before its first batch.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except (SystemExit, RuntimeError) as error:
        cause = error.__context__
        if not isinstance(cause, KeyboardInterrupt):
            raise
        signal.signal(signal.SIGINT, handler)
        raise type(cause)(*cause.args) from error


def leave_signals_alone(trainer: Any) -> Any:
    """Keep one of Lightning's trainers from handling signals; returns it.

    At SIGTERM, Lightning would end with exit code 0 and no checkpoint, or let ranks wait for ever.
    """
    trainer._signal_connector.register_signal_handlers = lambda: None
    return trainer


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


class Deferred:
    """Notes SIGTERM from `begin` to `end`; a training has 20 seconds to save before it ends."""

    def __init__(self) -> None:
        self.asked: int | None = None  # the signal that has come
        self.saving = False  # nothing is raised meanwhile
        self._asked_at = 0.0
        self._before: dict[int, Any] = {}
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Note SIGTERM from now on."""
        self._before = _set(self._note)

    def end(self) -> None:
        """Handle SIGTERM as before; the caller raises one that was noted."""
        if self._timer is not None:
            self._timer.cancel()
        _restore(self._before)
        self._before = {}

    def _note(self, number: int, _: Any) -> None:
        """Note a signal; a later one ends the process where it takes too long to save."""
        if self.asked is None:
            self.asked = number
            self._asked_at = time.monotonic()
            self._timer = threading.Timer(_TO_SAVE, os.kill, (os.getpid(), signal.SIGTERM))
            self._timer.daemon = True
            self._timer.start()
        elif not self.saving and time.monotonic() - self._asked_at >= _TO_SAVE:
            raise Terminated(self.asked)


class _Raise:
    """A handler that raises `Terminated`, but only in the process that made it."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._raised_at = -_AGAIN

    def __call__(self, number: int, _: Any) -> None:
        if os.getpid() != self._process:  # in a fork, which has nothing to save
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif time.monotonic() - self._raised_at >= _AGAIN:
            self._raised_at = time.monotonic()
            raise Terminated(number)


def _set(handler: Callable[[int, Any], None]) -> dict[int, Any]:
    """Set the handler of `ending_signals`; returns those before, for `_restore`.

    Only the main thread can, and a process that was started to ignore a signal ignores it.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}

    before = {}
    for number in ending_signals():
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, handler)
    return before


def _restore(handlers: dict[int, Any]) -> None:
    """Handle signals again as before `_set`."""
    for number, handler in handlers.items():
        if handler is not None:  # None: it was not set from Python
            signal.signal(number, handler)
