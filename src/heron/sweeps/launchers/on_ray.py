"""Workers as Ray tasks, on a running cluster or on a Ray that is started for them."""

import logging
import os
import socket
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, first_line
from heron.config.schema import LauncherConfig
from heron.sweeps.launchers import require
from heron.sweeps.launchers.worker import Worker

_SECONDS = 5.0  # to look for a cluster


class RayWorkers:
    """Ray tasks, one for each worker; Ray starts one again whose process was killed."""

    def __init__(self, tasks: list[Any]):
        self._tasks = tasks
        self._errors: list[str] = []

    def working(self) -> bool:
        """Tell whether any of them works or waits for its turn."""
        import ray  # optional dependency

        _, left = ray.wait(self._tasks, num_returns=len(self._tasks), timeout=0)
        if not left:
            self._errors = [text for text in map(_error, self._tasks) if text]
            ray.shutdown()
        return bool(left)

    def errors(self) -> list[str]:
        """List the errors with which workers have ended."""
        return self._errors

    def cancel(self) -> None:
        """Kill them."""
        import ray  # optional dependency

        if ray.is_initialized():
            for task in self._tasks:
                ray.cancel(task, force=True)
            ray.shutdown()

    def names(self) -> list[str]:
        """Say how many there are."""
        return [f"{len(self._tasks)} workers"]


def start_ray(worker: Worker, number: int, settings: LauncherConfig, folder: Path) -> RayWorkers:
    """Start workers as Ray tasks; in a Ray that is started for them where there is none."""
    import ray  # optional dependency

    if not ray.is_initialized():
        _connect(settings.address)
    bytes_ = (settings.memory_gb or 0) * 2**30
    task = ray.remote(num_cpus=settings.cpus, num_gpus=settings.gpus, memory=bytes_)(_work)
    return RayWorkers([task.remote(worker, each) for each in range(number)])


def check_ray(settings: LauncherConfig) -> None:
    """Make sure that there is a Ray to start workers in, at `launcher.address` if one is given."""
    require("ray")
    _look_for(settings.address)
    if settings.address is not None:
        _connect(settings.address)


def _connect(address: str | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray  # optional dependency

    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(f"launcher.address={address}: {first_line(error)}") from error


def _look_for(address: str | None) -> None:
    """Refuse an address where nobody answers; Ray would try for minutes."""
    host, colon, port = (address or "").rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), _SECONDS).close()
    except OSError as error:
        raise ConfigError(f"launcher.address={address}: no Ray answers there ({error})") from error


def _work(worker: Worker, number: int) -> int:
    return worker(number)


def _error(task: Any) -> str:
    import ray  # optional dependency

    try:
        ray.get(task)
    except Exception as error:
        return f"a worker has ended: {str(error).strip().splitlines()[-1]}"
    return ""
