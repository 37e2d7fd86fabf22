"""How a job that failed ended: what `status.json` says of it, and whether to try again."""

import re
import traceback
from typing import Any

from heron.base.run_folder import RunFolder
from heron.training.status import Clock, peak_rss_mb, try_update

_MACHINE_ERROR = re.compile(
    "memory|bad_alloc|new thread|no space left|file too large|quota exceeded|PytorchStreamWriter",
    re.IGNORECASE,
)


def failure(error: BaseException, seconds: float) -> dict[str, Any]:
    """Describe how a run ended, for `status.json`.

    Returns:
        `state`, `error` (class and message), `traceback` (its last 20 lines), `retry` (whether the
        same command tries again by itself), `seconds`, `peak_rss_mb`.
    """
    return {
        "state": "failed" if isinstance(error, Exception) else "interrupted",
        "seconds": seconds,
        "error": f"{type(error).__name__}: {error}",
        "traceback": "".join(traceback.format_exception(error)).splitlines()[-20:],
        "retry": not isinstance(error, Exception) or is_machine_error(error),
        "peak_rss_mb": peak_rss_mb(),
    }


def note_failure(folder: RunFolder, error: BaseException, clock: Clock) -> None:
    """Write the error that ended a sweep's job, unless its training has written it."""
    status = folder.read_status()
    text = f"{type(error).__name__}: {error}"
    if status.get("state") not in ("done", "pruned") and status.get("error") != text:
        try_update(folder, **failure(error, clock.seconds()))


def is_machine_error(error: BaseException | None) -> bool:
    """Tell whether memory, disk or network failed, so that the same command may succeed next time.

    Libraries wrap such errors in others, so all causes are looked at.
    """
    if error is None:
        return False
    if isinstance(error, OSError | MemoryError) or _MACHINE_ERROR.search(str(error)):
        return True
    return is_machine_error(error.__cause__ or error.__context__)
