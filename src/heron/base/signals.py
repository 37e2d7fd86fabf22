"""How processes end: SIGTERM, from clusters and people, like Ctrl+C; workers with their parent."""

import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED, TERMINATED = 130, 143  # of commands: 128 + the signal; a job's is 130

_TO_SAVE = 20.0  # seconds that a training has to reach a checkpoint; clusters give 30
_AGAIN = 30.0  # seconds in which a repeated signal is ignored: groups get it twice


class Terminated(KeyboardInterrupt):
    """SIGTERM has asked this process to end; handled like Ctrl+C."""

    def __init__(self) -> None:
        super().__init__("by SIGTERM")


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
        _set(before)


@contextmanager
def hold_sigterm() -> Iterator[None]:
    """Delay SIGTERM until the block ends; processes started in it call `let_sigterm_through`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        let_sigterm_through()


def let_sigterm_through() -> None:
    """Unblock SIGTERM; one that has come meanwhile is handled now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


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
        raise type(cause)() from error


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
        self.asked = False  # whether SIGTERM has come
        self.saving = False  # nothing is raised meanwhile
        self._asked_at = 0.0
        self._before: Any = None
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Note SIGTERM from now on."""
        self._before = _set(self._note)

    def end(self) -> None:
        """Handle SIGTERM as before; the caller raises one that was noted."""
        if self._timer is not None:
            self._timer.cancel()
        _set(self._before)
        self._before = None

    def _note(self, *_: Any) -> None:
        if not self.asked:
            self.asked = True
            self._asked_at = time.monotonic()
            self._timer = threading.Timer(_TO_SAVE, os.kill, (os.getpid(), signal.SIGTERM))
            self._timer.daemon = True
            self._timer.start()
        elif not self.saving and time.monotonic() - self._asked_at >= _TO_SAVE:
            raise Terminated


class _Raise:
    """A handler that raises `Terminated`, but only in the process that made it."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._raised_at = -_AGAIN

    def __call__(self, *_: Any) -> None:
        if os.getpid() != self._process:  # in a fork, which has nothing to save
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        elif time.monotonic() - self._raised_at >= _AGAIN:
            self._raised_at = time.monotonic()
            raise Terminated


def _set(handler: Callable[..., Any] | int | None) -> Any:
    """Set the handler of SIGTERM; returns the one before, None where nothing was changed.

    Only the main thread can, and a process that was started to ignore SIGTERM ignores it.
    """
    before = signal.getsignal(signal.SIGTERM)
    is_main = threading.current_thread() is threading.main_thread()
    if handler is None or not is_main or before == signal.SIG_IGN:
        return None
    return signal.signal(signal.SIGTERM, handler)
