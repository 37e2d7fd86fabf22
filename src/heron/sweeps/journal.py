"""A study's journal: one JSON object a line, in a file that several processes append to.

Optuna's own backend does not survive a full disk or a kill while it writes: the next line is
appended to half of one, and every later command stops at the line that cannot be read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from optuna.storages.journal import BaseJournalBackend

from heron.base.files import locked


class Journal(BaseJournalBackend):
    """The lines of a file that only its owner can read; lines that are no logs are skipped.

    Args:
        path: the file; created if absent.
    """

    def __init__(self, path: Path):
        self.path = path
        self._starts = [0]  # in bytes, where each log begins, as far as they were read
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Read all logs from the n-th on; half a line at the end does not count."""
        with open(self.path, "rb") as file:
            number = min(log_number_from, len(self._starts) - 1)
            end = self._starts[number]
            file.seek(end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                log = _log(line)
                if log is None:
                    continue
                number += 1
                if number == len(self._starts):
                    self._starts.append(end)
                if number > log_number_from:
                    yield log

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append logs, all or none of them.

        Raises:
            OSError: the disk is full, or another reason of the system's.
        """
        text = "".join(f"{json.dumps(log, separators=(',', ':'))}\n" for log in logs)
        with locked(self._lock), open(self.path, "r+b", buffering=0) as file:
            whole = _cut_half_line(file)
            left = text.encode()
            try:
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(whole)
                raise

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f".{self.path.name}.lock")


def _log(line: bytes) -> dict[str, Any] | None:
    try:
        log = json.loads(line)
    except ValueError:
        return None
    return log if isinstance(log, dict) and "op_code" in log else None


def _cut_half_line(file: IO[bytes]) -> int:
    """Remove half a line that a killed writer has left; returns the size. The lock is held."""
    size = file.seek(0, os.SEEK_END)
    if size:
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.seek(0)
            size = file.truncate(file.read().rfind(b"\n") + 1)
    return file.seek(size)
